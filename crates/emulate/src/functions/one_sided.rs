//! One-sided communication: windows, what is done with them, and synchronisation.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hpcast_mpi::{Collective, Promise, Request};
use hpcast_objects::{Basic, Datatype, ErrorClass, Group, Operation};

use crate::abi::Kind;
use crate::argument::{
    At, Buffer, CommHandle, Count, CountAt, GroupAt, GroupHandle, InfoAt, InfoHandle, OpHandle, RequestAt, Text,
    TextAt, TypeHandle, WinAt, WinHandle,
};
use crate::call::{Call, mpi};
use crate::communicator::Communicator;
use crate::fault::{Answer, Concern, Fault, Handler};
use crate::fiber::block_on;
use crate::layout::Layout;
use crate::operation::{Active, Operation as Requested, Then};
use crate::processes::baton;
use crate::reduction::Op;
use crate::windows::{Epoch, Memory, Outstanding, Shared, Side, Window};

/// How a window came about.
#[derive(Clone, Copy)]
enum Flavor {
    Create,
    Allocate,
    Dynamic,
    Shared,
}

impl Flavor {
    fn name(self) -> &'static str {
        match self {
            Flavor::Create => "MPI_WIN_FLAVOR_CREATE",
            Flavor::Allocate => "MPI_WIN_FLAVOR_ALLOCATE",
            Flavor::Dynamic => "MPI_WIN_FLAVOR_DYNAMIC",
            Flavor::Shared => "MPI_WIN_FLAVOR_SHARED",
        }
    }
}

/// Memory that a rank brings to a window.
struct Brought {
    base: usize,
    size: i64,
    unit: i32,
    memory: Option<Memory>,
}

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
    /// Where in the target's memory.
    place: usize,
    bytes: u64,
    act: Act,
    back: Option<Back>,
}

