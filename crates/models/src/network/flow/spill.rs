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
}

impl Spills {
    /// Those of the flows that a bottleneck limits.
    #[inline]
    pub(super) fn of(&self, bottleneck: u32) -> &[Spill] {
        &self.lists[bottleneck as usize]
    }

    /// The bottleneck begins to limit the flow of this path on that link.
    pub(super) fn add(
        &mut self,
        bottleneck: u32,
        link: u32,
        path: Path,
        share: f64,
        paths: &mut Paths,
        weights: &Weights,
    ) {
        if self.lists.len() <= bottleneck as usize {
            self.lists.resize(bottleneck as usize + 1, Vec::new());
        }
        let list = &mut self.lists[bottleneck as usize];
        for (number, hop) in (path.first()..).zip(paths.of_mut(path)) {
            if hop.link != link {
                hop.spill = list.len() as u32;
                list.push(Spill { link: hop.link, hop: number, part: weights.of(*hop) * share });
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
    pub(super) fn remove(&mut self, bottleneck: u32, link: u32, path: Path, paths: &mut Paths) {
        let list = &mut self.lists[bottleneck as usize];
        for place in 0..path.len() {
            let hop = paths.at(path, place);
            if hop.link != link {
                list.swap_remove(hop.spill as usize);
                if let Some(moved) = list.get(hop.spill as usize) {
                    paths.set_spill(moved.hop, hop.spill);
                }
            }
        }
    }
}
