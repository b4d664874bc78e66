//! A rank's program on a stack, its own or that of all (`sleepers.rs`), as a task of the simulation.
//!
//! The program calls MPI functions as any program does; where one has to wait, the fiber is suspended, and the simulation goes
//! on with other ranks. [`block_on`] is the bridge: the waiting itself is a future of the simulation, polled on the fiber.

use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::process::Process;
use crate::stacks::Stack;

/// What a fiber gives and gets when it is suspended: nothing.
pub(crate) type FiberYielder = Yielder<(), ()>;

/// A rank that runs a program.
pub struct Fiber {
    process: Rc<Process>,
    /// None until it begins: others may be on its stack.
    coroutine: Option<Coroutine<(), (), (), Stack>>,
}

impl Fiber {
    /// A fiber that begins the program when it is first polled.
    pub fn new(process: Rc<Process>, stack: &Stack) -> Fiber {
        process.set_stack(stack.bounds);
        Fiber { process, coroutine: None }
    }
}

/// Begins the program of a process on its stack when it is first resumed.
fn coroutine(process: &Rc<Process>) -> Coroutine<(), (), (), Stack> {
    let mine = process.clone();
    Coroutine::with_stack(Stack { bounds: process.stack() }, move |yielder: &FiberYielder, ()| {
        mine.set_yielder(yielder);
        mine.begin();
    })
}

impl Future for Fiber {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let Fiber { process, coroutine } = self.get_mut();
        if process.has_ended() {
            return Poll::Ready(());
        }
        if process.world.stop.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        let has_thread_local = process.world.has_thread_local;
        let (sleepers, number) = (&process.world.sleepers, process.number());
        process.switch_to();
        sleepers.restore_stack(number);
        if process.world.folders.differ() {
            process.world.folders.enter(process);
        }
        let coroutine = coroutine.get_or_insert_with(|| self::coroutine(process));
        // SAFETY: one copy runs at a time, on this thread; each is saved when it stops.
        let result = unsafe {
            if has_thread_local {
                process.copy().instance.restore_thread_local();
            }
            let result = coroutine.resume(());
            if has_thread_local {
                process.copy().instance.save_thread_local();
            }
            result
        };
        if !process.has_ended() {
            sleepers.keep_stack(number);
        }
        Process::switch_away();
        if process.world.folders.differ() {
            process.world.folders.leave();
        }
        match result {
            CoroutineResult::Return(()) => Poll::Ready(()),
            CoroutineResult::Yield(()) if process.has_ended() => Poll::Ready(()),
            CoroutineResult::Yield(()) => Poll::Pending,
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if let Some(coroutine) = self.coroutine.as_mut().filter(|coroutine| !coroutine.done()) {
            // SAFETY: nothing on the stack of a program that will not go on is needed by anybody: what the simulation holds
            // of it are numbers, and its memory stays mapped as long as the world.
            unsafe { coroutine.force_reset() };
        }
    }
}

/// Waits on the fiber of the current rank until the future is ready.
#[inline]
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => Process::current().suspend(),
        }
    }
}
