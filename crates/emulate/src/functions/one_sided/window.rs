//! Windows: how they are made, of which memory, and what is known of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hpcast_mpi::Collective;
use hpcast_objects::ErrorClass;

use crate::abi::Kind;
use crate::argument::{
    At, Buffer, CommHandle, Count, CountAt, GroupAt, InfoAt, InfoHandle, Text, TextAt, WinAt, WinHandle,
};
use crate::call::{Call, mpi};
use crate::communicator::Communicator;
use crate::fault::{Answer, Fault, Handler};
use crate::fiber::block_on;
use crate::windows::{Epoch, Memory, Shared, Side, Window};

use super::of;

/// How a window came about.
#[derive(Clone, Copy)]
pub(super) enum Flavor {
    Create,
    Allocate,
    Dynamic,
    Shared,
}

impl Flavor {
    pub(super) fn name(self) -> &'static str {
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
}
