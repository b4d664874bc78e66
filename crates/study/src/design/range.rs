//! Ranges: what a place from 0 to 1 means.

/// How values spread over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal ratios: for what spans orders of magnitude, such as sizes of messages.
    Logarithmic,
}

/// Values between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    scale: Scale,
}

/// Why a range is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// Nothing lies in between.
    #[error("the range from {low} to {high} holds nothing; give the smaller number first")]
    Empty {
        /// Its low end.
        low: f64,
        /// Its high end.
        high: f64,
    },
    /// There are no ratios to zero.
    #[error("the logarithmic range from {low} on has no first step; begin above zero, or use a linear one")]
    NotPositive {
        /// Its low end.
        low: f64,
    },
}

impl Range {
    /// From `low` to `high`.
    pub fn new(low: f64, high: f64, scale: Scale) -> Result<Range, RangeError> {
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(RangeError::Empty { low, high });
        }
        if scale == Scale::Logarithmic && low <= 0.0 {
            return Err(RangeError::NotPositive { low });
        }
        Ok(Range { low, high, scale })
    }

    /// The value at a place: 0 is the low end, 1 the high one.
    pub fn at(&self, place: f64) -> f64 {
        let value = match self.scale {
            // Neither end is missed by rounding, and the difference cannot overflow.
            Scale::Linear => self.low * (1.0 - place) + self.high * place,
            Scale::Logarithmic => (self.low.ln() * (1.0 - place) + self.high.ln() * place).exp(),
        };
        value.clamp(self.low, self.high)
    }

    /// The place of a value.
    pub fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0),
            Scale::Logarithmic => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_places() {
        let linear = Range::new(10.0, 20.0, Scale::Linear).unwrap();
        assert_eq!((linear.at(0.0), linear.at(0.25), linear.at(1.0)), (10.0, 12.5, 20.0));
        let logarithmic = Range::new(1.0, 1e6, Scale::Logarithmic).unwrap();
        assert!((logarithmic.at(0.5) - 1e3).abs() < 1e-9 && logarithmic.at(1.0) <= 1e6);
    }

    #[test]
    fn what_is_no_range() {
        let message = |low, high, scale| Range::new(low, high, scale).unwrap_err().to_string();
        assert!(message(2.0, 2.0, Scale::Linear).starts_with("the range from 2 to 2 holds nothing; "));
        assert!(message(f64::NAN, 2.0, Scale::Linear).contains("; give the smaller number first"));
        assert!(message(0.0, 2.0, Scale::Logarithmic).ends_with("begin above zero, or use a linear one"));
    }

    proptest! {
        #[test]
        fn places_come_back(low in 1e-9..1e9f64, length in 1e-3..1e9f64, place in 0.0..=1.0f64, linear: bool) {
            let range = Range::new(low, low + length, if linear { Scale::Linear } else { Scale::Logarithmic }).unwrap();
            prop_assert!((low..=low + length).contains(&range.at(place)));
            let digits = 1e-12 * (1.0 + (low + length) / length);
            prop_assert!((range.place(range.at(place)) - place).abs() < 10.0 * digits);
        }
    }
}
