//! Which links feel a change of a bottleneck's level: the other links of the flows that it limits.
//!
//! A change may reach thousands of flows, which lie scattered in memory with their paths. So what it does to other
//! links is listed in one place for each bottleneck.

use super::path::{Path, Paths, Weights};

/// A link that a flow crosses beside the one that limits it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spill {
    pub link: u32,
    /// Number of the hop.
    hop: u32,
    /// Weight / penalty of the flow there.
    pub part: f64,
}

/// The spills of all bottlenecks, in no order that matters to anybody.
#[derive(Debug, Default)]
pub(super) struct Spills {
    /// By the number of the bottleneck.
    lists: Vec<Vec<Spill>>,
    /// Where each hop stands in its list, by the number of the hop.
    places: Vec<u32>,
}

impl Spills {
    /// Those of the flows that a bottleneck limits.
    #[inline]
    pub(super) fn of(&self, bottleneck: u32) -> &[Spill] {
        &self.lists[bottleneck as usize]
    }

    /// The bottleneck begins to limit the flow of this path on that link.
    pub(super) fn add(&mut self, bottleneck: u32, link: u32, path: Path, share: f64, paths: &Paths, weights: &Weights) {
        if self.lists.len() <= bottleneck as usize {
            self.lists.resize(bottleneck as usize + 1, Vec::new());
        }
        let list = &mut self.lists[bottleneck as usize];
        let end = (path.first() + path.len()) as usize;
        if self.places.len() < end {
            self.places.resize(end, 0);
        }
        for (number, &hop) in (path.first()..).zip(paths.of(path)) {
            if hop.link != link {
                self.places[number as usize] = list.len() as u32;
                list.push(Spill { link: hop.link, hop: number, part: weights.of(hop) * share });
            }
        }
    }

    /// The bottleneck no longer limits anybody.
    pub(super) fn clear(&mut self, bottleneck: u32) {
        if let Some(spills) = self.lists.get_mut(bottleneck as usize) {
            spills.clear();
        }
    }

    /// The bottleneck no longer limits the flow of this path on that link.
    pub(super) fn remove(&mut self, bottleneck: u32, link: u32, path: Path, paths: &Paths) {
        let list = &mut self.lists[bottleneck as usize];
        for (number, hop) in (path.first()..).zip(paths.of(path)) {
            if hop.link != link {
                let place = self.places[number as usize];
                list.swap_remove(place as usize);
                if let Some(moved) = list.get(place as usize) {
                    self.places[moved.hop as usize] = place;
                }
            }
        }
    }
}
