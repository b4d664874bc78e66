//! One copy of a program.

use std::ffi::{c_char, c_int};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::intercept::Original;
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
        let image = &self.program.image;
        image.address(self.base, 0, image.objects[0].elf.entry)
    }

    /// `main`, where the file has its name; others enter at `_start`.
    pub fn main(&self) -> Option<usize> {
        self.symbol("main")
    }

    /// Address of a function or variable of this copy. The program's own come before those of its libraries, and these before what the
    /// copy has of the process' variables.
    pub fn symbol(&self, name: &str) -> Option<usize> {
        let image = &self.program.image;
        let defined = image.find(name).map(|found| image.address(self.base, found.object, found.address));
        defined.or_else(|| Some(self.base + image.layout.variable(name)? as usize))
    }

    /// Address of the original of a function that was replaced, in this copy.
    pub fn original(&self, original: Original) -> usize {
        self.base + original.offset as usize
    }

    /// Runs the initialisers of the libraries, as the dynamic linker does before a program begins.
    ///
    /// # Safety
    /// Runs code of the program, on this stack; its thread-local data is in place ([`Instance::restore_thread_local`]). Only
    /// once for a copy.
    pub unsafe fn initialise_libraries(&self, start: &Start) {
        let image = &self.program.image;
        let mut calls = image.earliest_calls(self.base, 0);
        if let Some(shared) = &self.program.shared
            && !shared.is_initialised.swap(true, Ordering::Relaxed)
        {
            calls.extend(shared.image.order.iter().flat_map(|&number| shared.image.first_calls(shared.base, number)));
        }
        let libraries = image.order.iter().filter(|&&number| number != 0);
        calls.extend(libraries.flat_map(|&number| image.first_calls(self.base, number)));
        // SAFETY: initialisers, in their order.
        unsafe { initialise(&calls, start) };
    }

    /// Runs the initialisers of the program itself. `__libc_start_main` does this, unless its fourth argument is a function, which
    /// it then calls instead: programs that were linked with a C library older than 2.34 bring their own.
    ///
    /// # Safety
    /// As for [`Instance::initialise_libraries`], which comes before.
    pub unsafe fn initialise_program(&self, start: &Start) {
        // SAFETY: initialisers, in their order.
        unsafe { initialise(&self.program.image.first_calls(self.base, 0), start) };
    }

    /// Runs what is to be run when a program ends, the program's before its libraries'.
    ///
    /// # Safety
    /// As for [`Instance::initialise_libraries`]; all initialisers have run.
    pub unsafe fn finish(&self) {
        let image = &self.program.image;
        for function in image.order.iter().rev().flat_map(|&number| image.last_calls(self.base, number)) {
            // SAFETY: functions without arguments of this copy, in their order.
            unsafe { std::mem::transmute::<usize, extern "C" fn()>(function)() };
        }
    }

    /// Keeps the copy's thread-local data that lies below the thread pointer, before another copy runs.
    ///
    /// # Safety
    /// The copy is the one that ran last, on this thread.
    #[inline]
    pub unsafe fn save_thread_local(&self) {
        let zone = &self.program.image.layout.zone;
        // SAFETY: the layout has this room, and the zone was checked when the program was opened.
        unsafe { tls::save((self.base + zone.start as usize) as *mut u8, (zone.end - zone.start) as usize) };
    }

    /// Where that is kept.
    #[inline]
    pub fn kept_thread_local(&self) -> usize {
        self.base + self.program.image.layout.zone.start as usize
    }

    /// Puts the copy's thread-local data below the thread pointer, before it runs for the first time or again.
    ///
    /// # Safety
    /// Whatever copy ran before on this thread has been saved.
    #[inline]
    pub unsafe fn restore_thread_local(&self) {
        let zone = &self.program.image.layout.zone;
        // SAFETY: as above.
        unsafe { tls::restore((self.base + zone.start as usize) as *const u8, (zone.end - zone.start) as usize) };
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: taken for this copy, and nothing of it is used any more, as its description demands.
        unsafe { self.program.image.space.give(self.base) };
    }
}

/// Calls initialisers.
///
/// # Safety
/// That is what they are, and they may be called now.
unsafe fn initialise(functions: &[usize], start: &Start) {
    for &function in functions {
        // SAFETY: as the caller promises.
        unsafe {
            let function = std::mem::transmute::<usize, Initialiser>(function);
            function(start.count(), start.arguments(), start.variables());
        }
    }
}
