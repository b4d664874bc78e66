//! How sure a fitted network is: what its figures may really be, as far as measurements tell.
//!
//! A range of sizes has two figures that were fitted together: of `send`, `isend` and `receive`, the base and the seconds per
//! byte; of `transfer`, the latency and one over the bandwidth factor, which is seconds per byte too, in those of the
//! machine's links. Their errors are normal, and mostly go against each other.

use hpcast_engine::Key;
use hpcast_platform::Protocol;
use hpcast_platform::protocol::Piece;
use hpcast_stats::{Matrix, MultivariateError, MultivariateNormal};

use super::model::{NetworkModel, RangeFit};

/// Why a range cannot have errors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ErrorsError {
    /// Nothing to draw.
    #[error("there is no piece of `{function}` that begins above {above} B")]
    NoPiece {
        /// Such as `between.send`.
        function: String,
        /// Where the range begins.
        above: u64,
    },
    /// Draws stay above zero, and so must what they are around.
    #[error("a figure of this range is negative, and not sure")]
    Negative,
    /// No covariance.
    #[error(transparent)]
    Covariance(#[from] MultivariateError),
}

impl ErrorsError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            ErrorsError::NoPiece { .. } => {
                "name a function of this file and where one of its pieces begins; `transfer` stands for `latency` and \
                 `bandwidth-factor` together"
            }
            ErrorsError::Negative => "leave the covariance out, or write figures of zero or more",
            ErrorsError::Covariance(error) => error.remedy(),
        }
    }
}

/// The pieces of a range.
enum Pieces<'p> {
    Overhead(&'p mut Piece),
    Transfer { latency: &'p mut Piece, factor: &'p mut Piece },
}

impl Pieces<'_> {
    fn figures(&self) -> [f64; 2] {
        match self {
            Pieces::Overhead(piece) => [piece.base, piece.per_byte],
            Pieces::Transfer { latency, factor } => [latency.base, 1.0 / factor.base],
        }
    }

    /// What draws do not go below: no time, and no faster than the machine's links.
    fn least(&self) -> [f64; 2] {
        match self {
            Pieces::Overhead(_) => [0.0, 0.0],
            Pieces::Transfer { .. } => [0.0, 1.0],
        }
    }

    fn set(self, [first, second]: [f64; 2]) {
        match self {
            Pieces::Overhead(piece) => {
                piece.move_base(first);
                piece.per_byte = second;
            }
            Pieces::Transfer { latency, factor } => {
                latency.move_base(first);
                factor.per_byte /= factor.base * second;
                factor.base = 1.0 / second;
            }
        }
    }
}

impl NetworkModel {
    /// Whether it says what such a range of its fit is about.
    pub(super) fn has(&self, function: &str) -> bool {
        let has = |(place, protocol): (&str, &Protocol)| {
            let functions = protocol.functions().into_iter().filter(|(_, function)| !function.pieces().is_empty());
            let is_transfer =
                |name: &str| function.ends_with(".transfer") && ["latency", "bandwidth-factor"].contains(&name);
            function.starts_with(place)
                && functions
                    .map(|(name, _)| name)
                    .any(|name| function.ends_with(&format!(".{name}")) || is_transfer(name))
        };
        [("between.", &self.between), ("inside.", &self.inside)].into_iter().any(has)
    }

    fn pieces(&mut self, range: &RangeFit) -> Option<Pieces<'_>> {
        let (place, function) = range.function.split_once('.')?;
        let protocol = match place {
            "between" => &mut self.between,
            "inside" => &mut self.inside,
            _ => return None,
        };
        let overhead = match function {
            "send" => &mut protocol.send,
            "isend" => &mut protocol.isend,
            "receive" => &mut protocol.receive,
            "transfer" => {
                let latency = protocol.latency.beginning_above(range.above)?;
                let factor = protocol.bandwidth_factor.beginning_above(range.above)?;
                return Some(Pieces::Transfer { latency, factor });
            }
            _ => return None,
        };
        overhead.beginning_above(range.above).map(Pieces::Overhead)
    }

    /// The two figures of a range, if there are such pieces.
    pub fn figures(&self, range: &RangeFit) -> Option<[f64; 2]> {
        self.clone().pieces(range).map(|pieces| pieces.figures())
    }

    /// Whether the errors of a range, if it has any, are such that they can be drawn.
    pub fn check_errors(&self, range: &RangeFit) -> Result<(), ErrorsError> {
        let Some(covariance) = range.covariance else { return Ok(()) };
        let no_piece = || ErrorsError::NoPiece { function: range.function.clone(), above: range.above };
        let figures = self.figures(range).ok_or_else(no_piece)?;
        let [first, _, second] = covariance;
        if figures.iter().zip([first, second]).any(|(figure, variance)| *figure < 0.0 && variance > 0.0) {
            return Err(ErrorsError::Negative);
        }
        MultivariateNormal::new(figures.to_vec(), Matrix::symmetric(2, &covariance))?;
        Ok(())
    }

    /// Whether it says how sure any figure is.
    pub fn has_errors(&self) -> bool {
        self.fit.iter().flat_map(|fit| &fit.ranges).any(|range| range.covariance.is_some())
    }

    /// What the network may really be: the same for the same seed. What has no errors stays.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> NetworkModel {
        let mut drawn = self.clone();
        for range in self.fit.iter().flat_map(|fit| &fit.ranges) {
            let (Some(covariance), Some(pieces)) = (range.covariance, drawn.pieces(range)) else { continue };
            let stream = Key::new(seed).purpose(&format!("errors of {}", range.function));
            let uniforms = [0, 1].map(|figure| stream.uniform(figure, range.above));
            let mean = pieces.figures();
            // Readers and fits make sure that there is such a distribution.
            let Ok(normal) = MultivariateNormal::new(mean.to_vec(), Matrix::symmetric(2, &covariance)) else {
                continue;
            };
            let figures = normal.draw(&uniforms);
            // A figure that is known may be below, such as that of links which are faster than they were.
            let least: [f64; 2] = std::array::from_fn(|figure| pieces.least()[figure].min(mean[figure]));
            pieces.set(possible([figures[0], figures[1]], covariance, least));
        }
        drawn
    }
}

