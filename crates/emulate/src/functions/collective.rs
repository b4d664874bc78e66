//! Collective operations: blocking, non-blocking and persistent.
//!
//! Each is a [`Plan`]: what the rank brings, how the simulation does it, and what is done with the data at the end. The three
//! forms of a call differ only in what they do with the plan.

use std::cell::Cell;
use std::rc::Rc;

use hpcast_mpi::collectives::Buffer as Amount;
use hpcast_mpi::{Collective, Exchange, Lane};
use hpcast_objects::datatype::Combiner;
use hpcast_objects::{Basic, Datatype, ErrorClass};

use crate::argument::{Buffer, CommHandle, Count, CountAt, InfoHandle, OpHandle, RequestAt, TypeArray, TypeHandle};
use crate::boards::{Board, Deposit, Key};
use crate::call::{Call, mpi};
use crate::communicator::Communicator;
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::functions::inter;
use crate::layout::Layout;
use crate::mail::Place;
use crate::operation::{Active, Finish, Operation, Recipe, Then};
use crate::reduction::{Op, Reduction};

/// A collective call, worked out but not begun.
pub(super) struct Plan {
    pub comm: Rc<Communicator>,
    pub timing: Collective,
    /// None where all data goes with messages.
    pub deposit: Option<Deposit>,
    pub finish: AtEnd,
}

