//! Numbers for people: few digits, a fitting prefix.

use crate::decimal::Decimal;
use crate::dimension::{Dimension, EIB, GIB, KIB, MIB, PIB, TIB};

/// Digits that a reader takes in.
const DIGITS: usize = 3;

/// Three significant digits in the unit that fits.
pub(crate) fn short(value: f64, dimension: &Dimension) -> String {
    dimension.print(&Decimal::rounded(value, DIGITS))
}

/// A value and how far off it may be, in the same unit: the latter has two digits, and the former no more than make sense.
pub(crate) fn between(value: f64, half: f64, dimension: &Dimension) -> String {
    if !(value.is_finite() && half.is_finite() && half > 0.0) {
        return format!("{} +- {}", short(value, dimension), short(half, dimension));
    }
    let unit = dimension.unit_for(&Decimal::rounded(value.abs().max(half), DIGITS));
    let scale = 10f64.powi(unit.exponent);
    let (value, half) = (value / scale, half / scale);
    let digits = (1 - half.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.digits$} +- {half:.digits$} {}", unit.name)
}

/// A size in powers of 1,024.
pub(crate) fn size(bytes: f64) -> String {
    let units = [(EIB, "EiB"), (PIB, "PiB"), (TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"), (1.0, "B")];
    // From 1,023.5 on a number would be rounded to 1,024 of the smaller unit.
    let fits = |factor: f64| factor == 1.0 || bytes / factor >= 1023.5 / 1024.0;
    let (factor, name) = units.into_iter().find(|(factor, _)| fits(*factor)).unwrap_or((1.0, "B"));
    let value = bytes / factor;
    let number = if value >= 1000.0 { format!("{value:.0}") } else { Decimal::rounded(value, DIGITS).plain(0) };
    format!("{number} {name}")
}

/// A count with its digits in groups: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dimension::{BANDWIDTH, DURATION, FLOP_RATE};

    #[test]
    fn three_digits_and_a_prefix() {
        assert_eq!(short(0.001_234_5, &DURATION), "1.23 ms");
        assert_eq!(short(0.000_999_6, &DURATION), "1 ms");
        assert_eq!(short(0.0, &DURATION), "0 s");
        assert_eq!(short(86_400.0, &DURATION), "86400 s");
        assert_eq!(short(8.3512e9, &BANDWIDTH), "8.35 GB/s");
        assert_eq!(short(f64::INFINITY, &BANDWIDTH), "inf B/s");
    }

    #[test]
    fn an_interval_has_one_unit() {
        assert_eq!(between(22_347e9, 412e9, &FLOP_RATE), "22.35 +- 0.41 Tflop/s");
        assert_eq!(between(3827.3, 41.0, &DURATION), "3827 +- 41 s");
        assert_eq!(between(0.0123, 0.5, &DURATION), "12 +- 500 ms");
        assert_eq!(between(1e12, 4e6, &FLOP_RATE), "1.000000 +- 0.000004 Tflop/s");
        assert_eq!(between(2.0, 0.0, &DURATION), "2 s +- 0 s");
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!(size(4.2 * GIB), "4.2 GiB");
        assert_eq!(size(1023.0), "1023 B");
        assert_eq!(size(1_048_575.0), "1 MiB");
        assert_eq!(size(0.0), "0 B");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
