use proptest::prelude::*;

use super::*;
use crate::design::Plan;

fn levels(counts: &[usize]) -> Vec<Domain> {
    counts.iter().map(|&count| Domain::Levels { count, base: 0 }).collect()
}

fn made(domains: &[Domain], wanted: Wanted) -> (Vec<Vec<Setting>>, Fraction) {
    let design = Plan::Fraction(wanted).make(domains, 1).unwrap();
    assert_eq!(design.points.len() as u128, Plan::Fraction(wanted).count(domains).unwrap());
    match design.structure {
        Structure::Fraction(fraction) => (design.points, fraction),
        other => panic!("{other:?}"),
    }
}

fn is_orthogonal(fraction: &Fraction) -> bool {
    matches!(fraction, Fraction::NearlyOrthogonal { balanced: true, dependent } if dependent.is_empty())
}

/// Half of a factorial of three factors: each is the product of the two others.
#[test]
fn half_of_three_factors() {
    let (points, fraction) = made(&levels(&[2, 2, 2]), Wanted::Runs(5));
    assert_eq!(points.len(), 4);
    let Fraction::Regular { resolution, generators, aliases } = fraction else { panic!() };
    assert_eq!((resolution, generators), (3, vec![Generator { factor: 2, product: vec![0, 1] }]));
    assert_eq!(aliases, [[vec![0], vec![1, 2]], [vec![1], vec![0, 2]], [vec![2], vec![0, 1]]]);
}

#[test]
fn what_does_not_vary_is_no_factor_and_ranges_have_ends() {
    let domains = [Domain::Range, Domain::Levels { count: 1, base: 0 }, Domain::Range, levels(&[2])[0]];
    let (points, fraction) = made(&domains, Wanted::Runs(4));
    assert!(points.iter().all(|point| point[1] == Setting::Level(0)));
    assert_eq!(points[3][..3], [Setting::Coordinate(1.0), Setting::Level(0), Setting::Coordinate(1.0)]);
    let Fraction::Regular { generators, .. } = fraction else { panic!() };
    assert_eq!(generators, [Generator { factor: 3, product: vec![0, 2] }]);
}

/// Arrays that are known to exist: L9(3^4), L18(2 3^7) in part, L16(4^3 2^6) in part, L12(3 2^4), L8(4 2^4), L25(5^6) in
/// part.
#[test]
fn known_orthogonal_arrays_are_found() {
    for (counts, runs) in [
        (vec![3, 3, 3, 3], 9),
        (vec![2, 3, 3, 3, 3], 18),
        (vec![4, 4, 2, 2, 2], 16),
        (vec![3, 2, 2, 2, 2], 12),
        (vec![4, 2, 2, 2, 2], 8),
        (vec![5, 5, 5], 25),
    ] {
        let (points, fraction) = made(&levels(&counts), Wanted::Runs(runs));
        assert!(points.len() == runs && is_orthogonal(&fraction), "{counts:?}: {fraction:?}");
    }
}

#[test]
fn runs_of_resolution_three() {
    for (counts, runs) in [(vec![3, 3, 3, 3], 9), (vec![3, 2, 2, 2], 12), (vec![4, 2, 2], 8), (vec![6, 2, 3, 2], 36)] {
        let (points, _) = made(&levels(&counts), Wanted::Resolution(3));
        assert_eq!(points.len(), runs, "{counts:?}");
    }
    assert_eq!(made(&levels(&[3, 5]), Wanted::Resolution(3)).1, Fraction::Whole);
}

#[test]
fn what_is_refused() {
    let message = |counts: &[usize], wanted| Plan::Fraction(wanted).count(&levels(counts)).unwrap_err().to_string();
    assert!(message(&[2; 7], Wanted::Runs(7)).ends_with("; ask for at least 8"));
    assert!(message(&[3; 4], Wanted::Runs(8)).ends_with("; ask for at least 9"));
    assert!(message(&[2; 3], Wanted::Resolution(2)).starts_with("resolution 2 is not known; "));
    assert!(message(&[2, 3, 3], Wanted::Resolution(4)).contains("factor 1 has 3; ask for resolution 3"));
    assert!(message(&[2; 65], Wanted::Runs(128)).starts_with("65 factors are more than the 64"));
    assert!(message(&[9; 9], Wanted::Runs(1000)).contains("the 512 that can be made even; "));
    assert!(message(&[3; 3], Wanted::Runs(0)).starts_with("a design of no points"));
    let billions = Plan::Fraction(Wanted::Resolution(20)).make(&levels(&[2; 40]), 0).unwrap_err();
    assert_eq!(billions, DesignError::TooMany { count: 1 << 40 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn levels_are_balanced(counts in prop::collection::vec(1usize..5, 2..6), runs in 1usize..30, seed: u64) {
        let domains = levels(&counts);
        let Ok(design) = Plan::Fraction(Wanted::Runs(runs)).make(&domains, seed) else { return Ok(()) };
        prop_assert!(design.points.len() <= runs);
        for (factor, &count) in counts.iter().enumerate() {
            let mut times = vec![0; count];
            for point in &design.points {
                let Setting::Level(level) = point[factor] else { panic!() };
                times[level] += 1;
            }
            prop_assert!(times.iter().max().unwrap() - times.iter().min().unwrap() <= 1);
        }
    }
}
