//! Where a run is among all runs, and what is told of it while it goes on.

use std::ops::Range;

use hpcast_apps::hpl::{HplParameters, Leg};
use hpcast_units::{FlopRate, Time, count};

/// Which of all runs it is.
pub(super) struct Turn {
    /// Of the work, 0 to 1.
    pub part: Range<f64>,
    /// Counted from 1.
    pub number: usize,
    pub of: usize,
}

impl Turn {
    /// A part of this run as a part of all.
    pub fn within(&self, share: &Range<f64>) -> Range<f64> {
        let at = |share: f64| self.part.start + share * (self.part.end - self.part.start);
        at(share.start)..at(share.end)
    }

    /// The same of a part of this run.
    pub fn of_part(&self, share: Range<f64>) -> Turn {
        Turn { part: self.within(&share), ..*self }
    }

    /// What to tell of a leg of this run, from the fraction of it that is done and the simulated time: the panel, the
    /// speed so far, and the run, if there are several.
    pub fn details(&self, leg: Leg, parameters: HplParameters) -> impl Fn(f64, Time) -> Vec<String> + 'static {
        let several = (self.of > 1).then(|| format!("run {} of {}", count(self.number as u64), count(self.of as u64)));
        move |done, simulated| {
            let so_far = leg.so_far(&parameters, done, simulated);
            let panel = format!("panel {} of {}", count(so_far.panels), count(parameters.panels()));
            let speed = so_far.gflops.map(|gflops| format!("{} so far", FlopRate::new(gflops * 1e9).human()));
            [Some(panel), speed, several.clone()].into_iter().flatten().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panel_speed_and_run_are_told() {
        let parameters = HplParameters::new(100_000, 50, 4, 4);
        let told = |number, of, done, seconds| {
            let details = Turn { part: 0.5..1.0, number, of }.details(Leg::whole(&parameters), parameters);
            details(done, Time::from_secs(seconds)).join(", ")
        };
        assert_eq!(told(1, 1, 0.0, 0.0), "panel 0 of 2,000");
        assert_eq!(told(1, 1, 0.5, 600.0), "panel 1,000 of 2,000, 972 Gflop/s so far");
        assert_eq!(told(3, 12, 1.0, 1000.0), "panel 2,000 of 2,000, 667 Gflop/s so far, run 3 of 12");
    }

    #[test]
    fn legs_are_parts_of_the_whole() {
        assert_eq!(Turn { part: 0.5..1.0, number: 2, of: 2 }.within(&(0.0..0.5)), 0.5..0.75);
    }
}
