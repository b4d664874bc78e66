//! The quantities of a machine: sizes, bandwidths, durations, frequencies, flop rates, lengths, powers.

use std::fmt;
use std::str::FromStr;

use crate::decimal::{Decimal, Whole};
use crate::dimension::{BANDWIDTH, DURATION, FLOP_RATE, FREQUENCY, LENGTH, POWER, SIZE};
use crate::error::UnitError;
use crate::human;

/// A size in whole bytes, such as `64 KiB` or `192 GB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// So many bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// In bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Three digits and a binary prefix: `4.2 GiB`.
    pub fn human(self) -> String {
        human::size(self.0 as f64)
    }

    /// A size that may have a fraction, for parameters that are fitted rather than counted: `20537.14 B`.
    pub fn parse_fraction(text: &str) -> Result<f64, UnitError> {
        SIZE.parse_positive(text)
    }

    /// Prints what [`Bytes::parse_fraction`] reads, exactly.
    pub fn print_fraction(bytes: f64) -> String {
        if bytes == bytes.trunc() && bytes < u64::MAX as f64 {
            Bytes(bytes as u64).to_string()
        } else {
            SIZE.print(&Decimal::shortest(bytes))
        }
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        let (number, unit) = SIZE.split(text)?;
        if number.negative && !number.is_zero() {
            return Err(UnitError::Negative { text: text.into(), noun: SIZE.noun });
        }
        match number.whole(unit.exponent, unit.factor as u64) {
            Whole::Exact(bytes) => Ok(Bytes(bytes)),
            Whole::Rounded(nearest) => Err(UnitError::NotWhole { text: text.into(), nearest }),
            Whole::TooLarge => Err(UnitError::TooLarge { text: text.into(), noun: SIZE.noun }),
        }
    }
}

impl fmt::Display for Bytes {
    /// The shortest exact text: `64 kB`, `64 KiB`, `8133 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut best = format!("{} B", self.0);
        for unit in SIZE.units {
            let factor = unit.factor as u64 * 10u64.pow(unit.exponent.unsigned_abs());
            if self.0 > 0 && self.0.is_multiple_of(factor) {
                let text = format!("{} {}", self.0 / factor, unit.name);
                if text.len() < best.len() {
                    best = text;
                }
            }
        }
        f.pad(&best)
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $dimension:ident, $parse:ident, $base:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("So many ", $base, ".")]
            pub const fn new(value: f64) -> $name {
                $name(value)
            }

            #[doc = concat!("In ", $base, ".")]
            pub const fn get(self) -> f64 {
                self.0
            }

            /// Three significant digits and a fitting prefix.
            pub fn human(self) -> String {
                human::short(self.0, &$dimension)
            }

            /// With how far off it may be, in the same unit: `22.35 +- 0.41 Tflop/s`.
            pub fn human_between(self, half: f64) -> String {
                human::between(self.0, half, &$dimension)
            }
        }

        impl FromStr for $name {
            type Err = UnitError;

            fn from_str(text: &str) -> Result<$name, UnitError> {
                $dimension.$parse(text).map($name)
            }
        }

        impl fmt::Display for $name {
            /// All digits that matter: parsing the text gives back the same number.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&$dimension.print(&Decimal::shortest(self.0)))
            }
        }
    };
}

quantity! {
    /// Data per time, such as `12.5 GB/s` or `100 Gbit/s`.
    Bandwidth, BANDWIDTH, parse_positive, "bytes per second"
}
quantity! {
    /// A frequency, such as `2.7 GHz`.
    Frequency, FREQUENCY, parse_positive, "hertz"
}
quantity! {
    /// Floating-point operations per second, such as `1.2 Tflop/s`.
    FlopRate, FLOP_RATE, parse_positive, "flop/s"
}
quantity! {
    /// A length, such as `2.5 m`.
    Length, LENGTH, parse_positive, "metres"
}
quantity! {
    /// A power, such as `250 W`.
    Power, POWER, parse_positive, "watts"
}
quantity! {
    /// A duration as a real number, for what is fitted rather than scheduled (a latency, a cost per byte of a few
    /// femtoseconds, an intercept that may be negative). What the clock counts is a [`crate::Time`].
    Seconds, DURATION, parse, "seconds"
}

#[cfg(test)]
mod tests;
