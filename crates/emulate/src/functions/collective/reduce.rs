//! MPI_Reduce, MPI_Allreduce and MPI_Reduce_scatter: data of all ranks, combined.

use std::rc::Rc;

use hpcast_mpi::Collective;
use hpcast_mpi::collectives::Buffer as Amount;
use hpcast_objects::ErrorClass;

use super::{Plan, Planned, by_rank, collective, images, missing};
use crate::argument::{Buffer, CommHandle, Count, CountAt, OpHandle, TypeHandle};
use crate::boards::{Deposit, Key};
use crate::call::Call;
use crate::communicator::Communicator;
use crate::fault::{Answer, Fault};
use crate::functions::inter;
use crate::reduction::Reduction;

/// As the simulation sees it.
#[inline]
pub(in crate::functions) fn amount(reduction: &Reduction) -> Amount {
    Amount::new(reduction.count as u64, reduction.datatype.size().max(0) as u64)
}

/// What a rank brings.
pub(super) fn image(reduction: &Reduction, sent: Buffer, to: Buffer) -> Deposit {
    let source = if sent.is_in_place() { to } else { sent };
    // SAFETY: the program's items.
    Deposit::of_data(unsafe { reduction.image(source.address()) })
}

/// The combined data of the ranks up to one, worked out by whoever needs it first.
fn combined(call: &Call<'_>, key: Key, reduction: &Reduction, until: u32) -> Result<Rc<Vec<u8>>, Fault> {
    let boards = &call.me.world.boards;
    if let Some(known) = boards.look(key, |board| board.results.get(&until).cloned()) {
        return Ok(known);
    }
    // Of a prefix it is what comes before, and one more.
    let before = until.checked_sub(1).and_then(|before| boards.look(key, |board| board.results.get(&before).cloned()));
    let images = |from: u32| boards.look(key, |board| images(board, from, until));
    let result = match before {
        Some(before) if !reduction.op.commutes() || until > 0 => {
            let mut all = vec![before];
            all.extend(images(until)?);
            reduction.combine(call, &all)?
        }
        _ => reduction.combine(call, &images(0)?)?,
    };
    let result = Rc::new(result);
    boards.look(key, |board| board.results.insert(until, result.clone()));
    Ok(result)
}

/// Puts the combined data of the ranks up to one where it belongs.
pub(super) fn restore(call: &Call<'_>, key: Key, reduction: &Reduction, until: u32, to: Buffer) -> Answer {
    if reduction.count > 0 {
        let result = combined(call, key, reduction, until)?;
        // SAFETY: the program's items.
        unsafe { reduction.restore(&result, to.address()) };
    }
    Ok(())
}

/// Puts a part of the combined data where it belongs: so many items, from one of them on.
pub(in crate::functions) fn restore_part(reduction: &Reduction, result: &[u8], start: i64, count: i64, to: Buffer) {
    let part = Reduction { count, ..reduction.clone() };
    let offset = (start * reduction.datatype.extent()) as usize;
    // SAFETY: the program's items.
    unsafe { part.restore(result.get(offset..).unwrap_or_default(), to.address()) };
}

/// The combined data of all ranks, with the digits that the algorithm of the library gives.
fn combined_all(
    call: &Call<'_>,
    key: Key,
    reduction: &Reduction,
    ranks: u32,
    timing: &Collective,
) -> Result<Rc<Vec<u8>>, Fault> {
    let (boards, last) = (&call.me.world.boards, ranks - 1);
    let (known, in_background) = boards.look(key, |board| (board.results.get(&last).cloned(), board.is_in_background));
    if let Some(known) = known {
        return Ok(known);
    }
    if !reduction.is_in_order() {
        return combined(call, key, reduction, last);
    }
    let Some(order) = call.me.rank.order_of(ranks, timing, in_background) else {
        return combined(call, key, reduction, last);
    };
    let images = boards.look(key, |board| board.take_data()).ok_or_else(missing)?;
    let result = Rc::new(reduction.combine_in(call, images, order)?);
    boards.look(key, |board| board.results.insert(last, result.clone()));
    Ok(result)
}

