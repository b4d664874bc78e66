//! Piecewise fits beside the best of all, found by trying everything: only for few points.

use hpcast_stats::piecewise::{self, Objective, fit};
use proptest::prelude::*;

/// Points of the shortest segment.
const SHORTEST: usize = 4;
const TOP_DOWN: piecewise::Strategy = piecewise::Strategy::TopDown;
const BOTH: piecewise::Strategy = piecewise::Strategy::Both;
const STRATEGIES: [piecewise::Strategy; 3] = [TOP_DOWN, piecewise::Strategy::BottomUp, BOTH];

/// The misfit of the best line, in two passes with the given weights.
fn least_squares(points: &[(f64, f64)], weight: impl Fn(f64) -> f64) -> f64 {
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(x, y)| weight(x) * of(x, y)).sum::<f64>();
    let total = sum(&|_, _| 1.0);
    let (mx, my) = (sum(&|x, _| x) / total, sum(&|_, y| y) / total);
    let slope = sum(&|x, y| (x - mx) * (y - my)) / sum(&|x, _| (x - mx).powi(2));
    sum(&|x, y| (y - my - slope * (x - mx)).powi(2))
}

/// The same for logarithms: all ratios of intercept and slope on a fine grid, and their neighbourhood.
fn logarithmic(points: &[(f64, f64)]) -> f64 {
    let misfit = |ratio: f64| {
        let errors: Vec<f64> = points.iter().map(|&(x, y)| y.ln() - (x + ratio).ln()).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>()
    };
    let (mut centre, mut width) = (0.0, 30.0);
    let mut best = misfit(0.0);
    for _ in 0..6 {
        for step in -40..=40 {
            let exponent: f64 = centre + width * f64::from(step) / 40.0;
            let found = misfit(exponent.exp());
            if found < best {
                (best, centre) = (found, exponent);
            }
        }
        width /= 15.0;
    }
    best
}

fn misfit(points: &[(f64, f64)], objective: Objective) -> f64 {
    match objective {
        Objective::Ordinary => least_squares(points, |_| 1.0),
        Objective::Weighted => least_squares(points, |x| 1.0 / (x * x)),
        Objective::Logarithmic => logarithmic(points),
    }
}

/// How far a criterion may lie above the best there is: the search for a logarithmic line stops at gains of 1e-4 of the
/// misfit.
fn slack(objective: Objective, size: f64) -> f64 {
    if objective == Objective::Logarithmic { 1e-4 * size } else { 1e-6 }
}

/// The least criterion of all piecewise fits: dynamic programming over the number of segments and their ends.
fn least_criterion(points: &[(f64, f64)], objective: Objective) -> f64 {
    let count = points.len();
    let mut best = vec![vec![f64::INFINITY; count + 1]; count / SHORTEST + 1];
    best[0][0] = 0.0;
    for from in 0..count {
        for to in from + SHORTEST..=count {
            let here = misfit(&points[from..to], objective);
            for segments in 1..best.len() {
                best[segments][to] = best[segments][to].min(best[segments - 1][from] + here);
            }
        }
    }
    let size = count as f64;
    let criterion =
        |segments: usize| (4 * segments - 1) as f64 * size.ln() + size * (best[segments][count] / size).ln();
    (1..best.len()).map(criterion).fold(f64::INFINITY, f64::min)
}

/// Noise around two lines with a jump between them: a breakpoint that nobody can overlook.
fn two_lines() -> impl Strategy<Value = (Vec<(f64, f64)>, usize)> {
    (10usize..30, prop::collection::vec(0.97f64..1.03, 30), 0.2f64..0.8).prop_map(|(count, noise, part)| {
        let at = |i: usize| 1.5f64.powi(i as i32);
        let cut = ((count as f64 * part) as usize).clamp(SHORTEST, count - SHORTEST);
        let line = |i: usize| if i < cut { 5.0 + 0.3 * at(i) } else { 40.0 + 2.0 * at(i) };
        ((0..count).map(|i| (at(i), line(i) * noise[i])).collect(), cut)
    })
}

fn objective() -> impl Strategy<Value = Objective> {
    prop::sample::select(vec![Objective::Ordinary, Objective::Weighted, Objective::Logarithmic])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn never_better_than_the_best_of_all_and_never_worse_than_one_line(
        ys in prop::collection::vec(0.1f64..10.0, 8..28), objective in objective()
    ) {
        let points: Vec<(f64, f64)> = ys.iter().enumerate().map(|(i, &y)| (1.0 + i as f64, y)).collect();
        let best = least_criterion(&points, objective);
        let size = points.len() as f64;
        let one = 3.0 * size.ln() + size * (misfit(&points, objective) / size).ln();
        for strategy in STRATEGIES {
            let found = fit(&points, objective, strategy).unwrap();
            prop_assert!(found.bic >= best - 1e-6, "{strategy:?}: {} is less than {best}", found.bic);
            let most = one + slack(objective, size);
            prop_assert!(strategy == TOP_DOWN || found.bic <= most, "{} is more than {one}", found.bic);
        }
    }

    #[test]
    fn with_relative_noise_around_two_lines_the_fit_is_as_good_as_the_truth((points, cut) in two_lines(), weighted in any::<bool>()) {
        let objective = if weighted { Objective::Weighted } else { Objective::Logarithmic };
        let truth = misfit(&points[..cut], objective) + misfit(&points[cut..], objective);
        let size = points.len() as f64;
        let truth = 7.0 * size.ln() + size * (truth / size).ln();
        let found = fit(&points, objective, BOTH).unwrap();
        prop_assert!(found.bic <= truth + slack(objective, size), "{} instead of {truth}: {found:?}", found.bic);
    }

    #[test]
    fn order_does_not_matter_and_equal_places_stay_together(
        steps in prop::collection::vec((0u8..3, 0.5f64..2.0), 12..80), objective in objective(), seed in any::<u64>()
    ) {
        let mut x = 1.0;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for &(step, y) in &steps {
            x += f64::from(step);
            points.push((x, y * x));
        }
        prop_assume!(points.last().unwrap().0 > 1.0);
        for strategy in STRATEGIES {
            let found = fit(&points, objective, strategy).unwrap();
            let mut shuffled = points.clone();
            shuffled.sort_by_key(|point| (point.0.to_bits() ^ point.1.to_bits()).wrapping_mul(seed | 1));
            prop_assert_eq!(&found, &fit(&shuffled, objective, strategy).unwrap());
            prop_assert!(found.segments.windows(2).all(|pair| pair[0].to < pair[1].from));
            prop_assert!(found.segments.iter().all(|segment| segment.points >= SHORTEST && segment.from < segment.to));
            prop_assert_eq!(found.segments.iter().map(|segment| segment.points).sum::<usize>(), points.len());
        }
    }
}
