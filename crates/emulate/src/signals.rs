//! Signals that a program causes: a write to protected memory of ours is let through; anything else ends the rank, with a report.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use crate::memory;
use crate::process::{Ending, Process};

/// Bytes of the stack that signals are handled on: a rank may have used up its own.
const STACK: usize = 64 << 10;

/// Signals that a faulty program causes.
const FATAL: [(c_int, &str); 4] = [
    (libc::SIGSEGV, "SIGSEGV (it used memory that is not its own)"),
    (libc::SIGBUS, "SIGBUS (it used memory that is not there)"),
    (libc::SIGFPE, "SIGFPE (arithmetic that cannot be done)"),
    (libc::SIGILL, "SIGILL (no such instruction)"),
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
    // SAFETY: the stack lives for ever, and the handler is one.
    unsafe {
        let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&stack, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        // A handler that is left by going on elsewhere must be able to come again.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for (signal, _) in FATAL {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
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
    let Some(process) = Process::running() else {
        // Our own fault: let it happen again, without us.
        // SAFETY: as the manual page says.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    };
    let registers = &mut context.uc_mcontext.gregs;
    let at = registers[libc::REG_RIP as usize] as usize;
    let stack = registers[libc::REG_RSP as usize] as usize;
    let overflowed = process.stack().overflowed(address);
    let full = "SIGSEGV (its stack is full; --stack asks for a larger one)".to_owned();
    let signal = if overflowed { full } else { name(signal) };
    let backtrace = process.backtrace(at, stack);
    CRASH.set(Some(Ending::Signal { signal, backtrace }));
    // Goes on in `crashed`, on the middle of the rank's stack: nothing there is needed any more, and both ends are.
    registers[libc::REG_RIP as usize] = crashed as *const () as i64;
    registers[libc::REG_RSP as usize] = (process.stack().middle() & !15) as i64 - 8;
}

/// Where a rank goes on that got a signal.
extern "C" fn crashed() -> ! {
    let ending = CRASH.take().unwrap_or(Ending::Aborted("a signal".to_owned()));
    Process::current().end(ending)
}
