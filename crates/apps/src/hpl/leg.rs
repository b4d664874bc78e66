//! How far a simulation of HPL has come, for who waits for it.

use std::ops::Range;

use hpcast_units::Time;

use super::parameters::HplParameters;
use super::sampling::Sample;
use super::stretch::Stretch;

/// A part of a run that is simulated in one piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// Which part of the work it is, 0 to 1.
    pub share: Range<f64>,
    /// Its panels.
    pub stretch: Stretch,
    /// About how long the run takes up to them.
    pub seconds_before: f64,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoFar {
    /// Panels that are done.
    pub panels: u64,
    /// Speed up to there, as xhpl reports it while it runs; `None` at the very beginning.
    pub gflops: Option<f64>,
}

impl Leg {
    /// The whole run.
    pub fn whole(parameters: &HplParameters) -> Leg {
        Leg { share: 0.0..1.0, stretch: Stretch::whole(parameters), seconds_before: 0.0 }
    }

    /// A stretch, after these samples.
    pub(super) fn after(samples: &[Sample], stretch: Stretch, share: Range<f64>, parameters: &HplParameters) -> Leg {
        Leg { share, stretch, seconds_before: seconds_until(stretch.first, samples, parameters) }
    }

    /// Where the run is when this fraction of the leg is done and it has simulated so much time.
    pub fn so_far(&self, parameters: &HplParameters, fraction: f64, simulated: Time) -> SoFar {
        let panels = self.stretch.first + (fraction * self.stretch.panels() as f64).round() as u64;
        let seconds = self.seconds_before + simulated.as_secs();
        let gflops = parameters.flops_until(panels) / seconds / 1e9;
        SoFar { panels, gflops: (seconds > 0.0 && gflops > 0.0).then_some(gflops) }
    }
}

/// About how long a run takes up to a panel that comes after these samples. It is speeds that are interpolated, not times:
/// they change less, so that even one sample tells something.
fn seconds_until(panel: u64, samples: &[Sample], parameters: &HplParameters) -> f64 {
    let speed = |sample: &Sample| {
        let middle = sample.panel as u64;
        (parameters.flops_until(middle + 1) - parameters.flops_until(middle)) / sample.seconds
    };
    let (mut seconds, mut done, mut last) = (0.0, 0.0, None);
    let mut go_to = |panel: u64, speed: f64| {
        let flops = parameters.flops_until(panel);
        let mean = 0.5 * (last.replace(speed).unwrap_or(speed) + speed);
        seconds += (flops - done) / mean;
        done = flops;
    };
    samples.iter().for_each(|sample| go_to(sample.panel as u64, speed(sample)));
    if let Some(sample) = samples.last() {
        go_to(panel, speed(sample));
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpl::course::Split;

    fn parameters() -> HplParameters {
        HplParameters::new(10_000, 10, 2, 2)
    }

    /// A sample at which the run does so many flops in a second.
    fn sample(panel: u64, speed: f64) -> Sample {
        let flops = parameters().flops_until(panel + 1) - parameters().flops_until(panel);
        Sample { panel: panel as f64, seconds: flops / speed, split: Split::default(), fall: 0.0, half: 0.0 }
    }

    #[test]
    fn the_speed_of_a_whole_run_is_that_of_its_panels() {
        let leg = Leg::whole(&parameters());
        assert_eq!(leg.so_far(&parameters(), 0.0, Time::ZERO), SoFar { panels: 0, gflops: None });
        let half = leg.so_far(&parameters(), 0.5, Time::from_secs(2.0));
        assert_eq!((half.panels, half.gflops), (500, Some(parameters().flops_until(500) / 2e9)));
    }

    #[test]
    fn samples_tell_how_long_the_run_took_before() {
        let at = |samples: &[Sample]| {
            let leg = Leg::after(samples, Stretch { first: 600, end: 650 }, 0.5..0.6, &parameters());
            leg.so_far(&parameters(), 0.0, Time::ZERO).gflops
        };
        let close = |found: Option<f64>, expected: f64| assert!((found.unwrap() / expected - 1.0).abs() < 1e-9);
        close(at(&[sample(10, 5e9)]), 5.0);
        close(at(&[sample(10, 5e9), sample(200, 5e9), sample(400, 5e9)]), 5.0);
        let slower = at(&[sample(10, 5e9), sample(500, 3e9)]).unwrap();
        assert!((3.0..5.0).contains(&slower), "{slower}");
        assert_eq!(at(&[]), None, "nothing is known before the first sample");
    }
}
