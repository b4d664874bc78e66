//! Which links carried most, and how much of what they could.

use hpcast_platform::Interconnect;
use hpcast_units::Time;
use serde::Serialize;

use crate::totals::seconds;

/// What a link carried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkLoad {
    /// Its id in the machine.
    pub link: u32,
    /// Its name for people.
    pub name: String,
    /// Bytes that crossed it.
    pub bytes: f64,
    /// What it can carry.
    pub capacity_bytes_per_second: f64,
    /// Mean share of its capacity that was used over the whole run, 0 to 1.
    pub load: f64,
}

/// The `top` links with the highest mean load over `duration`, busiest first; links without traffic are left out.
pub fn busiest(interconnect: &Interconnect, link_bytes: &[f64], duration: Time, top: usize) -> Vec<LinkLoad> {
    busiest_of(|link| interconnect.capacity(link), link_bytes, duration, top)
        .into_iter()
        .map(|(link, load)| LinkLoad {
            link,
            name: interconnect.link_name(link),
            bytes: link_bytes[link as usize],
            capacity_bytes_per_second: interconnect.capacity(link),
            load,
        })
        .collect()
}

/// What the links of a kind carried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindLoad {
    /// What they are, such as `global-link`.
    pub kind: String,
    /// How many there are, both directions counted.
    pub links: u32,
    /// Bytes that crossed them, together.
    pub bytes: f64,
    /// Mean share of their capacity that was used over the whole run, 0 to 1.
    pub load: f64,
    /// That of the busiest of them.
    pub greatest_load: f64,
}

/// The kinds of links, the one with the busiest link first.
pub fn by_kind(interconnect: &Interconnect, link_bytes: &[f64], duration: Time) -> Vec<KindLoad> {
    let mut kinds: Vec<(KindLoad, f64)> = Vec::new();
    for (id, &bytes) in (0..).zip(link_bytes) {
        let (name, capacity) = (interconnect.link_kind(id), interconnect.capacity(id));
        let at = kinds.iter().position(|(known, _)| known.kind == name).unwrap_or_else(|| {
            kinds.push((KindLoad { kind: name, links: 0, bytes: 0.0, load: 0.0, greatest_load: 0.0 }, 0.0));
            kinds.len() - 1
        });
        let (sum, capacities) = &mut kinds[at];
        sum.links += 1;
        sum.bytes += bytes;
        sum.greatest_load = sum.greatest_load.max(load(bytes, capacity, duration));
        *capacities += capacity;
    }
    let mean = |(kind, capacity): (KindLoad, f64)| KindLoad { load: load(kind.bytes, capacity, duration), ..kind };
    let mut kinds: Vec<KindLoad> = kinds.into_iter().map(mean).collect();
    kinds.sort_by(|one, other| other.greatest_load.total_cmp(&one.greatest_load));
    kinds
}

/// Every link's mean load over `duration`, for pictures: within 0 to 1, by link id.
pub fn loads(interconnect: &Interconnect, link_bytes: &[f64], duration: Time) -> Vec<f64> {
    let capacity = |link| interconnect.capacity(link);
    (0..).zip(link_bytes).map(|(link, bytes)| load(*bytes, capacity(link), duration).clamp(0.0, 1.0)).collect()
}

fn busiest_of(capacity: impl Fn(u32) -> f64, link_bytes: &[f64], duration: Time, top: usize) -> Vec<(u32, f64)> {
    let busy = (0..).zip(link_bytes).filter(|(_, bytes)| **bytes > 0.0);
    let mut loads: Vec<(u32, f64)> = busy.map(|(link, bytes)| (link, load(*bytes, capacity(link), duration))).collect();
    // The sort is stable: of equally busy links the one with the lower id comes first.
    loads.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    loads.truncate(top);
    loads
}

/// A run of no duration, or a link of no capacity, has no load that could be told.
fn load(bytes: f64, capacity: f64, duration: Time) -> f64 {
    let possible = capacity * seconds(duration);
    if possible > 0.0 { bytes / possible } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_measured_against_capacity() {
        // A slow link with less traffic can be the busier one.
        let capacity = |link| [10e9, 1e9, 10e9, 10e9][link as usize];
        let busiest = busiest_of(capacity, &[2e9, 0.5e9, 0.0, 2e9], Time::from_secs(1.0), 3);
        assert_eq!(busiest, [(1, 0.5), (0, 0.2), (3, 0.2)]);
        assert_eq!(busiest_of(capacity, &[2e9, 0.5e9], Time::from_secs(1.0), 1).len(), 1);
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        assert_eq!(load(1.0, 0.0, Time::from_secs(1.0)), 0.0);
        assert_eq!(load(1.0, 1.0, Time::ZERO), 0.0);
        assert_eq!(load(1.0, f64::INFINITY, Time::from_secs(1.0)), 0.0);
    }
}
