//! Virtual time: whole picoseconds, so that adding never rounds and equal means equal.

use std::ops::{Add, AddAssign, Sub};

/// A point in virtual time, or a length of it, in picoseconds. The range is 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The beginning of a simulation; a length of nothing.
    pub const ZERO: Time = Time(0);
    /// Later than every event: what has no end has this end.
    pub const NEVER: Time = Time(u64::MAX);

    /// So many picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// The nearest whole picosecond; negative and NaN become zero, too large becomes [`Time::NEVER`].
    #[inline]
    pub fn from_secs(seconds: f64) -> Time {
        // `as` saturates, which is what we promise.
        Time((seconds * 1e12 + 0.5) as u64)
    }

    /// In picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// In seconds, rounded to the nearest double.
    #[inline]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// The length from `earlier` to `self`, zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Time;
    /// Panics in debug builds if the result would be negative: clocks never go back.
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl std::iter::Sum for Time {
    fn sum<I: Iterator<Item = Time>>(iter: I) -> Time {
        iter.fold(Time::ZERO, |total, t| total + t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        assert_eq!(Time::from_secs(1.5e-12).as_ps(), 2);
        assert_eq!(Time::from_secs(1.0).as_ps(), 1_000_000_000_000);
        assert_eq!(Time::from_secs(-1.0), Time::ZERO);
        assert_eq!(Time::from_secs(f64::INFINITY), Time::NEVER);
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Time::NEVER + Time::from_ps(1), Time::NEVER);
    }
}
