//! Any text is a topology.conf of Slurm or a list of errors that can be printed; what is imported can be built or says why
//! not, and written out it reads back to the same machine.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::topology_conf::check(text);
});
