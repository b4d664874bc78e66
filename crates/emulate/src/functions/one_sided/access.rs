//! What is done with the memory of others: put, get, accumulate and their relatives.

use std::collections::BTreeMap;

use hpcast_mpi::Promise;
use hpcast_objects::{Basic, Datatype, ErrorClass, Operation};

use crate::argument::{Buffer, Count, OpHandle, RequestAt, TypeHandle, WinHandle};
use crate::call::{Call, mpi};
use crate::copying::{give_up, guarded_once};
use crate::fault::Fault;
use crate::fiber::block_on;
use crate::layout::Layout;
use crate::operation::{Active, Operation as Requested, Then};
use crate::reduction::Op;
use crate::windows::{Outstanding, Window};

use super::window::Flavor;
use super::{misplaced, of};

/// Items in the memory of a target.
struct Target {
    rank: u32,
    address: usize,
    datatype: Datatype,
    count: i64,
}

impl Target {
    fn layout(&self) -> Layout {
        Layout::new(&self.datatype, self.count)
    }

    /// Where the data begins: datatypes may have addresses of their own.
    fn begin(&self) -> usize {
        self.layout().span(self.address).0
    }
}

/// What an operation does at its target; it gives the data that goes back.
type Act = Box<dyn FnOnce() -> Vec<u8>>;

/// Where data that comes back goes.
struct Back {
    address: usize,
    layout: Layout,
    bytes: u64,
}

/// An operation, worked out.
struct Deed {
    target: u32,
    /// Where the data begins in the target's memory.
    place: usize,
    bytes: u64,
    act: Act,
    back: Option<Back>,
}

/// Whether all bytes from `begin` to before `end` were attached, perhaps as several pieces that touch.
fn is_attached(attached: &BTreeMap<usize, usize>, begin: i64, end: i64) -> bool {
    let mut begin = begin;
    while begin < end {
        match attached.range(..=begin as usize).next_back() {
            Some((&base, &size)) if ((base + size) as i64) > begin => begin = (base + size) as i64,
            _ => return false,
        }
    }
    true
}