/// What is done with the data at the end.
pub(super) type AtEnd = Box<dyn FnOnce(&Call<'_>, Key) -> Answer>;

/// What can be begun.
pub(super) type Planned = Result<Plan, Fault>;

impl Plan {
    /// A plan in which nothing is left to do at the end.
    pub fn new(comm: Rc<Communicator>, timing: Collective, deposit: Deposit) -> Plan {
        Plan { comm, timing, deposit: Some(deposit), finish: Box::new(|_, _| Ok(())) }
    }

    /// Messages with their data, all at once: those received in this order, and those sent.
    pub fn exchange(call: &Call<'_>, comm: Rc<Communicator>, received: &[(u32, Items)], sent: &[(u32, Items)]) -> Plan {
        let mail = &call.me.world.mail;
        let place = |items: &Items| Place { address: items.address, layout: items.layout() };
        let exchange = Exchange {
            received: received.iter().map(|(from, items)| (*from, mail.receive(place(items)))).collect(),
            sent: sent.iter().map(|(to, items)| (*to, items.bytes(), mail.send(place(items)))).collect(),
        };
        let exchange = Rc::new(exchange);
        let timing = Collective::Exchange(exchange.clone());
        let plan = Plan { comm, timing, deposit: None, finish: Box::new(|_, _| Ok(())) };
        plan.then(move |call, _| {
            exchange.received.iter().for_each(|&(_, parcel)| call.me.world.mail.received(parcel));
            Ok(())
        })
    }

    /// What is done at the end.
    pub fn then(mut self, finish: impl FnOnce(&Call<'_>, Key) -> Answer + 'static) -> Plan {
        self.finish = Box::new(finish);
        self
    }

    fn enter(&mut self, call: &Call<'_>, key: Key) {
        if let Some(deposit) = self.deposit.take() {
            call.me.world.boards.enter(key, self.comm.comm.size(), self.comm.comm.rank(), deposit);
        }
    }

    /// Does it and waits for its end.
    pub fn run(mut self, call: &Call<'_>) -> Answer {
        let key = self.comm.next_call();
        self.enter(call, key);
        block_on(call.me.rank.collective(self.comm.comm, &self.timing));
        let answer = (self.finish)(call, key);
        call.me.world.boards.leave(key);
        answer
    }

    /// Begins it.
    pub fn start(self, call: &Call<'_>) -> Active {
        let (key, lane) = (self.comm.next_call(), call.me.rank.collective_lane(self.comm.comm));
        self.start_as(call, key, lane)
    }

    /// Begins it as the operation with that key, in that lane.
    fn start_as(mut self, call: &Call<'_>, key: Key, lane: Lane) -> Active {
        self.enter(call, key);
        let request = call.me.rank.start_collective_in(lane, self.comm.comm, self.timing);
        let finish: Finish = Box::new(move |call| {
            let answer = (self.finish)(call, key);
            call.me.world.boards.leave(key);
            answer
        });
        Active { request: Some(request), then: Then::Finish(finish) }
    }
}

/// A persistent operation. Ranks agree on which one it is by the order in which they initialise them (MPI 4.0, 6.12), and start
/// them in any order.
pub(super) struct Series {
    key: Cell<Key>,
    lane: Lane,
}

impl Series {
    /// One more on a communicator.
    pub fn new(call: &Call<'_>, comm: CommHandle) -> Result<Series, Fault> {
        let comm = call.me.comm(comm.number)?;
        Ok(Series { key: Cell::new(comm.next_call()), lane: call.me.rank.collective_lane(comm.comm) })
    }

    /// Starts it once more.
    pub fn start(&self, call: &Call<'_>, plan: Plan) -> Active {
        let key = self.key.get();
        self.key.set(Key { turn: key.turn.wrapping_add(1), ..key });
        plan.start_as(call, key, self.lane)
    }
}

/// Blocking, non-blocking and persistent forms of collective calls, of one plan.
macro_rules! collective {
    ($(fn $blocking:ident $nonblocking:ident $persistent:ident $([$large:ident])? ($($parameters:tt)*) $body:block)*) => {
        $crate::functions::collective::forms! {
            $(($blocking $nonblocking $persistent [$($large)?] ($($parameters)*) $body))*
        }
    };
}
macro_rules! forms {
    ($((
        $blocking:ident $nonblocking:ident $persistent:ident $large:tt
        ($call:ident $(, $arg:ident : $type:ty)* $(,)?) $body:block
    ))*) => {
        mpi! {
            $(
                fn $blocking $large ($call $(, $arg: $type)*) {
                    let plan = |$call: &Call<'_>| -> Planned { $body };
                    let plan = plan($call);
                    plan.map_err(|fault| fault.of_comm(comm_of!($($arg)*)))?.run($call)
                        .map_err(|fault| fault.of_comm(comm_of!($($arg)*)))
                }
                fn $nonblocking $large ($call $(, $arg: $type)*, request: RequestAt) {
                    let plan = |$call: &Call<'_>| -> Planned { $body };
                    let plan = plan($call);
                    let active = plan.map_err(|fault| fault.of_comm(comm_of!($($arg)*)))?.start($call);
                    request.set($call, $call.me.new_request(Operation::once(active)));
                    Ok(())
                }
                fn $persistent $large ($call $(, $arg: $type)*, _info: InfoHandle, request: RequestAt) {
                    let series = $crate::functions::collective::Series::new($call, last!($($arg)*))
                        .map_err(|fault| fault.of_comm(comm_of!($($arg)*)))?;
                    let plan = move |$call: &Call<'_>| -> Planned { $body };
                    let start = Rc::new(move |call: &Call<'_>| plan(call).map(|plan| series.start(call, plan)));
                    request.set($call, $call.me.new_request(Operation::persistent(Recipe::Own(start))));
                    Ok(())
                }
            )*
        }
    };
}
/// The communicator is the last argument of all of them.
macro_rules! comm_of {
    ($($arg:ident)+) => { last!($($arg)+).number };
}
macro_rules! last {
    ($last:ident) => { $last };
    ($first:ident $($rest:ident)+) => { last!($($rest)+) };
}

pub(super) use {collective, comm_of, forms, last};

/// Items of a datatype in the program's memory.
#[derive(Clone)]
pub(super) struct Items {
    pub address: *mut u8,
    pub datatype: Datatype,
    pub count: i64,
}

impl Items {
    pub fn layout(&self) -> Layout {
        Layout::new(&self.datatype, self.count)
    }

    pub fn bytes(&self) -> u64 {
        (self.datatype.size() * self.count) as u64
    }

    /// The data, packed; nothing where nobody has written any of it.
    pub fn pack(&self) -> Vec<u8> {
        // SAFETY: the program says that the items are there.
        unsafe { self.layout().pack_written(self.address) }
    }

    pub fn unpack(&self, data: &[u8]) {
        // SAFETY: the program says that there is room for the items.
        unsafe { self.layout().unpack(data, self.address) };
    }

    /// Those that begin so many extents later.
    pub fn later(&self, extents: i64, count: i64) -> Items {
        let address = self.address.wrapping_offset((extents * self.datatype.extent()) as isize);
        Items { address, datatype: self.datatype.clone(), count }
    }

    /// As the simulation sees them: elements that are not split.
    pub fn amount(&self) -> Amount {
        match self.datatype.size() {
            0 => Amount::of_bytes(0),
            size => Amount::new(self.count as u64, size as u64),
        }
    }
}

impl Call<'_> {
    pub(super) fn items(&self, buffer: Buffer, Count(count): Count, datatype: TypeHandle) -> Result<Items, Fault> {
        if count < 0 {
            return Err(Fault::new(ErrorClass::Count, format!("the count is {count}")));
        }
        let datatype = self.me.datatype(datatype.number)?;
        Ok(Items { address: buffer.address(), datatype, count })
    }

    /// Items of which there is one set for each rank; the count is that of each.
    pub(super) fn blocks(
        &self,
        buffer: Buffer,
        counts: &[i64],
        displacements: &[i64],
        datatype: TypeHandle,
    ) -> Result<Vec<Items>, Fault> {
        if let Some(count) = counts.iter().find(|&&count| count < 0) {
            return Err(Fault::new(ErrorClass::Count, format!("a count is {count}")));
        }
        let all = self.items(buffer, Count(0), datatype)?;
        Ok(counts.iter().zip(displacements).map(|(&count, &displacement)| all.later(displacement, count)).collect())
    }

    /// A communicator for a collective call.
    pub(super) fn collective_comm(&self, handle: CommHandle) -> Result<Rc<Communicator>, Fault> {
        self.me.comm(handle.number)
    }

    fn root(&self, comm: &Communicator, root: i32) -> Result<u32, Fault> {
        if root < 0 || root as u32 >= comm.size() {
            return Err(Fault::new(
                ErrorClass::Root,
                format!("{root} is no rank of a communicator of {} ranks", comm.size()),
            ));
        }
        Ok(root as u32)
    }

    pub(super) fn reduction(
        &self,
        Count(count): Count,
        datatype: TypeHandle,
        op: OpHandle,
    ) -> Result<Reduction, Fault> {
        if count < 0 {
            return Err(Fault::new(ErrorClass::Count, format!("the count is {count}")));
        }
        let op = self.op(op)?;
        let reduction = Reduction { op, datatype: self.me.datatype(datatype.number)?, handle: datatype.number, count };
        if let Op::Predefined(operation) = op {
            let Some(basic) = reducible(&reduction.datatype) else {
                return Err(Fault::new(ErrorClass::Op, format!("{} needs a predefined datatype", operation.name())));
            };
            if !operation.reduces() {
                return Err(Fault::new(ErrorClass::Op, format!("{} is for one-sided calls only", operation.name())));
            }
            operation.kernel(basic).map_err(|error| Fault::new(error.class(), error.to_string()))?;
        }
        Ok(reduction)
    }
}

/// What MPI's own operations take: predefined datatypes, those of a precision and range among them.
fn reducible(datatype: &Datatype) -> Option<Basic> {
    match datatype.combiner() {
        Combiner::F90Integer | Combiner::F90Real | Combiner::F90Complex => datatype.uniform(),
        _ => datatype.as_basic(),
    }
}

/// What a rank has brought; nothing if it was not there in time, which a wrong program may do.
pub(super) fn brought(call: &Call<'_>, key: Key, rank: u32) -> Deposit {
    call.me.world.boards.look(key, |board| board.deposit(rank).cloned()).unwrap_or_default()
}

/// Packs several sets of items one after the other, but those that nobody has written.
pub(super) fn pack_all(blocks: &[Items]) -> Deposit {
    let layouts: Vec<Layout> = blocks.iter().map(Items::layout).collect();
    let written: Vec<bool> =
        blocks.iter().zip(&layouts).map(|(block, layout)| !layout.is_blank(block.address)).collect();
    let bytes =
        layouts.iter().zip(&written).map(|(layout, &written)| if written { layout.bytes() as usize } else { 0 });
    let mut data = Vec::with_capacity(bytes.sum());
    let mut ends = Vec::with_capacity(blocks.len());
    for ((block, layout), written) in blocks.iter().zip(&layouts).zip(written) {
        if written {
            // SAFETY: the program says that the items are there.
            unsafe { layout.pack_onto(block.address, &mut data) };
        }
        ends.push(data.len());
    }
    Deposit::of_pieces(data, ends)
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

pub(super) fn images(board: &Board, from: u32, until: u32) -> Result<Vec<Rc<Vec<u8>>>, Fault> {
    (from..=until)
        .map(|rank| board.deposit(rank).map(|deposit| deposit.data.clone()))
        .collect::<Option<_>>()
        .ok_or_else(|| Fault::new(ErrorClass::Other, "a rank has not come to a collective operation that has ended"))
}

/// Bytes by rank, for the simulation.
pub(super) fn by_rank(bytes: Vec<u64>) -> hpcast_mpi::ByRank {
    Rc::new(move |rank| bytes.get(rank as usize).copied().unwrap_or(0))
}

fn sizes(blocks: &[Items]) -> Vec<u64> {
    blocks.iter().map(Items::bytes).collect()
}

fn unpack_each(call: &Call<'_>, key: Key, blocks: &[Items]) {
    for (rank, block) in (0..).zip(blocks) {
        block.unpack(&brought(call, key, rank).data);
    }
}

/// Sums of counts before each.
fn starts(counts: &[i64]) -> Vec<i64> {
    counts.iter().scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count))).collect()
}

