mod factorial;

use proptest::prelude::*;

use super::*;

fn options(budget: f64, seed: u64) -> Options {
    Options { budget, cheaper: Vec::new(), better: Better::Lower, ordered: Vec::new(), seed }
}

fn levels(counts: &[usize]) -> Vec<Domain> {
    counts.iter().map(|&count| Domain::Levels { count, base: 0 }).collect()
}

fn level(setting: &Setting) -> usize {
    match *setting {
        Setting::Level(level) => level,
        Setting::Coordinate(_) => panic!("{setting:?}"),
    }
}

fn place(setting: &Setting) -> f64 {
    match *setting {
        Setting::Coordinate(place) => place,
        Setting::Level(_) => panic!("{setting:?}"),
    }
}

/// Runs until the budget is spent, and gives all trials.
fn search(tuner: &mut Tuner, at_once: usize, value: impl Fn(&Trial) -> Option<f64>) -> Vec<Trial> {
    let mut all = Vec::new();
    loop {
        let asked = tuner.ask(at_once);
        if asked.is_empty() {
            return all;
        }
        for trial in &asked {
            tuner.tell(trial.number, value(trial)).unwrap();
        }
        all.extend(asked);
    }
}

/// A surface of 4 x 3 x 5 x 2 points with two interactions and one best point, 3 % ahead of the next.
fn surface(point: &[Setting]) -> f64 {
    let x: Vec<usize> = point.iter().map(level).collect();
    let main = [[9.0, 6.0, 5.0, 7.0][x[0]], [2.0, 1.0, 3.0][x[1]], [4.0, 3.5, 1.0, 2.0, 2.5][x[2]], [0.0, 0.8][x[3]]];
    let pair = if x[0] == 2 && x[1] == 1 { 1.5 } else { 0.0 } + if x[2] == 2 && x[3] == 0 { 0.5 } else { 0.0 };
    20.0 + main.iter().sum::<f64>() + pair
}

fn found_of(at_once: usize, budget: f64) -> usize {
    let domains = levels(&[4, 3, 5, 2]);
    let all = crate::design::Plan::Full.make(&domains, 0).unwrap().points;
    let best = all.iter().map(|point| surface(point)).fold(f64::INFINITY, f64::min);
    let found = |seed: &u64| {
        let mut tuner = Tuner::new(&domains, options(budget, *seed)).unwrap();
        let trials = search(&mut tuner, at_once, |trial| Some(surface(&trial.point)));
        assert!(trials.len() as f64 == budget && tuner.spent() == budget);
        tuner.best().unwrap().value <= 1.01 * best
    };
    (0..40).filter(found).count()
}

#[test]
fn a_quarter_of_the_points_finds_the_best() {
    let found = found_of(1, 30.0);
    assert!(found >= 39, "{found} of 40");
}

#[test]
fn several_at_once_find_it_too() {
    let found = found_of(4, 30.0);
    assert!(found >= 38, "{found} of 40");
}

/// Branin's function (L. C. W. Dixon, G. P. Szegő, 1978): three minima of 0.397887.
#[test]
fn ranges() {
    let branin = |trial: &Trial| {
        let (x, y) = (15.0 * place(&trial.point[0]) - 5.0, 15.0 * place(&trial.point[1]));
        let pi = std::f64::consts::PI;
        let bow = y - 5.1 / (4.0 * pi * pi) * x * x + 5.0 / pi * x - 6.0;
        Some(bow * bow + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * x.cos() + 10.0)
    };
    let mut worst: f64 = 0.0;
    for seed in 0..10 {
        let mut tuner = Tuner::new(&[Domain::Range; 2], options(30.0, seed)).unwrap();
        search(&mut tuner, 1, branin);
        worst = worst.max(tuner.best().unwrap().value);
    }
    assert!(worst < 0.8, "{worst}");
}

/// Cheap runs, a tenth of the price, tell the order but for a point in ten.
#[test]
fn cheap_runs_help() {
    let domains = levels(&[6, 5, 4, 4]);
    let truth = |point: &[Setting]| {
        let x: Vec<f64> = point.iter().map(|setting| level(setting) as f64).collect();
        10.0 + (x[0] - 3.0).powi(2) + 2.0 * (x[1] - 1.0).abs() + (x[2] * x[3] - 4.0).abs()
    };
    let value = |trial: &Trial| {
        let noise = 1.0 + 0.05 * ((trial.point.iter().map(level).sum::<usize>() * 7 % 5) as f64 - 2.0) / 2.0;
        Some(if trial.cost < 1.0 { 0.3 * truth(&trial.point) * noise } else { truth(&trial.point) })
    };
    let mut sums = (0.0, 0.0);
    for seed in 0..15 {
        for (cheaper, sum) in [(vec![0.1], &mut sums.0), (vec![], &mut sums.1)] {
            let mut tuner = Tuner::new(&domains, Options { cheaper, ..options(12.0, seed) }).unwrap();
            let trials = search(&mut tuner, 1, value);
            assert!(trials.iter().map(|trial| trial.cost).sum::<f64>() <= 12.0 + 1e-9);
            *sum += tuner.best().unwrap().value;
        }
    }
    assert!(sums.0 < sums.1, "{sums:?}");
}

