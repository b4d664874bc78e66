//! What functions of the C library keep between calls, for each rank.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_long, c_uint, c_ushort};

/// State of functions that keep some.
#[derive(Default)]
pub struct LibcState {
    random: RefCell<Option<Box<Random>>>,
    /// Where strtok goes on.
    pub strtok: Cell<*mut c_char>,
    /// Of drand48() and its relatives.
    random48: RefCell<Option<Box<Random48>>>,
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
        RefMut::map(self.random48.borrow_mut(), |random| &mut **random.get_or_insert_default())
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
    front: *mut i32,
    rear: *mut i32,
    /// What follows the first word of the state.
    state: *mut i32,
    numbers: [c_int; 3],
    end: *mut i32,
}

unsafe extern "C" {
    fn initstate_r(seed: c_uint, state: *mut c_char, length: usize, data: *mut RandomData) -> c_int;
    fn srandom_r(seed: c_uint, data: *mut RandomData) -> c_int;
    fn setstate_r(state: *mut c_char, data: *mut RandomData) -> c_int;
    fn random_r(data: *mut RandomData, result: *mut i32) -> c_int;
}

impl Random {
    fn new() -> Box<Random> {
        let nothing = std::ptr::null_mut();
        let data = RandomData { front: nothing, rear: nothing, state: nothing, numbers: [0; 3], end: nothing };
        let mut random = Box::new(Random { data, state: [0; 128] });
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

    /// Goes on with memory of the program's as its state (initstate); gives the memory from before.
    ///
    /// # Safety
    /// There must be so much memory, which stays as long as it is in use.
    pub unsafe fn begin_in(&mut self, seed: c_uint, memory: *mut c_char, length: usize) -> *mut c_char {
        let before = self.memory();
        // SAFETY: as above.
        let code = unsafe { initstate_r(seed, memory, length, &mut self.data) };
        if code == 0 { before } else { std::ptr::null_mut() }
    }

    /// Goes on where a state of the program's is (setstate); gives the memory from before.
    ///
    /// # Safety
    /// It must be memory that `begin_in` was told of, or that it gave.
    pub unsafe fn go_on_in(&mut self, memory: *mut c_char) -> *mut c_char {
        let before = self.memory();
        // SAFETY: as above.
        let code = unsafe { setstate_r(memory, &mut self.data) };
        if code == 0 { before } else { std::ptr::null_mut() }
    }

    /// The memory that the state is in: a word for its kind comes first.
    fn memory(&self) -> *mut c_char {
        self.data.state.wrapping_sub(1).cast()
    }
}

/// glibc's generator of 48 bits (`struct drand48_data`), with a state for each rank.
#[derive(Default)]
#[repr(C)]
pub struct Random48 {
    state: [c_ushort; 3],
    before: [c_ushort; 3],
    increment: c_ushort,
    has_begun: c_ushort,
    factor: u64,
}

unsafe extern "C" {
    fn erand48_r(state: *mut c_ushort, data: *mut Random48, result: *mut f64) -> c_int;
    fn nrand48_r(state: *mut c_ushort, data: *mut Random48, result: *mut c_long) -> c_int;
    fn jrand48_r(state: *mut c_ushort, data: *mut Random48, result: *mut c_long) -> c_int;
    fn srand48_r(seed: c_long, data: *mut Random48) -> c_int;
    fn seed48_r(seed: *const c_ushort, data: *mut Random48) -> c_int;
    fn lcong48_r(parameters: *const c_ushort, data: *mut Random48) -> c_int;
}

/// A function of glibc that draws a number with a state.
type Draw<T> = unsafe extern "C" fn(*mut c_ushort, *mut Random48, *mut T) -> c_int;

impl Random48 {
    fn draw<T: Default>(&mut self, state: *mut c_ushort, draw: Draw<T>) -> T {
        let mut result = T::default();
        // SAFETY: the state has three words; the data begins with zeros, as glibc's own does.
        unsafe { draw(state, self, &mut result) };
        result
    }

    /// From 0 to below 1, after a state of the program's, or its own.
    pub fn real(&mut self, state: Option<*mut c_ushort>) -> f64 {
        let state = state.unwrap_or(self.state.as_mut_ptr());
        self.draw(state, erand48_r)
    }

    /// From 0 to below 2^31.
    pub fn positive(&mut self, state: Option<*mut c_ushort>) -> c_long {
        let state = state.unwrap_or(self.state.as_mut_ptr());
        self.draw(state, nrand48_r)
    }

    /// From -2^31 to below 2^31.
    pub fn any(&mut self, state: Option<*mut c_ushort>) -> c_long {
        let state = state.unwrap_or(self.state.as_mut_ptr());
        self.draw(state, jrand48_r)
    }

    /// Begins anew.
    pub fn seed(&mut self, seed: c_long) {
        // SAFETY: as above.
        unsafe { srand48_r(seed, self) };
    }

    /// Goes on from three words (seed48); gives those from before, which stay until the next time.
    ///
    /// # Safety
    /// There must be three words.
    pub unsafe fn set(&mut self, seed: *const c_ushort) -> *mut c_ushort {
        // SAFETY: as above.
        unsafe { seed48_r(seed, self) };
        self.before.as_mut_ptr()
    }

    /// Sets state, factor and increment (lcong48).
    ///
    /// # Safety
    /// There must be seven words.
    pub unsafe fn set_all(&mut self, parameters: *const c_ushort) {
        // SAFETY: as above.
        unsafe { lcong48_r(parameters, self) };
    }
}