fn bcast(call: &Call<'_>, buffer: Buffer, count: Count, datatype: TypeHandle, root: i32, comm: CommHandle) -> Planned {
    let comm = call.collective_comm(comm)?;
    let items = call.items(buffer, count, datatype)?;
    if comm.remote.is_some() {
        return inter::bcast(call, comm, items, root);
    }
    let root = call.root(&comm, root)?;
    let is_root = comm.rank() == root;
    let timing = Collective::Bcast(items.amount(), root);
    let deposit = if is_root { Deposit::of_data(items.pack()) } else { Deposit::default() };
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if !is_root {
            items.unpack(&brought(call, key, root).data);
        }
        Ok(())
    }))
}

fn reduce(call: &Call<'_>, sent: Buffer, to: Buffer, reduction: Reduction, root: i32, comm: CommHandle) -> Planned {
    let comm = call.collective_comm(comm)?;
    if comm.remote.is_some() {
        return inter::reduce(call, comm, sent, to, reduction, root);
    }
    let root = call.root(&comm, root)?;
    let is_root = comm.rank() == root;
    let source = if sent.is_in_place() { to } else { sent };
    let timing = Collective::Reduce(amount(&reduction), reduction.op.operator(), root);
    // SAFETY: the program's items.
    let deposit = Deposit::of_data(unsafe { reduction.image(source.address()) });
    let last = comm.size() - 1;
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if is_root && reduction.count > 0 {
            let result = combined(call, key, &reduction, last)?;
            // SAFETY: the program's items.
            unsafe { reduction.restore(&result, to.address()) };
        }
        Ok(())
    }))
}