impl Call<'_> {
    /// The rank of a target, if the epoch lets me reach it; none for MPI_PROC_NULL.
    fn reach(&self, window: &Window, rank: i32) -> Result<Option<u32>, Fault> {
        if rank == self.abi.proc_null {
            return Ok(None);
        }
        let target = self.window_rank(window, rank)?;
        let epoch = window.epoch.borrow();
        let reached = epoch.fenced
            || epoch.locks.contains_key(&target)
            || epoch.started.as_ref().is_some_and(|targets| targets.contains(&target));
        let all = epoch.all;
        let asked = epoch.asked.contains(&target);
        drop(epoch);
        match all {
            _ if reached => {}
            Some(true) if !asked => {
                self.take_lock(window, target, false);
                window.epoch.borrow_mut().asked.insert(target);
            }
            Some(_) => {}
            None => return Err(misplaced("no fence, start or lock lets this rank reach the target")),
        }
        Ok(Some(target))
    }

    pub(super) fn window_rank(&self, window: &Window, rank: i32) -> Result<u32, Fault> {
        let size = window.group.size();
        let found = u32::try_from(rank).ok().filter(|&rank| rank < size);
        found.ok_or_else(|| Fault::new(ErrorClass::Rank, format!("{rank} is no rank of a window of {size} ranks")))
    }

    /// Where items at a target lie.
    fn target_items(
        &self,
        window: &Window,
        rank: i32,
        disp: i64,
        Count(count): Count,
        datatype: TypeHandle,
    ) -> Result<Option<Target>, Fault> {
        if count < 0 {
            return Err(Fault::new(ErrorClass::Count, format!("the count is {count}")));
        }
        let datatype = self.me.datatype(datatype.number)?;
        let Some(rank) = self.reach(window, rank)? else { return Ok(None) };
        let sides = window.shared.sides.borrow();
        let side = &sides[rank as usize];
        let is_dynamic = window.flavor == self.abi.constant(Flavor::Dynamic.name());
        let address = if is_dynamic { disp } else { (side.base as i64).wrapping_add(disp.wrapping_mul(side.unit)) };
        if count > 0 && datatype.size() > 0 {
            let begin = address.wrapping_add(datatype.true_lb());
            let end = begin + (count - 1) * datatype.extent() + datatype.true_extent();
            let holds = |base: usize, size: i64| begin >= base as i64 && end <= base as i64 + size;
            let is_inside =
                if is_dynamic { is_attached(&side.attached, begin, end) } else { holds(side.base, side.size) };
            if !is_inside {
                let detail = format!("displacement {disp} reaches outside the memory of rank {rank}");
                return Err(Fault::new(ErrorClass::RmaRange, detail));
            }
        }
        Ok(Some(Target { rank, address: address as usize, datatype, count }))
    }

    /// The program's data, packed.
    fn packed(&self, buffer: Buffer, count: Count, datatype: TypeHandle) -> Result<Vec<u8>, Fault> {
        let layout = self.layout(count, datatype)?;
        // SAFETY: the program's buffer.
        Ok(unsafe { layout.pack(buffer.address()) })
    }

    /// Sends an operation on its way. `also` is kept when it is done.
    fn begin_deed(&self, window: &Window, deed: Deed, also: Option<Promise>) {
        let Deed { target, place, bytes, act, back } = deed;
        let origin = window.comm.rank();
        if origin == target {
            self.me.ask_again();
            block_on(self.me.rank.take_turn());
        }
        let (done, promise) = self.me.rank.promise("one-sided operation");
        let answers = back.is_some();
        let keep = move |here: &hpcast_mpi::Rank| {
            here.keep(promise);
            if let Some(also) = also {
                here.keep(also);
            }
        };
        let (shared, sleepers) = (window.shared.clone(), self.me.world.sleepers.clone());
        let (here_rank, there_rank) = (self.me.number(), shared.world(target));
        let effect = Box::new(move |there: &hpcast_mpi::Rank| {
            let mut data = Vec::new();
            if let Err(fault) = guarded_once(|| data = sleepers.now(there_rank, place, act)) {
                give_up(there_rank, fault);
            }
            match back {
                None => keep(there),
                Some(Back { address, layout, bytes }) => shared.answer(there, target, origin, bytes, move |here| {
                    let unpacked = layout.clone();
                    // SAFETY: the origin's buffer is MPI's until the operation ends.
                    let unpack = move || unsafe { unpacked.unpack(&data, address as *mut u8) };
                    if let Err(fault) = guarded_once(|| sleepers.later(here_rank, address, &layout, unpack)) {
                        give_up(here_rank, fault);
                    }
                    keep(here);
                }),
            }
        });
        let sent = window.shared.ask(&self.me.rank, origin, target, bytes, effect);
        window.outstanding.borrow_mut().push(Outstanding { target, sent, done, answers });
    }

    /// The same with a request of the program, which ends when the origin's memory is free.
    fn begin_requested(&self, window: &Window, deed: Option<Deed>, at: RequestAt) {
        let active = match deed {
            None => Active::done(self.abi.empty_status()),
            Some(deed) if deed.back.is_some() => {
                let (request, promise) = self.me.rank.promise("one-sided operation");
                self.begin_deed(window, deed, Some(promise));
                Active { request: Some(request), then: Then::Sent }
            }
            Some(deed) => {
                self.begin_deed(window, deed, None);
                let sent = window.outstanding.borrow_mut().last_mut().and_then(|last| last.sent.take());
                match sent {
                    None => Active::done(self.abi.empty_status()),
                    request => Active { request, then: Then::Sent },
                }
            }
        };
        at.set(self, self.me.new_request(Requested::once(active)));
    }

    fn begin_some(&self, window: &Window, deed: Option<Deed>) {
        if let Some(deed) = deed {
            self.begin_deed(window, deed, None);
        }
    }

    fn put_deed(
        &self,
        window: &Window,
        origin: (Buffer, Count, TypeHandle),
        target: (i32, i64, Count, TypeHandle),
    ) -> Result<Option<Deed>, Fault> {
        let data = self.packed(origin.0, origin.1, origin.2)?;
        let Some(target) = self.target_items(window, target.0, target.1, target.2, target.3)? else { return Ok(None) };
        let bytes = data.len() as u64;
        let act = Box::new({
            let (layout, address) = (target.layout(), target.address);
            move || {
                // SAFETY: the items lie in the window.
                unsafe { layout.unpack(&data, address as *mut u8) };
                Vec::new()
            }
        });
        Ok(Some(Deed { target: target.rank, place: target.begin(), bytes, act, back: None }))
    }

    fn place_back(&self, buffer: Buffer, count: Count, datatype: TypeHandle) -> Result<Back, Fault> {
        let layout = self.layout(count, datatype)?;
        Ok(Back { address: buffer.address() as usize, bytes: layout.bytes(), layout })
    }

    fn get_deed(
        &self,
        window: &Window,
        origin: (Buffer, Count, TypeHandle),
        target: (i32, i64, Count, TypeHandle),
    ) -> Result<Option<Deed>, Fault> {
        let back = self.place_back(origin.0, origin.1, origin.2)?;
        let Some(target) = self.target_items(window, target.0, target.1, target.2, target.3)? else { return Ok(None) };
        let (layout, address) = (target.layout(), target.address);
        // SAFETY: the items lie in the window.
        let act = Box::new(move || unsafe { layout.pack(address as *const u8) });
        Ok(Some(Deed { target: target.rank, place: target.begin(), bytes: 0, act, back: Some(back) }))
    }

    /// One of MPI's own operations; others cannot be used here.
    fn accumulating(&self, op: OpHandle, datatype: &Datatype) -> Result<Operation, Fault> {
        let Op::Predefined(operation) = self.op(op)? else {
            return Err(Fault::new(ErrorClass::Op, "one-sided calls take predefined operations only"));
        };
        if operation.reduces() && datatype.size() > 0 {
            let Some(basic) = datatype.uniform() else {
                return Err(Fault::new(ErrorClass::Type, "the datatype is made of different predefined ones"));
            };
            operation.kernel(basic).map_err(|error| Fault::new(error.class(), error.to_string()))?;
        }
        Ok(operation)
    }

    fn accumulate(
        &self,
        window: &Window,
        origin: (Buffer, Count, TypeHandle),
        target: (i32, i64, Count, TypeHandle),
        op: OpHandle,
        back: Option<Back>,
    ) -> Result<Option<Deed>, Fault> {
        let Some(target) = self.target_items(window, target.0, target.1, target.2, target.3)? else { return Ok(None) };
        let operation = self.accumulating(op, &target.datatype)?;
        let data = if operation == Operation::NoOp { Vec::new() } else { self.packed(origin.0, origin.1, origin.2)? };
        let bytes = data.len() as u64;
        let (fetches, place) = (back.is_some(), target.begin());
        let Target { rank, address, datatype, count } = target;
        let act = Box::new(move || {
            // SAFETY: the items lie in the window.
            unsafe {
                let before =
                    if fetches { Layout::new(&datatype, count).pack(address as *const u8) } else { Vec::new() };
                // It can be applied to the datatype: that was looked at before.
                let _ = operation.apply_packed(&data, &datatype, count, address as *mut u8);
                before
            }
        });
        Ok(Some(Deed { target: rank, place, bytes, act, back }))
    }

    fn compare_and_swap(
        &self,
        window: &Window,
        buffers: [Buffer; 3],
        datatype: TypeHandle,
        rank: i32,
        disp: i64,
    ) -> Result<Option<Deed>, Fault> {
        let [origin, compare, result] = buffers;
        let basic = self.me.datatype(datatype.number)?.as_basic();
        if basic.is_none_or(|basic| !is_comparable(basic)) {
            return Err(Fault::new(ErrorClass::Type, "only integers, logicals and bytes can be compared and swapped"));
        }
        let (new, old) = (self.packed(origin, Count(1), datatype)?, self.packed(compare, Count(1), datatype)?);
        let back = self.place_back(result, Count(1), datatype)?;
        let Some(target) = self.target_items(window, rank, disp, Count(1), datatype)? else { return Ok(None) };
        let (layout, address) = (target.layout(), target.address);
        let bytes = (new.len() + old.len()) as u64;
        let act = Box::new(move || {
            // SAFETY: the item lies in the window.
            unsafe {
                let before = layout.pack(address as *const u8);
                if before == old {
                    layout.unpack(&new, address as *mut u8);
                }
                before
            }
        });
        Ok(Some(Deed { target: target.rank, place: target.begin(), bytes, act, back: Some(back) }))
    }
}

