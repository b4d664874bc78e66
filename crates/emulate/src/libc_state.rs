//! What functions of the C library keep between calls, for each rank.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_long, c_uint};

/// State of functions that keep some.
#[derive(Default)]
pub struct LibcState {
    random: RefCell<Option<Box<Random>>>,
    /// Where strtok goes on.
    pub strtok: Cell<*mut c_char>,
    /// Of drand48() and its relatives.
    random48: RefCell<Random48>,
    /// Environment variables that the rank has set, or taken away.
    pub variables: RefCell<HashMap<CString, Option<CString>>>,
    /// getopt's next argument.
    pub options: Cell<c_int>,
    /// Whether getopt was called.
    pub has_options: Cell<bool>,
    /// Functions to be called at the end.
    pub at_exit: RefCell<Vec<AtExit>>,
    /// Its working folder, if it has gone somewhere.
    pub folder: Cell<Option<c_int>>,
    /// Handlers of signals: what signal() gives back.
    pub handlers: RefCell<HashMap<c_int, Action>>,
}

/// A function of the program to be called at the end, with an argument.
#[derive(Clone, Copy)]
pub struct AtExit {
    /// Its address.
    pub function: usize,
    /// What it gets.
    pub argument: usize,
    /// Whether it gets the exit code before that (on_exit).
    pub is_told: bool,
}

/// What a rank wants to be done about a signal.
#[derive(Clone, Copy, Default)]
pub struct Action {
    /// A function, or what stands for doing what is usual, or nothing (SIG_DFL, SIG_IGN).
    pub handler: usize,
    /// SA_SIGINFO and its like.
    pub flags: c_int,
}

impl LibcState {
    /// The generator of drand48() and its relatives.
    pub fn random48(&self) -> RefMut<'_, Random48> {
        self.random48.borrow_mut()
    }

    /// The generator of rand() and random().
    pub fn random(&self) -> RefMut<'_, Random> {
        RefMut::map(self.random.borrow_mut(), |random| &mut **random.get_or_insert_with(Random::new))
    }
}

/// glibc's own generator, with a state for each rank: the same numbers as in a process of its own.
pub struct Random {
    data: RandomData,
    state: [c_char; 128],
}

/// glibc's `struct random_data` (stdlib.h).
#[repr(C)]
struct RandomData {
    words: [usize; 6],
}

unsafe extern "C" {
    fn initstate_r(seed: c_uint, state: *mut c_char, length: usize, data: *mut RandomData) -> c_int;
    fn srandom_r(seed: c_uint, data: *mut RandomData) -> c_int;
    fn random_r(data: *mut RandomData, result: *mut i32) -> c_int;
}

impl Random {
    fn new() -> Box<Random> {
        let mut random = Box::new(Random { data: RandomData { words: [0; 6] }, state: [0; 128] });
        let state = random.state.as_mut_ptr();
        // SAFETY: the state is ours and stays where it is, in its box; the data begins with zeros, as the manual demands.
        unsafe { initstate_r(1, state, 128, &mut random.data) };
        random
    }

    /// The next number.
    pub fn next(&mut self) -> i32 {
        let mut result = 0;
        // SAFETY: the data was made by `new`.
        unsafe { random_r(&mut self.data, &mut result) };
        result
    }

    /// Begins anew.
    pub fn seed(&mut self, seed: c_uint) {
        // SAFETY: as above.
        unsafe { srandom_r(seed, &mut self.data) };
    }
}

/// The generator of 48 bits that POSIX describes: X' = 0x5DEECE66D X + 11.
#[derive(Default)]
pub struct Random48(u64);

impl Random48 {
    const BITS: u64 = (1 << 48) - 1;

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(11) & Random48::BITS;
        self.0
    }

    /// From 0 to below 1.
    pub fn real(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 48) as f64
    }

    /// From 0 to below 2^31.
    pub fn positive(&mut self) -> c_long {
        (self.next() >> 17) as c_long
    }

    /// From -2^31 to below 2^31.
    pub fn any(&mut self) -> c_long {
        c_long::from((self.next() >> 16) as i32)
    }

    /// Begins anew.
    pub fn seed(&mut self, seed: c_long) {
        self.0 = ((seed as u64 & 0xFFFF_FFFF) << 16) | 0x330E;
    }
}
