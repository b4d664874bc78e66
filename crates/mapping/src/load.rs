//! What traffic means for the links of a machine.

use std::collections::BTreeMap;

use hpcast_platform::{Interconnect, LinkId, Path};
use hpcast_units::Bytes;

use crate::kinds::{Height, Heights, is_own};
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
    /// As reports and machine files call it, such as `level-2` or `global-link`.
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
        let heights = Heights::new(interconnect);
        let mut by_kind: BTreeMap<String, (Height, u32, u128, u64)> = BTreeMap::new();
        let mut hop_bytes = 0;
        let (mut busiest, mut busiest_seconds) = (None, 0.0);
        for (link, &bytes) in (0..).zip(&link_bytes).filter(|(_, bytes)| **bytes > 0) {
            hop_bytes += if is_own(interconnect, link) { 0 } else { u128::from(bytes) };
            let height = heights.of(link);
            let (highest, used, sum, most) = by_kind.entry(interconnect.link_kind(link)).or_insert((height, 0, 0, 0));
            (*highest, *used, *most) = (height.min(*highest), *used + 1, bytes.max(*most));
            *sum += u128::from(bytes);
            let seconds = bytes as f64 / interconnect.capacity(link);
            if seconds > busiest_seconds {
                (busiest, busiest_seconds) = (Some(link), seconds);
            }
        }
        let kind = |(name, (height, used, bytes, most))| (height, KindLoad { name, used, bytes, most });
        let mut kinds: Vec<(Height, KindLoad)> = by_kind.into_iter().map(kind).collect();
        kinds.sort_by_key(|(height, _)| *height);
        Load {
            hop_bytes,
            between_nodes: Bytes::new(between),
            kinds: kinds.into_iter().map(|(_, kind)| kind).collect(),
            busiest,
            busiest_bytes: busiest.map_or(0, |link: u32| link_bytes[link as usize]),
            busiest_seconds,
        }
    }
}
