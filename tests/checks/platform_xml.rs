//! Any text is a SimGrid platform or a list of errors that can be printed.

use hpcast_platform::diagnostic::Source;
use hpcast_platform::import::simgrid::{Release, import};

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    crate::imported::check(import(&Source::new("platform.xml", text), Release::default()))
}
