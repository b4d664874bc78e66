//! Virtual time: whole picoseconds, so that adding never rounds and equal means equal.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use crate::decimal::{Decimal, Whole};
use crate::dimension::DURATION;
use crate::error::UnitError;
use crate::human;

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
        self.0 as f64 / 1e12
    }

    /// The length from `earlier` to `self`, zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// Three digits and a fitting prefix: `1.23 ms`; `never` for [`Time::NEVER`].
    pub fn human(self) -> String {
        if self == Time::NEVER { "never".into() } else { human::short(self.as_secs(), &DURATION) }
    }
}

impl FromStr for Time {
    type Err = UnitError;

    /// Reads `90 ns`, rounded to the nearest picosecond.
    fn from_str(text: &str) -> Result<Time, UnitError> {
        let (number, unit) = DURATION.split(text)?;
        if number.negative && !number.is_zero() {
            return Err(UnitError::Negative { text: text.into(), noun: DURATION.noun });
        }
        match number.whole(unit.exponent + 12, unit.factor as u64) {
            Whole::Exact(ps) | Whole::Rounded(ps) => Ok(Time(ps)),
            Whole::TooLarge => Err(UnitError::TooLarge { text: text.into(), noun: DURATION.noun }),
        }
    }
}

impl fmt::Display for Time {
    /// Exact: parsing the text gives back the same time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&DURATION.print(&Decimal::from_whole(self.0, -12)))
    }
}

impl Time {
    /// The difference, or zero if the other is later.
    #[inline]
    pub fn saturating_sub(self, other: Time) -> Time {
        Time::from_ps(self.as_ps().saturating_sub(other.as_ps()))
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
        assert_eq!(Time::NEVER.human(), "never");
    }

    #[test]
    fn text() {
        assert_eq!("90 ns".parse(), Ok(Time::from_ps(90_000)));
        assert_eq!("1.5 h".parse(), Ok(Time::from_ps(5_400_000_000_000_000)));
        assert_eq!("0.4 ps".parse(), Ok(Time::ZERO));
        assert_eq!(Time::from_ps(1_234_567).to_string(), "1.234567 us");
        assert_eq!(Time::from_ps(1_234_567_890).human(), "1.23 ms");
        assert_eq!(Time::ZERO.to_string(), "0 s");
        assert!("-1 ns".parse::<Time>().is_err());
        assert!("214 h".parse::<Time>().is_ok() && "1e9 h".parse::<Time>().is_err());
    }

    proptest::proptest! {
        #[test]
        fn times_round_trip(ps: u64) {
            proptest::prop_assert_eq!(Time(ps).to_string().parse(), Ok(Time(ps)));
        }
    }
}
