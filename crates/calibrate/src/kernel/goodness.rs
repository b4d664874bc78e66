//! How well a model fits.

use std::collections::BTreeMap;

use hpcast_models::compute::ErrorRange;

use super::sample::{Size, mean};

/// A size with what the model says of it.
pub(crate) struct Fitted<'s> {
    pub size: &'s Size,
    /// The expected duration.
    pub model: f64,
    /// The standard deviation of its calls according to the model; zero without noise.
    pub deviation: f64,
}

impl Fitted<'_> {
    /// (model - measured) / measured; none if the calls took no time, or next to none.
    pub fn error(&self) -> Option<f64> {
        Some(self.model / self.size.seconds - 1.0).filter(|error| error.is_finite())
    }
}

/// Part of the variance that is explained.
pub(crate) fn r_squared(fitted: &[Fitted]) -> f64 {
    let centre = mean(fitted.iter().map(|fitted| fitted.size.seconds));
    let all: f64 = fitted.iter().map(|fitted| (fitted.size.seconds - centre).powi(2)).sum();
    let left: f64 = fitted.iter().map(|fitted| (fitted.size.seconds - fitted.model).powi(2)).sum();
    if all > 0.0 && all.is_finite() { 1.0 - left / all } else { 1.0 }
}

/// Mean relative error.
pub(crate) fn relative_error(fitted: &[Fitted]) -> f64 {
    mean(fitted.iter().filter_map(Fitted::error).map(f64::abs))
}

/// Decade by decade of the modelled duration; where that is no duration, of the measured one.
pub(crate) fn ranges(fitted: &[Fitted]) -> Vec<ErrorRange> {
    let mut decades: BTreeMap<i32, Vec<f64>> = BTreeMap::new();
    for one in fitted {
        let Some(error) = one.error() else { continue };
        let seconds = if one.model > 0.0 { one.model } else { one.size.seconds };
        decades.entry(seconds.log10().floor() as i32).or_default().push(error);
    }
    let bound = |power: i32| format!("1e{power}").parse().unwrap_or(f64::MAX).min(f64::MAX);
    let range = |(power, errors): (i32, Vec<f64>)| ErrorRange {
        seconds: [bound(power), bound(power + 1)],
        sizes: errors.len() as u64,
        error: mean(errors.iter().map(|error| error.abs())),
        bias: mean(errors.iter().copied()),
    };
    decades.into_iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_by_decade() {
        let size = |seconds| Size { arguments: vec![], seconds, calls: vec![] };
        let sizes = [size(1e-6), size(2e-6), size(1.0), size(0.0), size(3e-4)];
        let models = [2e-6, 1e-6, 1.1, 1e-9, -1e-4];
        let fitted: Vec<Fitted> =
            sizes.iter().zip(models).map(|(size, model)| Fitted { size, model, deviation: 0.0 }).collect();
        let ranges = ranges(&fitted);
        let told: Vec<([f64; 2], u64)> = ranges.iter().map(|range| (range.seconds, range.sizes)).collect();
        assert_eq!(told, [([1e-6, 1e-5], 2), ([1e-4, 1e-3], 1), ([1.0, 10.0], 1)]);
        assert!((ranges[0].error - 0.75).abs() < 1e-12 && (ranges[0].bias - 0.25).abs() < 1e-12);
        assert!((relative_error(&fitted) - (1.0 + 0.5 + 0.1 + 4.0 / 3.0) / 4.0).abs() < 1e-12);
    }
}
