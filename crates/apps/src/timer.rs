//! A stopwatch that all ranks share: how long an iteration took, over ranks and iterations.

use std::cell::Cell;
use std::rc::Rc;

use hpcast_units::Time;

/// Shared by the ranks of a program; whole picoseconds, so that the order of ranks does not matter.
#[derive(Clone, Default)]
pub struct Timer(Rc<Cell<Measurement>>);

/// How long one iteration took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measurement {
    total: Time,
    /// The fastest rank and iteration.
    pub min: Time,
    /// The slowest rank and iteration.
    pub max: Time,
    /// How many were measured.
    pub count: u64,
}

impl Measurement {
    /// The mean in seconds; zero if nothing was measured.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total.as_secs() / self.count as f64 }
    }
}

impl Timer {
    /// One iteration of one rank took so long.
    pub fn record(&self, length: Time) {
        self.record_many(length, 1);
    }

    /// `count` iterations of one rank took so long together; each counts as their mean.
    pub fn record_many(&self, length: Time, count: u64) {
        if count == 0 {
            return;
        }
        let old = self.0.get();
        let each = Time::from_ps(length.as_ps() / count);
        self.0.set(Measurement {
            total: old.total + length,
            min: if old.count == 0 { each } else { old.min.min(each) },
            max: old.max.max(each),
            count: old.count + count,
        });
    }

    /// What was measured so far.
    pub fn measurement(&self) -> Measurement {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_extremes() {
        let timer = Timer::default();
        assert_eq!(timer.measurement().mean(), 0.0);
        timer.record(Time::from_ps(4));
        timer.record_many(Time::from_ps(4), 2);
        let measurement = timer.measurement();
        assert_eq!((measurement.min, measurement.max, measurement.count), (Time::from_ps(2), Time::from_ps(4), 3));
        assert!((measurement.mean() - 8e-12 / 3.0).abs() < 1e-27);
    }
}
