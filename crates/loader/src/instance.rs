//! One copy of a program.

use std::ffi::{c_char, c_int};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::closure::Object;
use crate::elf::Calls;
use crate::intercept::Original;
use crate::layout::Place;
use crate::program::Inner;
use crate::start::Start;
use crate::tls;

/// One copy of a program. Its memory goes when it is dropped: nothing of it may run or be used after that.
pub struct Instance {
    program: Arc<Inner>,
    base: usize,
}

/// What initialisers are called with.
type Initialiser = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char);

impl Instance {
    pub(crate) fn new(program: Arc<Inner>, base: usize) -> Self {
        Self { program, base }
    }

    /// Where the copy begins; copies differ in it.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Where the program begins: `_start`, to be entered by [`Start::enter`]. It calls `__libc_start_main` with `main` as its
    /// first argument.
    pub fn entry(&self) -> usize {
        self.at(&self.program.layout.places[0], self.program.objects[0].elf.entry)
    }

    /// `main`, where the file has its name; others enter at `_start`.
    pub fn main(&self) -> Option<usize> {
        self.symbol("main")
    }

    /// Address of a function or variable of this copy. The program's own come before those of its libraries.
    pub fn symbol(&self, name: &str) -> Option<usize> {
        self.program.find(name).map(|found| self.base.wrapping_add(self.program.offset(&found) as usize))
    }

    /// Address of the original of a function that was replaced, in this copy.
    pub fn original(&self, original: Original) -> usize {
        self.base + original.offset as usize
    }

    fn at(&self, place: &Place, address: u64) -> usize {
        self.base.wrapping_add(place.bias.wrapping_add(address) as usize)
    }

    /// Runs the initialisers of the libraries, as the dynamic linker does before a program begins.
    ///
    /// # Safety
    /// Runs code of the program, on this stack; its thread-local data is in place ([`Instance::restore_thread_local`]). Only
    /// once for a copy.
    pub unsafe fn initialise_libraries(&self, start: &Start) {
        let program = &self.program;
        let call = |function| {
            // SAFETY: initialisers of this copy, in their order.
            unsafe { initialise(function, start) };
        };
        self.array(&program.layout.places[0], &program.objects[0].elf.before).into_iter().for_each(call);
        if let Some(shared) = &program.shared
            && !shared.is_initialised.swap(true, Ordering::Relaxed)
        {
            let all = shared.order.iter().map(|&number| (&shared.objects[number], &shared.layout.places[number]));
            all.flat_map(|(object, place)| first_calls(shared.base, object, place)).for_each(call);
        }
        for &number in program.order.iter().filter(|&&number| number != 0) {
            first_calls(self.base, &program.objects[number], &program.layout.places[number]).into_iter().for_each(call);
        }
    }

    /// Runs the initialisers of the program itself. `__libc_start_main` does this, unless its fourth argument is a function, which
    /// it then calls instead: programs that were linked with a C library older than 2.34 bring their own.
    ///
    /// # Safety
    /// As for [`Instance::initialise_libraries`], which comes before.
    pub unsafe fn initialise_program(&self, start: &Start) {
        for function in first_calls(self.base, &self.program.objects[0], &self.program.layout.places[0]) {
            // SAFETY: initialisers of this copy, in their order.
            unsafe { initialise(function, start) };
        }
    }

    /// Runs what is to be run when a program ends, the program's before its libraries'.
    ///
    /// # Safety
    /// As for [`Instance::initialise_libraries`]; all initialisers have run.
    pub unsafe fn finish(&self) {
        let program = &self.program;
        for &number in program.order.iter().rev() {
            let (object, place) = (&program.objects[number], &program.layout.places[number]);
            let mut calls = self.array(place, &object.elf.finish);
            calls.reverse();
            calls.extend(object.elf.finish.single.map(|address| self.at(place, address)));
            for function in calls {
                // SAFETY: functions without arguments of this copy, in their order.
                unsafe { std::mem::transmute::<usize, extern "C" fn()>(function)() };
            }
        }
    }

    fn array(&self, place: &Place, calls: &Calls) -> Vec<usize> {
        array(self.base, place, calls)
    }

    /// Keeps the copy's thread-local data that lies below the thread pointer, before another copy runs.
    ///
    /// # Safety
    /// The copy is the one that ran last, on this thread.
    #[inline]
    pub unsafe fn save_thread_local(&self) {
        let zone = &self.program.layout.zone;
        // SAFETY: the layout has this room, and the zone was checked when the program was opened.
        unsafe { tls::save((self.base + zone.start as usize) as *mut u8, (zone.end - zone.start) as usize) };
    }

    /// Puts the copy's thread-local data below the thread pointer, before it runs for the first time or again.
    ///
    /// # Safety
    /// Whatever copy ran before on this thread has been saved.
    #[inline]
    pub unsafe fn restore_thread_local(&self) {
        let zone = &self.program.layout.zone;
        // SAFETY: as above.
        unsafe { tls::restore((self.base + zone.start as usize) as *const u8, (zone.end - zone.start) as usize) };
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: taken for this copy, and nothing of it is used any more, as its description demands.
        unsafe { self.program.space.give(self.base) };
    }
}

/// Functions in a table of a copy.
fn array(base: usize, place: &Place, calls: &Calls) -> Vec<usize> {
    let (address, count) = calls.array;
    let start = base.wrapping_add(place.bias.wrapping_add(address) as usize);
    // SAFETY: the table was checked to be in what is loaded.
    let read = |number: u64| unsafe { (start as *const usize).add(number as usize).read_unaligned() };
    (0..count).map(read).filter(|&function| function != 0 && function != usize::MAX).collect()
}

fn first_calls(base: usize, object: &Object, place: &Place) -> Vec<usize> {
    let single =
        object.elf.initialise.single.map(|address| base.wrapping_add(place.bias.wrapping_add(address) as usize));
    single.into_iter().chain(array(base, place, &object.elf.initialise)).collect()
}

/// Calls an initialiser.
///
/// # Safety
/// It is one, and may be called now.
unsafe fn initialise(function: usize, start: &Start) {
    // SAFETY: as the caller promises.
    unsafe {
        let function = std::mem::transmute::<usize, Initialiser>(function);
        function(start.count(), start.arguments(), start.variables());
    }
}
