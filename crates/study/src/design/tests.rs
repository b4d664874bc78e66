use proptest::prelude::*;

use super::*;

const FEW: [Domain; 3] =
    [Domain::Levels { count: 2, base: 1 }, Domain::Levels { count: 3, base: 0 }, Domain::Levels { count: 2, base: 0 }];

fn level(setting: &Setting) -> usize {
    match *setting {
        Setting::Level(level) => level,
        Setting::Coordinate(_) => panic!("{setting:?}"),
    }
}

fn levels(plan: Plan, domains: &[Domain]) -> Vec<Vec<usize>> {
    plan.make(domains, 3).unwrap().points.iter().map(|point| point.iter().map(level).collect()).collect()
}

#[test]
fn full_factorials_count_through_all_points() {
    let points = levels(Plan::Full, &FEW);
    assert_eq!(points.len(), 12);
    assert_eq!(points[..4], [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]);
    assert!(points.is_sorted() && points.windows(2).all(|two| two[0] != two[1]));
}

#[test]
fn one_at_a_time_starts_from_the_base() {
    assert_eq!(levels(Plan::OneAtATime, &FEW), [[1, 0, 0], [0, 0, 0], [1, 1, 0], [1, 2, 0], [1, 0, 1]]);
}

/// A design that would fill the world's memory is counted, and refused.
#[test]
fn huge_designs_are_counted_only() {
    let many = [Domain::Levels { count: 10, base: 0 }; 9];
    assert_eq!(Plan::Full.count(&many), Ok(1_000_000_000));
    assert_eq!(Plan::Full.make(&many, 0), Err(DesignError::TooMany { count: 1_000_000_000 }));
    assert_eq!(Plan::Full.count(&[many[0]; 60]), Ok(u128::MAX));
    assert_eq!(Plan::Saltelli { base: usize::MAX }.count(&many), Ok(usize::MAX as u128 * 11));
    assert_eq!(
        Plan::Random { points: 1_000_000_001 }.count(&many),
        Err(DesignError::TooFewDifferent { available: 1_000_000_000, wanted: 1_000_000_001 })
    );
}

#[test]
fn what_is_refused() {
    let message = |plan: Plan, domains: &[Domain]| plan.count(domains).unwrap_err().to_string();
    assert!(message(Plan::Full, &[]).ends_with("; name at least one factor"));
    assert!(message(Plan::Full, &[Domain::Range]).starts_with("factor 0 is a range"));
    assert!(message(Plan::OneAtATime, &[FEW[0], Domain::Range]).starts_with("factor 1 is a range"));
    assert!(message(Plan::Full, &[Domain::Levels { count: 0, base: 0 }]).starts_with("factor 0 has no levels"));
    assert!(message(Plan::Full, &[Domain::Levels { count: 3, base: 3 }]).ends_with("use a number from 0 to 2"));
    assert!(message(Plan::LatinHypercube { points: 0 }, &FEW).ends_with("; ask for at least one"));
    assert!(message(Plan::Morris { trajectories: 1, grid: 5 }, &FEW).ends_with("such as 4"));
    let single = [Domain::Levels { count: 1, base: 0 }];
    assert!(message(Plan::Morris { trajectories: 1, grid: 4 }, &single).contains("no effect to find"));
}

#[test]
fn saltelli_points_differ_in_one_factor() {
    let domains = [Domain::Range; 4];
    let design = Plan::Saltelli { base: 16 }.make(&domains, 9).unwrap();
    let Structure::Saltelli(layout) = design.structure else { panic!() };
    assert_eq!((layout.points(), design.points.len()), (96, 96));
    for row in 0..16 {
        let (a, b) = (&design.points[layout.a(row)], &design.points[layout.b(row)]);
        for factor in 0..4 {
            let mixed = &design.points[layout.mixed(row, factor)];
            assert!((0..4).all(|other| mixed[other] == if other == factor { b[other] } else { a[other] }));
        }
    }
    // Direction numbers are known for 24 factors.
    assert_eq!(Plan::Saltelli { base: 8 }.make(&[Domain::Range; 30], 9).unwrap().points.len(), 8 * 32);
}

