//! Sizes whose calls differ much more, or much less, than the model says.

use crate::kernel::{Fitted, mean};

use super::{SURE, durations, groups, mean_and_error};

/// A deviation is off if it is by this factor.
const FACTOR: f64 = 1.5;

/// Calls that differ by less, in parts of their duration, look alike.
const ALIKE: f64 = 0.002;
/// One size of so many is enough to tell how calls differ.
const FEW: usize = 10;

/// The group of sizes where the modelled deviation is furthest off, if it is.
pub(super) fn find(fitted: &[Fitted]) -> Option<String> {
    let repeated: Vec<&Fitted> = fitted.iter().filter(|fitted| fitted.size.deviation().is_some()).collect();
    if repeated.len() * FEW < fitted.len() {
        return Some("hardly any call was repeated with the same arguments: the noise is not known".into());
    }
    let worst = groups(repeated.into_iter().filter(|fitted| fitted.deviation > 0.0))
        .into_iter()
        .filter_map(|group| {
            let ratios = group.iter().filter_map(|fitted| Some((fitted.size.deviation()? / fitted.deviation).powi(2)));
            let ratios: Vec<f64> = ratios.collect();
            let (centre, seen) = mean_and_error(&ratios);
            // Of normal noise: what a few sizes happen to differ by may be less.
            let variances = group.iter().map(|fitted| 2.0 / (fitted.size.calls.len() - 1) as f64);
            let error = seen.max(variances.sum::<f64>().sqrt() / group.len() as f64);
            let widest = |fitted: &&Fitted| fitted.deviation.max(fitted.size.deviation().unwrap_or(0.0));
            let differ = mean(group.iter().map(|fitted| widest(fitted) / fitted.size.seconds)) > ALIKE;
            let is_off = centre.sqrt() > FACTOR || centre.sqrt() < 1.0 / FACTOR;
            (differ && is_off && (centre - 1.0).abs() > SURE * error).then_some((centre.sqrt(), group))
        })
        .max_by(|(a, _), (b, _)| a.ln().abs().total_cmp(&b.ln().abs()))?;
    let (times, group) = worst;
    let percent = 100.0 * mean(group.iter().map(|fitted| fitted.deviation / fitted.size.seconds));
    let durations = durations(&group);
    Some(format!(
        "calls of {durations} differ {times:.2} times as much as the model's {percent:.1} %: the deviation depends on the \
         size otherwise than its terms"
    ))
}
