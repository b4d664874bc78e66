//! What traffic means for the links of a machine.

use std::collections::BTreeMap;

use hpcast_platform::{Interconnect, LinkId, Path};
use hpcast_units::Bytes;

use crate::kinds::{Kinds, is_own};
use crate::traffic::Traffic;

/// What links carry if all messages take the fixed ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Bytes times the links that they cross beyond those between nodes and their switches.
    pub hop_bytes: u128,
    /// Bytes that leave their node.
    pub between_nodes: Bytes,
    /// By kind of link, upper levels first.
    pub kinds: Vec<KindLoad>,
    /// The link that takes longest to carry what it has to.
    pub busiest: Option<LinkId>,
    /// Bytes that it carries.
    pub busiest_bytes: u64,
    /// How long that takes, in seconds.
    pub busiest_seconds: f64,
}

/// What the links of a kind carry.
#[derive(Clone, Debug, PartialEq)]
pub struct KindLoad {
    /// Such as `leaf -> core`.
    pub name: String,
    /// How many links of it carry anything.
    pub used: u32,
    /// Bytes over all of them.
    pub bytes: u128,
    /// Bytes over the one that carries most.
    pub most: u64,
}

impl Load {
    /// Of ranks on these nodes.
    pub fn of(traffic: &Traffic, nodes: &[u32], interconnect: &Interconnect) -> Load {
        let mut link_bytes = vec![0u64; interconnect.links() as usize];
        let mut between = 0u64;
        let mut path = Path::default();
        for (from, to, counts) in traffic.pairs() {
            let (from, to) = (nodes[from as usize], nodes[to as usize]);
            if from != to {
                between = between.saturating_add(counts.bytes);
            }
            interconnect.path(from, to, &mut path);
            for link in &path.links {
                let carried = &mut link_bytes[*link as usize];
                *carried = carried.saturating_add(counts.bytes);
            }
        }
        let kinds = Kinds::new(interconnect);
        let mut by_kind = BTreeMap::new();
        let mut hop_bytes = 0;
        let (mut busiest, mut busiest_seconds) = (None, 0.0);
        for (link, &bytes) in (0..).zip(&link_bytes).filter(|(_, bytes)| **bytes > 0) {
            hop_bytes += if is_own(interconnect, link) { 0 } else { u128::from(bytes) };
            let kind = by_kind.entry(kinds.of(link)).or_insert((0, 0, 0));
            *kind = (kind.0 + 1, kind.1 + u128::from(bytes), bytes.max(kind.2));
            let seconds = bytes as f64 / interconnect.capacity(link);
            if seconds > busiest_seconds {
                (busiest, busiest_seconds) = (Some(link), seconds);
            }
        }
        let load =
            |(kind, (used, bytes, most)): (crate::kinds::Kind, _)| KindLoad { name: kind.name, used, bytes, most };
        Load {
            hop_bytes,
            between_nodes: Bytes::new(between),
            kinds: by_kind.into_iter().map(load).collect(),
            busiest,
            busiest_bytes: busiest.map_or(0, |link: u32| link_bytes[link as usize]),
            busiest_seconds,
        }
    }
}
