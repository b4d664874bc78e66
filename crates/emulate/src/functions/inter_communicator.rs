//! How inter-communicators, and communicators of a group alone, are made.

use std::rc::Rc;

use hpcast_mpi::collectives::Buffer as Amount;
use hpcast_mpi::{Collective, Comm, Context, Mode, Receiving, Sending};
use hpcast_objects::{ErrorClass, Group};

use crate::argument::{CommAt, CommHandle, ErrhandlerHandle, GroupHandle, InfoHandle, Text};
use crate::boards::{Board, Deposit};
use crate::call::{Call, mpi};
use crate::communicator::{Bridge, Communicator};
use crate::fault::{Fault, Handler};
use crate::fiber::block_on;
use crate::functions::communicator::{new_number, tag_of};
use crate::layout::Layout;
use crate::mail::Place;

/// The tag of the library's own messages in a call that was given a tag: never one of a collective operation.
fn hidden_tag(tag: i32) -> i32 {
    !tag.min(i32::MAX - 1)
}

/// Numbers as the bytes of a message.
fn to_bytes(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_ne_bytes).collect()
}

fn from_bytes(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&number| u32::from_ne_bytes(number)).collect()
}

impl Call<'_> {
    /// Sends some numbers to a rank.
    fn tell(&self, comm: Comm, to: u32, tag: i32, numbers: &[u32]) {
        let parcel = self.me.world.mail.send_packed(to_bytes(numbers.iter().copied()));
        let bytes = 4 * numbers.len() as u64;
        block_on(self.me.rank.send_parcel(Sending { comm, to, tag, bytes, mode: Mode::Standard, parcel }));
    }

    /// Receives some numbers from a rank.
    fn hear(&self, comm: Comm, from: u32, tag: i32, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        let place = Place { address: bytes.as_mut_ptr(), layout: Layout::Bytes(bytes.len() as u64) };
        let parcel = self.me.world.mail.receive(place);
        block_on(self.me.rank.recv_parcel(Receiving { comm, source: Some(from), tag: Some(tag), parcel }));
        self.me.world.mail.received(parcel);
        from_bytes(&bytes)
    }

    /// Two ranks tell each other some numbers.
    fn swap(&self, comm: Comm, peer: u32, tag: i32, numbers: Vec<u32>, count: usize) -> Vec<u32> {
        let mail = &self.me.world.mail;
        let sent = 4 * numbers.len() as u64;
        let parcel = mail.send_packed(to_bytes(numbers));
        let sending = Sending { comm, to: peer, tag, bytes: sent, mode: Mode::Standard, parcel };
        let mut bytes = vec![0; 4 * count];
        let parcel = mail.receive(Place { address: bytes.as_mut_ptr(), layout: Layout::Bytes(bytes.len() as u64) });
        let receiving = Receiving { comm, source: Some(peer), tag: Some(tag), parcel };
        block_on(self.me.rank.sendrecv_parcels(sending, receiving));
        mail.received(parcel);
        from_bytes(&bytes)
    }

    /// The leaders of two groups tell each other who is in them; the one that comes first in the world makes the contexts.
    fn bridge(&self, group: &Rc<Group>, peers: &Communicator, remote_leader: i32, tag: i32) -> Result<Bridge, Fault> {
        let peer = peers.peer(remote_leader)?;
        let (comm, tag) = (peers.comm.hidden(), hidden_tag(tag));
        let count = self.swap(comm, peer, tag, vec![group.size()], 1)[0] as usize;
        let remote = Rc::new(Group::of(self.swap(comm, peer, tag, group.iter().collect(), count)));
        if group.iter().any(|member| remote.contains(member)) {
            return Err(Fault::new(ErrorClass::Comm, "the groups of an inter-communicator have no common members"));
        }
        if self.me.number() < peers.world_number(remote_leader as u32) {
            let bridge = Bridge::new(&self.me.rank, [group.clone(), remote]);
            let contexts = [bridge.both, bridge.alone[0], bridge.alone[1]];
            self.tell(comm, peer, tag, &contexts.map(Context::number));
            Ok(bridge)
        } else {
            let contexts = self.hear(comm, peer, tag, 3);
            let [both, first, second] = [0, 1, 2].map(|place| Context::told(contexts[place]));
            Ok(Bridge { both, alone: [first, second], groups: [remote, group.clone()] })
        }
    }

    /// MPI_Intercomm_create: the leaders talk, and tell their groups.
    fn create_intercomm(
        &self,
        local: &Communicator,
        local_leader: i32,
        peers: impl FnOnce() -> Result<Rc<Communicator>, Fault>,
        remote_leader: i32,
        tag: i32,
    ) -> Result<Option<Communicator>, Fault> {
        local.require_intra()?;
        let leader = local.peer(local_leader)?;
        let key = local.next_call();
        let boards = &self.me.world.boards;
        boards.enter(key, local.size(), local.rank(), Deposit::default());
        if local.rank() == leader {
            let bridge = self.bridge(&local.group, &*peers()?, remote_leader, tag)?;
            boards.look(key, |board| board.made = Some(Rc::new(bridge)));
        }
        // Contexts and the number of the others, as Open MPI and MPICH broadcast them, and who they are.
        block_on(self.me.rank.collective(local.comm, &Collective::Bcast(Amount::of_bytes(16), leader)));
        let bridge = boards.look(key, |board| board.made.clone()).and_then(|made| made.downcast::<Bridge>().ok());
        let bridge = bridge.ok_or_else(|| Fault::new(ErrorClass::Other, "ranks make different collective calls"))?;
        let members = 4 * u64::from(bridge.groups[0].size() + bridge.groups[1].size() - local.size());
        block_on(self.me.rank.collective(local.comm, &Collective::Bcast(Amount::of_bytes(members), leader)));
        boards.leave(key);
        Ok(bridge.seen_by(self.me.number(), local.handler.get()))
    }

    /// MPI_Comm_split of an inter-communicator: a color that only one side has gives none.
    pub(super) fn split_inter(
        &self,
        comm: &Communicator,
        words: Vec<i64>,
        ballots: impl FnOnce(&Board) -> Vec<(i64, i64, u32)>,
    ) -> Result<Option<Communicator>, Fault> {
        let found = self.agree(comm, words, |board| {
            let mut places: Vec<Option<Rc<Bridge>>> = vec![None; comm.comm.size() as usize];
            let [first, second] = comm.groups();
            for same in ballots(board).chunk_by(|a, b| a.0 == b.0) {
                let ranks = || same.iter().map(|&(.., rank)| rank);
                let firsts = Group::of(ranks().filter_map(|rank| first.process(rank)));
                let seconds = Group::of(ranks().filter_map(|rank| second.process(rank.checked_sub(first.size())?)));
                if firsts.size() > 0 && seconds.size() > 0 {
                    let bridge = Rc::new(Bridge::new(&self.me.rank, [Rc::new(firsts), Rc::new(seconds)]));
                    ranks().for_each(|rank| places[rank as usize] = Some(bridge.clone()));
                }
            }
            places
        })?;
        let bridge = found[comm.comm.rank() as usize].as_ref();
        Ok(bridge.and_then(|bridge| bridge.seen_by(self.me.number(), comm.handler.get())))
    }

    /// MPI_Comm_create of an inter-communicator: each side gives a group of its own.
    pub(super) fn create_inter(&self, comm: &Communicator, group: &Group) -> Result<Option<Communicator>, Fault> {
        // The first of each group says who is in it.
        let says = group.rank_of(self.me.number()) == Some(0);
        let words = if says { group.iter().map(i64::from).collect() } else { Vec::new() };
        let found = self.agree_by(comm, &new_number(), words, |board| {
            let [first, second] = comm.groups();
            let side = |ranks: std::ops::Range<u32>| {
                let mut said = ranks.filter_map(|rank| board.deposit(rank)).filter(|deposit| !deposit.words.is_empty());
                said.next().map(|deposit| Rc::new(Group::of(deposit.words.iter().map(|&word| word as u32))))
            };
            let end = first.size() + second.size();
            let groups = (side(0..first.size()), side(first.size()..end));
            let (Some(one), Some(other)) = groups else { return None };
            Some(Bridge::new(&self.me.rank, [one, other]))
        })?;
        Ok(found.as_ref().as_ref().and_then(|bridge| bridge.seen_by(self.me.number(), comm.handler.get())))
    }

    /// MPI_Comm_create_group: only the members of the group talk, up and down a binomial tree.
    pub(super) fn create_group(
        &self,
        comm: &Communicator,
        group: &Rc<Group>,
        tag: i32,
        handler: Handler,
    ) -> Result<Option<Communicator>, Fault> {
        comm.require_intra()?;
        let Some(me) = group.rank_of(self.me.number()) else { return Ok(None) };
        let (hidden, tag) = (comm.comm.hidden(), hidden_tag(tag));
        let at = |rank: u32| {
            let found = group.process(rank).and_then(|process| comm.group.rank_of(process));
            found.ok_or_else(|| Fault::new(ErrorClass::Group, "a member of the group is not in the communicator"))
        };
        let bits = |bit: &u32| me & (2 * bit - 1) == 0 && me + bit < group.size();
        let children: Vec<u32> = (0..31).map(|bit| 1 << bit).filter(bits).map(|bit| me + bit).collect();
        for &child in &children {
            self.hear(hidden, at(child)?, tag, 1);
        }
        let context = if me == 0 {
            self.me.rank.new_context(group.iter().collect())
        } else {
            let parent = at(me & (me - 1))?;
            self.tell(hidden, parent, tag, &[me]);
            Context::told(self.hear(hidden, parent, tag, 1)[0])
        };
        for &child in children.iter().rev() {
            self.tell(hidden, at(child)?, tag, &[context.number()]);
        }
        Ok(Some(Communicator::new(Comm::new(context, me, group.size()), group.clone(), handler)))
    }

    /// MPI_Intercomm_merge: the side that says high comes last; if both say the same, they keep their order.
    fn merge(&self, comm: &Communicator, high: bool) -> Result<Option<Communicator>, Fault> {
        comm.require_inter()?;
        let merged = self.agree(comm, vec![i64::from(high)], |board| {
            let [first, second] = comm.groups();
            let says = |rank: u32| board.deposit(rank).is_some_and(|deposit| deposit.words[0] != 0);
            let (one, other) = if says(0) && !says(first.size()) { (&second, &first) } else { (&first, &second) };
            let members: Rc<[u32]> = one.iter().chain(other.iter()).collect();
            let group = Rc::new(Group::of(members.iter().copied()));
            (self.me.rank.new_context(members), group)
        })?;
        let (context, group) = &*merged;
        let new = self.me.make_comm(*context, group);
        Ok(new.map(|new| Communicator::new(new, group.clone(), comm.handler.get())))
    }
}

