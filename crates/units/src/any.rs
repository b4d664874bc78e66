//! A quantity of whatever kind, for those who change the values of a file without knowing what each means.

use std::fmt;

use crate::decimal::Decimal;
use crate::dimension::{ALL, Dimension};

/// A number with a unit, such as `12.5 GB/s`, or one without.
///
/// ```
/// use hpcast_units::AnyQuantity;
/// let link = AnyQuantity::parse("100 Gbit/s").unwrap();
/// assert_eq!(link.noun(), Some("bandwidth"));
/// assert_eq!(link.with(10.0 * link.get()).to_string(), "125 GB/s");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AnyQuantity {
    value: f64,
    dimension: Option<&'static Dimension>,
}

impl AnyQuantity {
    /// A plain number.
    pub fn plain(value: f64) -> AnyQuantity {
        AnyQuantity { value, dimension: None }
    }

    /// `None` where the text is no number, or has a unit that nobody knows.
    pub fn parse(text: &str) -> Option<AnyQuantity> {
        let (number, rest) = Decimal::split(text.trim())?;
        if rest.is_empty() {
            return Some(AnyQuantity::plain(number.scaled(0))).filter(|quantity| quantity.value.is_finite());
        }
        let read = |dimension: &&'static Dimension| {
            let value = dimension.parse(text).ok()?;
            Some(AnyQuantity { value, dimension: Some(dimension) })
        };
        ALL.iter().find_map(read)
    }

    /// In base units.
    pub fn get(self) -> f64 {
        self.value
    }

    /// As much of the same.
    pub fn with(self, value: f64) -> AnyQuantity {
        AnyQuantity { value, ..self }
    }

    /// What it measures, such as `bandwidth`; `None` for a plain number.
    pub fn noun(self) -> Option<&'static str> {
        self.dimension.map(|dimension| dimension.noun)
    }
}

impl fmt::Display for AnyQuantity {
    /// All digits that matter: parsing the text gives back the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dimension {
            Some(dimension) => f.pad(&dimension.print(&Decimal::shortest(self.value))),
            None => f.pad(&self.value.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_keep_their_kind() {
        let times = |text: &str, factor: f64| {
            let quantity = AnyQuantity::parse(text).unwrap();
            quantity.with(quantity.get() * factor).to_string()
        };
        assert_eq!(times("12.5 GB/s", 0.1), "1.25 GB/s");
        assert_eq!(times("90 ns", 10.0), "900 ns");
        assert_eq!(times("2 MiB", 2.0), "4.194304 MB");
        assert_eq!(times("0.95", 0.5), "0.475");
        assert_eq!(AnyQuantity::parse("90 ns").unwrap().noun(), Some("duration"));
        assert_eq!(AnyQuantity::parse("8").unwrap().noun(), None);
    }

    #[test]
    fn what_is_no_quantity() {
        for text in ["", "fast", "12 parsecs", "1 2", "1e999", "GB/s"] {
            assert!(AnyQuantity::parse(text).is_none(), "{text}");
        }
    }
}
