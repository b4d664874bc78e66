//! Memory of ranks that will go on soon is fetched before they do.
//!
//! With thousands of ranks, what a rank needs when it goes on is no longer in the processor's caches: the end of its stack, and the first
//! lines of its [`Process`]. Where they lie is kept here, side by side, so that the simulation can ask for them some ranks ahead.

use std::cell::Cell;
use std::rc::Rc;

use crate::process::Process;

/// The lines of a stack that a call of MPI and its caller take, as a rule.
const STACK: usize = 13 * LINE;
/// The lines of a process that every call needs.
const PROCESS: usize = 4 * LINE;
const LINE: usize = 64;

/// Where a rank that is suspended has its memory.
#[derive(Clone, Copy, Default)]
struct Sleeper {
    stack: usize,
    process: usize,
}

/// All ranks; clones are the same.
#[derive(Clone)]
pub struct Sleepers(Rc<[Cell<Sleeper>]>);

impl Sleepers {
    /// So many ranks, of which nothing is known.
    pub fn new(ranks: u32) -> Sleepers {
        Sleepers((0..ranks).map(|_| Cell::default()).collect())
    }

    /// A rank is suspended here and now.
    #[inline]
    pub fn lie_down(&self, process: &Process) {
        let here = 0u8;
        let stack = &raw const here as usize;
        let process_at = std::ptr::from_ref(process) as usize;
        self.0[process.number() as usize].set(Sleeper { stack, process: process_at });
    }

    /// Where the stack of a rank ended when it was last suspended.
    pub fn stack(&self, rank: u32) -> usize {
        self.0[rank as usize].get().stack
    }

    /// What the simulation calls for a rank that will be resumed soon.
    pub fn wake_soon(&self) -> Box<dyn Fn(u32)> {
        let Sleepers(all) = self.clone();
        Box::new(move |rank| {
            let Some(sleeper) = all.get(rank as usize) else { return };
            let Sleeper { stack, process } = sleeper.get();
            fetch(process, PROCESS);
            fetch(stack.wrapping_sub(LINE), STACK);
        })
    }
}

#[inline]
fn fetch(from: usize, bytes: usize) {
    for line in (0..bytes).step_by(LINE) {
        hpcast_engine::prefetch_line(from.wrapping_add(line) as *const u8);
    }
}
