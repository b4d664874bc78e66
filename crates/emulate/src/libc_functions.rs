//! Functions of the C library that concern a process as a whole: here a process is a rank.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_ushort, c_void};

use hpcast_units::Time;

use crate::fiber::block_on;
use crate::libc_state::AtExit;
use crate::memory;
use crate::process::{Ending, Process};

/// Virtual time begins here, in seconds since 1970: the same for every run, so that runs are the same.
const EPOCH: i64 = 1_000_000_000;

/// The stand-ins, by name.
pub fn functions() -> Vec<(&'static str, *const ())> {
    let own = vec![
        ("__libc_start_main", libc_start_main as *const ()),
        ("exit", exit as *const ()),
        ("_exit", exit_at_once as *const ()),
        ("_Exit", exit_at_once as *const ()),
        ("quick_exit", exit_at_once as *const ()),
        ("abort", abort as *const ()),
        ("__assert_fail", assert_fail as *const ()),
        ("__stack_chk_fail", stack_chk_fail as *const ()),
        ("atexit", at_exit as *const ()),
        ("on_exit", on_exit as *const ()),
        ("__cxa_atexit", cxa_at_exit as *const ()),
        ("__cxa_thread_atexit_impl", cxa_thread_at_exit as *const ()),
        ("__cxa_finalize", cxa_finalize as *const ()),
        ("clock_gettime", clock_gettime as *const ()),
        ("gettimeofday", gettimeofday as *const ()),
        ("timespec_get", timespec_get as *const ()),
        ("time", time as *const ()),
        ("clock", clock as *const ()),
        ("sleep", sleep as *const ()),
        ("usleep", usleep as *const ()),
        ("nanosleep", nanosleep as *const ()),
        ("clock_nanosleep", clock_nanosleep as *const ()),
        ("sched_yield", sched_yield as *const ()),
        ("pthread_yield", sched_yield as *const ()),
        ("fork", fork as *const ()),
        ("vfork", vfork as *const ()),
        ("pthread_create", pthread_create as *const ()),
        ("rand", rand as *const ()),
        ("srand", srand as *const ()),
        ("random", random as *const ()),
        ("srandom", srandom as *const ()),
        ("initstate", initstate as *const ()),
        ("setstate", setstate as *const ()),
        ("strtok", strtok as *const ()),
        ("drand48", drand48 as *const ()),
        ("lrand48", lrand48 as *const ()),
        ("mrand48", mrand48 as *const ()),
        ("erand48", erand48 as *const ()),
        ("nrand48", nrand48 as *const ()),
        ("jrand48", jrand48 as *const ()),
        ("srand48", srand48 as *const ()),
        ("seed48", seed48 as *const ()),
        ("lcong48", lcong48 as *const ()),
        ("getenv", getenv as *const ()),
        ("secure_getenv", getenv as *const ()),
        ("setenv", setenv as *const ()),
        ("putenv", putenv as *const ()),
        ("unsetenv", unsetenv as *const ()),
        ("getopt", getopt as *const ()),
        ("__posix_getopt", posix_getopt as *const ()),
        ("getopt_long", getopt_long as *const ()),
        ("getopt_long_only", getopt_long_only as *const ()),
        ("malloc", malloc as *const ()),
        ("calloc", calloc as *const ()),
        ("realloc", realloc as *const ()),
        ("free", free as *const ()),
        ("posix_memalign", posix_memalign as *const ()),
        ("aligned_alloc", aligned_alloc as *const ()),
        ("memalign", aligned_alloc as *const ()),
        ("malloc_usable_size", malloc_usable_size as *const ()),
    ];
    own.into_iter()
        .chain(crate::libc_process::functions())
        .chain(crate::libc_signals::functions())
        .chain(crate::folders::functions())
        .chain(crate::libc_clocks::functions())
        .chain(crate::libc_names::functions())
        .chain(crate::output::functions())
        .collect()
}

type Main = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;

/// `_start` comes here with `main`.
unsafe extern "C" fn libc_start_main(
    main: Main,
    _argc: c_int,
    _argv: *const *const c_char,
    init: Option<unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char)>,
) -> ! {
    let me = Process::current();
    let copy = me.copy();
    let start = &copy.start;
    // SAFETY: the program's own functions, in the order of the C library.
    let code = unsafe {
        match init {
            Some(init) => init(start.count(), start.arguments(), start.variables()),
            None => copy.instance.initialise_program(start),
        }
        main(start.count(), start.arguments(), start.variables())
    };
    leave(code)
}

