//! What networks of switches with the same number of nodes each have in common: how their cables are numbered.

use super::divisor::Divisor;
use super::{Duplex, LinkId, TopologyError, Vertex};

/// Nodes on switches, and cables between the switches.
///
/// Cable n < nodes joins node n with its switch; the cables between switches follow. Links `0..cables` lead forward
/// (from a node to its switch), those back follow in the same order, unless both directions share one link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cabling {
    nodes: u32,
    per_switch: Divisor,
    cables: u32,
    /// What leads from the id of a link forward to that of the link back: 0 where they are the same.
    back: u32,
}

impl Cabling {
    /// So many switches that carry so many nodes each, with so many cables between them. `name` is for the error.
    pub fn new(
        carriers: u64,
        per_switch: u32,
        between: u64,
        duplex: Duplex,
        name: &str,
    ) -> Result<Cabling, TopologyError> {
        let too_large = || TopologyError::TooLarge(name.into());
        let nodes = carriers.checked_mul(per_switch as u64).ok_or_else(too_large)?;
        let cables = nodes.checked_add(between).ok_or_else(too_large)?;
        let links = cables.checked_mul(2).and_then(|links| u32::try_from(links).ok()).ok_or_else(too_large)?;
        let (nodes, cables) = (nodes as u32, links / 2);
        let back = if duplex == Duplex::Split { cables } else { 0 };
        Ok(Cabling { nodes, per_switch: Divisor::new(per_switch), cables, back })
    }

    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    pub fn per_switch(&self) -> u32 {
        self.per_switch.value()
    }

    pub fn cables(&self) -> u32 {
        self.cables
    }

    pub fn links(&self) -> u32 {
        self.cables + self.back
    }

    pub fn is_shared(&self) -> bool {
        self.back == 0
    }

    /// Which of the switches that carry nodes has this one.
    #[inline]
    pub fn switch_of(&self, node: u32) -> u32 {
        self.per_switch.quotient(node)
    }

    /// The link along a cable in one of its directions.
    #[inline]
    pub fn directed(&self, cable: u32, forward: bool) -> LinkId {
        if forward { cable } else { cable + self.back }
    }

    /// What a link is called in machine files, where those between switches are all alike.
    pub fn kind(&self, id: LinkId) -> String {
        if self.cable(id) < self.nodes { "node-link".into() } else { "switch-link".into() }
    }

    /// What holds for the kind of a link: of nodes, within groups, or between them, whose cables begin with this one.
    pub fn by_kind<K>(&self, id: LinkId, first_global: u32, [node, local, global]: [K; 3]) -> K {
        match self.cable(id) {
            cable if cable < self.nodes => node,
            cable if cable < first_global => local,
            _ => global,
        }
    }

    /// Cables between switches as they are numbered, whatever the direction; those to nodes last.
    pub fn order(&self, id: LinkId) -> u32 {
        if id >= self.cables && id - self.cables < self.nodes { u32::MAX } else { self.cable(id) }
    }

    /// The cable that a link belongs to.
    pub fn cable(&self, id: LinkId) -> u32 {
        if id < self.cables { id } else { id - self.cables }
    }

    /// The ends of a link; `carrier` is the number of the switch that carries nodes, `between` knows the cables between switches.
    pub fn ends(
        &self,
        id: LinkId,
        carrier: impl FnOnce(u32) -> u32,
        between: impl FnOnce(u32) -> (u32, u32),
    ) -> (Vertex, Vertex) {
        let cable = self.cable(id);
        let (tail, head) = if cable < self.nodes {
            (Vertex::Node(cable), Vertex::Switch(carrier(self.switch_of(cable))))
        } else {
            let (tail, head) = between(cable);
            (Vertex::Switch(tail), Vertex::Switch(head))
        };
        if id < self.cables { (tail, head) } else { (head, tail) }
    }
}

/// The methods of a topology that its field `cabling` answers. Where both directions of a cable are one link, a way back
/// crosses those of the way there.
macro_rules! answered_by_cabling {
    () => {
        fn nodes(&self) -> u32 {
            self.cabling.nodes()
        }

        fn links(&self) -> u32 {
            self.cabling.links()
        }

        fn is_shared(&self, _: LinkId) -> bool {
            self.cabling.is_shared()
        }

        fn may_repeat_links(&self) -> bool {
            self.cabling.is_shared()
        }

        fn order(&self, id: LinkId) -> u32 {
            self.cabling.order(id)
        }

        fn cables(&self) -> u64 {
            self.cabling.cables() as u64
        }
    };
}
pub(super) use answered_by_cabling;
