//! Communicators, as programs see them.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

use hpcast_mpi::{Comm, Context, Rank};
use hpcast_objects::{Cartesian, DistGraph, ErrorClass, Graph, Group, Info};

use crate::attributes::Attributes;
use crate::boards::Key;
use crate::fault::{Fault, Handler};
use crate::process::Process;

/// How the ranks of a communicator lie.
#[derive(Clone, Debug)]
pub enum Topology {
    /// A grid.
    Cartesian(Rc<Cartesian>),
    /// A graph that all know.
    Graph(Rc<Graph>),
    /// A graph of which each knows its neighbours.
    DistGraph(Rc<DistGraph>),
}

/// The other side of an inter-communicator. Messages go through a communicator of both groups, one after the other.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Its ranks.
    pub group: Rc<Group>,
    /// The rank of its first in the communicator of both.
    pub first: u32,
    /// The rank of my group's first.
    pub local_first: u32,
    /// My group alone.
    pub local: Comm,
    /// Whether my group comes first in the communicator of both.
    pub is_first: bool,
}

/// What the members of an inter-communicator agree on.
#[derive(Clone, Debug)]
pub struct Bridge {
    /// Both groups, one after the other.
    pub both: Context,
    /// Each group alone.
    pub alone: [Context; 2],
    /// The groups.
    pub groups: [Rc<Group>; 2],
}

impl Bridge {
    /// One between two groups, with new contexts.
    pub fn new(rank: &Rank, groups: [Rc<Group>; 2]) -> Bridge {
        let both = rank.new_context(groups[0].iter().chain(groups[1].iter()).collect());
        let alone = [&groups[0], &groups[1]].map(|group| rank.new_context(group.iter().collect()));
        Bridge { both, alone, groups }
    }

    /// The inter-communicator as one of its members sees it, by its number in the world.
    pub fn seen_by(&self, number: u32, handler: Handler) -> Option<Communicator> {
        let side = usize::from(!self.groups[0].contains(number));
        let group = &self.groups[side];
        let rank = group.rank_of(number)?;
        let firsts = [0, self.groups[0].size()];
        let (local_first, first) = (firsts[side], firsts[1 - side]);
        let total = self.groups[0].size() + self.groups[1].size();
        let comm = Comm::new(self.both, local_first + rank, total);
        let mut seen = Communicator::new(comm, group.clone(), handler);
        seen.peers = Peers { comm, count: self.groups[1 - side].size(), first };
        let local = Comm::new(self.alone[side], rank, group.size());
        seen.remote =
            Some(Remote { group: self.groups[1 - side].clone(), first, local_first, local, is_first: side == 0 });
        Some(seen)
    }
}

/// What messages need of a communicator.
#[derive(Clone, Copy, Debug)]
pub struct Peers {
    /// What messages go through.
    pub comm: Comm,
    /// How many ranks one can send to.
    count: u32,
    /// The rank of the first of them in what messages go through.
    first: u32,
}

impl Peers {
    /// Those of a communicator with one group.
    #[inline]
    pub fn of(comm: Comm) -> Peers {
        Peers { comm, count: comm.size(), first: 0 }
    }

    /// How many ranks one can send to.
    pub fn peers(&self) -> u32 {
        self.count
    }

    /// The rank in what messages go through of one that a program names.
    #[inline(always)]
    pub fn peer(&self, rank: i32) -> Result<u32, Fault> {
        // A negative rank is larger than any.
        if (rank as u32) < self.count {
            return Ok(rank as u32 + self.first);
        }
        Err(self.no_rank(rank))
    }

    #[cold]
    fn no_rank(&self, rank: i32) -> Fault {
        Fault::new(ErrorClass::Rank, format!("{rank} is no rank of a communicator of {} ranks", self.count))
    }

    /// The rank of the first of them in what messages go through.
    #[inline]
    pub fn first(&self) -> u32 {
        self.first
    }
}

/// A communicator. What every message needs comes first.
#[repr(C)]
pub struct Communicator {
    peers: Peers,
    /// My group.
    pub group: Rc<Group>,
    /// The other group of an inter-communicator.
    pub remote: Option<Remote>,
    /// Collective calls so far: all members make them in the same order.
    calls: Cell<u32>,
    /// What is done about faults.
    pub handler: Cell<Handler>,
    /// MPI_Comm_set_name.
    pub name: RefCell<String>,
    /// Attributes by key.
    pub attributes: Rc<Attributes>,
    /// How its ranks lie.
    pub topology: Option<Topology>,
    /// MPI_Comm_set_info.
    pub info: RefCell<Option<Info>>,
}