mpi! {
    fn MPI_Intercomm_create(
        call, local_comm: CommHandle, local_leader: i32, peer_comm: CommHandle, remote_leader: i32, tag: i32,
        newintercomm: CommAt,
    ) {
        let local = call.me.comm(local_comm.number)?;
        let peers = || call.me.comm(peer_comm.number);
        let new = call.create_intercomm(&local, local_leader, peers, remote_leader, tag);
        call.set_comm(newintercomm, new.map_err(|fault| fault.of_comm(local_comm.number))?);
        Ok(())
    }
    fn MPI_Intercomm_create_from_groups(
        call, local_group: GroupHandle, local_leader: i32, remote_group: GroupHandle, remote_leader: i32,
        stringtag: Text, _info: InfoHandle, errhandler: ErrhandlerHandle, newintercomm: CommAt,
    ) {
        let (group, remote) = (call.me.group(local_group.number)?, call.me.group(remote_group.number)?);
        let (handler, tag) = (call.handler(errhandler)?, tag_of(&stringtag));
        let world = call.me.world_comm();
        let Some(local) = call.create_group(&world, &group, tag, handler)? else {
            return Err(Fault::new(ErrorClass::Group, "whoever calls must be in the local group"));
        };
        let leader = u32::try_from(remote_leader).ok().and_then(|rank| remote.process(rank));
        let Some(leader) = leader else { return Err(Fault::new(ErrorClass::Rank, "no rank of the remote group")) };
        let new = call.create_intercomm(&local, local_leader, || Ok(world.clone()), leader as i32, tag)?;
        call.set_comm(newintercomm, new);
        Ok(())
    }
    fn MPI_Intercomm_merge(call, intercomm: CommHandle, high: i32, newintracomm: CommAt) {
        let old = call.me.comm(intercomm.number)?;
        let new = call.merge(&old, high != 0).map_err(|fault| fault.of_comm(intercomm.number))?;
        call.set_comm(newintracomm, new);
        Ok(())
    }
}
