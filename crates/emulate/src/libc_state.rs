//! What functions of the C library keep between calls, for each rank.

use std::cell::{Cell, RefCell, RefMut};
use std::ffi::{c_char, c_int, c_uint};

/// State of functions that keep some.
#[derive(Default)]
pub struct LibcState {
    random: RefCell<Option<Box<Random>>>,
    /// Where strtok goes on.
    pub strtok: Cell<*mut c_char>,
    /// Functions to be called at the end, with an argument.
    pub at_exit: RefCell<Vec<(usize, usize)>>,
}

impl LibcState {
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
