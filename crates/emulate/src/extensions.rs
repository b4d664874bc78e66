//! Functions that programs may call to speak with the simulator. They declare them as weak, so that they also run elsewhere:
//!
//! ```c
//! __attribute__((weak)) void *hpcast_folded_malloc(size_t size);
//! ```

use std::ffi::c_void;

use hpcast_mpi::Activity;
use hpcast_units::Time;

use crate::fiber::block_on;
use crate::memory;
use crate::process::Process;
use crate::processes::gate;

/// The functions, by name.
pub fn functions() -> Vec<(&'static str, *const ())> {
    vec![
        ("hpcast_folded_malloc", folded_malloc as *const ()),
        ("hpcast_now", now as *const ()),
        ("hpcast_polls_on", polls_on as *const ()),
        ("hpcast_progress", progress as *const ()),
        ("hpcast_sleep_until", sleep_until as *const ()),
    ]
}

/// Memory for numbers that nobody reads, which all ranks share; ordinary memory where nothing is folded.
extern "C" fn folded_malloc(size: usize) -> *mut c_void {
    let folded = memory::allocate_folded(&Process::current().memory, size);
    folded.map_or_else(|| gate::allocate(size), |memory| memory.cast())
}

/// The time as MPI_Wtime gives it, but reading it takes none.
extern "C" fn now() -> f64 {
    Process::current().rank.now().as_secs()
}

/// The next MPI_Iprobe will be called over and over until it finds a message, and nothing else is done meanwhile: probes in vain
/// need not be simulated one by one.
extern "C" fn polls_on() {
    Process::current().polls_on.set(true);
}

/// Says how far the program has come, from 0 to 1.
extern "C" fn progress(fraction: f64) {
    Process::current().rank.progress(fraction);
}

/// Waits until MPI_Wtime gives this time. Ranks that wait for the same time go on at the same instant, in the order in which
/// they began to wait.
extern "C" fn sleep_until(seconds: f64) {
    let me = Process::current();
    let outer = me.begin_call("sleep");
    let length = Time::from_secs(seconds).since(me.rank.now());
    me.rank.spend(Activity::Wait, length);
    block_on(me.rank.catch_up());
    me.end_call(outer);
}
