use hpcast_models::compute::Term;
use hpcast_stats::normal;

use super::*;
use crate::kernel::{Calls, Errors, Recipe, fit};

/// Uniform numbers that a seed gives (splitmix64).
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        normal::draw(self.uniform())
    }
}

/// How calls of a kernel behave that anybody could measure.
struct Machine {
    sizes: usize,
    repeats: usize,
    processors: u32,
    /// Expected seconds of a size M, N.
    expected: fn(f64, f64) -> f64,
    /// The duration of a call, by what is expected.
    call: fn(f64, &mut Chance) -> f64,
}

const LINE: fn(f64, f64) -> f64 = |m, n| 2e-6 + 3e-9 * m * n;
const QUIET: fn(f64, &mut Chance) -> f64 = |expected, chance| expected * (1.0 + 0.02 * chance.normal());

impl Machine {
    fn warnings(&self, seed: u64) -> Vec<String> {
        let mut chance = Chance(seed << 32);
        let (mut m, mut n, mut seconds, mut processors) = (vec![], vec![], vec![], vec![]);
        for _ in 0..self.sizes {
            // As people choose them: spread evenly over the orders of magnitude.
            let [rows, columns] = [0, 1].map(|_| (10.0 * (300f64).powf(chance.uniform())).round());
            for processor in 0..self.processors {
                for _ in 0..self.repeats {
                    m.push(rows);
                    n.push(columns);
                    seconds.push((self.call)((self.expected)(rows, columns), &mut chance));
                    processors.push((processor, 0));
                }
            }
        }
        let terms: Vec<Term> = ["1", "M*N", "M", "N"].iter().map(|text| text.parse().unwrap()).collect();
        let calls = Calls { arguments: vec![("M".into(), &m), ("N".into(), &n)], seconds: &seconds, processors };
        // Noise is relative, and sizes reach over five orders of magnitude.
        let (noise, errors) = (Some(Noise::HalfNormal), Errors::Relative);
        let recipe = Recipe { terms, noise, errors, ..Recipe::default() };
        fit(&calls, &recipe).unwrap().fit.unwrap().warnings
    }

    /// How many of these seeds give a warning with these words.
    fn seen(&self, seeds: std::ops::Range<u64>, words: &str) -> usize {
        seeds.filter(|seed| self.warnings(*seed).iter().any(|warning| warning.contains(words))).count()
    }
}

const CLEAN: Machine = Machine { sizes: 150, repeats: 8, processors: 1, expected: LINE, call: QUIET };

/// Noise of several kinds and designs of several sizes: hardly ever a false alarm. Of 1,200 seeds, seven gave one.
#[test]
fn clean_data_raise_no_alarm() {
    let half_normal: fn(f64, &mut Chance) -> f64 = |expected, chance| expected * (1.0 + 0.05 * chance.normal().abs());
    let skewed: fn(f64, &mut Chance) -> f64 = |expected, chance| expected * (0.05 * chance.normal()).exp();
    let clock: fn(f64, &mut Chance) -> f64 = |expected, chance| expected + 1e-7 * chance.normal().abs();
    let machines = [
        CLEAN,
        Machine { call: half_normal, ..CLEAN },
        Machine { call: skewed, repeats: 3, sizes: 60, ..CLEAN },
        Machine { call: clock, ..CLEAN },
        Machine { sizes: 30, repeats: 4, ..CLEAN },
        Machine { sizes: 40, processors: 4, ..CLEAN },
    ];
    let mut alarms = Vec::new();
    for (place, machine) in machines.iter().enumerate() {
        for seed in 0..30 {
            alarms.extend(machine.warnings(seed).into_iter().map(|warning| (place, seed, warning)));
        }
    }
    assert!(alarms.len() <= 3, "{} of 180: {alarms:#?}", alarms.len());
}

#[test]
fn a_jump_is_seen_and_where_it_is() {
    let jump: fn(f64, f64) -> f64 = |m, n| LINE(m, n) * if m > 400.0 { 1.25 } else { 1.0 };
    let machine = Machine { expected: jump, ..CLEAN };
    let seen = (0..10).filter(|seed| {
        let is_there =
            |warning: &String| warning.starts_with("where M is about 3") || warning.starts_with("where M is about 4");
        machine.warnings(*seed).iter().any(|warning| warning.contains("a jump") && is_there(warning))
    });
    assert!(seen.count() >= 9);
}

#[test]
fn a_bend_is_seen() {
    // Beyond the cache each element takes three times as long.
    let bend: fn(f64, f64) -> f64 = |m, n| 2e-6 + 1e-9 * m * n + 2e-9 * (m * n - 40_000.0).max(0.0);
    let machine = Machine { expected: bend, ..CLEAN };
    assert!(machine.seen(0..10, "a bend") >= 7);
    assert_eq!(machine.seen(0..10, "modelled"), 10);
}

#[test]
fn a_range_that_is_off_is_seen() {
    let curve: fn(f64, f64) -> f64 = |m, n| 2e-6 + 3e-9 * (m * n).powf(1.1);
    assert_eq!(Machine { expected: curve, ..CLEAN }.seen(0..10, "modelled"), 10);
}

#[test]
fn modes_are_seen() {
    let modes: fn(f64, &mut Chance) -> f64 =
        |expected, chance| QUIET(expected, chance) * if chance.uniform() < 0.03 { 3.0 } else { 1.0 };
    let machine = Machine { call: modes, ..CLEAN };
    assert!(machine.seen(0..10, "there are modes") >= 9);
}

#[test]
fn a_deviation_that_the_terms_do_not_have_is_seen() {
    // Calls in the middle of the range differ much more: no sum of the terms has a hill.
    let hill: fn(f64, &mut Chance) -> f64 = |expected, chance| {
        let relative = if (1e-4..1e-3).contains(&expected) { 0.1 } else { 0.01 };
        expected * (1.0 + relative * chance.normal())
    };
    assert!(Machine { call: hill, ..CLEAN }.seen(0..10, "times as much as the model's") >= 9);
    let single = Machine { repeats: 1, ..CLEAN };
    assert_eq!(single.seen(0..5, "hardly any call was repeated"), 5);
}
