//! Measured calls, by processor and by size.

use std::collections::BTreeMap;

use super::Calls;

/// Calls with the same arguments.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub arguments: Vec<f64>,
    /// Mean of the durations.
    pub seconds: f64,
    /// Single durations.
    pub calls: Vec<f64>,
}

impl Size {
    /// The middle of its calls.
    pub fn median(&self) -> f64 {
        median(self.calls.clone())
    }

    /// The standard deviation of its calls, if there are several.
    pub fn deviation(&self) -> Option<f64> {
        let freedom = self.calls.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
        let squares: f64 = self.calls.iter().map(|call| (call - self.seconds).powi(2)).sum();
        Some((squares / freedom as f64).sqrt())
    }
}

/// What was measured on one processor.
pub(crate) struct Sample {
    pub processor: Option<(u32, u32)>,
    pub sizes: Vec<Size>,
}

/// Calls by processor and by arguments.
pub(crate) fn samples(calls: &Calls) -> Vec<Sample> {
    let mut by_processor: BTreeMap<Option<(u32, u32)>, Vec<usize>> = BTreeMap::new();
    for call in 0..calls.seconds.len() {
        by_processor.entry(calls.processors.get(call).copied()).or_default().push(call);
    }
    let key = |call: usize| calls.arguments.iter().map(move |(_, values)| values[call]);
    let mut samples = Vec::new();
    for (processor, mut numbers) in by_processor {
        numbers.sort_by(|&a, &b| key(a).partial_cmp(key(b)).unwrap_or(std::cmp::Ordering::Equal));
        let same = |a: &usize, b: &usize| key(*a).eq(key(*b));
        let sizes: Vec<Size> = numbers
            .chunk_by(same)
            .map(|numbers| {
                let calls: Vec<f64> = numbers.iter().map(|&call| calls.seconds[call]).collect();
                Size { arguments: key(numbers[0]).collect(), seconds: mean(calls.iter().copied()), calls }
            })
            .collect();
        samples.push(Sample { processor, sizes });
    }
    samples
}

/// Least and most of each argument.
pub(crate) fn ranges(calls: &Calls) -> BTreeMap<String, [f64; 2]> {
    let range = |values: &[f64]| {
        [values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(0.0, f64::max)]
    };
    calls.arguments.iter().map(|(name, values)| (name.clone(), range(values))).collect()
}

/// The value in the middle; zero if there is none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count => 0.5 * (values[(count - 1) / 2] + values[count / 2]),
    }
}

pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}