/// Ends the rank as exit() does.
pub(crate) fn leave(code: c_int) -> ! {
    let me = Process::current();
    let outer = me.begin_call("exit");
    // Last come, first called; what is called may add more.
    loop {
        let Some(AtExit { function, argument, is_told }) = me.libc.at_exit.borrow_mut().pop() else { break };
        // SAFETY: the program has registered it for these arguments.
        unsafe {
            match is_told {
                false => std::mem::transmute::<usize, unsafe extern "C" fn(usize)>(function)(argument),
                true => std::mem::transmute::<usize, unsafe extern "C" fn(c_int, usize)>(function)(code, argument),
            }
        }
    }
    // SAFETY: the program's own functions, after all others; then its streams are flushed.
    unsafe {
        me.copy().instance.finish();
        me.flush();
    }
    me.end_call(outer);
    me.end(Ending::Exit(code))
}

extern "C" fn exit(code: c_int) -> ! {
    leave(code)
}

extern "C" fn exit_at_once(code: c_int) -> ! {
    Process::current().end(Ending::Exit(code))
}

extern "C" fn abort() -> ! {
    let me = Process::current();
    // SAFETY: the rank's own streams.
    unsafe { me.flush() };
    me.end(Ending::Aborted("abort() was called".to_owned()))
}

unsafe extern "C" fn assert_fail(what: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> ! {
    // SAFETY: the program passes texts.
    let text = |text: *const c_char| match text.is_null() {
        true => String::new(),
        // SAFETY: as above.
        false => unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    };
    let message = format!("{}:{line}: {}: assertion `{}' failed", text(file), text(function), text(what));
    Process::current().end(Ending::Aborted(message))
}

extern "C" fn stack_chk_fail() -> ! {
    Process::current().end(Ending::Aborted("the stack was overwritten (stack smashing detected)".to_owned()))
}

extern "C" fn at_exit(function: usize) -> c_int {
    cxa_at_exit(function, 0, 0)
}

extern "C" fn cxa_at_exit(function: usize, argument: usize, _object: usize) -> c_int {
    Process::current().libc.at_exit.borrow_mut().push(AtExit { function, argument, is_told: false });
    0
}

extern "C" fn on_exit(function: usize, argument: usize) -> c_int {
    Process::current().libc.at_exit.borrow_mut().push(AtExit { function, argument, is_told: true });
    0
}

extern "C" fn cxa_thread_at_exit(function: usize, argument: usize, object: usize) -> c_int {
    cxa_at_exit(function, argument, object)
}

/// Destructors are called when the rank exits.
extern "C" fn cxa_finalize(_object: usize) {}

/// The time that a rank reads.
pub(crate) fn now() -> Time {
    let me = Process::current();
    let outer = me.begin_call("clock_gettime");
    let now = me.read_clock();
    me.end_call(outer);
    now
}

fn seconds_and_nanoseconds(clock_counts_from_epoch: bool) -> (i64, i64) {
    let picoseconds = now().as_ps();
    let seconds = (picoseconds / 1_000_000_000_000) as i64;
    let rest = (picoseconds % 1_000_000_000_000 / 1000) as i64;
    (seconds + if clock_counts_from_epoch { EPOCH } else { 0 }, rest)
}

/// Seconds that a clock shows when the simulation begins.
pub(crate) fn beginning(clock: libc::clockid_t) -> i64 {
    if matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE) { EPOCH } else { 0 }
}

unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    let (tv_sec, tv_nsec) = seconds_and_nanoseconds(beginning(clock) > 0);
    // SAFETY: the program passes a place for the time.
    unsafe { *time = libc::timespec { tv_sec, tv_nsec } };
    0
}

/// The only base that there is has the number 1.
unsafe extern "C" fn timespec_get(time: *mut libc::timespec, base: c_int) -> c_int {
    if base != 1 {
        return 0;
    }
    // SAFETY: the program passes a place for the time.
    unsafe { clock_gettime(libc::CLOCK_REALTIME, time) };
    base
}

