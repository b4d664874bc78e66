//! Any text is a SimGrid platform or a list of errors that can be printed; what is imported can be built or says why
//! not, and written out it reads back to the same machine.

use std::path::Path;

use hpcast_platform::MachineFile;
use hpcast_platform::diagnostic::Source;
use hpcast_platform::import::simgrid::{Release, import};

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    match import(&Source::new("platform.xml", text), Release::default()) {
        Err(errors) => {
            assert!(errors.to_string().contains("error"));
            false
        }
        Ok(imported) => {
            let _ = imported.warnings.to_string();
            if imported.machine.build().is_ok() {
                let text = imported.machine.to_toml([]);
                let read = MachineFile::parse(&Source::new("machine.toml", text), Path::new("no-such-folder"));
                assert_eq!(read.expect("what is written can be read"), imported.machine);
            }
            true
        }
    }
}
