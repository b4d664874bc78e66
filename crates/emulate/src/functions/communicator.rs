//! Communicators: who is in them, and how new ones are made.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hpcast_mpi::collectives::{Buffer as Amount, Operator};
use hpcast_mpi::{Collective, Comm, Context};
use hpcast_objects::{Comparison, ErrorClass, Group};

use super::collective::{Plan, Planned};
use crate::abi::Kind;
use crate::argument::{
    At, CommAt, CommHandle, ErrhandlerHandle, GroupAt, GroupHandle, InfoAt, InfoHandle, RequestAt, Text, TextAt,
};
use crate::boards::{Board, Deposit, Key};
use crate::call::{Call, mpi};
use crate::communicator::{Bridge, Communicator};
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::operation::Operation;

impl Call<'_> {
    /// Ranks agree on something new: each brings some numbers; the first to leave sees those of all and makes what all share.
    /// What it costs is an allgather of a few integers, as in the libraries.
    pub(super) fn agree<T: 'static>(
        &self,
        comm: &Communicator,
        words: Vec<i64>,
        make: impl FnOnce(&Board) -> T,
    ) -> Result<Rc<T>, Fault> {
        let bytes = 4 * words.len().max(1) as u64;
        self.agree_by(comm, &Collective::Allgather(Amount::of_bytes(bytes)), words, make)
    }

    /// The same by another collective operation.
    pub(super) fn agree_by<T: 'static>(
        &self,
        comm: &Communicator,
        timing: &Collective,
        words: Vec<i64>,
        make: impl FnOnce(&Board) -> T,
    ) -> Result<Rc<T>, Fault> {
        let key = comm.next_call();
        let boards = &self.me.world.boards;
        boards.enter(key, comm.comm.size(), comm.comm.rank(), Deposit::of_words(words));
        block_on(self.me.rank.collective(comm.comm, timing));
        let made = self.agreed(key, make);
        boards.leave(key);
        made
    }

    /// What ranks have agreed on.
    fn agreed<T: 'static>(&self, key: Key, make: impl FnOnce(&Board) -> T) -> Result<Rc<T>, Fault> {
        let made = self.me.world.boards.look(key, |board| {
            if board.made.is_none() {
                board.made = Some(Rc::new(make(board)));
            }
            board.made.clone()
        });
        let made = made.and_then(|made| made.downcast::<T>().ok());
        made.ok_or_else(|| Fault::new(ErrorClass::Other, "ranks make different collective calls"))
    }

    /// A new communicator of the program.
    pub(crate) fn add_comm(&self, comm: Communicator) -> u32 {
        self.me.objects.comms.insert(Rc::new(comm))
    }

    /// A communicator of the same groups, after all have agreed to make one.
    fn duplicate_by(&self, comm: &Communicator, key: Key) -> Result<Communicator, Fault> {
        let handler = comm.handler.get();
        let mut duplicate = if comm.remote.is_some() {
            let bridge = self.agreed(key, |_| Bridge::new(&self.me.rank, comm.groups()))?;
            bridge.seen_by(self.me.number(), handler).ok_or_else(|| Fault::from(ErrorClass::Comm))?
        } else {
            let context = self.agreed(key, |_| self.me.rank.new_context(comm.group.iter().collect()))?;
            Communicator::new(Comm::new(*context, comm.rank(), comm.size()), comm.group.clone(), handler)
        };
        duplicate.topology = comm.topology.clone();
        duplicate.info = comm.info.clone();
        Ok(duplicate)
    }

    /// A duplicate of a communicator, without its attributes.
    pub(crate) fn duplicate(&self, comm: &Communicator) -> Result<Communicator, Fault> {
        let key = comm.next_call();
        let boards = &self.me.world.boards;
        boards.enter(key, comm.comm.size(), comm.comm.rank(), Deposit::default());
        block_on(self.me.rank.collective(comm.comm, &new_number()));
        let duplicate = self.duplicate_by(comm, key);
        boards.leave(key);
        duplicate
    }

    /// MPI_Comm_dup and its relatives.
    fn duplicating(&self, comm: CommHandle, info: Option<InfoHandle>, at: CommAt) -> Planned {
        let old = self.me.comm(comm.number)?;
        let hints = info.map(|info| self.hints(info)).transpose()?;
        Ok(Plan::new(old.clone(), new_number(), Deposit::default()).then(move |call, key| {
            let mut duplicate = call.duplicate_by(&old, key)?;
            duplicate.attributes = old.attributes.copied(call, (Kind::Comm, comm.number))?;
            if let Some(hints) = hints {
                duplicate.info = RefCell::new(Some(hints));
            }
            at.set(call, call.add_comm(duplicate));
            Ok(())
        }))
    }

    /// MPI_Comm_split.
    pub(super) fn split(
        &self,
        comm: &Communicator,
        color: Option<i64>,
        key: i64,
    ) -> Result<Option<Communicator>, Fault> {
        let none = i64::MIN;
        let words = vec![color.unwrap_or(none), key];
        let ballots = |board: &Board| {
            let ballot = |rank| board.deposit(rank).map(|deposit| (deposit.words[0], deposit.words[1], rank));
            let mut ballots: Vec<(i64, i64, u32)> = (0..comm.comm.size()).filter_map(ballot).collect();
            ballots.retain(|&(color, ..)| color != none);
            ballots.sort_unstable();
            ballots
        };
        if comm.remote.is_some() {
            return self.split_inter(comm, words, ballots);
        }
        let found = self.agree(comm, words, |board| {
            let mut places: Vec<Option<(Context, Rc<Group>)>> = vec![None; comm.size() as usize];
            for same in ballots(board).chunk_by(|a, b| a.0 == b.0) {
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
        if comm.remote.is_some() {
            return self.create_inter(comm, group);
        }
        // The groups of different ranks are disjoint or the same: the first member tells them apart.
        let first = group.process(0).map_or(-1, i64::from);
        let contexts = self.agree_by(comm, &new_number(), vec![first], |board| {
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

    /// Frees a communicator, after its attributes.
    fn free_comm(&self, at: CommAt) -> Answer {
        let number = at.get(self);
        let Some(comm) = self.me.objects.comms.get(number) else {
            return Err(Fault::new(ErrorClass::Comm, "no communicator that can be freed"));
        };
        comm.attributes.clear(self, (Kind::Comm, number)).map_err(|fault| fault.of_comm(number))?;
        self.me.forget_comm(number);
        at.set(self, 0);
        Ok(())
    }

    pub(super) fn set_comm(&self, at: CommAt, comm: Option<Communicator>) {
        at.set(self, comm.map_or(0, |comm| self.add_comm(comm)));
    }

    pub(crate) fn name_room(&self) -> usize {
        self.abi.constant("MPI_MAX_OBJECT_NAME").max(1) as usize - 1
    }
}

/// How libraries agree on the number of a new communicator: by an allreduce.
pub(super) fn new_number() -> Collective {
    Collective::Allreduce(Amount::new(1, 4), Operator::BuiltIn)
}

/// A number of things that a program gives.
pub(super) fn not_negative(count: i32) -> Result<usize, Fault> {
    usize::try_from(count).map_err(|_| Fault::new(ErrorClass::Arg, format!("the number is {count}")))
}

/// The tag of a text: calls that are made at the same time differ in theirs.
pub(super) fn tag_of(text: &Text) -> i32 {
    text.0.bytes().fold(7_i32, |tag, byte| tag.wrapping_mul(31).wrapping_add(byte.into())) & i32::MAX
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

/// Parts of the hardware below a node are not known, so that nobody belongs to one.
fn is_hardware(call: &Call<'_>, split_type: i32) -> bool {
    let types = ["MPI_COMM_TYPE_HW_GUIDED", "MPI_COMM_TYPE_HW_UNGUIDED", "MPI_COMM_TYPE_RESOURCE_GUIDED"];
    call.abi.name_of(split_type, &types).is_some()
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
        size.set(comm.require_inter()?.group.size() as i32);
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
        group.set(call, call.me.objects.groups.insert(comm.require_inter()?.group.clone()));
        Ok(())
    }
    fn MPI_Comm_dup(call, comm: CommHandle, newcomm: CommAt) {
        newcomm.set(call, 0);
        let done = call.duplicating(comm, None, newcomm).and_then(|plan| plan.run(call));
        done.map_err(|fault| fault.of_comm(comm.number))
    }
    fn MPI_Comm_dup_with_info(call, comm: CommHandle, info: InfoHandle, newcomm: CommAt) {
        let done = call.duplicating(comm, Some(info), newcomm).and_then(|plan| plan.run(call));
        done.map_err(|fault| fault.of_comm(comm.number))
    }
    fn MPI_Comm_idup(call, comm: CommHandle, newcomm: CommAt, request: RequestAt) {
        let active = call.duplicating(comm, None, newcomm)?.start(call);
        request.set(call, call.me.new_request(Operation::once(active)));
        Ok(())
    }
    fn MPI_Comm_idup_with_info(call, comm: CommHandle, info: InfoHandle, newcomm: CommAt, request: RequestAt) {
        let active = call.duplicating(comm, Some(info), newcomm)?.start(call);
        request.set(call, call.me.new_request(Operation::once(active)));
        Ok(())
    }
    fn MPI_Comm_set_info(call, comm: CommHandle, info: InfoHandle) {
        let hints = call.hints(info)?;
        *call.me.comm(comm.number)?.info.borrow_mut() = Some(hints);
        Ok(())
    }
    fn MPI_Comm_get_info(call, comm: CommHandle, info_used: InfoAt) {
        let hints = call.me.comm(comm.number)?.info.borrow().clone();
        info_used.set(call, call.add_info(hints.unwrap_or_else(|| call.new_info())));
        Ok(())
    }
    fn MPI_Comm_split(call, comm: CommHandle, color: i32, key: i32, newcomm: CommAt) {
        let old = call.me.comm(comm.number)?;
        let color = color_of(call, color).map_err(|fault| fault.of_comm(comm.number))?;
        let new = call.split(&old, color, i64::from(key)).map_err(|fault| fault.of_comm(comm.number))?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_split_type(call, comm: CommHandle, split_type: i32, key: i32, info: InfoHandle, newcomm: CommAt) {
        let _ = info;
        let old = call.me.comm(comm.number)?;
        let (node, _) = call.me.world.processor(call.me.number());
        let color = if split_type == call.abi.constant("MPI_COMM_TYPE_SHARED") {
            Some(i64::from(node))
        } else if split_type == call.abi.undefined || is_hardware(call, split_type) {
            None
        } else {
            return Err(Fault::new(ErrorClass::Arg, format!("no such split type: {split_type}")).of_comm(comm.number));
        };
        let new = call.split(&old, color, i64::from(key))?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_create(call, comm: CommHandle, group: GroupHandle, newcomm: CommAt) {
        let old = call.me.comm(comm.number)?;
        let group = call.me.group(group.number).map_err(|fault| fault.of_comm(comm.number))?;
        let new = call.create(&old, &group).map_err(|fault| fault.of_comm(comm.number))?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_create_group(call, comm: CommHandle, group: GroupHandle, tag: i32, newcomm: CommAt) {
        let old = call.me.comm(comm.number)?;
        let group = call.me.group(group.number).map_err(|fault| fault.of_comm(comm.number))?;
        if tag < 0 {
            return Err(Fault::new(ErrorClass::Tag, "the tag is negative").of_comm(comm.number));
        }
        let new = call.create_group(&old, &group, tag, old.handler.get()).map_err(|fault| fault.of_comm(comm.number))?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_create_from_group(
        call, group: GroupHandle, stringtag: Text, _info: InfoHandle, errhandler: ErrhandlerHandle, newcomm: CommAt,
    ) {
        let group = call.me.group(group.number)?;
        let handler = call.handler(errhandler)?;
        let tag = tag_of(&stringtag);
        let new = call.create_group(&call.me.world_comm(), &group, tag, handler)?;
        call.set_comm(newcomm, new);
        Ok(())
    }
    fn MPI_Comm_free(call, comm: CommAt) {
        call.free_comm(comm)
    }
    fn MPI_Comm_disconnect(call, comm: CommAt) {
        call.free_comm(comm)
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
