//! Communicators, as programs see them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use hpcast_mpi::{Comm, Context};
use hpcast_objects::{Cartesian, DistGraph, ErrorClass, Graph, Group};

use crate::attributes::Attributes;
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

/// A communicator.
pub struct Communicator {
    /// What messages go through.
    pub comm: Comm,
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
    /// MPI_Comm_set_info: keys and values.
    pub info: RefCell<BTreeMap<String, String>>,
}

impl Communicator {
    /// A communicator of a group.
    pub fn new(comm: Comm, group: Rc<Group>, handler: Handler) -> Communicator {
        Communicator {
            comm,
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

    /// How many ranks one can send to.
    pub fn peers(&self) -> u32 {
        self.remote.as_ref().map_or(self.size(), |remote| remote.group.size())
    }

    /// The rank in what messages go through of one that a program names.
    pub fn peer(&self, rank: i32) -> Result<u32, Fault> {
        if rank < 0 || rank as u32 >= self.peers() {
            let detail = format!("{rank} is no rank of a communicator of {} ranks", self.peers());
            return Err(Fault::new(ErrorClass::Rank, detail));
        }
        Ok(rank as u32 + self.remote.as_ref().map_or(0, |remote| remote.first))
    }

    /// The program's name for a rank that a message came from.
    pub fn named(&self, rank: u32) -> i32 {
        (rank - self.remote.as_ref().map_or(0, |remote| remote.first)) as i32
    }

    /// The world number of a peer.
    pub fn world_number(&self, peer: u32) -> u32 {
        let group = self.remote.as_ref().map_or(&self.group, |remote| &remote.group);
        group.process(peer).unwrap_or_default()
    }

    /// The key of the board of the next collective call.
    pub fn next_call(&self) -> (Context, u32) {
        let number = self.calls.get();
        self.calls.set(number.wrapping_add(1));
        (self.comm.apart(), number)
    }

    /// Only for those with one group.
    pub fn require_intra(&self) -> Result<(), Fault> {
        if self.remote.is_some() {
            return Err(Fault::new(ErrorClass::Comm, "not for inter-communicators"));
        }
        Ok(())
    }
}