pub(super) fn amount(reduction: &Reduction) -> Amount {
    Amount::new(reduction.count as u64, reduction.datatype.size().max(0) as u64)
}

fn allreduce(call: &Call<'_>, sent: Buffer, to: Buffer, reduction: Reduction, comm: CommHandle) -> Planned {
    let comm = call.collective_comm(comm)?;
    let source = if sent.is_in_place() { to } else { sent };
    // SAFETY: the program's items.
    let deposit = Deposit::of_data(unsafe { reduction.image(source.address()) });
    let timing = Collective::Allreduce(amount(&reduction), reduction.op.operator());
    if comm.remote.is_some() {
        return inter::allreduce(comm, deposit, to, reduction);
    }
    let last = comm.size() - 1;
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if reduction.count > 0 {
            let result = combined(call, key, &reduction, last)?;
            // SAFETY: the program's items.
            unsafe { reduction.restore(&result, to.address()) };
        }
        Ok(())
    }))
}

/// MPI_Scan, or MPI_Exscan if the rank itself is left out.
fn scan(call: &Call<'_>, sent: Buffer, to: Buffer, reduction: Reduction, comm: CommHandle, with_me: bool) -> Planned {
    let comm = call.collective_comm(comm)?;
    comm.require_intra()?;
    let source = if sent.is_in_place() { to } else { sent };
    // SAFETY: the program's items.
    let deposit = Deposit::of_data(unsafe { reduction.image(source.address()) });
    let timing = if with_me { Collective::Scan(amount(&reduction)) } else { Collective::Exscan(amount(&reduction)) };
    let until = if with_me { Some(comm.rank()) } else { comm.rank().checked_sub(1) };
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if let Some(until) = until
            && reduction.count > 0
        {
            let result = combined(call, key, &reduction, until)?;
            // SAFETY: the program's items.
            unsafe { reduction.restore(&result, to.address()) };
        }
        Ok(())
    }))
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
    let source = if sent.is_in_place() { to } else { sent };
    // SAFETY: the program's items.
    let deposit = Deposit::of_data(unsafe { reduction.image(source.address()) });
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
        let part = Reduction { count: mine, ..reduction.clone() };
        let offset = (start * reduction.datatype.extent()) as usize;
        // SAFETY: the program's items.
        unsafe { part.restore(result.get(offset..).unwrap_or_default(), to.address()) };
        Ok(())
    }))
}