/// Puts it where it belongs.
fn restore_all(
    call: &Call<'_>,
    key: Key,
    reduction: &Reduction,
    ranks: u32,
    timing: &Collective,
    to: Buffer,
) -> Answer {
    if reduction.count > 0 {
        let result = combined_all(call, key, reduction, ranks, timing)?;
        // SAFETY: the program's items.
        unsafe { reduction.restore(&result, to.address()) };
    }
    Ok(())
}

fn reduce(call: &Call<'_>, sent: Buffer, to: Buffer, reduction: Reduction, root: i32, comm: CommHandle) -> Planned {
    let comm = call.collective_comm(comm)?;
    if comm.remote.is_some() {
        return inter::reduce(call, comm, sent, to, reduction, root);
    }
    let root = call.root(&comm, root)?;
    let is_root = comm.rank() == root;
    let timing = Collective::Reduce(amount(&reduction), reduction.op.operator(), root);
    let deposit = image(&reduction, sent, to);
    let ranks = comm.size();
    Ok(Plan::new(comm, timing.clone(), deposit).then(move |call, key| {
        if is_root {
            restore_all(call, key, &reduction, ranks, &timing, to)?;
        }
        Ok(())
    }))
}

fn allreduce(call: &Call<'_>, sent: Buffer, to: Buffer, reduction: Reduction, comm: CommHandle) -> Planned {
    let comm = call.collective_comm(comm)?;
    let deposit = image(&reduction, sent, to);
    let timing = Collective::Allreduce(amount(&reduction), reduction.op.operator());
    if comm.remote.is_some() {
        return inter::allreduce(comm, deposit, to, reduction);
    }
    let ranks = comm.size();
    let finish = timing.clone();
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| restore_all(call, key, &reduction, ranks, &finish, to)))
}

fn reduce_scatter(
    call: &Call<'_>,
    [sent, to]: [Buffer; 2],
    counts: Vec<i64>,
    datatype: TypeHandle,
    op: OpHandle,
    comm: Rc<Communicator>,
    timing: Collective,
) -> Planned {
    if counts.iter().any(|&count| count < 0) {
        return Err(Fault::new(ErrorClass::Count, "a count is negative"));
    }
    let reduction = call.reduction(Count(counts.iter().sum()), datatype, op)?;
    let deposit = image(&reduction, sent, to);
    let me = comm.rank() as usize;
    let (start, mine) = (starts(&counts)[me], counts[me]);
    let last = comm.size() - 1;
    if comm.remote.is_some() {
        return inter::reduce_scatter(comm, deposit, to, reduction, counts);
    }
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if mine == 0 {
            return Ok(());
        }
        let result = combined(call, key, &reduction, last)?;
        restore_part(&reduction, &result, start, mine, to);
        Ok(())
    }))
}

/// Sums of counts before each.
fn starts(counts: &[i64]) -> Vec<i64> {
    counts.iter().scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count))).collect()
}

collective! {
    fn MPI_Reduce MPI_Ireduce MPI_Reduce_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: TypeHandle, op: OpHandle, root: i32,
        comm: CommHandle,
    ) {
        reduce(call, sendbuf, recvbuf, call.reduction(count, datatype, op)?, root, comm)
    }
    fn MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: TypeHandle, op: OpHandle, comm: CommHandle,
    ) {
        allreduce(call, sendbuf, recvbuf, call.reduction(count, datatype, op)?, comm)
    }
    fn MPI_Reduce_scatter MPI_Ireduce_scatter MPI_Reduce_scatter_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, recvcounts: CountAt, datatype: TypeHandle, op: OpHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let counts = recvcounts.list(comm.size() as usize);
        let size = call.me.datatype(datatype.number)?.size() as u64;
        let bytes = by_rank(counts.iter().map(|&count| count.max(0) as u64 * size).collect());
        let timing = Collective::ReduceScatter(bytes, call.op(op)?.operator());
        reduce_scatter(call, [sendbuf, recvbuf], counts, datatype, op, comm, timing)
    }
    fn MPI_Reduce_scatter_block MPI_Ireduce_scatter_block MPI_Reduce_scatter_block_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, recvcount: Count, datatype: TypeHandle, op: OpHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let block = call.items(recvbuf, recvcount, datatype)?.amount();
        let timing = Collective::ReduceScatterBlock(block, call.op(op)?.operator());
        let counts = vec![recvcount.0; comm.size() as usize];
        reduce_scatter(call, [sendbuf, recvbuf], counts, datatype, op, comm, timing)
    }
}
