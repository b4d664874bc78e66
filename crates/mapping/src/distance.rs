//! How far apart nodes are.

use hpcast_platform::{Interconnect, Path};

use crate::kinds::is_own;

/// Distances that are remembered.
const REMEMBERED: usize = 1 << 20;

/// A link between switches costs so many times what leaving the node costs: that decides only where all else is equal.
pub const HOP: i64 = 64;

/// Distances along the ways that messages take. The last ones are remembered, since the same are asked for over and over;
/// routes are computed, not stored.
pub struct Distances<'m> {
    interconnect: &'m Interconnect,
    /// Whether a link joins a node to its switch, by link.
    own: Vec<bool>,
    /// Both nodes, and their distance.
    memory: Vec<(u32, u32, i64)>,
    path: Path,
    /// How often somebody asked.
    pub asked: u64,
}

impl<'m> Distances<'m> {
    pub fn new(interconnect: &'m Interconnect) -> Distances<'m> {
        let own = (0..interconnect.links()).map(|link| is_own(interconnect, link)).collect();
        let memory = vec![(u32::MAX, u32::MAX, 0); REMEMBERED];
        Distances { interconnect, own, memory, path: Path::default(), asked: 0 }
    }

    /// From one node to another.
    #[inline]
    pub fn get(&mut self, from: u32, to: u32) -> i64 {
        self.asked += 1;
        if from == to {
            return 0;
        }
        let key = (u64::from(from) << 32 | u64::from(to)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (key >> 44) as usize;
        let (known_from, known_to, distance) = self.memory[place];
        if (known_from, known_to) == (from, to) {
            return distance;
        }
        self.interconnect.path(from, to, &mut self.path);
        let hops = self.path.links.iter().filter(|link| !self.own[**link as usize]).count();
        let distance = 1 + HOP * hops as i64;
        self.memory[place] = (from, to, distance);
        distance
    }
}
