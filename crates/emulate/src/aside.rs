//! A stack that all ranks share, for work in which none is suspended.
//!
//! With thousands of ranks, the stack of each is out of the processor's caches when the rank goes on. A call of MPI that did its work there
//! would wait for a dozen lines of memory, to write what is forgotten when the call returns. So the work of the most frequent calls is done
//! on one stack, which stays in the caches; on a rank's own stack lies only what it needs after it was suspended.

use std::cell::Cell;

use crate::stacks::{Bounds, Stack, Stacks};

/// Room for copies of messages whose datatypes are deeply nested.
const SIZE: usize = 1 << 20;

thread_local! {
    static SHARED: Cell<Bounds> = const { Cell::new(Bounds { base: 0, limit: 0 }) };
    /// Where the stack of the rank ends that works aside; none if none does.
    static CALLER: Cell<usize> = const { Cell::new(0) };
}

/// There is one, from now on.
pub(crate) fn prepare() {
    if SHARED.get().base == 0
        && let Ok(stacks) = Stacks::new(1, SIZE)
    {
        SHARED.set(stacks.stack(0).bounds);
        // It lives as long as the thread.
        std::mem::forget(stacks);
    }
}

/// Does work in which the rank is not suspended, and no function of the program is called.
///
/// The work is done where it is, and not moved: what is copied in larger pieces than it was written in holds the processor up until all
/// that was written before is in its caches. So one pointer goes over, and nothing comes back.
#[inline]
pub(crate) fn aside<R>(mut work: impl FnMut() -> R) -> R {
    let bounds = SHARED.get();
    if bounds.base == 0 || CALLER.get() != 0 {
        return work();
    }
    let mut result = None;
    let mut errand = (&mut work, &mut result);
    let errand_at = &mut errand;
    CALLER.set(std::ptr::from_ref(errand_at) as usize);
    corosensei::on_stack(Stack { bounds }, move || *errand_at.1 = Some((errand_at.0)()));
    CALLER.set(0);
    result.expect("the work was done")
}

/// A rank goes on, on its own stack. The one before may have ended aside.
#[inline]
pub(crate) fn leave() {
    CALLER.set(0);
}

/// Whether the rank that runs works aside.
pub(crate) fn is_aside() -> bool {
    CALLER.get() != 0
}

/// Where on its own stack the rank is that has its stack pointer there.
pub(crate) fn on_own_stack(pointer: usize) -> usize {
    let Bounds { base, limit } = SHARED.get();
    if (limit..base).contains(&pointer) && is_aside() { CALLER.get() } else { pointer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> usize {
        let here = 0u8;
        &raw const here as usize
    }

    #[test]
    fn work_is_done_on_another_stack() {
        assert_eq!(aside(|| 1), 1, "also before there is one");
        prepare();
        let mine = here();
        let (there, inside, caller) = aside(|| {
            let there = here();
            (there, aside(here), on_own_stack(there))
        });
        let bounds = SHARED.get();
        assert!((bounds.limit..bounds.base).contains(&there) && (bounds.limit..there + 4096).contains(&inside));
        assert!(caller.abs_diff(mine) < 4096 && !is_aside());
        assert_eq!(on_own_stack(mine), mine);
    }
}
