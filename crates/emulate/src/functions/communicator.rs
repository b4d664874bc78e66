//! Communicators: who is in them, and how new ones are made.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hpcast_mpi::collectives::Buffer as Amount;
use hpcast_mpi::{Collective, Comm, Context};
use hpcast_objects::{Comparison, ErrorClass, Group};

use crate::argument::{At, CommAt, CommHandle, GroupAt, GroupHandle, InfoHandle, Text, TextAt};
use crate::boards::{Board, Deposit};
use crate::call::{Call, mpi};
use crate::communicator::Communicator;
use crate::fault::Fault;
use crate::fiber::block_on;

impl Call<'_> {
    /// Ranks agree on something new: each brings some numbers; the first to leave sees those of all and makes what all share.
    /// What it costs is an allgather of a few integers, as in the libraries.
    pub(super) fn agree<T: 'static>(
        &self,
        comm: &Communicator,
        words: Vec<i64>,
        make: impl FnOnce(&Board) -> T,
    ) -> Result<Rc<T>, Fault> {
        let key = comm.next_call();
        let boards = &self.me.world.boards;
        let bytes = 4 * words.len().max(1) as u64;
        boards.enter(key, comm.comm.size(), comm.comm.rank(), Deposit::of_words(words));
        block_on(self.me.rank.collective(comm.comm, &Collective::Allgather(Amount::of_bytes(bytes))));
        let made = boards.look(key, |board| {
            if board.made.is_none() {
                board.made = Some(Rc::new(make(board)));
            }
            board.made.clone()
        });
        boards.leave(key);
        let made = made.and_then(|made| made.downcast::<T>().ok());
        made.ok_or_else(|| Fault::new(ErrorClass::Other, "ranks make different collective calls"))
    }

    /// A new communicator of the program.
    pub(crate) fn add_comm(&self, comm: Communicator) -> u32 {
        self.me.objects.comms.insert(Rc::new(comm))
    }

    /// A new context for the group of a communicator, which all its members make together.
    pub(crate) fn same_group(&self, comm: &Communicator) -> Result<Comm, Fault> {
        let context = self.agree(comm, vec![0], |_| self.me.rank.new_context(comm.group.iter().collect()))?;
        Ok(Comm::new(*context, comm.rank(), comm.size()))
    }

    /// A duplicate of an intra-communicator, without its attributes.
    pub(crate) fn duplicate(&self, comm: &Communicator) -> Result<Communicator, Fault> {
        comm.require_intra()?;
        let mut duplicate = Communicator::new(self.same_group(comm)?, comm.group.clone(), comm.handler.get());
        duplicate.topology = comm.topology.clone();
        duplicate.info = comm.info.clone();
        Ok(duplicate)
    }

    /// MPI_Comm_split.
    pub(super) fn split(
        &self,
        comm: &Communicator,
        color: Option<i64>,
        key: i64,
    ) -> Result<Option<Communicator>, Fault> {
        comm.require_intra()?;
        let none = i64::MIN;
        let found = self.agree(comm, vec![color.unwrap_or(none), key], |board| {
            let ballot = |rank| board.deposit(rank).map(|deposit| (deposit.words[0], deposit.words[1], rank));
            let mut ballots: Vec<(i64, i64, u32)> = (0..comm.size()).filter_map(ballot).collect();
            ballots.retain(|&(color, ..)| color != none);
            ballots.sort_unstable();
            let mut places: Vec<Option<(Context, Rc<Group>)>> = vec![None; comm.size() as usize];
            for same in ballots.chunk_by(|a, b| a.0 == b.0) {
                let members: Rc<[u32]> = same.iter().filter_map(|&(.., rank)| comm.group.process(rank)).collect();
                let group = Rc::new(Group::of(members.iter().copied()));
                let context = self.me.rank.new_context(members);
                for &(.., rank) in same {
                    places[rank as usize] = Some((context, group.clone()));
                }
            }
            places
        })?;
        let Some((context, group)) = &found[comm.rank() as usize] else { return Ok(None) };
        let new = self.me.make_comm(*context, group);
        Ok(new.map(|new| Communicator::new(new, group.clone(), comm.handler.get())))
    }

    /// MPI_Comm_create: all members of the old communicator call it; those of one group give the same group.
    fn create(&self, comm: &Communicator, group: &Rc<Group>) -> Result<Option<Communicator>, Fault> {
        comm.require_intra()?;
        // The groups of different ranks are disjoint or the same: the first member tells them apart.
        let first = group.process(0).map_or(-1, i64::from);
        let contexts = self.agree(comm, vec![first], |board| {
            let firsts = (0..comm.size()).filter_map(|rank| board.deposit(rank).map(|deposit| deposit.words[0]));
            let firsts: BTreeSet<i64> = firsts.filter(|&first| first >= 0).collect();
            // The members are known to their own ranks only, who fill them in.
            let contexts = firsts.into_iter().map(|first| (first, self.me.rank.new_context(Rc::new([]))));
            contexts.collect::<BTreeMap<i64, Context>>()
        })?;
        let Some(&context) = contexts.get(&first) else { return Ok(None) };
        let Some(new) = self.me.make_comm(context, group) else { return Ok(None) };
        self.me.rank.fill_context(context, || group.iter().collect());
        Ok(Some(Communicator::new(new, group.clone(), comm.handler.get())))
    }

    fn set_comm(&self, at: CommAt, comm: Option<Communicator>) {
        at.set(self, comm.map_or(0, |comm| self.add_comm(comm)));
    }

    pub(crate) fn name_room(&self) -> usize {
        self.abi.constant("MPI_MAX_OBJECT_NAME").max(1) as usize - 1
    }
}

