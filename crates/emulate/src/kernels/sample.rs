//! Kernel sampling: calls are executed until the mean of those that are alike is known (seed 000, section 3.3).
//!
//! Calls are alike that have the same arguments. Where it is known how much work a call is, as for the BLAS, those are alike whose
//! sizes are about the same, and what is measured is the time of a unit of work: the sizes in HPL are hardly ever the same twice
//! (seed 000, section 4.2).

use std::collections::HashMap;

use hpcast_stats::StudentT;

/// How calls are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Half the width of the 95 % interval of the mean, as a share of it.
    pub precision: f64,
    /// Calls of a class that are executed in any case.
    pub least: u32,
    /// Calls of a class after which the mean is taken as it is.
    pub most: u32,
    /// Whether calls that are not executed differ as those differ that were; otherwise all take the mean.
    pub varies: bool,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { precision: 0.05, least: 10, most: 200, varies: false }
    }
}

/// What was measured, by classes of calls that are alike.
#[derive(Default)]
pub struct Samples {
    classes: HashMap<Vec<u64>, Class>,
}

/// Measured calls that are alike: their times, and the mean and sum of squared deviations of these (Welford's recurrence).
#[derive(Default)]
struct Class {
    seconds: Vec<f64>,
    mean: f64,
    squares: f64,
    is_known: bool,
}

/// The class of a call: the same arguments, or about the same sizes, in steps of the square root of two.
pub fn class(arguments: &[f64], by_size: bool) -> Vec<u64> {
    let size = |argument: &f64| (2.0 * argument.max(0.5).log2()).round() as i64 as u64;
    arguments.iter().map(|argument| if by_size { size(argument) } else { argument.to_bits() }).collect()
}

impl Samples {
    /// The time of a call of that class, if it is known well enough; `uniform` says which of those that differ.
    pub fn time(&self, class: &[u64], sampling: Sampling, uniform: impl FnOnce() -> f64) -> Option<f64> {
        let class = self.classes.get(class).filter(|class| class.is_known)?;
        if !sampling.varies {
            return Some(class.mean);
        }
        let count = class.seconds.len();
        Some(class.seconds[((uniform() * count as f64) as usize).min(count - 1)])
    }

    /// A call was measured.
    pub fn add(&mut self, class: Vec<u64>, seconds: f64, sampling: Sampling) {
        let class = self.classes.entry(class).or_default();
        class.seconds.push(seconds);
        let before = seconds - class.mean;
        class.mean += before / class.seconds.len() as f64;
        class.squares += before * (seconds - class.mean);
        let count = class.seconds.len();
        let is_enough = count >= sampling.least.max(2) as usize;
        class.is_known = is_enough && (count >= sampling.most as usize || class.is_precise(sampling.precision));
    }
}

impl Class {
    /// Whether the 95 % interval of the mean is no wider than that, to each side and as a share of the mean.
    fn is_precise(&self, precision: f64) -> bool {
        let freedom = self.seconds.len() as f64 - 1.0;
        let error = (self.squares / freedom / (freedom + 1.0)).sqrt();
        StudentT { freedom }.two_sided(precision * self.mean / error) <= 0.05
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLING: Sampling = Sampling { precision: 0.05, least: 3, most: 5, varies: false };

    fn measured(seconds: &[f64], sampling: Sampling) -> Samples {
        let mut samples = Samples::default();
        seconds.iter().for_each(|&seconds| samples.add(class(&[5.0], false), seconds, sampling));
        samples
    }

    #[test]
    fn a_mean_is_known_when_calls_are_alike() {
        let five = class(&[5.0], false);
        let time = |seconds: &[f64], sampling| measured(seconds, sampling).time(&five, sampling, || 0.0);
        assert_eq!(time(&[1.0, 1.01], SAMPLING), None, "too few");
        let mean = time(&[1.0, 1.01, 0.99], SAMPLING).expect("three calls that are alike");
        assert!((mean - 1.0).abs() < 1e-12);
        assert_eq!(time(&[1.0, 1.01, 0.99], Sampling { precision: 0.001, ..SAMPLING }), None, "not so precisely");
        assert_eq!(time(&[1.0, 2.0, 1.0, 2.0], SAMPLING), None, "they differ too much");
        assert_eq!(time(&[1.0, 2.0, 1.0, 2.0, 4.0], SAMPLING), Some(2.0), "but there is an end");
        let other = measured(&[1.0, 1.0, 1.0], SAMPLING).time(&class(&[6.0], false), SAMPLING, || 0.0);
        assert_eq!(other, None, "other arguments are another class");
    }

    #[test]
    fn calls_may_differ_as_those_did_that_were_measured() {
        let sampling = Sampling { precision: 2.0, varies: true, ..SAMPLING };
        let samples = measured(&[1.0, 2.0, 3.0], sampling);
        let drawn = |uniform: f64| samples.time(&class(&[5.0], false), sampling, || uniform);
        assert_eq!([drawn(0.0), drawn(0.5), drawn(0.999)], [Some(1.0), Some(2.0), Some(3.0)]);
    }

    #[test]
    fn sizes_that_are_about_the_same_are_alike() {
        assert_eq!(class(&[100.0, 64.0], true), class(&[105.0, 60.0], true));
        assert_ne!(class(&[100.0, 64.0], true), class(&[100.0, 32.0], true));
        assert_ne!(class(&[100.0], false), class(&[105.0], false));
    }
}