/// Whom a fault concerns.
fn of(win: WinHandle) -> impl Fn(Fault) -> Fault {
    move |fault| fault.of(Concern::Win(win.number))
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

fn misplaced(what: &str) -> Fault {
    Fault::new(ErrorClass::RmaSync, what)
}

impl Call<'_> {
    fn require_sizes(&self, size: i64, Count(unit): Count) -> Result<i32, Fault> {
        if size < 0 {
            return Err(Fault::new(ErrorClass::Size, format!("a window of {size} bytes")));
        }
        match i32::try_from(unit) {
            Ok(unit) if unit > 0 => Ok(unit),
            _ => Err(Fault::new(ErrorClass::Disp, format!("displacements in units of {unit} bytes"))),
        }
    }

    /// All ranks make a window together.
    fn make_window(
        &self,
        comm: &Communicator,
        info: InfoHandle,
        flavor: Flavor,
        brought: Brought,
        at: WinAt,
    ) -> Answer {
        comm.require_intra()?;
        let Brought { base, size, unit, memory } = brought;
        let shared = self.agree(comm, vec![base as i64, size, i64::from(unit)], |board| {
            let side = |rank| {
                let words = board.deposit(rank).map(|deposit| deposit.words.clone()).unwrap_or_default();
                let word = |place: usize| words.get(place).copied().unwrap_or_default();
                Side::new(word(0) as usize, word(1), word(2))
            };
            let sides = (0..comm.size()).map(side).collect();
            let context = self.me.rank.new_context(comm.group.iter().collect());
            Rc::new(Shared::new(context, comm.group.clone(), sides, None))
        })?;
        self.add_window(comm, info, flavor, Brought { base, size, unit, memory }, (*shared).clone(), at)
    }

    fn add_window(
        &self,
        comm: &Communicator,
        info: InfoHandle,
        flavor: Flavor,
        brought: Brought,
        shared: Rc<Shared>,
        at: WinAt,
    ) -> Answer {
        let Brought { base, size, unit, memory } = brought;
        let window = Window {
            handler: Cell::new(Handler::Fatal),
            attributes: Rc::default(),
            name: RefCell::default(),
            info: RefCell::new(self.hints(info)?),
            group: comm.group.clone(),
            base,
            size,
            unit,
            flavor: self.abi.constant(flavor.name()),
            model: self.abi.constant("MPI_WIN_UNIFIED"),
            comm: shared.comm(comm.rank()),
            shared,
            _memory: memory,
            outstanding: RefCell::default(),
            epoch: RefCell::new(Epoch::default()),
        };
        at.set(self, self.me.objects.windows.insert(Rc::new(window)));
        Ok(())
    }

    /// Memory of all ranks of a node in one piece.
    fn make_shared(
        &self,
        comm: &Communicator,
        info: InfoHandle,
        size: i64,
        unit: i32,
        at: WinAt,
    ) -> Result<usize, Fault> {
        comm.require_intra()?;
        let hints = self.hints(info)?;
        let apart = matches!(hints.get(b"alloc_shared_noncontig"), Ok(Some(b"true")));
        let node = self.me.world.processor(self.me.number()).0;
        let words = vec![size, i64::from(unit), i64::from(apart), i64::from(node)];
        let shared = self.agree(comm, words, |board| {
            let (mut sides, mut end, mut nodes) = (Vec::new(), 0, Vec::new());
            for rank in 0..comm.size() {
                let words = board.deposit(rank).map(|deposit| deposit.words.clone()).unwrap_or_default();
                let word = |place: usize| words.get(place).copied().unwrap_or_default();
                if word(2) != 0 {
                    // Each on lines of the cache of its own.
                    end = (end as usize).next_multiple_of(64) as i64;
                }
                sides.push(Side::new(end as usize, word(0), word(1)));
                end += word(0);
                nodes.push(word(3));
            }
            if nodes.iter().any(|&node| node != nodes[0]) {
                return Err(ErrorClass::RmaShared);
            }
            let memory = Memory::new(end as usize).ok_or(ErrorClass::NoMem)?;
            for side in &mut sides {
                side.base += memory.address();
            }
            let context = self.me.rank.new_context(comm.group.iter().collect());
            Ok(Rc::new(Shared::new(context, comm.group.clone(), sides, Some(memory))))
        })?;
        let shared = match &*shared {
            Ok(shared) => shared.clone(),
            Err(ErrorClass::RmaShared) => {
                return Err(Fault::new(ErrorClass::RmaShared, "the ranks are on different nodes"));
            }
            Err(class) => return Err(Fault::new(*class, "for the memory of a window")),
        };
        let base = shared.sides.borrow()[comm.rank() as usize].base;
        self.add_window(comm, info, Flavor::Shared, Brought { base, size, unit, memory: None }, shared, at)?;
        Ok(base)
    }

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

    fn window_rank(&self, window: &Window, rank: i32) -> Result<u32, Fault> {
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
        let shared = window.shared.clone();
        let (here_rank, there_rank) = (self.me.number(), shared.world(target));
        let effect = Box::new(move |there: &hpcast_mpi::Rank| {
            let data = baton::now(there_rank, place, act);
            match back {
                None => keep(there),
                Some(Back { address, layout, bytes }) => shared.answer(there, target, origin, bytes, move |here| {
                    // SAFETY: the origin's buffer is MPI's until the operation ends.
                    baton::later(here_rank, address, move || unsafe { layout.unpack(&data, address as *mut u8) });
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
        at.set(self, self.new_request(Requested::once(active)));
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
        Ok(Some(Deed { target: target.rank, place: target.address, bytes, act, back: None }))
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
        Ok(Some(Deed { target: target.rank, place: target.address, bytes: 0, act, back: Some(back) }))
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
        let fetches = back.is_some();
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
        Ok(Some(Deed { target: rank, place: address, bytes, act, back }))
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
        Ok(Some(Deed { target: target.rank, place: target.address, bytes, act, back: Some(back) }))
    }

    fn wait_each(&self, requests: Vec<Request>) {
        if !requests.is_empty() {
            block_on(self.me.rank.wait_all(requests));
        }
    }

    /// Waits until operations are done at their targets; says which targets were written to.
    fn wait_for_operations(&self, window: &Window, of: impl Fn(u32) -> bool) -> BTreeSet<u32> {
        let all = window.outstanding.take();
        let (some, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|outstanding| of(outstanding.target));
        *window.outstanding.borrow_mut() = others;
        let mut written = BTreeSet::new();
        let mut requests = Vec::new();
        for Outstanding { target, sent, done, answers } in some {
            requests.extend(sent);
            requests.push(done);
            if !answers && target != window.comm.rank() {
                written.insert(target);
            }
        }
        self.wait_each(requests);
        written
    }

    /// Operations are done at their targets, and the origin knows: a word from each target that was written to.
    fn flush_window(&self, window: &Window, of: impl Fn(u32) -> bool) {
        let origin = window.comm.rank();
        let words = self.wait_for_operations(window, of).into_iter().map(|target| {
            let (request, promise) = self.me.rank.promise("flush of a window");
            window.shared.answer(&self.me.rank, target, origin, 0, move |here| here.keep(promise));
            request
        });
        self.wait_each(words.collect());
    }

    /// Waits until the origin's memory is free.
    fn flush_local(&self, window: &Window, of: impl Fn(u32) -> bool) {
        let mut requests = Vec::new();
        let all = window.outstanding.take();
        let mut left = Vec::with_capacity(all.len());
        for mut outstanding in all {
            if of(outstanding.target) {
                requests.extend(outstanding.sent.take());
                if outstanding.answers {
                    requests.push(outstanding.done);
                    continue;
                }
            }
            left.push(outstanding);
        }
        *window.outstanding.borrow_mut() = left;
        self.wait_each(requests);
    }

    /// Tells a target something: an empty message after the operations on it.
    fn tell_target(
        &self,
        window: &Window,
        target: u32,
        effect: impl FnOnce(&hpcast_mpi::Rank) + 'static,
    ) -> Option<Request> {
        let origin = window.comm.rank();
        if origin == target {
            block_on(self.me.rank.take_turn());
        }
        window.shared.ask(&self.me.rank, origin, target, 0, Box::new(effect))
    }

    /// Asks a target for its lock and waits for it.
    fn take_lock(&self, window: &Window, target: u32, alone: bool) {
        let origin = window.comm.rank();
        let (granted, promise) = self.me.rank.promise("lock of a window");
        let shared = window.shared.clone();
        let sent = self.tell_target(window, target, move |there| shared.lock(there, target, origin, alone, promise));
        self.wait_each(sent.into_iter().chain([granted]).collect());
    }

    /// Gives locks back: after the operations, with a word from each target that it is so.
    fn give_locks(&self, window: &Window, targets: &BTreeSet<u32>) {
        let origin = window.comm.rank();
        let mut requests = Vec::new();
        for &target in targets {
            let (heard, promise) = self.me.rank.promise("unlock of a window");
            let shared = window.shared.clone();
            let sent = self.tell_target(window, target, move |there| {
                shared.unlock(there, target);
                shared.answer(there, target, origin, 0, move |here| here.keep(promise));
            });
            requests.extend(sent);
            requests.push(heard);
        }
        self.wait_for_operations(window, |target| targets.contains(&target));
        self.wait_each(requests);
    }

    /// Waits until my side of the window is so.
    fn wait_on_side(&self, window: &Window, purpose: &'static str, is: impl Fn(&Side) -> bool) {
        let me = &self.me.rank;
        while let Some(request) = window.shared.wait_for(me, window.comm.rank(), purpose, &is) {
            block_on(me.wait(request));
        }
    }

    /// The ranks of a group in a window.
    fn ranks_in(&self, window: &Window, group: GroupHandle) -> Result<BTreeSet<u32>, Fault> {
        let group: Rc<Group> = self.me.group(group.number)?;
        let rank = |process| {
            window
                .group
                .rank_of(process)
                .ok_or_else(|| Fault::new(ErrorClass::Group, "not all are ranks of the window"))
        };
        group.iter().map(rank).collect()
    }

    fn has_mode(&self, assert: i32, name: &str) -> bool {
        assert & self.abi.constant(name) != 0
    }

    /// An exposure epoch is over: all origins have completed.
    fn end_exposure(&self, window: &Window, origins: u32) {
        window.shared.sides.borrow_mut()[window.comm.rank() as usize].completes -= origins;
        window.epoch.borrow_mut().posted = None;
    }
}

/// Whether MPI_Compare_and_swap takes it.
fn is_comparable(basic: Basic) -> bool {
    use hpcast_objects::datatype::Kind;
    matches!(basic.kind(), Kind::Signed | Kind::Unsigned | Kind::Logical | Kind::Byte | Kind::Character)
}

mpi! {
    fn MPI_Win_create[_c](
        call, base: Buffer, size: i64, disp_unit: Count, info: InfoHandle, comm: CommHandle, win: WinAt,
    ) {
        let object = call.me.comm(comm.number)?;
        let unit = call.require_sizes(size, disp_unit).map_err(|fault| fault.of_comm(comm.number))?;
        let brought = Brought { base: base.address() as usize, size, unit, memory: None };
        call.make_window(&object, info, Flavor::Create, brought, win)
    }
    fn MPI_Win_allocate[_c](
        call, size: i64, disp_unit: Count, info: InfoHandle, comm: CommHandle, baseptr: At<usize>, win: WinAt,
    ) {
        let object = call.me.comm(comm.number)?;
        let unit = call.require_sizes(size, disp_unit).map_err(|fault| fault.of_comm(comm.number))?;
        let Some(memory) = Memory::new(size as usize) else {
            return Err(Fault::new(ErrorClass::NoMem, format!("{size} bytes")).of_comm(comm.number));
        };
        let base = memory.address();
        let brought = Brought { base, size, unit, memory: Some(memory) };
        call.make_window(&object, info, Flavor::Allocate, brought, win)?;
        baseptr.set(base);
        Ok(())
    }
    fn MPI_Win_allocate_shared[_c](
        call, size: i64, disp_unit: Count, info: InfoHandle, comm: CommHandle, baseptr: At<usize>, win: WinAt,
    ) {
        let object = call.me.comm(comm.number)?;
        let unit = call.require_sizes(size, disp_unit).map_err(|fault| fault.of_comm(comm.number))?;
        let base = call.make_shared(&object, info, size, unit, win).map_err(|fault| fault.of_comm(comm.number))?;
        baseptr.set(base);
        Ok(())
    }
    fn MPI_Win_shared_query[_c](call, win: WinHandle, rank: i32, size: At<i64>, disp_unit: CountAt, baseptr: At<usize>) {
        let window = call.me.window(win.number)?;
        if window.flavor != call.abi.constant(Flavor::Shared.name()) {
            return Err(of(win)(Fault::new(ErrorClass::RmaFlavor, "the window was not made by MPI_Win_allocate_shared")));
        }
        let sides = window.shared.sides.borrow();
        let place = if rank == call.abi.proc_null {
            sides.iter().position(|side| side.size > 0).unwrap_or(0)
        } else {
            call.window_rank(&window, rank).map_err(of(win))? as usize
        };
        size.set(sides[place].size);
        disp_unit.set(call, sides[place].unit);
        // Who has brought no memory has no address.
        baseptr.set(if sides[place].size > 0 { sides[place].base } else { 0 });
        Ok(())
    }
    fn MPI_Win_create_dynamic(call, info: InfoHandle, comm: CommHandle, win: WinAt) {
        let object = call.me.comm(comm.number)?;
        let brought = Brought { base: 0, size: 0, unit: 1, memory: None };
        call.make_window(&object, info, Flavor::Dynamic, brought, win)
    }
    fn MPI_Win_attach(call, win: WinHandle, base: Buffer, size: i64) {
        let window = call.me.window(win.number)?;
        if window.flavor != call.abi.constant(Flavor::Dynamic.name()) {
            return Err(of(win)(Fault::new(ErrorClass::RmaFlavor, "the window was not made by MPI_Win_create_dynamic")));
        }
        if size < 0 {
            return Err(of(win)(Fault::new(ErrorClass::Size, format!("{size} bytes"))));
        }
        let mut sides = window.shared.sides.borrow_mut();
        sides[window.comm.rank() as usize].attached.insert(base.address() as usize, size as usize);
        Ok(())
    }
    fn MPI_Win_detach(call, win: WinHandle, base: Buffer) {
        let window = call.me.window(win.number)?;
        let mut sides = window.shared.sides.borrow_mut();
        match sides[window.comm.rank() as usize].attached.remove(&(base.address() as usize)) {
            Some(_) => Ok(()),
            None => Err(of(win)(Fault::new(ErrorClass::Base, "no memory was attached that begins there"))),
        }
    }
    fn MPI_Win_free(call, win: WinAt) {
        let number = win.get(call);
        let window = call.me.window(number)?;
        window.attributes.clear(call, (Kind::Win, number)).map_err(of(WinHandle::of(number)))?;
        call.wait_for_operations(&window, |_| true);
        block_on(call.me.rank.collective(window.comm, &Collective::Barrier));
        call.me.objects.windows.remove(number);
        win.set(call, 0);
        Ok(())
    }
    fn MPI_Win_get_group(call, win: WinHandle, group: GroupAt) {
        let found = call.me.window(win.number)?.group.clone();
        group.set(call, call.me.objects.groups.insert(found));
        Ok(())
    }
    fn MPI_Win_set_name(call, win: WinHandle, win_name: Text) {
        *call.me.window(win.number)?.name.borrow_mut() = win_name.0.chars().take(call.name_room()).collect();
        Ok(())
    }
    fn MPI_Win_get_name(call, win: WinHandle, win_name: TextAt, resultlen: At<i32>) {
        let window = call.me.window(win.number)?;
        resultlen.set(win_name.set(&window.name.borrow(), call.name_room()));
        Ok(())
    }
    fn MPI_Win_set_info(call, win: WinHandle, info: InfoHandle) {
        let window = call.me.window(win.number)?;
        *window.info.borrow_mut() = call.hints(info).map_err(of(win))?;
        Ok(())
    }
    fn MPI_Win_get_info(call, win: WinHandle, info_used: InfoAt) {
        let info = call.me.window(win.number)?.info.borrow().clone();
        info_used.set(call, call.add_info(info));
        Ok(())
    }
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
    fn MPI_Win_fence(call, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        call.wait_for_operations(&window, |_| true);
        block_on(call.me.rank.collective(window.comm, &Collective::Barrier));
        window.epoch.borrow_mut().fenced = !call.has_mode(assert, "MPI_MODE_NOSUCCEED");
        Ok(())
    }
    fn MPI_Win_post(call, group: GroupHandle, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let origins = call.ranks_in(&window, group).map_err(of(win))?;
        if window.epoch.borrow().posted.is_some() {
            return Err(of(win)(misplaced("the window is posted already")));
        }
        window.epoch.borrow_mut().posted = Some(origins.len() as u32);
        if call.has_mode(assert, "MPI_MODE_NOCHECK") {
            return Ok(());
        }
        let me = window.comm.rank();
        let mut sent = Vec::new();
        for origin in origins {
            let shared = window.shared.clone();
            let told = call.tell_target(&window, origin, move |there| {
                shared.change(there, origin, |side| *side.posts.entry(me).or_default() += 1);
            });
            sent.extend(told);
        }
        call.wait_each(sent);
        Ok(())
    }
    fn MPI_Win_start(call, group: GroupHandle, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let targets = call.ranks_in(&window, group).map_err(of(win))?;
        if window.epoch.borrow().started.is_some() {
            return Err(of(win)(misplaced("the window is started already")));
        }
        call.wait_for_operations(&window, |_| true);
        if !call.has_mode(assert, "MPI_MODE_NOCHECK") {
            for target in &targets {
                let is_posted = |side: &Side| side.posts.get(target).is_some_and(|&posts| posts > 0);
                call.wait_on_side(&window, "MPI_Win_start", is_posted);
                let mut sides = window.shared.sides.borrow_mut();
                let posts = &mut sides[window.comm.rank() as usize].posts;
                if let Some(count) = posts.get_mut(target) {
                    *count -= 1;
                    if *count == 0 {
                        posts.remove(target);
                    }
                }
            }
        }
        window.epoch.borrow_mut().started = Some(targets);
        Ok(())
    }
    fn MPI_Win_complete(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let Some(targets) = window.epoch.borrow_mut().started.take() else {
            return Err(of(win)(misplaced("MPI_Win_complete without MPI_Win_start")));
        };
        let mut sent = Vec::new();
        for target in targets {
            let shared = window.shared.clone();
            let told = call.tell_target(&window, target, move |there| shared.change(there, target, |side| side.completes += 1));
            sent.extend(told);
        }
        call.flush_local(&window, |_| true);
        call.wait_each(sent);
        Ok(())
    }
    fn MPI_Win_wait(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let Some(origins) = window.epoch.borrow().posted else {
            return Err(of(win)(misplaced("MPI_Win_wait without MPI_Win_post")));
        };
        call.wait_on_side(&window, "MPI_Win_wait", |side| side.completes >= origins);
        call.end_exposure(&window, origins);
        Ok(())
    }
    fn MPI_Win_test(call, win: WinHandle, flag: At<i32>) {
        let window = call.me.window(win.number)?;
        let Some(origins) = window.epoch.borrow().posted else {
            return Err(of(win)(misplaced("MPI_Win_test without MPI_Win_post")));
        };
        block_on(call.me.rank.look());
        let is_done = window.shared.sides.borrow()[window.comm.rank() as usize].completes >= origins;
        if is_done {
            call.end_exposure(&window, origins);
        }
        flag.set(i32::from(is_done));
        Ok(())
    }
    fn MPI_Win_lock(call, lock_type: i32, rank: i32, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let alone = lock_type == call.abi.constant("MPI_LOCK_EXCLUSIVE");
        if !alone && lock_type != call.abi.constant("MPI_LOCK_SHARED") {
            return Err(of(win)(Fault::new(ErrorClass::Locktype, format!("{lock_type} is no type of lock"))));
        }
        if rank == call.abi.proc_null {
            return Ok(());
        }
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        let is_real = !call.has_mode(assert, "MPI_MODE_NOCHECK");
        if window.epoch.borrow().all.is_some() || window.epoch.borrow().locks.contains_key(&target) {
            return Err(of(win)(misplaced("the target is locked by this rank already")));
        }
        if is_real {
            call.take_lock(&window, target, alone);
        }
        window.epoch.borrow_mut().locks.insert(target, is_real);
        Ok(())
    }
    fn MPI_Win_unlock(call, rank: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        if rank == call.abi.proc_null {
            return Ok(());
        }
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        let lock = window.epoch.borrow_mut().locks.remove(&target);
        match lock {
            Some(true) => call.give_locks(&window, &BTreeSet::from([target])),
            Some(false) => call.flush_window(&window, |rank| rank == target),
            None => return Err(of(win)(misplaced("MPI_Win_unlock without MPI_Win_lock"))),
        }
        Ok(())
    }
    fn MPI_Win_lock_all(call, assert: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let mut epoch = window.epoch.borrow_mut();
        if epoch.all.is_some() || !epoch.locks.is_empty() {
            return Err(of(win)(misplaced("the window is locked by this rank already")));
        }
        epoch.all = Some(!call.has_mode(assert, "MPI_MODE_NOCHECK"));
        Ok(())
    }
    fn MPI_Win_unlock_all(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let (all, asked) = {
            let mut epoch = window.epoch.borrow_mut();
            (epoch.all.take(), std::mem::take(&mut epoch.asked))
        };
        if all.is_none() {
            return Err(of(win)(misplaced("MPI_Win_unlock_all without MPI_Win_lock_all")));
        }
        call.give_locks(&window, &asked);
        call.flush_window(&window, |_| true);
        Ok(())
    }
    fn MPI_Win_flush(call, rank: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        call.flush_window(&window, |rank| rank == target);
        Ok(())
    }
    fn MPI_Win_flush_all(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        call.flush_window(&window, |_| true);
        Ok(())
    }
    fn MPI_Win_flush_local(call, rank: i32, win: WinHandle) {
        let window = call.me.window(win.number)?;
        let target = call.window_rank(&window, rank).map_err(of(win))?;
        call.flush_local(&window, |rank| rank == target);
        Ok(())
    }
    fn MPI_Win_flush_local_all(call, win: WinHandle) {
        let window = call.me.window(win.number)?;
        call.flush_local(&window, |_| true);
        Ok(())
    }
    /// Whoever polls its memory sees what others have written by now.
    fn MPI_Win_sync(call, win: WinHandle) {
        call.me.window(win.number)?;
        block_on(call.me.rank.look());
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
