//! Signals that a program causes: a write to protected memory of ours is let through; anything else ends the rank, with a report.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use crate::process::{Ending, Process};
use crate::{aside, copying, interrupt, last_words, memory};

/// Bytes of the stack that signals are handled on: a rank may have used up its own.
const STACK: usize = 64 << 10;

/// A report that takes longer is stuck: the rank was stopped while it held a lock of the C library.
const REPORT: i64 = 10_000_000;

/// Signals that a faulty program causes.
const FATAL: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV (it used memory that is not its own)"),
    (libc::SIGBUS, "SIGBUS (it used memory that is not there)"),
    (libc::SIGFPE, "SIGFPE (arithmetic that cannot be done)"),
    (libc::SIGILL, "SIGILL (no such instruction)"),
    (libc::SIGABRT, "SIGABRT (it called abort, or the C library found its memory damaged)"),
];

thread_local! {
    /// What happened, for [`crashed`].
    static CRASH: RefCell<Option<Ending>> = const { RefCell::new(None) };
}

/// Handles signals of this thread's programs from now on.
pub fn install() {
    thread_local! {
        static INSTALLED: () = install_once();
    }
    INSTALLED.with(|()| ());
}

fn install_once() {
    let stack = Box::leak(vec![0u8; STACK].into_boxed_slice());
    // SAFETY: the stack lives for ever.
    unsafe {
        let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&stack, std::ptr::null_mut());
    }
    for (signal, _) in FATAL {
        handle_by(signal, handle);
    }
}

pub(crate) type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Calls a function when a signal comes, on the stack for that.
pub(crate) fn handle_by(signal: c_int, handler: Handler) {
    // SAFETY: the handler is one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        // A handler that is left by going on elsewhere must be able to come again.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// The rank will go on in `function`, below what it has on its stack; if there is no room, on the middle of it: nothing there is
/// needed any more, and both ends are.
pub(crate) fn go_on_in(function: extern "C" fn() -> !, process: &Process, context: &mut libc::ucontext_t) {
    const ROOM: usize = 64 << 10;
    /// What functions may use below their stack (System V ABI, x86-64 supplement).
    const RED_ZONE: usize = 128;
    let registers = &mut context.uc_mcontext.gregs;
    let (bounds, stack) = (process.stack(), registers[libc::REG_RSP as usize] as usize);
    let has_room = (bounds.lowest() + ROOM..=bounds.base).contains(&stack);
    let top = if has_room { stack - RED_ZONE } else { bounds.middle() };
    registers[libc::REG_RIP as usize] = function as *const () as i64;
    registers[libc::REG_RSP as usize] = (top & !15) as i64 - 8;
}

/// What a signal is called, without what it means.
pub fn short_name(signal: c_int) -> String {
    let name = name(signal);
    name.split_once(" (").map_or(name.as_str(), |(short, _)| short).to_owned()
}

/// What a signal is called.
pub fn name(signal: c_int) -> String {
    let known = FATAL.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes what the manual page says.
    let (address, context) = unsafe { ((*info).si_addr() as usize, &mut *context.cast::<libc::ucontext_t>()) };
    if signal == libc::SIGSEGV && memory::written(address) {
        return;
    }
    // A copy for MPI is given up, and the report is made when the simulation is in order.
    if (signal == libc::SIGSEGV || signal == libc::SIGBUS) && copying::recover(signal, address, context) {
        return;
    }
    if last_words::are_prepared() {
        last_words::say();
    }
    let name = FATAL.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name);
    let Some(process) = Process::running() else { own_fault(signal, name) };
    let overflowed = signal == libc::SIGSEGV && process.stack().overflowed(address);
    let what = if overflowed { "SIGSEGV (its stack is full; --stack asks for a larger one)" } else { name };
    let (rank, code) = (process.number(), 128 + signal);
    let call = process.calling();
    let place = call.unwrap_or("its own code");
    last_words::prepare(format_args!("error: rank {rank} got {what} in {place}; no more can be said\n"), code);
    if !process.rank.is_at_rest() {
        let hint = "a buffer that it or its peer gave to MPI may be no memory of the program";
        last_words::prepare(format_args!("error: rank {rank} got {what} in {place}: {hint}\n"), code);
        last_words::say();
    }
    interrupt::end_within(REPORT);
    let registers = &context.uc_mcontext.gregs;
    let stack = aside::on_own_stack(registers[libc::REG_RSP as usize] as usize);
    let place = (registers[libc::REG_RIP as usize] as usize, stack);
    CRASH.set(Some(Ending::Signal { number: signal, what: what.to_owned(), call, place }));
    go_on_in(crashed, process, context);
}

/// A fault while no rank runs: most likely of the rank that ran before.
fn own_fault(signal: c_int, name: &str) -> ! {
    const WHY: &str =
        "a rank may have overwritten memory that is not its own (valgrind or -fsanitize=address tell which)";
    last_words::prepare(format_args!("error: hpcast itself got {name}: {WHY}\n"), 128 + signal);
    last_words::say()
}

/// Where a rank goes on that got a signal.
extern "C" fn crashed() -> ! {
    let ending = CRASH.take().unwrap_or(Ending::Aborted("a signal".to_owned()));
    Process::current().end(ending)
}
