//! Collective operations of inter-communicators: what one group gives, the other gets.
//!
//! They are done as Open MPI and MPICH do them: within a group over a communicator of its own, between groups by messages of
//! the first rank of each, or of the root.

use std::rc::Rc;

use hpcast_mpi::collectives::Buffer as Amount;
use hpcast_mpi::{Collective, Comm, Exchange, Parcel};
use hpcast_objects::ErrorClass;

use super::collective::{
    Items, Plan, Planned, amount, brought, by_rank, images, pack_all, restore_part, unpack_each, unpack_pieces,
};
use crate::argument::Buffer;
use crate::boards::{Deposit, Key};
use crate::call::Call;
use crate::communicator::{Communicator, Remote};
use crate::fault::{Answer, Code, Fault};
use crate::reduction::Reduction;

/// What a rank is in an operation with a root.
enum Role {
    /// The root (MPI_ROOT).
    Root,
    /// In the group of the root, with nothing to do (MPI_PROC_NULL).
    Bystander,
    /// In the other group; this is the rank of the root in the communicator of both.
    Other(u32),
}

fn role(call: &Call<'_>, comm: &Communicator, root: i32) -> Result<Role, Fault> {
    if root == call.abi.root {
        return Ok(Role::Root);
    }
    if root == call.abi.proc_null {
        return Ok(Role::Bystander);
    }
    let peer = comm.peer(root);
    peer.map(Role::Other).map_err(|fault| fault.of_class(Code::Class(ErrorClass::Root)))
}

/// An inter-communicator in parts.
struct Sides {
    both: Comm,
    local: Comm,
    /// The rank of the other group's first in the communicator of both, and how many there are.
    first: u32,
    others: u32,
}

impl Sides {
    fn of(comm: &Communicator) -> Result<Sides, Fault> {
        let Remote { group, first, local, .. } = comm.require_inter()?;
        Ok(Sides { both: comm.comm, local: *local, first: *first, others: group.size() })
    }

    fn is_first(&self) -> bool {
        self.local.rank() == 0
    }

    /// Messages from ranks of the communicator of both, and so many bytes to others.
    fn messages(&self, received: impl IntoIterator<Item = u32>, sent: Vec<(u32, u64)>) -> (Comm, Collective) {
        let exchange = Exchange {
            received: received.into_iter().map(|from| (from, Parcel::NONE)).collect(),
            sent: sent.into_iter().map(|(to, bytes)| (to, bytes, Parcel::NONE)).collect(),
        };
        (self.both, Collective::Exchange(Rc::new(exchange)))
    }

    /// A message each way between the first ranks of both groups; nothing for others.
    fn firsts(&self, bytes: u64) -> Option<(Comm, Collective)> {
        self.is_first().then(|| self.messages([self.first], vec![(self.first, bytes)]))
    }

    fn within(&self, collective: Collective) -> Option<(Comm, Collective)> {
        Some((self.local, collective))
    }

    /// All ranks of the other group in the communicator of both.
    fn all(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.others
    }
}

fn stages<const N: usize>(stages: [Option<(Comm, Collective)>; N]) -> Collective {
    Collective::Stages(stages.into_iter().flatten().collect())
}

fn nothing(comm: Rc<Communicator>) -> Planned {
    Ok(Plan::new(comm, stages([]), Deposit::default()))
}

pub(super) fn bcast(call: &Call<'_>, comm: Rc<Communicator>, items: Items, root: i32) -> Planned {
    let sides = Sides::of(&comm)?;
    match role(call, &comm, root)? {
        Role::Bystander => nothing(comm),
        Role::Root => {
            let timing = stages([Some(sides.messages([], vec![(sides.first, items.bytes())]))]);
            Ok(Plan::new(comm, timing, Deposit::of_data(items.pack())))
        }
        Role::Other(root) => {
            let message = sides.is_first().then(|| sides.messages([root], vec![]));
            let timing = stages([message, sides.within(Collective::Bcast(items.amount(), 0))]);
            Ok(Plan::new(comm, timing, Deposit::default()).then(move |call, key| {
                items.unpack(&brought(call, key, root).data);
                Ok(())
            }))
        }
    }
}

/// Puts the combined data of the other group, or a part of it, where it belongs.
fn restore(
    call: &Call<'_>,
    key: Key,
    reduction: &Reduction,
    from: std::ops::Range<u32>,
    part: Option<(i64, i64)>,
    to: Buffer,
) -> Answer {
    let (start, count) = part.unwrap_or((0, reduction.count));
    let Some(until) = from.end.checked_sub(1).filter(|_| count > 0) else { return Ok(()) };
    let boards = &call.me.world.boards;
    let known = boards.look(key, |board| board.results.get(&until).cloned());
    let result = match known {
        Some(known) => known,
        None => {
            let images = boards.look(key, |board| images(board, from.start, until))?;
            let result = Rc::new(reduction.combine(call, &images)?);
            boards.look(key, |board| board.results.insert(until, result.clone()));
            result
        }
    };
    restore_part(reduction, &result, start, count, to);
    Ok(())
}

