//! A stretch of a run: some panels, one after the other.

use super::parameters::HplParameters;

/// Panels `first..end` of a run, of those that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first panel.
    pub first: u64,
    /// The panel after the last.
    pub end: u64,
}

impl Stretch {
    /// The whole run.
    pub fn whole(parameters: &HplParameters) -> Stretch {
        Stretch { first: 0, end: parameters.panels() }
    }

    /// How many panels.
    pub fn panels(&self) -> u64 {
        self.end - self.first
    }
}
