//! Signals that a rank sends to itself, and its handlers of signals. Those of the process concern all ranks, and are ours.

use std::ffi::{c_int, c_uint, c_void};

use crate::libc_state::Action;
use crate::process::{Ending, Process};

/// The stand-ins, by name.
pub fn functions() -> Vec<(&'static str, *const ())> {
    vec![
        ("signal", signal as *const ()),
        ("__sysv_signal", signal as *const ()),
        ("sigaction", sigaction as *const ()),
        ("raise", raise as *const ()),
        ("kill", kill as *const ()),
        ("getpid", getpid as *const ()),
        ("alarm", alarm as *const ()),
        ("setitimer", setitimer as *const ()),
    ]
}

/// Signals of faults are ours: the report names the rank. Others are called when the rank sends itself the signal; gives the one
/// before.
fn replace(signal: c_int, action: Action) -> Action {
    Process::current().libc.handlers.borrow_mut().insert(signal, action).unwrap_or_default()
}

fn current(signal: c_int) -> Action {
    Process::current().libc.handlers.borrow().get(&signal).copied().unwrap_or_default()
}

extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    replace(signal, Action { handler, flags: 0 }).handler
}

unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    // SAFETY: the program passes an action, or nothing.
    let before = match unsafe { new.as_ref() } {
        Some(new) => replace(signal, Action { handler: new.sa_sigaction, flags: new.sa_flags }),
        None => current(signal),
    };
    if !old.is_null() {
        // SAFETY: the program passes a place for the old action.
        unsafe {
            old.write_bytes(0, 1);
            (*old).sa_sigaction = before.handler;
            (*old).sa_flags = before.flags;
        }
    }
    0
}

/// Calls the rank's own handler, as the kernel would before raise() comes back.
fn call(signal: c_int, action: Action) {
    if action.flags & libc::SA_RESETHAND != 0 {
        replace(signal, Action::default());
    }
    if action.flags & libc::SA_SIGINFO == 0 {
        // SAFETY: the program has said that this is a handler.
        return unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(action.handler)(signal) };
    }
    // SAFETY: zeros are a valid description of a signal and of registers, as far as a handler may look at them here; the program has
    // said that this is a handler.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        (info.si_signo, info.si_code) = (signal, libc::SI_TKILL);
        let mut registers: libc::ucontext_t = std::mem::zeroed();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = std::mem::transmute(action.handler);
        handler(signal, &mut info, (&raw mut registers).cast());
    }
}

/// A signal without a handler of the rank's own ends it, unless it would do nothing; faults are reported where they come from.
extern "C" fn raise(signal: c_int) -> c_int {
    const FAULTS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];
    const HARMLESS: [c_int; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    let action = current(signal);
    match action.handler {
        libc::SIG_IGN => return 0,
        libc::SIG_DFL if signal == 0 || HARMLESS.contains(&signal) => return 0,
        libc::SIG_DFL if FAULTS.contains(&signal) => {
            // SAFETY: our own handler takes it.
            return unsafe { libc::raise(signal) };
        }
        libc::SIG_DFL => {}
        _ => {
            call(signal, action);
            return 0;
        }
    }
    let what = format!("signal {signal}, which it has sent itself");
    let here = 0usize;
    let place = (0, &raw const here as usize);
    Process::current().end(Ending::Signal { number: signal, what, call: None, place })
}

/// Programs name files by it, and make random numbers of it: each rank has another, as processes would. The first has ours, which the
/// kernel knows.
extern "C" fn getpid() -> libc::pid_t {
    // SAFETY: a number of the system.
    unsafe { libc::getpid() }.wrapping_add(Process::current().number() as libc::pid_t)
}

extern "C" fn kill(process: libc::pid_t, signal: c_int) -> c_int {
    if process == 0 || process == getpid() {
        return raise(signal);
    }
    // SAFETY: a number of the system.
    let first = unsafe { libc::getpid() };
    let me = Process::current();
    if (first..first.saturating_add_unsigned(me.world.size)).contains(&process) {
        if signal == 0 {
            return 0;
        }
        me.end(Ending::Unsupported("kill for another rank".to_owned()));
    }
    // SAFETY: as the program calls it.
    unsafe { libc::kill(process, signal) }
}

/// Timers of the process would be those of all ranks: they never go off.
extern "C" fn alarm(_seconds: c_uint) -> c_uint {
    0
}

extern "C" fn setitimer(_which: c_int, _new: *const c_void, _old: *mut c_void) -> c_int {
    0
}
