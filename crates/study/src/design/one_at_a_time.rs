//! The base, and all points that differ from it in one factor.
//!
//! Cheap and easy to read, blind to interactions: C. Daniel, "One-at-a-time plans", J. Am. Stat. Assoc. 68, 1973.

use super::{DesignError, Domain, Setting, level_counts};

pub(super) fn count(domains: &[Domain]) -> Result<u128, DesignError> {
    Ok(level_counts(domains)?.iter().fold(1, |sum: u128, &count| sum.saturating_add(count as u128 - 1)))
}

/// The base first, then factor by factor.
pub(super) fn points(domains: &[Domain]) -> Vec<Vec<Setting>> {
    let levels = |domain: &Domain| match *domain {
        Domain::Levels { count, base } => (count, base),
        Domain::Range => (0, 0),
    };
    let base: Vec<Setting> = domains.iter().map(|domain| Setting::Level(levels(domain).1)).collect();
    let mut points = vec![base.clone()];
    for (factor, domain) in domains.iter().enumerate() {
        let (count, own) = levels(domain);
        for level in (0..count).filter(|&level| level != own) {
            let mut point = base.clone();
            point[factor] = Setting::Level(level);
            points.push(point);
        }
    }
    points
}