/// What a rank brings to a gather, and where the root puts it.
fn gather(
    call: &Call<'_>,
    sent: Result<Items, Fault>,
    to: impl FnOnce() -> Result<Vec<Items>, Fault>,
    in_place: bool,
    root: i32,
    comm: Rc<Communicator>,
    timing: impl FnOnce(&Items, &[Items]) -> Collective,
) -> Planned {
    let root = call.root(&comm, root)?;
    let is_root = comm.rank() == root;
    let blocks = if is_root { to()? } else { Vec::new() };
    let mine = if in_place && is_root { blocks[root as usize].clone() } else { sent? };
    let timing = timing(&mine, &blocks);
    let deposit = Deposit::of_data(mine.pack());
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        unpack_each(call, key, &blocks);
        Ok(())
    }))
}

fn scatter(
    call: &Call<'_>,
    sent: impl FnOnce() -> Result<Vec<Items>, Fault>,
    to: Option<Items>,
    root: i32,
    comm: Rc<Communicator>,
    timing: impl FnOnce(Option<&Items>, &[Items]) -> Collective,
) -> Planned {
    let root = call.root(&comm, root)?;
    let blocks = if comm.rank() == root { sent()? } else { Vec::new() };
    let timing = timing(to.as_ref(), &blocks);
    let deposit = if blocks.is_empty() { Deposit::default() } else { pack_all(&blocks) };
    let me = comm.rank() as usize;
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        if let Some(to) = to {
            to.unpack(brought(call, key, root).piece(me));
        }
        Ok(())
    }))
}

fn allgather(comm: Rc<Communicator>, mine: Items, blocks: Vec<Items>, timing: Collective) -> Planned {
    let deposit = Deposit::of_data(mine.pack());
    if comm.remote.is_some() {
        return inter::allgather(comm, deposit, blocks);
    }
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        unpack_each(call, key, &blocks);
        Ok(())
    }))
}

fn alltoall(comm: Rc<Communicator>, sent: Vec<Items>, to: Vec<Items>, timing: Collective) -> Planned {
    let deposit = pack_all(&sent);
    if comm.remote.is_some() {
        return inter::alltoall(comm, deposit, to);
    }
    let me = comm.rank() as usize;
    Ok(Plan::new(comm, timing, deposit).then(move |call, key| {
        for (rank, block) in (0..).zip(&to) {
            block.unpack(brought(call, key, rank).piece(me));
        }
        Ok(())
    }))
}

/// Blocks of equal counts, one after the other.
pub(super) fn equal(items: &Items, ranks: u32) -> Vec<Items> {
    (0..i64::from(ranks)).map(|rank| items.later(rank * items.count, items.count)).collect()
}