unsafe extern "C" fn gettimeofday(time: *mut libc::timeval, _zone: *mut c_void) -> c_int {
    let (tv_sec, nanoseconds) = seconds_and_nanoseconds(true);
    if !time.is_null() {
        // SAFETY: the program passes a place for the time.
        unsafe { *time = libc::timeval { tv_sec, tv_usec: nanoseconds / 1000 } };
    }
    0
}

unsafe extern "C" fn time(at: *mut i64) -> i64 {
    let (seconds, _) = seconds_and_nanoseconds(true);
    if !at.is_null() {
        // SAFETY: the program passes a place for the time.
        unsafe { *at = seconds };
    }
    seconds
}

/// CPU time is taken for virtual time: ranks do not share processors.
extern "C" fn clock() -> c_long {
    (now().as_ps() / 1_000_000) as c_long
}

/// A rank waits, perhaps for what others write meanwhile to memory or files that they share.
pub(crate) fn pause(length: Time) {
    let me = Process::current();
    let outer = me.begin_call("sleep");
    me.rank.spend(hpcast_mpi::Activity::Wait, length);
    me.ask_again();
    block_on(me.rank.take_turn());
    me.end_call(outer);
}

extern "C" fn sched_yield() -> c_int {
    pause(Time::ZERO);
    0
}

extern "C" fn sleep(seconds: c_uint) -> c_uint {
    pause(Time::from_secs(f64::from(seconds)));
    0
}

extern "C" fn usleep(microseconds: c_uint) -> c_int {
    pause(Time::from_secs(f64::from(microseconds) * 1e-6));
    0
}

unsafe extern "C" fn nanosleep(length: *const libc::timespec, _rest: *mut libc::timespec) -> c_int {
    // SAFETY: the program passes a time.
    let length = unsafe { *length };
    pause(Time::from_secs(length.tv_sec as f64 + length.tv_nsec as f64 * 1e-9));
    0
}

unsafe extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: c_int,
    length: *const libc::timespec,
    rest: *mut libc::timespec,
) -> c_int {
    if flags & libc::TIMER_ABSTIME == 0 {
        // SAFETY: as the program calls it.
        return unsafe { nanosleep(length, rest) };
    }
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the program passes a time.
    let until = unsafe {
        clock_gettime(clock, &mut now);
        *length
    };
    let seconds = (until.tv_sec - now.tv_sec) as f64 + (until.tv_nsec - now.tv_nsec) as f64 * 1e-9;
    pause(Time::from_secs(seconds.max(0.0)));
    0
}

extern "C" fn fork() -> c_int {
    Process::current().end(Ending::Unsupported("fork".to_owned()))
}

extern "C" fn vfork() -> c_int {
    Process::current().end(Ending::Unsupported("vfork".to_owned()))
}

extern "C" fn pthread_create() -> c_int {
    Process::current().end(Ending::Unsupported("pthread_create".to_owned()))
}

extern "C" fn rand() -> c_int {
    Process::current().libc.random().next()
}

extern "C" fn srand(seed: c_uint) {
    Process::current().libc.random().seed(seed);
}

extern "C" fn random() -> c_long {
    c_long::from(Process::current().libc.random().next())
}

extern "C" fn srandom(seed: c_uint) {
    Process::current().libc.random().seed(seed);
}

unsafe extern "C" fn initstate(seed: c_uint, memory: *mut c_char, length: usize) -> *mut c_char {
    // SAFETY: as the program calls it.
    unsafe { Process::current().libc.random().begin_in(seed, memory, length) }
}

unsafe extern "C" fn setstate(memory: *mut c_char) -> *mut c_char {
    // SAFETY: as the program calls it.
    unsafe { Process::current().libc.random().go_on_in(memory) }
}

unsafe extern "C" {
    fn strtok_r(text: *mut c_char, delimiters: *const c_char, rest: *mut *mut c_char) -> *mut c_char;
}

unsafe extern "C" fn strtok(text: *mut c_char, delimiters: *const c_char) -> *mut c_char {
    // SAFETY: as the program calls strtok, with the rank's own place to go on from.
    unsafe { strtok_r(text, delimiters, Process::current().libc.strtok.as_ptr()) }
}

/// Big allocations of a rank, where they are treated apart.
fn big(size: usize, alignment: usize) -> Option<*mut c_void> {
    let me = Process::running()?;
    memory::allocate(&me.memory, size, alignment, |sites| me.site(sites)).map(|memory| memory.cast())
}

extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: the C library's own.
    big(size, 16).unwrap_or_else(|| unsafe { libc::malloc(size) })
}

extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let total = count.saturating_mul(size);
    // SAFETY: as above.
    big(total, 16).unwrap_or_else(|| unsafe { libc::calloc(count, size) })
}

unsafe extern "C" fn free(memory: *mut c_void) {
    let is_ours = Process::running().is_some_and(|me| memory::free(&me.memory, memory.cast()));
    if !is_ours {
        // SAFETY: it comes from the C library.
        unsafe { libc::free(memory) };
    }
}

unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    let ours = Process::running().and_then(|me| memory::size_of(&me.memory, memory.cast()));
    let Some(old) = ours else {
        if memory.is_null() {
            return malloc(size);
        }
        // What was small and becomes big stays ordinary memory.
        // SAFETY: it comes from the C library.
        return unsafe { libc::realloc(memory, size) };
    };
    let new = malloc(size);
    if !new.is_null() {
        // SAFETY: both are so big; then the old one is given back.
        unsafe {
            memory::copy(memory.cast(), new.cast(), old.min(size));
            free(memory);
        }
    }
    new
}

unsafe extern "C" fn posix_memalign(at: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    match big(size, alignment) {
        Some(memory) => {
            // SAFETY: the program passes a place for the address.
            unsafe { *at = memory };
            0
        }
        // SAFETY: as the program calls it.
        None => unsafe { libc::posix_memalign(at, alignment, size) },
    }
}

extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: as the program calls it.
    big(size, alignment).unwrap_or_else(|| unsafe { libc::memalign(alignment, size) })
}

unsafe extern "C" fn malloc_usable_size(memory: *mut c_void) -> usize {
    let ours = Process::running().and_then(|me| memory::size_of(&me.memory, memory.cast()));
    // SAFETY: it comes from the C library.
    ours.unwrap_or_else(|| unsafe { libc::malloc_usable_size(memory) })
}

extern "C" fn drand48() -> f64 {
    Process::current().libc.random48().real(None)
}

extern "C" fn lrand48() -> c_long {
    Process::current().libc.random48().positive(None)
}

extern "C" fn mrand48() -> c_long {
    Process::current().libc.random48().any(None)
}

extern "C" fn erand48(state: *mut c_ushort) -> f64 {
    Process::current().libc.random48().real(Some(state))
}

extern "C" fn nrand48(state: *mut c_ushort) -> c_long {
    Process::current().libc.random48().positive(Some(state))
}

extern "C" fn jrand48(state: *mut c_ushort) -> c_long {
    Process::current().libc.random48().any(Some(state))
}

unsafe extern "C" fn seed48(seed: *const c_ushort) -> *mut c_ushort {
    // SAFETY: the program passes three words.
    unsafe { Process::current().libc.random48().set(seed) }
}

unsafe extern "C" fn lcong48(parameters: *const c_ushort) {
    // SAFETY: the program passes seven words.
    unsafe { Process::current().libc.random48().set_all(parameters) }
}

extern "C" fn srand48(seed: c_long) {
    Process::current().libc.random48().seed(seed);
}

/// A text that the program passes.
///
/// # Safety
/// It must be a string of C.
unsafe fn text(text: *const c_char) -> CString {
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_owned()
}

unsafe extern "C" fn getenv(name: *const c_char) -> *const c_char {
    let me = Process::current();
    // SAFETY: the program passes a string; what we give stays until the variable is changed.
    unsafe {
        let mut own = me.libc.variables.borrow_mut();
        let key = text(name);
        if !own.contains_key(&key)
            && let Some(value) = crate::launcher::variable(&me.world, me.number(), &key)
        {
            own.insert(key.clone(), Some(value));
        }
        match own.get(&key) {
            Some(Some(value)) => value.as_ptr(),
            Some(None) => std::ptr::null(),
            None => match libc::getenv(name) {
                // Fortran's library would keep lines until its buffer is full, and nobody would know when they were written.
                null if null.is_null() && key.as_c_str() == c"GFORTRAN_UNBUFFERED_PRECONNECTED" => c"y".as_ptr(),
                found => found,
            },
        }
    }
}

unsafe extern "C" fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int {
    // SAFETY: the program passes strings.
    unsafe {
        if overwrite != 0 || getenv(name).is_null() {
            Process::current().libc.variables.borrow_mut().insert(text(name), Some(text(value)));
        }
    }
    0
}