#[test]
fn small_spaces_are_tried_out() {
    let mut tuner = Tuner::new(&levels(&[3, 2]), options(100.0, 1)).unwrap();
    let mut points: Vec<_> = search(&mut tuner, 3, |trial| Some(surface_of_two(&trial.point)))
        .iter()
        .map(|trial| space::identity(&trial.point))
        .collect();
    points.sort();
    points.dedup();
    assert_eq!((points.len(), tuner.spent()), (6, 6.0));
    assert_eq!(tuner.best().unwrap().value, 0.0);
}

fn surface_of_two(point: &[Setting]) -> f64 {
    (level(&point[0]) * 2 + level(&point[1])) as f64
}

#[test]
fn failures_are_no_end() {
    let mut tuner = Tuner::new(&levels(&[3, 4]), options(12.0, 1)).unwrap();
    let value = |trial: &Trial| (level(&trial.point[0]) == 2).then(|| f64::from(level(&trial.point[1]) as u32));
    assert_eq!(search(&mut tuner, 1, value).len(), 12);
    assert_eq!(tuner.best().unwrap().value, 0.0);
    let mut none = Tuner::new(&levels(&[3, 4]), options(5.0, 1)).unwrap();
    assert_eq!((search(&mut none, 2, |_| None).len(), none.best()), (5, None));
}

/// The next kind of runs waits for all results of the one before.
#[test]
fn results_are_waited_for() {
    let cheaper = vec![0.1, 0.3];
    let mut tuner = Tuner::new(&levels(&[6, 6]), Options { cheaper, ..options(10.0, 1) }).unwrap();
    let first = tuner.ask(100);
    assert!(first.iter().all(|trial| trial.fidelity == 0) && first.len() > 10);
    assert!(tuner.ask(1).is_empty());
    first.iter().for_each(|trial| tuner.tell(trial.number, Some(trial.number as f64)).unwrap());
    let second = tuner.ask(100);
    assert!(second.iter().all(|trial| trial.fidelity == 1) && second.len() == first.len().div_ceil(3));
    assert!(second.iter().all(|trial| first.iter().any(|other| other.point == trial.point)));
}

#[test]
fn what_is_refused() {
    let message = |options| Tuner::new(&levels(&[2]), options).unwrap_err().to_string();
    assert!(message(options(0.5, 0)).ends_with("; allow at least 1"));
    assert!(message(options(f64::NAN, 0)).ends_with("; allow at least 1"));
    assert!(message(Options { cheaper: vec![0.5, 0.2], ..options(5.0, 0) }).contains("which 0.2 does not"));
    assert!(Tuner::new(&[], options(5.0, 0)).unwrap_err().to_string().ends_with("; name at least one factor"));
    let mut tuner = Tuner::new(&levels(&[2]), options(5.0, 0)).unwrap();
    assert!(tuner.tell(0, None).unwrap_err().to_string().starts_with("run 0 was not asked for; "));
    tuner.ask(1);
    tuner.tell(0, None).unwrap();
    assert!(tuner.tell(0, None).unwrap_err().to_string().ends_with("; tell each once"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn searches_repeat_themselves(seed: u64, at_once in 1usize..5, cheap: bool) {
        let domains = [Domain::Range, levels(&[3])[0], Domain::Range];
        let cheaper = if cheap { vec![0.2] } else { vec![] };
        let run = || {
            let mut tuner = Tuner::new(&domains, Options { cheaper: cheaper.clone(), ..options(8.0, seed) }).unwrap();
            search(&mut tuner, at_once, |trial| {
                Some(place(&trial.point[0]) + level(&trial.point[1]) as f64 - place(&trial.point[2]))
            })
        };
        let trials = run();
        prop_assert!(trials.iter().map(|trial| trial.cost).sum::<f64>() <= 8.0 + 1e-9);
        prop_assert_eq!(run(), trials);
    }
}
