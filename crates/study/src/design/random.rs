//! Points by chance. Where all factors have levels, no point comes twice.

use std::collections::BTreeSet;

use hpcast_engine::random::Key;

use super::{DesignError, Domain, Setting, full, settings};

pub(super) fn count(domains: &[Domain], points: usize) -> Result<u128, DesignError> {
    if points == 0 {
        return Err(DesignError::NoPoints);
    }
    match full::count(domains) {
        Ok(available) if available < points as u128 => Err(DesignError::TooFewDifferent { available, wanted: points }),
        _ => Ok(points as u128),
    }
}

pub(super) fn points(domains: &[Domain], points: usize, seed: u64) -> Vec<Vec<Setting>> {
    match full::count(domains) {
        Err(_) => (0..).take(points).map(|index| draw(domains, seed, index)).collect(),
        // Of most points, those that are left out would be drawn over and over.
        Ok(available) if available <= 2 * points as u128 => {
            let mut all = full::points(domains);
            Key::new(seed).purpose("random design").shuffle(&mut all, 0);
            all.truncate(points);
            all
        }
        Ok(_) => different(domains, points, seed),
    }
}

fn different(domains: &[Domain], points: usize, seed: u64) -> Vec<Vec<Setting>> {
    let level = |setting: &Setting| match *setting {
        Setting::Level(level) => level,
        Setting::Coordinate(_) => 0,
    };
    let mut known: BTreeSet<Vec<usize>> = BTreeSet::new();
    (0..)
        .map(|index| draw(domains, seed, index))
        .filter(|point| known.insert(point.iter().map(level).collect()))
        .take(points)
        .collect()
}

fn draw(domains: &[Domain], seed: u64, index: u64) -> Vec<Setting> {
    let stream = Key::new(seed).purpose("random design");
    settings(domains, (0..).map(|factor| stream.uniform(factor, index)))
}
