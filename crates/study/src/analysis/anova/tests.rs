use proptest::prelude::*;

use super::*;
use crate::analysis::data::tests::frame;

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found:e} for {expected:e}");
}

/// Terms with their degrees of freedom, sums of squares, F and p.
type Expected<'a> = &'a [(&'a [usize], usize, f64, f64, f64)];

fn assert_terms(anova: &Anova, expected: Expected) {
    assert_eq!(anova.terms.len(), expected.len());
    for (term, (factors, freedom, squares, f, p)) in anova.terms.iter().zip(expected) {
        let test = term.test.unwrap();
        assert_eq!((&term.factors[..], term.freedom), (*factors, *freedom));
        assert_close(term.squares, *squares);
        assert_close(test.f, *f);
        assert_close(test.p, *p);
        assert_close(term.share, squares / anova.total.0);
    }
}

/// Values of statsmodels 0.15: anova_lm(ols("y ~ C(a) * C(b)"), typ=2).
#[test]
fn unbalanced_repetitions() {
    let rows = [
        (0, 0, 4.1),
        (0, 0, 4.6),
        (0, 1, 5.9),
        (0, 1, 6.3),
        (0, 1, 6.0),
        (0, 2, 7.7),
        (1, 0, 5.2),
        (1, 0, 5.0),
        (1, 1, 9.1),
        (1, 1, 8.6),
        (1, 2, 8.8),
        (1, 2, 9.6),
        (1, 2, 9.1),
        (2, 0, 6.6),
        (2, 1, 7.3),
        (2, 1, 6.9),
        (2, 2, 12.4),
        (2, 2, 11.5),
    ];
    let rows: Vec<_> = rows.iter().map(|&(a, b, y)| (vec![a, b], Some(y))).collect();
    let anova = Anova::new(&frame(&["a", "b"], &rows), 0).unwrap();
    assert_eq!((anova.noise, anova.error.1, &anova.rest), (Noise::Repetitions, 9, &None));
    assert_close(anova.error.0, 1.1683333333333326);
    assert_terms(
        &anova,
        &[
            (&[0], 2, 15.212477364185183, 58.592994127389474, 6.911004765403691e-06),
            (&[1], 2, 48.37423926894718, 186.32017978053847, 4.74948979561625e-08),
            (&[0, 1], 4, 12.311332159624401, 23.709412860902926, 8.490096423399986e-05),
        ],
    );
}

const SINGLE: [f64; 12] = [12.1, 14.0, 13.2, 18.4, 15.1, 16.6, 9.4, 12.3, 11.9, 13.1, 10.2, 16.0];

fn single(without: Option<usize>) -> Anova {
    let value = |i: usize| (without != Some(i)).then_some(SINGLE[i]);
    let rows: Vec<_> = (0..12).map(|i| (vec![i / 6, i / 2 % 3, i % 2], value(i))).collect();
    Anova::new(&frame(&["a", "b", "c"], &rows), 0).unwrap()
}

/// Values of statsmodels 0.15: anova_lm(ols("y ~ (C(a) + C(b) + C(c))**2"), typ=2), all points once.
#[test]
fn interactions_of_three_factors_serve_as_noise() {
    let anova = single(None);
    assert_eq!((anova.noise, anova.error.1, anova.missing), (Noise::Interactions { of: 3 }, 2, 0));
    assert_terms(
        &anova,
        &[
            (&[0], 1, 22.68749999999961, 5.196602405039036, 0.15024057505351268),
            (&[1], 2, 15.095000000000176, 1.7287650314945786, 0.36646614437604674),
            (&[2], 1, 28.52083333333365, 6.532735254819689, 0.12500938740371273),
            (&[0, 1], 2, 0.6049999999999853, 0.06928803206718666, 0.9352017136736894),
            (&[0, 2], 1, 0.14083333333334128, 0.03225806451613082, 0.8740118423302542),
            (&[1, 2], 2, 0.8016666666666786, 0.09181141439206084, 0.9159090909090898),
        ],
    );
    // Balanced: all sums add up.
    let sum: f64 = anova.terms.iter().map(|term| term.squares).sum::<f64>() + anova.error.0;
    assert_close(sum, anova.total.0);
}

/// The same without its fourth point.
#[test]
fn a_run_is_missing() {
    let anova = single(Some(3));
    assert_eq!((anova.noise, anova.error.1, anova.missing), (Noise::Interactions { of: 3 }, 1, 1));
    assert_terms(
        &anova,
        &[
            (&[0], 1, 12.544000000000043, 9.215059687786999, 0.20258838232196164),
            (&[1], 2, 12.845138888888888, 4.718141006019797, 0.3095473546160895),
            (&[2], 1, 17.689000000000103, 12.994674012855917, 0.17227092375336375),
            (&[0, 1], 2, 2.234583333333325, 0.8207835935108638, 0.6152748587388086),
            (&[0, 2], 1, 3.511249999999999, 2.5794306703397627, 0.3545345215072572),
            (&[1, 2], 2, 4.088749999999984, 1.5018365472910882, 0.49977058957269127),
        ],
    );
}

/// Two factors, all points once: their interaction is the noise.
#[test]
fn two_factors_without_repetitions() {
    let rows: Vec<_> = (0..6).map(|i| (vec![i / 3, i % 3], Some(SINGLE[i]))).collect();
    let anova = Anova::new(&frame(&["a", "b"], &rows), 0).unwrap();
    assert_eq!((anova.noise, anova.error.1, anova.terms.len()), (Noise::Interactions { of: 2 }, 2, 2));
}

#[test]
fn nothing_to_test_with() {
    let one = |values: &[f64]| {
        let rows: Vec<_> = values.iter().enumerate().map(|(i, &y)| (vec![i], Some(y))).collect();
        Anova::new(&frame(&["a"], &rows), 0).unwrap()
    };
    let saturated = one(&[1.0, 2.0, 4.0]);
    assert_eq!((saturated.noise, saturated.terms[0].test, saturated.deviation()), (Noise::Saturated, None, None));
    assert_close(saturated.terms[0].share, 1.0);
    // A sum of two effects, twice the same.
    let rows: Vec<_> = (0..24)
        .map(|i| (vec![i / 4 % 3, i % 4], Some(0.1 * (i / 4 % 3) as f64 + 1e3 / 3.0 * (i % 4) as f64)))
        .collect();
    let exact = Anova::new(&frame(&["a", "b"], &rows), 0).unwrap();
    assert_eq!((exact.noise, exact.interactions, exact.terms[1].test), (Noise::Exact, false, None));
    let constant = one(&[0.1, 0.1, 0.1]);
    assert_eq!((constant.terms[0].share, constant.total.0), (0.0, 0.0));
}

/// In half of a factorial of four factors, pairs cannot be told apart: main effects only, and what is left is the noise.
#[test]
fn fractions_without_repetitions() {
    let rows: Vec<_> = (0..8usize)
        .map(|i| {
            let (a, b, c) = (i / 4, i / 2 % 2, i % 2);
            (vec![a, b, c, (a + b + c) % 2], Some(SINGLE[i]))
        })
        .collect();
    let anova = Anova::new(&frame(&["a", "b", "c", "d"], &rows), 0).unwrap();
    assert_eq!((anova.noise, anova.error.1, anova.interactions), (Noise::Interactions { of: 2 }, 3, false));
}

#[test]
fn what_cannot_be_analysed() {
    let message = |rows: &[(Vec<usize>, Option<f64>)]| Anova::new(&frame(&["a"], rows), 0).unwrap_err().to_string();
    assert!(message(&[(vec![0], None)]).starts_with("no run has a value of `time`; "));
    assert!(message(&[(vec![0], Some(1.0)), (vec![1], None)]).starts_with("no factor has two levels"));
}

/// A range of many values is a parabola: here exactly.
#[test]
fn ranges_are_trends() {
    let rows: Vec<_> = (0..30)
        .map(|i| {
            let x = (1.3f64).powi(i as i32).ln();
            (vec![i, i * 7 % 2], Some(3.0 + x - 0.1 * x * x + 0.5 * (i * 7 % 2) as f64 + 1e-3 * (i as f64).sin()))
        })
        .collect();
    let mut frame = frame(&["x", "b"], &rows);
    frame.factors[0].continuous = true;
    for (i, level) in frame.factors[0].levels.iter_mut().enumerate() {
        level.number = Some((1.3f64).powi(i as i32));
    }
    let anova = Anova::new(&frame, 0).unwrap();
    assert_eq!(anova.codings, [Some(Coding::Trend { logarithmic: true }), Some(Coding::Levels)]);
    assert_eq!(anova.terms.iter().map(|term| term.freedom).collect::<Vec<_>>(), [2, 1, 1]);
    assert!(anova.error.0 < 1e-4 && anova.terms[0].test.unwrap().p < 1e-12 && anova.terms[2].test.unwrap().p > 1e-3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Of a balanced design, whatever the values: sums of squares add up, and shares do not depend on units.
    #[test]
    fn sums_add_up(values in prop::collection::vec(-10.0..10.0f64, 24), unit in 1e-6..1e6f64) {
        let make = |unit: f64| {
            let rows: Vec<_> = values.iter().enumerate()
                .map(|(i, y)| (vec![i / 2 % 3, i / 6 % 2, i / 12], Some(unit * y))).collect();
            Anova::new(&frame(&["a", "b", "c"], &rows), 0).unwrap()
        };
        let (anova, scaled) = (make(1.0), make(unit));
        let rest = anova.rest.as_ref().map_or(0.0, |rest| rest.squares);
        let sum: f64 = anova.terms.iter().map(|term| term.squares).sum::<f64>() + rest + anova.error.0;
        prop_assert!((sum - anova.total.0).abs() < 1e-9 * anova.total.0.max(1e-12));
        for (term, other) in anova.terms.iter().zip(&scaled.terms) {
            prop_assert!((term.share - other.share).abs() < 1e-9);
        }
    }
}
