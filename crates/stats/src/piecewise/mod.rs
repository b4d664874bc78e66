//! Lines over intervals, with breakpoints found in the data.
//!
//! The method is that of T. Cornebize's thesis ("High performance computing: towards better performance predictions and
//! experiments", 2021), section 5.3.3: cut greedily from the top, merge greedily from the bottom, and keep the number of
//! segments with the least Bayesian information criterion. Here breakpoints are also moved afterwards, and added or taken
//! out one by one as long as the criterion falls.
//!
//! Ordinary and weighted fits of n points take O(n) for each level of cuts. A logarithmic fit of a segment costs the same
//! however many points it has.

mod bottom_up;
mod criterion;
mod error;
mod least_squares;
mod logarithmic;
mod misfit;
mod moments;
mod polish;
mod sample;
mod search;

use std::fmt;

pub use error::PiecewiseError;
use least_squares::{LeastSquares, Weight};
use logarithmic::Logarithmic;
use misfit::Misfit;
use sample::Sample;
use search::{Piece, Search};

/// Which errors are squared and added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// y - f(x): for noise that is alike everywhere.
    Ordinary,
    /// (y - f(x)) / x: for noise that grows with x. Needs x above 0.
    Weighted,
    /// ln y - ln f(x), with neither intercept nor slope below 0: for times over sizes. Needs x and y above 0.
    Logarithmic,
}

/// How the breakpoints are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Cut as long as it pays: quick, and each end is judged by its own noise, but early cuts stay where they are.
    TopDown,
    /// Begin with many short segments of like length and merge them: finds what no single cut reveals. Then move, merge and
    /// cut single breakpoints until nothing gets better.
    BottomUp,
    /// Cut, then merge, as published; then move, merge and cut single breakpoints until nothing gets better.
    #[default]
    Both,
}

/// A line over an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The first x of its points.
    pub from: f64,
    /// The last x of its points.
    pub to: f64,
    /// The line's value at 0.
    pub intercept: f64,
    /// The line's rise for each unit of x.
    pub slope: f64,
    /// How many points there are.
    pub points: usize,
    /// Their squared errors, added up as the objective says.
    pub objective: f64,
}

/// Lines over neighbouring intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseFit {
    /// The intervals, from left to right; at least one.
    pub segments: Vec<Segment>,
    /// All squared errors, added up as the objective says.
    pub objective: f64,
    /// The Bayesian information criterion; the less the better, among fits of the same points by the same objective.
    pub bic: f64,
}

impl PiecewiseFit {
    /// Where one line ends: the last x of all segments but the last.
    pub fn breakpoints(&self) -> Vec<f64> {
        self.segments[..self.segments.len() - 1].iter().map(|segment| segment.to).collect()
    }

    /// The value at `x`. A segment reaches from behind its left neighbour's last point to its own; the outer ones go on.
    pub fn at(&self, x: f64) -> f64 {
        let index = self.segments.partition_point(|segment| segment.to < x);
        let segment = &self.segments[index.min(self.segments.len() - 1)];
        segment.intercept + segment.slope * x
    }
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    intercept: f64,
    slope: f64,
}