/// Whether MPI_Compare_and_swap takes it.
fn is_comparable(basic: Basic) -> bool {
    use hpcast_objects::datatype::Kind;
    matches!(basic.kind(), Kind::Signed | Kind::Unsigned | Kind::Logical | Kind::Byte | Kind::Character)
}

mpi! {
    fn MPI_Put[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, target_rank: i32, target_disp: i64,
        target_count: Count, target_datatype: TypeHandle, win: WinHandle,
    ) {
        let window = call.me.window(win.number)?;
        let target = (target_rank, target_disp, target_count, target_datatype);
        let deed = call.put_deed(&window, (origin_addr, origin_count, origin_datatype), target).map_err(of(win))?;
        call.begin_some(&window, deed);
        Ok(())
    }
    fn MPI_Rput[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, target_rank: i32, target_disp: i64,
        target_count: Count, target_datatype: TypeHandle, win: WinHandle, request: RequestAt,
    ) {
        let window = call.me.window(win.number)?;
        let target = (target_rank, target_disp, target_count, target_datatype);
        let deed = call.put_deed(&window, (origin_addr, origin_count, origin_datatype), target).map_err(of(win))?;
        call.begin_requested(&window, deed, request);
        Ok(())
    }
    fn MPI_Get[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, target_rank: i32, target_disp: i64,
        target_count: Count, target_datatype: TypeHandle, win: WinHandle,
    ) {
        let window = call.me.window(win.number)?;
        let target = (target_rank, target_disp, target_count, target_datatype);
        let deed = call.get_deed(&window, (origin_addr, origin_count, origin_datatype), target).map_err(of(win))?;
        call.begin_some(&window, deed);
        Ok(())
    }
    fn MPI_Rget[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, target_rank: i32, target_disp: i64,
        target_count: Count, target_datatype: TypeHandle, win: WinHandle, request: RequestAt,
    ) {
        let window = call.me.window(win.number)?;
        let target = (target_rank, target_disp, target_count, target_datatype);
        let deed = call.get_deed(&window, (origin_addr, origin_count, origin_datatype), target).map_err(of(win))?;
        call.begin_requested(&window, deed, request);
        Ok(())
    }
    fn MPI_Accumulate[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, target_rank: i32, target_disp: i64,
        target_count: Count, target_datatype: TypeHandle, op: OpHandle, win: WinHandle,
    ) {
        let window = call.me.window(win.number)?;
        let origin = (origin_addr, origin_count, origin_datatype);
        let target = (target_rank, target_disp, target_count, target_datatype);
        let deed = call.accumulate(&window, origin, target, op, None).map_err(of(win))?;
        call.begin_some(&window, deed);
        Ok(())
    }
    fn MPI_Raccumulate[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, target_rank: i32, target_disp: i64,
        target_count: Count, target_datatype: TypeHandle, op: OpHandle, win: WinHandle, request: RequestAt,
    ) {
        let window = call.me.window(win.number)?;
        let origin = (origin_addr, origin_count, origin_datatype);
        let target = (target_rank, target_disp, target_count, target_datatype);
        let deed = call.accumulate(&window, origin, target, op, None).map_err(of(win))?;
        call.begin_requested(&window, deed, request);
        Ok(())
    }
    fn MPI_Get_accumulate[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, result_addr: Buffer, result_count: Count,
        result_datatype: TypeHandle, target_rank: i32, target_disp: i64, target_count: Count, target_datatype: TypeHandle,
        op: OpHandle, win: WinHandle,
    ) {
        let window = call.me.window(win.number)?;
        let origin = (origin_addr, origin_count, origin_datatype);
        let target = (target_rank, target_disp, target_count, target_datatype);
        let back = call.place_back(result_addr, result_count, result_datatype).map_err(of(win))?;
        let deed = call.accumulate(&window, origin, target, op, Some(back)).map_err(of(win))?;
        call.begin_some(&window, deed);
        Ok(())
    }
    fn MPI_Rget_accumulate[_c](
        call, origin_addr: Buffer, origin_count: Count, origin_datatype: TypeHandle, result_addr: Buffer, result_count: Count,
        result_datatype: TypeHandle, target_rank: i32, target_disp: i64, target_count: Count, target_datatype: TypeHandle,
        op: OpHandle, win: WinHandle, request: RequestAt,
    ) {
        let window = call.me.window(win.number)?;
        let origin = (origin_addr, origin_count, origin_datatype);
        let target = (target_rank, target_disp, target_count, target_datatype);
        let back = call.place_back(result_addr, result_count, result_datatype).map_err(of(win))?;
        let deed = call.accumulate(&window, origin, target, op, Some(back)).map_err(of(win))?;
        call.begin_requested(&window, deed, request);
        Ok(())
    }
    fn MPI_Fetch_and_op(
        call, origin_addr: Buffer, result_addr: Buffer, datatype: TypeHandle, target_rank: i32, target_disp: i64,
        op: OpHandle, win: WinHandle,
    ) {
        let window = call.me.window(win.number)?;
        let target = (target_rank, target_disp, Count(1), datatype);
        let back = call.place_back(result_addr, Count(1), datatype).map_err(of(win))?;
        let deed = call.accumulate(&window, (origin_addr, Count(1), datatype), target, op, Some(back)).map_err(of(win))?;
        call.begin_some(&window, deed);
        Ok(())
    }
    fn MPI_Compare_and_swap(
        call, origin_addr: Buffer, compare_addr: Buffer, result_addr: Buffer, datatype: TypeHandle, target_rank: i32,
        target_disp: i64, win: WinHandle,
    ) {
        let window = call.me.window(win.number)?;
        let buffers = [origin_addr, compare_addr, result_addr];
        let deed = call.compare_and_swap(&window, buffers, datatype, target_rank, target_disp).map_err(of(win))?;
        call.begin_some(&window, deed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_attached_memory_may_touch() {
        let attached = BTreeMap::from([(100, 50), (150, 10), (200, 8)]);
        assert!(is_attached(&attached, 100, 160));
        assert!(is_attached(&attached, 149, 151));
        assert!(is_attached(&attached, 201, 208));
        assert!(!is_attached(&attached, 99, 101));
        assert!(!is_attached(&attached, 155, 161));
        assert!(!is_attached(&attached, 159, 201));
        assert!(!is_attached(&attached, 208, 209));
    }
}
