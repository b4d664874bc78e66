//! Any text is the output of ibnetdiscover or a list of errors that can be printed; what is imported can be built or says why
//! not, and written out it reads back to the same machine.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    hpcast_checks::ibnetdiscover::check(text);
});
