//! Any text is a machine file or a list of errors that can be printed; what is read can be built, and written out it
//! reads back to the same.
#![no_main]

use std::path::Path;

use hpcast_platform::MachineFile;
use hpcast_platform::diagnostic::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parse = |text: &str| MachineFile::parse(&Source::new("machine.toml", text), Path::new("no-such-folder"));
    match parse(text) {
        Err(errors) => assert!(errors.to_string().contains("error")),
        Ok(mut file) => {
            file.assumed.clear();
            file.build().expect("what is read can be built");
            assert_eq!(parse(&file.to_toml([])).expect("what is written can be read"), file);
        }
    }
});
