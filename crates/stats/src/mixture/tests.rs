use proptest::prelude::*;

use super::*;

/// As a mixture would make them, evenly and in an order that does not matter.
fn values(modes: &[(f64, f64, f64)], n: usize) -> Vec<f64> {
    let draws = |&(weight, mean, deviation): &(f64, f64, f64)| {
        let count = (weight * n as f64).round();
        (0..count as usize).map(move |i| mean + deviation * normal::quantile((i as f64 + 0.5) / count))
    };
    modes.iter().flat_map(draws).collect()
}

fn assert_modes(found: &Mixture, expected: &[(f64, f64, f64)], tolerance: f64) {
    assert_eq!(found.modes().len(), expected.len(), "{found:?}");
    for (mode, &(weight, mean, deviation)) in found.modes().iter().zip(expected) {
        let off =
            [(mode.weight - weight) / weight, (mode.mean - mean) / mean, (mode.deviation - deviation) / deviation];
        assert!(off.iter().all(|off| off.abs() < tolerance), "{found:?}");
    }
}

#[test]
fn one_mode_is_mean_and_deviation() {
    let mixture = Mixture::fit(&values(&[(1.0, 5.0, 0.3)], 1000), 4).unwrap();
    assert_modes(&mixture, &[(1.0, 5.0, 0.3)], 0.01);
}

#[test]
fn modes_are_found_where_they_are() {
    let two = [(0.7, 1.0, 0.1), (0.3, 1.6, 0.2)];
    assert_modes(&Mixture::fit(&values(&two, 2000), 4).unwrap(), &two, 0.02);
    let three = [(0.5, 1.0, 0.05), (0.3, 1.5, 0.05), (0.2, 3.0, 0.3)];
    assert_modes(&Mixture::fit(&values(&three, 2000), 5).unwrap(), &three, 0.02);
}

/// Thesis section 5.1: "a few operations being one order of magnitude slower".
#[test]
fn a_rare_mode_far_away_is_found() {
    let rare = [(0.985, 1e-5, 4e-7), (0.015, 1e-4, 1e-5)];
    assert_modes(&Mixture::fit(&values(&rare, 4000), 4).unwrap(), &rare, 0.02);
    // One within the other.
    let within = [(0.8, 1.0, 0.02), (0.2, 1.0001, 0.3)];
    assert_modes(&Mixture::fit(&values(&within, 4000), 3).unwrap(), &within, 0.05);
}

/// -n/2 (ln(2 pi variance) + 1).
#[test]
fn likelihood_and_bic_of_one_mode_are_as_the_formula_says() {
    let values = [1.0, 2.0, 4.0, 7.0];
    let mixture = Mixture::fit(&values, 1).unwrap();
    let expected = -2.0 * ((std::f64::consts::TAU * 5.25).ln() + 1.0);
    assert!((mixture.log_likelihood() - expected).abs() < 1e-12);
    assert!((mixture.bic() - (2.0 * 4f64.ln() - 2.0 * expected)).abs() < 1e-12);
}

#[test]
fn equal_values_and_outliers_do_not_make_it_collapse() {
    // A clock that ticks: three values a thousand times each.
    let ticks: Vec<f64> = (0..3000).map(|i| 1.0 + f64::from(i % 3)).collect();
    let mixture = Mixture::fit(&ticks, 6).unwrap();
    assert_eq!(mixture.modes().len(), 3, "{mixture:?}");
    assert!(mixture.modes().iter().all(|mode| mode.deviation > 0.0 && mode.deviation < 0.01));
    // A single value far away makes no mode.
    let mut outlier = values(&[(1.0, 1.0, 0.1)], 500);
    outlier.push(50.0);
    assert!(Mixture::fit(&outlier, 4).unwrap().modes().iter().all(|mode| mode.weight > 0.005));
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let error = |values: &[f64], most| {
        let error = Mixture::fit(values, most).unwrap_err();
        assert!(!error.remedy().is_empty());
        error.to_string()
    };
    assert_eq!(error(&[1.0, 2.0], 2), "2 values are too few for a distribution");
    assert_eq!(error(&[1.0, f64::INFINITY, 2.0], 2), "value 1 is not a finite number");
    assert_eq!(error(&[3.0; 9], 2), "all 9 values are equal");
    assert_eq!(error(&[3.0, 1.0, 2.0], 0), "a mixture has at least one mode");
}

#[test]
fn draws_follow_the_mixture() {
    let two = [(0.7, 1.0, 0.1), (0.3, 3.0, 0.2)];
    let mixture = Mixture::fit(&values(&two, 2000), 3).unwrap();
    let n = 10_000;
    let mut draws: Vec<f64> = (0..n).map(|i| mixture.draw((f64::from(i) + 0.5) / f64::from(n))).collect();
    draws.sort_by(f64::total_cmp);
    let distance = |(i, x): (usize, &f64)| (mixture.cdf(*x) - (i as f64 + 0.5) / f64::from(n)).abs();
    assert!(draws.iter().enumerate().map(distance).fold(0.0, f64::max) < 1e-3);
    assert!((draws.iter().sum::<f64>() / f64::from(n) - mixture.expectation()).abs() < 1e-3);
    assert!([0.0, 1.0 - f64::EPSILON].iter().all(|&u| mixture.draw(u).is_finite()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn whatever_the_values_the_mixture_is_one(values in prop::collection::vec(-1e3..1e3f64, 3..80), most in 1..5usize) {
        let Ok(mixture) = Mixture::fit(&values, most) else { return Ok(()) };
        prop_assert!((mixture.modes().iter().map(|mode| mode.weight).sum::<f64>() - 1.0).abs() < 1e-9);
        prop_assert!(mixture.modes().iter().all(|mode| mode.deviation > 0.0 && mode.mean.is_finite()));
        prop_assert!(mixture.log_likelihood().is_finite() && mixture.modes().len() <= most);
    }
}