/// A color of MPI_Comm_split.
fn color_of(call: &Call<'_>, color: i32) -> Result<Option<i64>, Fault> {
    if color == call.abi.undefined {
        Ok(None)
    } else if color < 0 {
        Err(Fault::new(ErrorClass::Arg, format!("{color} is no color")))
    } else {
        Ok(Some(i64::from(color)))
    }
}

mpi! {
    fn MPI_Comm_rank(call, comm: CommHandle, rank: At<i32>) {
        rank.set(call.me.comm(comm.number)?.rank() as i32);
        Ok(())
    }
    fn MPI_Comm_size(call, comm: CommHandle, size: At<i32>) {
        size.set(call.me.comm(comm.number)?.size() as i32);
        Ok(())
    }
    fn MPI_Comm_remote_size(call, comm: CommHandle, size: At<i32>) {
        let comm = call.me.comm(comm.number)?;
        let Some(remote) = &comm.remote else { return Err(Fault::new(ErrorClass::Comm, "only for inter-communicators")) };
        size.set(remote.group.size() as i32);
        Ok(())
    }
    fn MPI_Comm_test_inter(call, comm: CommHandle, flag: At<i32>) {
        flag.set(i32::from(call.me.comm(comm.number)?.remote.is_some()));
        Ok(())
    }
    fn MPI_Comm_group(call, comm: CommHandle, group: GroupAt) {
        let found = call.me.comm(comm.number)?.group.clone();
        group.set(call, call.me.objects.groups.insert(found));
        Ok(())
    }
    fn MPI_Comm_remote_group(call, comm: CommHandle, group: GroupAt) {
        let comm = call.me.comm(comm.number)?;
        let Some(remote) = &comm.remote else { return Err(Fault::new(ErrorClass::Comm, "only for inter-communicators")) };
        group.set(call, call.me.objects.groups.insert(remote.group.clone()));
        Ok(())
    }
    fn MPI_Comm_dup(call, comm: CommHandle, newcomm: CommAt) {
        let old = call.me.comm(comm.number)?;
        let duplicate = call.duplicate(&old)?;
        newcomm.set(call, call.add_comm(duplicate));
        Ok(())
    }
    fn MPI_Comm_split(call, comm: CommHandle, color: i32, key: i32, newcomm: CommAt) {
        let old = call.me.comm(comm.number)?;
        let color = color_of(call, color)?;
        let new = call.split(&old, color, i64::from(key))?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_split_type(call, comm: CommHandle, split_type: i32, key: i32, info: InfoHandle, newcomm: CommAt) {
        let _ = info;
        let old = call.me.comm(comm.number)?;
        let (node, _) = call.me.world.processor(call.me.number());
        let color = if split_type == call.abi.constant("MPI_COMM_TYPE_SHARED") {
            Some(i64::from(node))
        } else if split_type == call.abi.undefined {
            None
        } else {
            return Err(Fault::new(ErrorClass::Arg, format!("no such split type: {split_type}")));
        };
        let new = call.split(&old, color, i64::from(key))?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_create(call, comm: CommHandle, group: GroupHandle, newcomm: CommAt) {
        let old = call.me.comm(comm.number)?;
        let group = call.me.group(group.number)?;
        let new = call.create(&old, &group)?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_free(call, comm: CommAt) {
        let number = comm.get(call);
        if call.me.objects.comms.remove(number).is_none() {
            return Err(Fault::new(ErrorClass::Comm, "no communicator that can be freed"));
        }
        comm.set(call, 0);
        Ok(())
    }
    fn MPI_Comm_disconnect(call, comm: CommAt) {
        let number = comm.get(call);
        if call.me.objects.comms.remove(number).is_none() {
            return Err(Fault::new(ErrorClass::Comm, "no communicator that can be freed"));
        }
        comm.set(call, 0);
        Ok(())
    }
    fn MPI_Comm_set_name(call, comm: CommHandle, comm_name: Text) {
        *call.me.comm(comm.number)?.name.borrow_mut() = comm_name.0.chars().take(call.name_room()).collect();
        Ok(())
    }
    fn MPI_Comm_get_name(call, comm: CommHandle, comm_name: TextAt, resultlen: At<i32>) {
        let object = call.me.comm(comm.number)?;
        resultlen.set(comm_name.set(&object.name.borrow(), call.name_room()));
        Ok(())
    }
    fn MPI_Comm_compare(call, comm1: CommHandle, comm2: CommHandle, result: At<i32>) {
        let (one, other) = (call.me.comm(comm1.number)?, call.me.comm(comm2.number)?);
        let name = if comm1.number == comm2.number {
            "MPI_IDENT"
        } else {
            match (one.group.compare(&other.group), &one.remote, &other.remote) {
                (groups, None, None) => congruence(groups, groups),
                (local, Some(a), Some(b)) => congruence(local, a.group.compare(&b.group)),
                _ => "MPI_UNEQUAL",
            }
        };
        result.set(call.abi.constant(name));
        Ok(())
    }
}

/// How communicators compare whose groups compare so.
fn congruence(local: Comparison, remote: Comparison) -> &'static str {
    match (local, remote) {
        (Comparison::Ident, Comparison::Ident) => "MPI_CONGRUENT",
        (Comparison::Unequal, _) | (_, Comparison::Unequal) => "MPI_UNEQUAL",
        _ => "MPI_SIMILAR",
    }
}
