//! Any text is a machine file or a list of errors that can be printed; what is read can be built, and written out it
//! reads back to the same.

use std::path::Path;

use hpcast_platform::MachineFile;
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let parse = |text: &str| MachineFile::parse(&Source::new("machine.toml", text), Path::new("no-such-folder"));
    match parse(text) {
        Err(errors) => {
            assert!(errors.to_string().contains("error"));
            false
        }
        Ok(mut file) => {
            file.assumed.clear();
            file.build().expect("what is read can be built");
            assert_eq!(parse(&file.to_toml([])).expect("what is written can be read"), file);
            true
        }
    }
}