#[test]
fn morris_ways_change_each_factor_once() {
    let domains = [Domain::Range, FEW[1], Domain::Range, FEW[0]];
    let design = Plan::Morris { trajectories: 10, grid: 4 }.make(&domains, 2).unwrap();
    let Structure::Morris(ways) = &design.structure else { panic!() };
    assert_eq!(design.points.len(), 50);
    for (way, steps) in ways.steps.iter().enumerate() {
        let mut changed = Vec::new();
        for (step, &(factor, by)) in steps.iter().enumerate() {
            let (before, after) = ways.points(way, step);
            let (before, after) = (&design.points[before], &design.points[after]);
            assert!((0..4).all(|other| (before[other] != after[other]) == (other == factor)), "{before:?} {after:?}");
            assert!((by.abs() - 2.0 / 3.0).abs() < 1e-15);
            if let (Setting::Coordinate(x), Setting::Coordinate(y)) = (before[factor], after[factor]) {
                assert!((y - x - by).abs() < 1e-15);
            }
            changed.push(factor);
        }
        changed.sort();
        assert_eq!(changed, [0, 1, 2, 3]);
    }
}

#[test]
fn nearly_all_points_by_chance() {
    let mut points = levels(Plan::Random { points: 11 }, &FEW);
    points.sort();
    points.dedup();
    assert_eq!(points.len(), 11);
    assert_eq!(levels(Plan::Random { points: 12 }, &FEW).len(), 12);
}

fn domain() -> impl Strategy<Value = Domain> {
    prop_oneof![Just(Domain::Range), (1usize..9).prop_map(|count| Domain::Levels { count, base: count / 2 })]
}

fn plan() -> impl Strategy<Value = Plan> {
    prop_oneof![
        Just(Plan::Full),
        Just(Plan::OneAtATime),
        (1usize..40).prop_map(|points| Plan::LatinHypercube { points }),
        (1usize..40).prop_map(|points| Plan::Random { points }),
        (1usize..20).prop_map(|base| Plan::Saltelli { base }),
        (1usize..6, 1usize..5).prop_map(|(trajectories, half)| Plan::Morris { trajectories, grid: 2 * half }),
    ]
}

proptest! {
    #[test]
    fn designs_keep_their_promises(plan in plan(), domains in prop::collection::vec(domain(), 1..5), seed: u64) {
        let Ok(count) = plan.count(&domains) else { return Ok(()) };
        let design = plan.make(&domains, seed).unwrap();
        prop_assert_eq!(design.points.len() as u128, count);
        for point in &design.points {
            prop_assert_eq!(point.len(), domains.len());
            for (setting, domain) in point.iter().zip(&domains) {
                match (setting, domain) {
                    (Setting::Level(level), Domain::Levels { count, .. }) => prop_assert!(level < count),
                    (Setting::Coordinate(place), Domain::Range) => prop_assert!((0.0..=1.0).contains(place)),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
        }
        prop_assert_eq!(plan.make(&domains, seed).unwrap(), design);
    }

    #[test]
    fn hypercubes_use_each_stratum_once(points in 1usize..60, factors in 1usize..6, seed: u64) {
        let domains: Vec<Domain> = vec![Domain::Range; factors];
        let design = Plan::LatinHypercube { points }.make(&domains, seed).unwrap();
        for factor in 0..factors {
            let mut strata: Vec<usize> = design.points.iter().map(|point| match point[factor] {
                Setting::Coordinate(place) => (place * points as f64) as usize,
                Setting::Level(_) => usize::MAX,
            }).collect();
            strata.sort();
            prop_assert_eq!(strata, (0..points).collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_points_of_levels_are_different(points in 1usize..60, seed: u64) {
        let domains = [Domain::Levels { count: 4, base: 0 }; 4];
        let design = Plan::Random { points }.make(&domains, seed).unwrap();
        let mut made: Vec<Vec<usize>> = design.points.iter().map(|point| point.iter().map(level).collect()).collect();
        made.sort();
        made.dedup();
        prop_assert_eq!(made.len(), points);
    }
}