pub(super) fn reduce(
    call: &Call<'_>,
    comm: Rc<Communicator>,
    sent: Buffer,
    to: Buffer,
    reduction: Reduction,
    root: i32,
) -> Planned {
    let sides = Sides::of(&comm)?;
    match role(call, &comm, root)? {
        Role::Bystander => nothing(comm),
        Role::Root => {
            let timing = stages([Some(sides.messages([sides.first], vec![]))]);
            Ok(Plan::new(comm, timing, Deposit::default())
                .then(move |call, key| restore(call, key, &reduction, sides.all(), None, to)))
        }
        Role::Other(root) => {
            let amount = amount(&reduction);
            let message = sides.is_first().then(|| sides.messages([], vec![(root, amount.total())]));
            let timing = stages([sides.within(Collective::Reduce(amount, reduction.op.operator(), 0)), message]);
            // SAFETY: the program's items.
            Ok(Plan::new(comm, timing, Deposit::of_data(unsafe { reduction.image(sent.address()) })))
        }
    }
}

pub(super) fn allreduce(comm: Rc<Communicator>, deposit: Deposit, to: Buffer, reduction: Reduction) -> Planned {
    let sides = Sides::of(&comm)?;
    let amount = amount(&reduction);
    let timing = stages([
        sides.within(Collective::Reduce(amount, reduction.op.operator(), 0)),
        sides.firsts(amount.total()),
        sides.within(Collective::Bcast(amount, 0)),
    ]);
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| restore(call, key, &reduction, sides.all(), None, to)))
}

pub(super) fn reduce_scatter(
    comm: Rc<Communicator>,
    deposit: Deposit,
    to: Buffer,
    reduction: Reduction,
    counts: Vec<i64>,
) -> Planned {
    let sides = Sides::of(&comm)?;
    let amount = amount(&reduction);
    let me = sides.local.rank() as usize;
    let start: i64 = counts[..me].iter().sum();
    let part = Some((start, counts[me]));
    let size = reduction.datatype.size() as u64;
    let bytes = by_rank(counts.iter().map(|&count| count as u64 * size).collect());
    let timing = stages([
        sides.within(Collective::Reduce(amount, reduction.op.operator(), 0)),
        sides.firsts(amount.total()),
        sides.within(Collective::Scatterv(bytes, 0)),
    ]);
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| restore(call, key, &reduction, sides.all(), part, to)))
}

pub(super) fn gather(
    call: &Call<'_>,
    comm: Rc<Communicator>,
    sent: Result<Items, Fault>,
    to: impl FnOnce() -> Result<Vec<Items>, Fault>,
    root: i32,
) -> Planned {
    let sides = Sides::of(&comm)?;
    match role(call, &comm, root)? {
        Role::Bystander => nothing(comm),
        Role::Root => {
            let blocks = to()?;
            let timing = stages([Some(sides.messages(sides.all(), vec![]))]);
            Ok(Plan::new(comm, timing, Deposit::default()).then(move |call, key| {
                unpack_each(call, key, sides.all(), &blocks);
                Ok(())
            }))
        }
        Role::Other(root) => {
            let items = sent?;
            let timing = stages([Some(sides.messages([], vec![(root, items.bytes())]))]);
            Ok(Plan::new(comm, timing, Deposit::of_data(items.pack())))
        }
    }
}

pub(super) fn scatter(
    call: &Call<'_>,
    comm: Rc<Communicator>,
    sent: impl FnOnce() -> Result<Vec<Items>, Fault>,
    to: Result<Items, Fault>,
    root: i32,
) -> Planned {
    let sides = Sides::of(&comm)?;
    match role(call, &comm, root)? {
        Role::Bystander => nothing(comm),
        Role::Root => {
            let blocks = sent()?;
            let messages = sides.all().zip(blocks.iter().map(Items::bytes)).collect();
            let timing = stages([Some(sides.messages([], messages))]);
            Ok(Plan::new(comm, timing, pack_all(&blocks)))
        }
        Role::Other(root) => {
            let items = to?;
            let me = sides.local.rank() as usize;
            let timing = stages([Some(sides.messages([root], vec![]))]);
            Ok(Plan::new(comm, timing, Deposit::default()).then(move |call, key| {
                items.unpack(brought(call, key, root).piece(me));
                Ok(())
            }))
        }
    }
}

pub(super) fn allgather(comm: Rc<Communicator>, deposit: Deposit, blocks: Vec<Items>) -> Planned {
    let sides = Sides::of(&comm)?;
    let mine = vec![(sides.first, deposit.data.len() as u64)];
    let received = if sides.is_first() { sides.all() } else { 0..0 };
    let total = Amount::of_bytes(blocks.iter().map(Items::bytes).sum());
    let timing = stages([Some(sides.messages(received, mine)), sides.within(Collective::Bcast(total, 0))]);
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        unpack_each(call, key, sides.all(), &blocks);
        Ok(())
    }))
}

pub(super) fn alltoall(comm: Rc<Communicator>, deposit: Deposit, to: Vec<Items>) -> Planned {
    let sides = Sides::of(&comm)?;
    let me = sides.local.rank() as usize;
    let sent = sides.all().zip(0..).map(|(rank, place)| (rank, deposit.piece(place).len() as u64)).collect();
    let timing = stages([Some(sides.messages(sides.all(), sent))]);
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        unpack_pieces(call, key, sides.all(), me, &to);
        Ok(())
    }))
}
