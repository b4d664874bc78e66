//! Any text is a topology.conf of Slurm or a list of errors that can be printed.

use hpcast_platform::diagnostic::Source;
use hpcast_platform::import::{Unsaid, slurm};
use hpcast_units::Bandwidth;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let unsaid = Unsaid { bandwidth: Some(Bandwidth::new(12.5e9)), ..Unsaid::default() };
    crate::imported::check(slurm::import(&Source::new("topology.conf", text), &unsaid))
}
