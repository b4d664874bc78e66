//! Any text is a script or an error that can be printed.

use hpcast_apps::script::Script;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let read = Script::parse(text);
    assert!(read.as_ref().err().is_none_or(|error| !error.to_string().is_empty()));
    read.is_ok()
}
