//! Kernel sampling: calls are executed until their mean is known (seed 000, section 3.3).

use std::collections::HashMap;

/// What was measured, by the arguments of calls.
#[derive(Default)]
pub struct Samples {
    classes: HashMap<Vec<u64>, Class>,
}

/// Measured calls with the same arguments: their number, mean and sum of squared deviations (Welford's recurrence).
#[derive(Clone, Copy, Default)]
struct Class {
    count: u32,
    mean: f64,
    squares: f64,
}

impl Samples {
    /// The mean of calls with these arguments, if it is known well enough.
    pub fn mean(&mut self, arguments: &[f64], precision: f64, least: u32) -> Option<f64> {
        let class = self.classes.get(&key(arguments))?;
        (class.count >= least.max(2) && class.half_width() <= precision * class.mean).then_some(class.mean)
    }

    /// A call was measured.
    pub fn add(&mut self, arguments: &[f64], seconds: f64) {
        let class = self.classes.entry(key(arguments)).or_default();
        class.count += 1;
        let before = seconds - class.mean;
        class.mean += before / f64::from(class.count);
        class.squares += before * (seconds - class.mean);
    }
}

fn key(arguments: &[f64]) -> Vec<u64> {
    arguments.iter().map(|argument| argument.to_bits()).collect()
}

impl Class {
    /// Half the width of the 95 % interval of the mean.
    fn half_width(&self) -> f64 {
        let count = f64::from(self.count);
        1.96 * (self.squares / (count - 1.0) / count).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_known_when_calls_are_alike() {
        let mut samples = Samples::default();
        for seconds in [1.0, 1.01, 0.99] {
            assert_eq!(samples.mean(&[5.0], 0.05, 3), None);
            samples.add(&[5.0], seconds);
        }
        let mean = samples.mean(&[5.0], 0.05, 3).expect("three calls that are alike");
        assert!((mean - 1.0).abs() < 1e-12);
        assert_eq!(samples.mean(&[6.0], 0.05, 3), None, "other arguments are another class");
        assert_eq!(samples.mean(&[5.0], 0.001, 3), None, "not so precisely");
    }
}