unsafe extern "C" fn unsetenv(name: *const c_char) -> c_int {
    // SAFETY: the program passes a string.
    Process::current().libc.variables.borrow_mut().insert(unsafe { text(name) }, None);
    0
}

unsafe extern "C" fn putenv(assignment: *const c_char) -> c_int {
    // SAFETY: the program passes a string.
    let assignment = unsafe { text(assignment) };
    let bytes = assignment.to_bytes();
    let (name, value) = match bytes.iter().position(|&byte| byte == b'=') {
        Some(place) => (&bytes[..place], CString::new(&bytes[place + 1..]).ok()),
        None => (bytes, None),
    };
    if let Ok(name) = CString::new(name) {
        Process::current().libc.variables.borrow_mut().insert(name, value);
    }
    0
}

/// What getopt and its like tell the program, and are told by it.
pub const OPTIONS: [&str; 4] = ["optarg", "optind", "opterr", "optopt"];

unsafe extern "C" {
    static mut optarg: *mut c_char;
    static mut optind: c_int;
    static mut opterr: c_int;
    static mut optopt: c_int;
    #[link_name = "getopt"]
    fn host_getopt(argc: c_int, argv: *const *mut c_char, options: *const c_char) -> c_int;
    #[link_name = "__posix_getopt"]
    fn host_posix_getopt(argc: c_int, argv: *const *mut c_char, options: *const c_char) -> c_int;
    #[link_name = "getopt_long"]
    fn host_getopt_long(
        argc: c_int,
        argv: *const *mut c_char,
        options: *const c_char,
        long: *const c_void,
        index: *mut c_int,
    ) -> c_int;
    #[link_name = "getopt_long_only"]
    fn host_getopt_long_only(
        argc: c_int,
        argv: *const *mut c_char,
        options: *const c_char,
        long: *const c_void,
        index: *mut c_int,
    ) -> c_int;
}

/// Calls a function of the getopt family for a rank: the C library's variables are the rank's own while it runs. A rank that reads its
/// arguments is not interrupted by another in the middle of one, as none of them calls MPI there.
fn with_options(call: impl FnOnce() -> c_int) -> c_int {
    let me = Process::current();
    let own = |name: &str| me.copy().instance.symbol(name);
    let place = |name: &str| own(name).map(|address| address as *mut c_int);
    // SAFETY: the program's own variables of these names, if it has any, and the C library's; one thread runs.
    unsafe {
        let (mine, errors) = (place("optind"), place("opterr"));
        let asked = mine.map_or(me.libc.options.get(), |mine| *mine);
        // 0 begins anew, which the first call of a rank does as well.
        optind = if me.libc.has_options.replace(true) || asked > 1 { asked } else { 0 };
        if let Some(errors) = errors {
            opterr = *errors;
        }
        let found = call();
        me.libc.options.set(optind);
        if let Some(mine) = mine {
            *mine = optind;
        }
        if let Some(place) = place("optopt") {
            *place = optopt;
        }
        if let Some(argument) = own("optarg") {
            *(argument as *mut *mut c_char) = optarg;
        }
        found
    }
}

unsafe extern "C" fn getopt(argc: c_int, argv: *const *mut c_char, options: *const c_char) -> c_int {
    // SAFETY: as the program calls it.
    with_options(|| unsafe { host_getopt(argc, argv, options) })
}

/// What `getopt` is where a program asks for POSIX alone: it stops at the first word that is no option.
unsafe extern "C" fn posix_getopt(argc: c_int, argv: *const *mut c_char, options: *const c_char) -> c_int {
    // SAFETY: as the program calls it.
    with_options(|| unsafe { host_posix_getopt(argc, argv, options) })
}

unsafe extern "C" fn getopt_long(
    argc: c_int,
    argv: *const *mut c_char,
    options: *const c_char,
    long: *const c_void,
    index: *mut c_int,
) -> c_int {
    // SAFETY: as the program calls it.
    with_options(|| unsafe { host_getopt_long(argc, argv, options, long, index) })
}

unsafe extern "C" fn getopt_long_only(
    argc: c_int,
    argv: *const *mut c_char,
    options: *const c_char,
    long: *const c_void,
    index: *mut c_int,
) -> c_int {
    // SAFETY: as the program calls it.
    with_options(|| unsafe { host_getopt_long_only(argc, argv, options, long, index) })
}
