//! A stretch of a run: some panels, one after the other.

use hpcast_engine::Key;

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

    /// The seed of what is drawn in it: stretches of a run count their calls and messages from 0, and draw other times.
    pub(super) fn seed(&self, of_run: u64) -> u64 {
        if self.first == 0 { of_run } else { Key::new(of_run).purpose("hpl stretch").word(0, self.first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_draw_other_times_and_the_beginning_those_of_the_whole_run() {
        let seed = |first: u64| Stretch { first, end: first + 1 }.seed(7);
        assert_eq!(seed(0), 7);
        assert!(seed(10) != seed(20) && seed(10) != 7);
    }
}
