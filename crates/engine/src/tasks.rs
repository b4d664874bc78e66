//! Ranks as async tasks: state machines in one contiguous block, resumed by number, no allocation per task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::prefetch;

/// A fixed number of tasks of one type, side by side in memory.
pub struct Tasks<F> {
    /// Never grows or moves after construction: pinned futures live inside. Finished tasks are dropped to `None`.
    block: Box<[Option<F>]>,
    running: usize,
}

impl<F: Future<Output = ()>> Tasks<F> {
    /// Makes `count` tasks; none runs before it is polled.
    pub fn new(count: u32, make: impl FnMut(u32) -> F) -> Tasks<F> {
        Tasks { block: (0..count).map(make).map(Some).collect(), running: count as usize }
    }

    /// Number of tasks that have not finished.
    pub fn running(&self) -> usize {
        self.running
    }

    /// A task will be resumed soon.
    #[inline]
    pub fn prefetch(&self, number: u32) {
        prefetch(&self.block[number as usize]);
    }

    /// Resumes one task until it waits again; true when it has finished, also if it had before.
    #[inline]
    pub fn resume(&mut self, number: u32) -> bool {
        let slot = &mut self.block[number as usize];
        let Some(task) = slot else { return true };
        // SAFETY: the future lies in a boxed slice that is never reallocated, it is only reached through this
        // function, and it is dropped in place (assignment of `None`), so it never moves once polled.
        let task = unsafe { Pin::new_unchecked(task) };
        match task.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => false,
            Poll::Ready(()) => {
                *slot = None;
                self.running -= 1;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::poll_fn;

    #[test]
    fn tasks_advance_one_step_a_resume() {
        let steps = Cell::new(0);
        let mut tasks = Tasks::new(3, |number| {
            let steps = &steps;
            async move {
                for _ in 0..number {
                    steps.set(steps.get() + 1);
                    let mut waited = false;
                    poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending })
                        .await;
                }
            }
        });
        assert!(tasks.resume(0));
        assert!(!tasks.resume(2));
        assert!(!tasks.resume(2));
        assert!(tasks.resume(2));
        assert_eq!((steps.get(), tasks.running()), (2, 1));
    }
}
