//! What holds for every importer of machines: what is imported can be built or says why not, and written out it reads back
//! to the same machine.

use std::path::Path;

use hpcast_platform::diagnostic::Source;
use hpcast_platform::import::Import;
use hpcast_platform::{Diagnostics, MachineFile};

/// Panics if that does not hold; tells whether something was read.
pub fn check(imported: Result<Import, Diagnostics>) -> bool {
    match imported {
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