impl Deref for Communicator {
    type Target = Peers;

    fn deref(&self) -> &Peers {
        &self.peers
    }
}

impl Communicator {
    /// A communicator of a group.
    pub fn new(comm: Comm, group: Rc<Group>, handler: Handler) -> Communicator {
        Communicator {
            peers: Peers { comm, count: group.size(), first: 0 },
            group,
            remote: None,
            calls: Cell::new(0),
            handler: Cell::new(handler),
            name: RefCell::default(),
            attributes: Rc::default(),
            topology: None,
            info: RefCell::default(),
        }
    }

    /// MPI_COMM_WORLD.
    pub fn world(comm: Comm) -> Rc<Communicator> {
        let world = Communicator::new(comm, Rc::new(Group::world(comm.size())), Handler::Fatal);
        "MPI_COMM_WORLD".clone_into(&mut world.name.borrow_mut());
        Rc::new(world)
    }

    /// MPI_COMM_SELF.
    pub fn of_self(process: &Process) -> Rc<Communicator> {
        let number = process.number();
        let context = process.rank.new_context(Rc::new([number]));
        let group = Group::of([number]);
        let own = Communicator::new(Comm::new(context, 0, 1), Rc::new(group), Handler::Fatal);
        "MPI_COMM_SELF".clone_into(&mut own.name.borrow_mut());
        Rc::new(own)
    }

    /// My rank in my group.
    pub fn rank(&self) -> u32 {
        match &self.remote {
            None => self.comm.rank(),
            Some(remote) => self.comm.rank() - remote.local_first,
        }
    }

    /// How many ranks are in my group.
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// The world number of a peer.
    pub fn world_number(&self, peer: u32) -> u32 {
        let group = self.remote.as_ref().map_or(&self.group, |remote| &remote.group);
        group.process(peer).unwrap_or_default()
    }

    /// The key of the board of the next collective call.
    pub fn next_call(&self) -> Key {
        let number = self.calls.get();
        self.calls.set(number.wrapping_add(1));
        Key { context: self.comm.apart(), number, turn: 0 }
    }

    /// The groups in the order of what messages go through; the second is empty if there is but one.
    pub fn groups(&self) -> [Rc<Group>; 2] {
        match &self.remote {
            None => [self.group.clone(), Rc::new(Group::empty())],
            Some(remote) if remote.is_first => [self.group.clone(), remote.group.clone()],
            Some(remote) => [remote.group.clone(), self.group.clone()],
        }
    }

    /// The other side of an inter-communicator.
    pub fn require_inter(&self) -> Result<&Remote, Fault> {
        self.remote.as_ref().ok_or_else(|| Fault::new(ErrorClass::Comm, "only for inter-communicators"))
    }

    /// Only for those with one group.
    pub fn require_intra(&self) -> Result<(), Fault> {
        if self.remote.is_some() {
            return Err(Fault::new(ErrorClass::Comm, "not for inter-communicators"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_bridge_see_the_other() {
        let groups = [Rc::new(Group::of([4, 2])), Rc::new(Group::of([1, 0, 7]))];
        let contexts = [2, 4, 6].map(Context::told);
        let bridge = Bridge { both: contexts[0], alone: [contexts[1], contexts[2]], groups };
        let two = bridge.seen_by(2, Handler::Fatal).unwrap();
        assert_eq!((two.rank(), two.size(), two.peers(), two.comm.rank(), two.comm.size()), (1, 2, 3, 1, 5));
        assert_eq!((two.peer(2).unwrap(), two.first(), two.world_number(2)), (4, 2, 7));
        let seven = bridge.seen_by(7, Handler::Fatal).unwrap();
        assert_eq!((seven.rank(), seven.comm.rank(), seven.peer(1).unwrap()), (2, 4, 1));
        assert_eq!(seven.require_inter().unwrap().local.apart(), contexts[2]);
        assert_eq!(seven.groups().map(|group| group.size()), [2, 3]);
        assert!(bridge.seen_by(3, Handler::Fatal).is_none());
    }
}
