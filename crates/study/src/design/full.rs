//! Every level of each factor with every level of all others.

use super::{DesignError, Domain, Setting, level_counts};

pub(super) fn count(domains: &[Domain]) -> Result<u128, DesignError> {
    Ok(level_counts(domains)?.iter().fold(1, |product: u128, &count| product.saturating_mul(count as u128)))
}

/// The last factor changes fastest, as the digits of a number do.
pub(super) fn points(domains: &[Domain]) -> Vec<Vec<Setting>> {
    let mut points: Vec<Vec<Setting>> = vec![Vec::new()];
    for count in domains.iter().filter_map(|domain| domain.levels()) {
        let with = |point: &Vec<Setting>, level| point.iter().copied().chain([Setting::Level(level)]).collect();
        points = points.iter().flat_map(|point| (0..count).map(move |level| with(point, level))).collect();
    }
    points
}