impl Line {
    fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Fits lines to points, which may come in any order, and several at the same x.
///
/// Every segment has four points or more, at two or more places: as many as it has parameters, with its breakpoint.
///
/// ```
/// use hpcast_stats::piecewise::{Objective, Strategy, fit};
///
/// let time = |size: f64| if size < 50.0 { 1.0 + 0.1 * size } else { 20.0 + 0.3 * size };
/// let points: Vec<(f64, f64)> = (1..100).map(f64::from).map(|size| (size, time(size))).collect();
/// let found = fit(&points, Objective::Ordinary, Strategy::Both).unwrap();
/// assert_eq!(found.breakpoints(), [49.0]);
/// assert!((found.segments[1].slope - 0.3).abs() < 1e-12);
/// ```
///
/// # Errors
/// Too few points, all at the same x, or values that the objective cannot work with.
pub fn fit(points: &[(f64, f64)], objective: Objective, strategy: Strategy) -> Result<PiecewiseFit, PiecewiseError> {
    let sample = Sample::new(points, objective)?;
    Ok(match objective {
        Objective::Ordinary => fit_by(&LeastSquares::new(&sample, Weight::One), strategy),
        Objective::Weighted => fit_by(&LeastSquares::new(&sample, Weight::PerX), strategy),
        Objective::Logarithmic => fit_by(&Logarithmic::new(&sample), strategy),
    })
}

fn fit_by(misfit: &impl Misfit, strategy: Strategy) -> PiecewiseFit {
    let search = Search::new(misfit);
    let pieces = match strategy {
        Strategy::TopDown => search.top_down(),
        Strategy::BottomUp => search.polished(search.bottom_up(search.shredded())),
        Strategy::Both => search.polished(search.bottom_up(search.top_down())),
    };
    let segments: Vec<Segment> = pieces.into_iter().map(|piece| segment(misfit, piece)).collect();
    let objective = segments.iter().map(|segment| segment.objective).sum();
    PiecewiseFit { bic: search.bic(segments.len(), objective), objective, segments }
}

fn segment(misfit: &impl Misfit, Piece { groups, .. }: Piece) -> Segment {
    let sample = misfit.sample();
    let line = misfit.line(groups.clone());
    Segment {
        from: sample.x(groups.start),
        to: sample.x(groups.end - 1),
        intercept: line.intercept,
        slope: line.slope,
        points: sample.count(&groups),
        objective: misfit.of_line(groups, line),
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Objective::Ordinary => "ordinary",
            Objective::Weighted => "weighted",
            Objective::Logarithmic => "logarithmic",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRATEGIES: [Strategy; 3] = [Strategy::TopDown, Strategy::BottomUp, Strategy::Both];

    fn found(points: &[(f64, f64)], objective: Objective, strategy: Strategy) -> PiecewiseFit {
        fit(points, objective, strategy).expect("a fit")
    }

    #[test]
    fn one_line_stays_one_line() {
        let points: Vec<(f64, f64)> = (1..500).map(|i| (f64::from(i), 0.1 + 0.7 * f64::from(i))).collect();
        for objective in [Objective::Ordinary, Objective::Weighted, Objective::Logarithmic] {
            for strategy in STRATEGIES {
                let found = found(&points, objective, strategy);
                assert_eq!(found.breakpoints(), [0.0; 0], "{objective}, {strategy:?}");
                assert!((found.at(1000.0) - 700.1).abs() < 1e-9, "{objective}, {strategy:?}");
            }
        }
    }

    #[test]
    fn a_value_belongs_to_the_segment_that_ends_at_or_after_it() {
        let time = |x: f64| if x <= 16.0 { x } else { 100.0 + 2.0 * x };
        let points: Vec<(f64, f64)> = (1..33).map(f64::from).map(|x| (x, time(x))).collect();
        for strategy in STRATEGIES {
            let found = found(&points, Objective::Ordinary, strategy);
            assert_eq!(found.breakpoints(), [16.0], "{strategy:?}");
            for x in [0.5, 16.0, 16.5, 17.0, 100.0] {
                assert!((found.at(x) - time(x)).abs() < 1e-9, "{strategy:?}, {x}");
            }
        }
    }

    #[test]
    fn a_bump_that_no_single_cut_reveals_is_found_from_the_bottom() {
        let bump = |i: i32| if (100..120).contains(&i) { 3.0 } else { 0.0 };
        let points: Vec<(f64, f64)> = (0..220).map(|i| (f64::from(i), bump(i) + (f64::from(i) * 77.0).sin())).collect();
        assert_eq!(found(&points, Objective::Ordinary, Strategy::BottomUp).breakpoints(), [99.0, 119.0]);
    }

    #[test]
    fn extreme_units_do_no_harm() {
        let time = |i: i32| if i < 50 { f64::from(i) } else { 90.0 + 3.0 * f64::from(i) };
        for (size, second) in [(1e-68, 1e67), (1e67, 1e-68), (1e-68, 1e-68), (1e67, 1e67)] {
            let points: Vec<(f64, f64)> = (1..100).map(|i| (size * f64::from(i), second * time(i))).collect();
            for objective in [Objective::Ordinary, Objective::Weighted, Objective::Logarithmic] {
                assert_eq!(found(&points, objective, Strategy::Both).breakpoints(), [size * 49.0], "{objective}");
            }
        }
    }
}
