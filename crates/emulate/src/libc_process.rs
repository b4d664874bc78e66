//! Functions of the C library that end, replace or signal a process: here that is a rank.

use std::ffi::{CString, c_char, c_int, c_void};

use crate::libc_functions::leave;
use crate::process::{Ending, Process};

/// Functions that would replace all ranks by another program.
const REPLACING: [&str; 8] = ["execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve"];

/// The stand-ins, by name.
pub fn functions() -> Vec<(&'static str, *const ())> {
    let mut functions = vec![
        ("system", system as *const ()),
        ("popen", popen as *const ()),
        ("posix_spawn", posix_spawn as *const ()),
        ("posix_spawnp", posix_spawnp as *const ()),
    ];
    let replacing: [extern "C" fn() -> c_int; 8] =
        [refuse::<0>, refuse::<1>, refuse::<2>, refuse::<3>, refuse::<4>, refuse::<5>, refuse::<6>, refuse::<7>];
    functions.extend(REPLACING.into_iter().zip(replacing.map(|function| function as *const ())));
    functions
}

unsafe extern "C" {
    static mut program_invocation_name: *mut c_char;
    static mut program_invocation_short_name: *mut c_char;
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// The C library's messages begin with the program's name, not with ours.
pub fn set_name(program: &CString) {
    let name = program.clone().into_raw();
    // SAFETY: the text stays for ever, and one thread runs. Its last part begins after the last slash, if there is one.
    unsafe {
        let slash = libc::strrchr(name, c_int::from(b'/'));
        program_invocation_name = name;
        program_invocation_short_name = if slash.is_null() { name } else { slash.add(1) };
    }
}

/// Functions of the C library that call exit themselves, such as err(), end the rank only.
pub fn keep_exits() {
    // SAFETY: the function takes these arguments.
    unsafe { on_exit(exiting, std::ptr::null_mut()) };
}

extern "C" fn exiting(code: c_int, _: *mut c_void) {
    if Process::running().is_some() {
        // Each is called once.
        keep_exits();
        leave(code);
    }
}

extern "C" fn refuse<const FUNCTION: usize>() -> c_int {
    Process::current().end(Ending::Unsupported(REPLACING[FUNCTION].to_owned()))
}

/// A program that is started writes at once: what the rank has written before must be seen before.
fn show_all() {
    Process::current().world.output.release();
}

unsafe extern "C" fn system(command: *const c_char) -> c_int {
    show_all();
    // SAFETY: what the program passes.
    unsafe { libc::system(command) }
}

/// What is read by the rank itself may come before what it has written.
unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    // SAFETY: what the program passes.
    unsafe {
        if !mode.is_null() && *mode != b'r' as c_char {
            show_all();
        }
        libc::popen(command, mode)
    }
}

unsafe extern "C" fn posix_spawn(
    pid: *mut libc::pid_t,
    file: *const c_char,
    actions: *const libc::posix_spawn_file_actions_t,
    attributes: *const libc::posix_spawnattr_t,
    arguments: *const *mut c_char,
    variables: *const *mut c_char,
) -> c_int {
    show_all();
    // SAFETY: what the program passes.
    unsafe { libc::posix_spawn(pid, file, actions, attributes, arguments, variables) }
}

unsafe extern "C" fn posix_spawnp(
    pid: *mut libc::pid_t,
    file: *const c_char,
    actions: *const libc::posix_spawn_file_actions_t,
    attributes: *const libc::posix_spawnattr_t,
    arguments: *const *mut c_char,
    variables: *const *mut c_char,
) -> c_int {
    show_all();
    // SAFETY: what the program passes.
    unsafe { libc::posix_spawnp(pid, file, actions, attributes, arguments, variables) }
}
