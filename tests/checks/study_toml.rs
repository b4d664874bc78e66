//! Any text is a study or an error that can be printed; how many runs a study has can be said without making them.

use std::path::Path;

use hpcast_platform::diagnostic::Source;
use hpcast_study::file::Study;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    match Study::parse(&Source::new("study.toml", text), Path::new("")) {
        Ok(study) => {
            if let Err(error) = study.count() {
                assert!(!error.message.is_empty());
            }
            true
        }
        Err(diagnostics) => {
            assert!(!diagnostics.render(false).is_empty());
            false
        }
    }
}
