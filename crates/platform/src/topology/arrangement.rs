//! Which switch of a group has the cable to which other group, in dragonflies of all kinds.
//!
//! Every group has the same number of ports for global cables, numbered switch by switch. With g groups, the first
//! g - 1 ports lead to one other group each; if there are more ports, the next g - 1 do so again, and so on. What is left
//! stays empty, so that all pairs of groups are joined by the same number of cables.

use super::divisor::Divisor;
use super::{TopologyError, pairs};

/// In which order the ports of a group lead to the other groups.
///
/// Camarero, Vallejo and Beivide, "Topological characterization of Hamming and dragonfly networks and its implications
/// on routing" (ACM TACO 2014); Hastings, Rincon-Cruz, Spehlmann, Meyers, Xu, Bunde and Leung, "Comparing global link
/// arrangements for dragonfly networks" (CLUSTER 2015).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// By their numbers, whatever the group's own: port k leads to group k, or k + 1 from the group's own number on.
    #[default]
    Absolute,
    /// Counted from the group: port k of group i leads to group i + k + 1, modulo g.
    Relative,
    /// To both sides in turn: ports 2k and 2k + 1 of group i lead to groups i + k + 1 and i - k - 1.
    Circulant,
    /// Counted backwards from the group: port k of group i leads to group i - k - 1.
    PalmTree,
}

impl Arrangement {
    /// The port of one group that leads to another, below `groups` - 1.
    #[inline]
    fn port(self, groups: u32, from: u32, to: u32) -> u32 {
        let ahead = if to > from { to - from } else { to + (groups - from) };
        match self {
            Arrangement::Absolute => to - (to > from) as u32,
            Arrangement::Relative => ahead - 1,
            Arrangement::PalmTree => groups - ahead - 1,
            Arrangement::Circulant if ahead <= groups / 2 => 2 * (ahead - 1),
            Arrangement::Circulant => 2 * (groups - ahead - 1) + 1,
        }
    }
}

/// The cables between groups, numbered by pair of groups, then by which of several it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlobalCables {
    groups: u32,
    /// Cables between two groups.
    several: Divisor,
    /// Ports of a switch.
    per_switch: Divisor,
    arrangement: Arrangement,
}

impl GlobalCables {
    /// Joins groups whose `switches` have `per_switch` global cables each.
    pub fn new(
        groups: u32,
        switches: u32,
        per_switch: u32,
        arrangement: Arrangement,
    ) -> Result<GlobalCables, TopologyError> {
        let ports = switches as u64 * per_switch as u64;
        if groups as u64 > ports + 1 {
            return Err(TopologyError::Groups { groups, others: groups - 1, ports, most: ports + 1 });
        }
        let several = ports / (groups as u64 - 1).max(1);
        let several = Divisor::new(u32::try_from(several).unwrap_or(u32::MAX));
        Ok(GlobalCables { groups, several, per_switch: Divisor::new(per_switch), arrangement })
    }

    /// All of them.
    pub fn count(&self) -> u64 {
        pairs::count(self.groups).saturating_mul(self.several.value() as u64)
    }

    /// How many join two groups.
    pub fn several(&self) -> Divisor {
        self.several
    }

    /// Which of the cables between two groups takes a message to this node.
    #[inline]
    pub fn choose(&self, destination: u32) -> u32 {
        self.several.remainder(destination)
    }

    /// The number of a cable, and whether this direction leads to the group with the higher number.
    #[inline]
    pub fn number(&self, from: u32, to: u32, which: u32) -> (u32, bool) {
        let pair = pairs::number(from.min(to), from.max(to));
        (pair * self.several.value() + which, from < to)
    }

    /// The switch of group `from`, counted within it, that has the cable to group `to`.
    #[inline]
    pub fn switch(&self, from: u32, to: u32, which: u32) -> u32 {
        let port = self.arrangement.port(self.groups, from, to);
        self.per_switch.quotient(which * (self.groups - 1) + port)
    }

    /// Lower group, upper group, and which of their cables this is.
    pub fn ends(&self, number: u32) -> (u32, u32, u32) {
        let (pair, which) = self.several.divide(number);
        let (lower, upper) = pairs::ends(pair);
        (lower, upper, which)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Arrangement; 4] =
        [Arrangement::Absolute, Arrangement::Relative, Arrangement::Circulant, Arrangement::PalmTree];

    #[test]
    fn every_port_leads_to_another_group() {
        for arrangement in ALL {
            for groups in 2..12 {
                for from in 0..groups {
                    let others = (0..groups).filter(|&to| to != from);
                    let mut ports: Vec<u32> = others.map(|to| arrangement.port(groups, from, to)).collect();
                    ports.sort();
                    assert_eq!(ports, (0..groups - 1).collect::<Vec<_>>(), "{arrangement:?}, group {from} of {groups}");
                }
            }
        }
    }

    /// The groups that the ports of group 2 of 6 lead to, in order.
    #[test]
    fn as_published() {
        let order = |arrangement: Arrangement| {
            let mut groups = [0; 5];
            [0, 1, 3, 4, 5].into_iter().for_each(|to| groups[arrangement.port(6, 2, to) as usize] = to);
            groups
        };
        assert_eq!(order(Arrangement::Absolute), [0, 1, 3, 4, 5]);
        assert_eq!(order(Arrangement::Relative), [3, 4, 5, 0, 1]);
        assert_eq!(order(Arrangement::Circulant), [3, 1, 4, 0, 5]);
        assert_eq!(order(Arrangement::PalmTree), [1, 0, 5, 4, 3]);
    }

    #[test]
    fn ports_that_are_left_over_stay_empty() {
        let cables = GlobalCables::new(5, 5, 2, Arrangement::Absolute).unwrap();
        assert_eq!((cables.several().value(), cables.count()), (2, 20));
        assert!((0..2).all(|which| (1..5).all(|to| cables.switch(0, to, which) < 4)), "10 ports, 8 used");
    }

    #[test]
    fn too_few_ports() {
        let error = GlobalCables::new(10, 4, 2, Arrangement::Absolute).unwrap_err().to_string();
        assert!(error.contains("10 groups") && error.contains("9 others, but has ports for 8: write at most 9 groups"));
    }
}
