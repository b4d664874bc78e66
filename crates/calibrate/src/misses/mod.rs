//! What a model misses: features of the data that anybody would see in a plot.

mod breaks;
mod modes;
mod scatter;

use hpcast_models::compute::Noise;

use crate::kernel::{Fitted, mean};

/// Groups of sizes, from the shortest calls to the longest, that are looked at one by one.
const GROUPS: usize = 10;
/// A group is off if its mean is, by this part.
const OFF: f64 = 0.05;
/// And by so many of its own standard errors.
const SURE: f64 = 4.0;

/// Warnings, in sentences. `noise` is what was asked for.
pub(crate) fn find(fitted: &[Fitted], names: &[&str], noise: Option<&Noise>) -> Vec<String> {
    let mut warnings = off(fitted);
    warnings.extend(breaks::find(fitted, names));
    if !matches!(noise, Some(Noise::Modes(_))) {
        warnings.extend(modes::find(fitted));
    }
    if matches!(noise, Some(Noise::HalfNormal | Noise::Normal)) {
        warnings.extend(scatter::find(fitted));
    }
    warnings
}

/// From the shortest to the longest, in groups of about as many.
fn groups<'f>(fitted: impl Iterator<Item = &'f Fitted<'f>>) -> Vec<Vec<&'f Fitted<'f>>> {
    let mut order: Vec<&Fitted> = fitted.collect();
    order.sort_by(|a, b| a.size.seconds.total_cmp(&b.size.seconds));
    order.chunks(order.len().div_ceil(GROUPS).max(3)).map(<[&Fitted]>::to_vec).collect()
}

/// The durations of a group, for people.
fn durations(group: &[&Fitted]) -> String {
    let [first, last] = [group[0], group[group.len() - 1]].map(|fitted| fitted.size.seconds);
    format!("{first:.2e} to {last:.2e} s")
}

/// Mean of values, and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let centre = mean(values.iter().copied());
    let variance = mean(values.iter().map(|value| (value - centre).powi(2)));
    (centre, (variance / values.len() as f64).sqrt())
}

/// Ranges of durations where the model is off: a curve, or a jump, that its terms do not have.
fn off(fitted: &[Fitted]) -> Vec<String> {
    let groups = groups(fitted.iter().filter(|fitted| fitted.size.seconds > 0.0));
    let far = |group: &Vec<&Fitted>| {
        let errors: Vec<f64> = group.iter().filter_map(|fitted| fitted.error()).collect();
        let (centre, error) = mean_and_error(&errors);
        (centre.abs() > OFF && centre.abs() > SURE * error).then_some(centre)
    };
    let centres: Vec<(Option<f64>, &Vec<&Fitted>)> = groups.iter().map(|group| (far(group), group)).collect();
    // Neighbours that are off in the same way are one range.
    let way = |centre: &Option<f64>| centre.map(|centre| centre > 0.0);
    let mut warnings = Vec::new();
    for range in centres.chunk_by(|a, b| way(&a.0) == way(&b.0)) {
        let percents: Vec<f64> = range.iter().filter_map(|(centre, _)| Some(100.0 * (*centre)?.abs())).collect();
        let Some(which) = way(&range[0].0).map(|is_long| if is_long { "too long" } else { "too short" }) else {
            continue;
        };
        let (least, most) =
            (percents.iter().copied().fold(f64::INFINITY, f64::min), percents.iter().copied().fold(0.0, f64::max));
        let percent = if percents.len() == 1 { format!("{most:.0}") } else { format!("{least:.0} to {most:.0}") };
        let all: Vec<&Fitted> = range.iter().flat_map(|(_, group)| group.iter().copied()).collect();
        warnings.push(format!("calls of {} are modelled {percent} % {which}", durations(&all)));
    }
    warnings
}

#[cfg(test)]
mod tests;