/// Blocks of MPI_Alltoallw: displacements in bytes, a datatype each.
fn blocks_w(
    call: &Call<'_>,
    buffer: Buffer,
    counts: CountAt,
    displacements: CountAt,
    types: TypeArray,
    ranks: usize,
) -> Result<Vec<Items>, Fault> {
    (0..ranks)
        .map(|rank| {
            let handle = TypeHandle::of(types.get_at(call, rank));
            let mut items = call.items(buffer, Count(counts.get_at(rank)), handle)?;
            items.address = items.address.wrapping_offset(displacements.get_at(rank) as isize);
            Ok(items)
        })
        .collect()
}

collective! {
    fn MPI_Barrier MPI_Ibarrier MPI_Barrier_init(call, comm: CommHandle) {
        let comm = call.collective_comm(comm)?;
        Ok(Plan::new(comm, Collective::Barrier, Deposit::default()))
    }
    fn MPI_Bcast MPI_Ibcast MPI_Bcast_init[_c](
        call, buffer: Buffer, count: Count, datatype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        bcast(call, buffer, count, datatype, root, comm)
    }
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
    fn MPI_Scan MPI_Iscan MPI_Scan_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: TypeHandle, op: OpHandle, comm: CommHandle,
    ) {
        scan(call, sendbuf, recvbuf, call.reduction(count, datatype, op)?, comm, true)
    }
    fn MPI_Exscan MPI_Iexscan MPI_Exscan_init[_c](
        call, sendbuf: Buffer, recvbuf: Buffer, count: Count, datatype: TypeHandle, op: OpHandle, comm: CommHandle,
    ) {
        scan(call, sendbuf, recvbuf, call.reduction(count, datatype, op)?, comm, false)
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
    fn MPI_Gather MPI_Igather MPI_Gather_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers();
        let to = || Ok(equal(&call.items(recvbuf, recvcount, recvtype)?, ranks));
        if comm.remote.is_some() {
            return inter::gather(call, comm, call.items(sendbuf, sendcount, sendtype), to, root);
        }
        let sent = if sendbuf.is_in_place() { Err(ErrorClass::Buffer.into()) } else { call.items(sendbuf, sendcount, sendtype) };
        gather(call, sent, to, sendbuf.is_in_place(), root, comm, |mine, _| {
            Collective::Gather(mine.amount(), root as u32)
        })
    }
    fn MPI_Gatherv MPI_Igatherv MPI_Gatherv_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcounts: CountAt,
        displs: CountAt, recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let to = || call.blocks(recvbuf, &recvcounts.list(ranks), &displs.list(ranks), recvtype);
        if comm.remote.is_some() {
            return inter::gather(call, comm, call.items(sendbuf, sendcount, sendtype), to, root);
        }
        let me = comm.rank() as usize;
        let sent = if sendbuf.is_in_place() { Err(ErrorClass::Buffer.into()) } else { call.items(sendbuf, sendcount, sendtype) };
        gather(call, sent, to, sendbuf.is_in_place(), root, comm, |mine, blocks| {
            let mut bytes = sizes(blocks);
            bytes.resize(ranks, 0);
            bytes[me] = mine.bytes();
            Collective::Gatherv(by_rank(bytes), root as u32)
        })
    }
    fn MPI_Scatter MPI_Iscatter MPI_Scatter_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers();
        let sent = || Ok(equal(&call.items(sendbuf, sendcount, sendtype)?, ranks));
        if comm.remote.is_some() {
            return inter::scatter(call, comm, sent, call.items(recvbuf, recvcount, recvtype), root);
        }
        let to = if recvbuf.is_in_place() { None } else { Some(call.items(recvbuf, recvcount, recvtype)?) };
        scatter(call, sent, to, root, comm, |to, blocks| {
            let block = to.or(blocks.first()).map_or(Amount::of_bytes(0), Items::amount);
            Collective::Scatter(block, root as u32)
        })
    }
    fn MPI_Scatterv MPI_Iscatterv MPI_Scatterv_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, displs: CountAt, sendtype: TypeHandle, recvbuf: Buffer,
        recvcount: Count, recvtype: TypeHandle, root: i32, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let me = comm.rank() as usize;
        let sent = || call.blocks(sendbuf, &sendcounts.list(ranks), &displs.list(ranks), sendtype);
        if comm.remote.is_some() {
            return inter::scatter(call, comm, sent, call.items(recvbuf, recvcount, recvtype), root);
        }
        let to = if recvbuf.is_in_place() { None } else { Some(call.items(recvbuf, recvcount, recvtype)?) };
        scatter(call, sent, to, root, comm, |to, blocks| {
            let mut bytes = sizes(blocks);
            bytes.resize(ranks, 0);
            if blocks.is_empty() {
                bytes[me] = to.map_or(0, Items::bytes);
            }
            Collective::Scatterv(by_rank(bytes), root as u32)
        })
    }
    fn MPI_Allgather MPI_Iallgather MPI_Allgather_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let blocks = equal(&call.items(recvbuf, recvcount, recvtype)?, comm.peers());
        let me = comm.rank() as usize;
        let mine = if sendbuf.is_in_place() { blocks[me].clone() } else { call.items(sendbuf, sendcount, sendtype)? };
        let timing = Collective::Allgather(mine.amount());
        allgather(comm, mine, blocks, timing)
    }
    fn MPI_Allgatherv MPI_Iallgatherv MPI_Allgatherv_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcounts: CountAt,
        displs: CountAt, recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let blocks = call.blocks(recvbuf, &recvcounts.list(ranks), &displs.list(ranks), recvtype)?;
        let me = comm.rank() as usize;
        let mine = if sendbuf.is_in_place() { blocks[me].clone() } else { call.items(sendbuf, sendcount, sendtype)? };
        let timing = Collective::Allgatherv(by_rank(sizes(&blocks)));
        allgather(comm, mine, blocks, timing)
    }
    fn MPI_Alltoall MPI_Ialltoall MPI_Alltoall_init[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, recvbuf: Buffer, recvcount: Count,
        recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let to = equal(&call.items(recvbuf, recvcount, recvtype)?, comm.peers());
        let sent = match sendbuf.is_in_place() {
            true => to.clone(),
            false => equal(&call.items(sendbuf, sendcount, sendtype)?, comm.peers()),
        };
        let block = sent.first().map_or(Amount::of_bytes(0), Items::amount);
        alltoall(comm, sent, to, Collective::Alltoall(block))
    }
    fn MPI_Alltoallv MPI_Ialltoallv MPI_Alltoallv_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, sdispls: CountAt, sendtype: TypeHandle, recvbuf: Buffer,
        recvcounts: CountAt, rdispls: CountAt, recvtype: TypeHandle, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let to = call.blocks(recvbuf, &recvcounts.list(ranks), &rdispls.list(ranks), recvtype)?;
        let sent = match sendbuf.is_in_place() {
            true => to.clone(),
            false => call.blocks(sendbuf, &sendcounts.list(ranks), &sdispls.list(ranks), sendtype)?,
        };
        let timing = Collective::Alltoallv(by_rank(sizes(&sent)), by_rank(sizes(&to)));
        alltoall(comm, sent, to, timing)
    }
    fn MPI_Alltoallw MPI_Ialltoallw MPI_Alltoallw_init[_c](
        call, sendbuf: Buffer, sendcounts: CountAt, sdispls: CountAt, sendtypes: TypeArray, recvbuf: Buffer,
        recvcounts: CountAt, rdispls: CountAt, recvtypes: TypeArray, comm: CommHandle,
    ) {
        let comm = call.collective_comm(comm)?;
        let ranks = comm.peers() as usize;
        let to = blocks_w(call, recvbuf, recvcounts, rdispls, recvtypes, ranks)?;
        let sent = match sendbuf.is_in_place() {
            true => to.clone(),
            false => blocks_w(call, sendbuf, sendcounts, sdispls, sendtypes, ranks)?,
        };
        let timing = Collective::Alltoallv(by_rank(sizes(&sent)), by_rank(sizes(&to)));
        alltoall(comm, sent, to, timing)
    }
}