/// Where a figure would be below the least, the nearest pair of figures that can be, as the covariance measures distances. It
/// is what a fit with these bounds would have found in measurements that lead to such a draw.
fn possible(drawn: [f64; 2], [first, both, second]: [f64; 3], least: [f64; 2]) -> [f64; 2] {
    let is_possible = |figures: &[f64; 2]| (0..2).all(|figure| figures[figure] >= least[figure]);
    if is_possible(&drawn) {
        return drawn;
    }
    // One at its bound, the other as expected then.
    let variances = [first, second];
    let bounded = |figure: usize| {
        let other = 1 - figure;
        let mut figures = least;
        figures[other] = drawn[other] + both / variances[figure] * (least[figure] - drawn[figure]);
        figures
    };
    let below = (0..2).filter(|&figure| drawn[figure] < least[figure]);
    below.map(bounded).find(is_possible).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkFit;
    use hpcast_platform::Piecewise;
    use hpcast_platform::protocol::Mode;
    use proptest::prelude::*;

    fn range(function: &str, above: u64, covariance: [f64; 3]) -> RangeFit {
        RangeFit { function: function.into(), above, covariance: Some(covariance), ..RangeFit::default() }
    }

    /// 2 us and 1 ns a byte for sends; 5 us and four fifths of the links' bandwidth on the network.
    fn model(ranges: Vec<RangeFit>) -> NetworkModel {
        let modes = [(0.75, 1e-6), (0.25, 5e-6)].map(|(share, mean)| Mode { share, mean, deviation: 1e-7 });
        NetworkModel {
            between: Protocol {
                send: Piecewise::new(vec![
                    Piece::noisy(0, 1e-9, modes.to_vec()),
                    Piece { above: 1000, base: 2e-6, per_byte: 1e-9, modes: Vec::new() },
                ]),
                latency: Piecewise::constant(5e-6),
                bandwidth_factor: Piecewise::constant(0.8),
                ..Protocol::default()
            },
            fit: Some(NetworkFit { ranges, warnings: Vec::new() }),
            ..NetworkModel::default()
        }
    }

    fn moments(draws: &[Vec<f64>]) -> ([f64; 2], [f64; 3]) {
        let found = MultivariateNormal::of_samples(draws).unwrap();
        let covariance = found.covariance();
        ([found.mean()[0], found.mean()[1]], [covariance[(0, 0)], covariance[(0, 1)], covariance[(1, 1)]])
    }

    /// Far from the bounds: mean and covariance are those given, of overheads and of transfers.
    #[test]
    fn draws_have_the_given_mean_and_covariance() {
        let (send, transfer) = ([1e-14, -0.6 * 1e-7 * 4e-11, 1.6e-21], [4e-14, -0.5 * 2e-7 * 0.02, 4e-4]);
        let model = model(vec![range("between.send", 1000, send), range("between.transfer", 0, transfer)]);
        let draws: Vec<NetworkModel> = (0..4000).map(|seed| model.drawn(seed)).collect();
        let sends: Vec<Vec<f64>> = draws
            .iter()
            .map(|drawn| drawn.between.send.pieces()[1].clone())
            .map(|piece| vec![piece.base, piece.per_byte])
            .collect();
        let transfers: Vec<Vec<f64>> = draws
            .iter()
            .map(|drawn| {
                vec![drawn.between.latency.pieces()[0].base, 1.0 / drawn.between.bandwidth_factor.pieces()[0].base]
            })
            .collect();
        for (draws, mean, covariance) in [(sends, [2e-6, 1e-9], send), (transfers, [5e-6, 1.25], transfer)] {
            let (found, spread) = moments(&draws);
            for figure in 0..2 {
                let error = [covariance[0], covariance[2]][figure].sqrt();
                assert!((found[figure] - mean[figure]).abs() < 4.0 * error / 4000f64.sqrt(), "{found:?}");
            }
            // The deviation of a variance of so many draws is 2.2 %.
            assert!((spread[0] / covariance[0] - 1.0).abs() < 0.09, "{spread:?} {covariance:?}");
            assert!((spread[2] / covariance[2] - 1.0).abs() < 0.09, "{spread:?} {covariance:?}");
            let correlation = |c: [f64; 3]| c[1] / (c[0] * c[2]).sqrt();
            assert!((correlation(spread) - correlation(covariance)).abs() < 0.06, "{spread:?} {covariance:?}");
        }
        // Ranges are drawn apart, and what has no errors stays.
        assert!(draws.iter().all(|drawn| drawn.between.send.pieces()[0] == model.between.send.pieces()[0]));
        assert_eq!(model.drawn(7), draws[7]);
        assert_eq!(super::tests::model(Vec::new()).drawn(7), super::tests::model(Vec::new()));
    }

    #[test]
    fn modes_move_with_the_base() {
        let model = model(vec![range("between.send", 0, [1e-14, 0.0, 0.0])]);
        let piece = model.drawn(3).between.send.pieces()[0].clone();
        let moved = piece.base - 2e-6;
        assert!(moved != 0.0 && piece.per_byte == 1e-9);
        let means: Vec<f64> = piece.modes.iter().map(|mode| mode.mean).collect();
        assert!((means[0] - 1e-6 - moved).abs() < 1e-15 && (means[1] - 5e-6 - moved).abs() < 1e-15, "{means:?}");
    }

    #[test]
    fn errors_that_cannot_be_drawn_are_refused() {
        let model = model(Vec::new());
        let check = |function: &str, above: u64, covariance| model.check_errors(&range(function, above, covariance));
        assert_eq!(check("between.send", 1000, [1.0, 0.0, 1.0]), Ok(()));
        for (function, above) in [("between.send", 7), ("between.latency", 0), ("inside.transfer", 0), ("send", 0)] {
            assert!(matches!(check(function, above, [1.0, 0.0, 1.0]), Err(ErrorsError::NoPiece { .. })), "{function}");
        }
        assert!(matches!(check("between.send", 0, [1.0, 2.0, 1.0]), Err(ErrorsError::Covariance(_))));
        let mut negative = model.clone();
        negative.between.send.beginning_above(1000).unwrap().base = -1e-7;
        assert_eq!(negative.check_errors(&range("between.send", 1000, [1e-14, 0.0, 0.0])), Err(ErrorsError::Negative));
        assert_eq!(negative.check_errors(&range("between.send", 1000, [0.0, 0.0, 1e-24])), Ok(()));
    }

    /// Another model that knows a function makes what was known of its fit void.
    #[test]
    fn errors_of_what_is_replaced_are_forgotten() {
        let old = model(vec![range("between.send", 0, [0.0; 3]), range("between.transfer", 0, [0.0; 3])]);
        let factors = Protocol { bandwidth_factor: Piecewise::constant(0.5), ..Protocol::default() };
        let updated = old.clone().updated(NetworkModel { between: factors, ..NetworkModel::default() });
        let left: Vec<&str> = updated.fit.iter().flat_map(|fit| &fit.ranges).map(|range| &*range.function).collect();
        assert_eq!(left, ["between.send"]);
        let inside = Protocol { send: Piecewise::constant(1e-6), ..Protocol::default() };
        let updated = old.clone().updated(NetworkModel { inside, ..NetworkModel::default() });
        assert_eq!(updated.fit, old.fit);
    }

    proptest! {
        /// Whatever the errors: nothing takes less than no time, nothing is faster than the links, and of all that is
        /// possible nothing is nearer to the draw.
        #[test]
        fn what_cannot_be_goes_to_the_nearest_that_can(
            drawn in [-3.0..3.0f64, -3.0..3.0f64],
            deviations in [0.1..2.0f64, 0.1..2.0f64],
            correlation in -0.95..0.95f64,
            others in prop::collection::vec([0.0..4.0f64, 0.0..4.0f64], 20),
        ) {
            let [a, b] = deviations;
            let covariance = [a * a, correlation * a * b, b * b];
            let found = possible(drawn, covariance, [0.0, 0.0]);
            prop_assert!(found[0] >= 0.0 && found[1] >= 0.0);
            let distance = |to: &[f64; 2]| {
                let (x, y) = ((to[0] - drawn[0]) / a, (to[1] - drawn[1]) / b);
                x * x - 2.0 * correlation * x * y + y * y
            };
            prop_assert!(others.iter().all(|other| distance(other) >= distance(&found) - 1e-9));
        }

        #[test]
        fn draws_make_sense(seed in any::<u64>(), large in 1e-7..1e-3f64, steep in 1e-10..1e-7f64, wide in 0.01..10.0f64) {
            let send = [large * large, -0.9 * large * steep, steep * steep];
            let transfer = [large * large, -0.9 * large * wide, wide * wide];
            let ranges = vec![range("between.send", 1000, send), range("between.transfer", 0, transfer)];
            let drawn = model(ranges).drawn(seed);
            prop_assert!(drawn.between.check("between").is_empty(), "{drawn:?}");
            prop_assert!(drawn.between.bandwidth_factor.at(1).unwrap() <= 1.0);
        }
    }
}
