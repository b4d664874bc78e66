//! Decimal numbers as written: scaling by a power of ten moves the point and never rounds.

/// A decimal number in text, not yet rounded to a machine number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub negative: bool,
    /// Significant digits, without leading zeros; empty for zero.
    pub digits: String,
    /// The value is `digits * 10^exponent`.
    pub exponent: i32,
}

/// What became of a decimal number that should be a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    Exact(u64),
    /// The nearest whole number.
    Rounded(u64),
    TooLarge,
}

/// Exponents beyond this are as good as infinite.
const LARGEST_EXPONENT: i32 = 10_000;
/// Digits beyond these change no machine number that we use, and would overflow the arithmetic of [`Decimal::whole`].
const MOST_DIGITS: usize = 28;

impl Decimal {
    /// Splits the text after the longest number it starts with: `12.5e3 GB/s` gives 12.5e3 and ` GB/s`.
    /// Digits may be grouped by `_`. `None` if the text starts with no number.
    pub fn split(text: &str) -> Option<(Decimal, &str)> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let negative = text.starts_with('-');
        let (whole, rest) = split_digits(unsigned);
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (power, rest) = split_exponent(rest);
        let digits: String = whole.chars().chain(fraction.chars()).filter(|c| *c != '_').collect();
        let decimals = fraction.chars().filter(|c| *c != '_').count() as i32;
        Some((Decimal::new(negative, &digits, power - decimals), rest))
    }

    /// `number * 10^exponent`.
    pub fn from_whole(number: u64, exponent: i32) -> Decimal {
        Decimal::new(false, &number.to_string(), exponent)
    }

    fn new(negative: bool, digits: &str, exponent: i32) -> Decimal {
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        let zeros = (digits.len() - significant.len()) as i32;
        Decimal { negative, digits: significant.into(), exponent: exponent + zeros }
    }

    /// The digits that tell this number from its neighbours, exactly.
    pub fn shortest(value: f64) -> Decimal {
        Decimal::scientific(&format!("{value:e}"))
    }

    /// The number rounded to so many significant digits.
    pub fn rounded(value: f64, digits: usize) -> Decimal {
        Decimal::scientific(&format!("{value:.*e}", digits - 1))
    }

    fn scientific(text: &str) -> Decimal {
        // Only infinities and NaN are not numbers here; they print as themselves in `in_units`.
        Decimal::split(text)
            .map_or(Decimal { negative: text.starts_with('-'), digits: "inf".into(), exponent: 0 }, |(decimal, _)| {
                decimal
            })
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Power of ten of the first digit: 2 for 125, -1 for 0.5.
    pub fn magnitude(&self) -> i32 {
        self.exponent + self.digits.len() as i32 - 1
    }

    /// The nearest machine number of `self * 10^exponent`; infinite if it is too large.
    pub fn scaled(&self, exponent: i32) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent + exponent).parse().unwrap_or(f64::NAN)
    }

    /// The whole number nearest to `self * factor * 10^exponent`, the sign left out.
    pub fn whole(&self, exponent: i32, factor: u64) -> Whole {
        if self.is_zero() {
            return Whole::Exact(0);
        }
        let dropped = self.digits.len().saturating_sub(MOST_DIGITS);
        let digits: u128 = self.digits[..self.digits.len() - dropped].parse().unwrap_or(u128::MAX);
        let power = self.exponent + exponent + dropped as i32;
        let Some(product) = digits.checked_mul(u128::from(factor)) else { return Whole::TooLarge };
        let (nearest, exact) = if power >= 0 {
            match 10u128.checked_pow(power as u32).and_then(|scale| product.checked_mul(scale)) {
                Some(value) => (value, dropped == 0),
                None => return Whole::TooLarge,
            }
        } else {
            match 10u128.checked_pow(power.unsigned_abs()) {
                Some(scale) => ((product + scale / 2) / scale, dropped == 0 && product % scale == 0),
                None => (0, false),
            }
        };
        match u64::try_from(nearest) {
            Ok(value) if exact => Whole::Exact(value),
            Ok(value) => Whole::Rounded(value),
            Err(_) => Whole::TooLarge,
        }
    }

    /// In plain notation after division by `10^exponent`.
    pub fn plain(&self, exponent: i32) -> String {
        let sign = if self.negative { "-" } else { "" };
        if self.is_zero() {
            return format!("{sign}0");
        }
        let point = self.digits.len() as i32 + self.exponent - exponent;
        let digits = &self.digits;
        if point <= 0 {
            format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
        } else if point as usize >= digits.len() {
            format!("{sign}{digits}{}", "0".repeat(point as usize - digits.len()))
        } else {
            format!("{sign}{}.{}", &digits[..point as usize], &digits[point as usize..])
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    // A number starts with a digit, so that `_` alone is none.
    if text.starts_with('_') { ("", text) } else { text.split_at(end) }
}

/// An exponent needs a digit after its `e`: `1 EB` has none.
fn split_exponent(text: &str) -> (i32, &str) {
    let Some(after) = text.strip_prefix(['e', 'E']) else { return (0, text) };
    let unsigned = after.strip_prefix(['+', '-']).unwrap_or(after);
    let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    if end == 0 {
        return (0, text);
    }
    let size = unsigned[..end].parse().unwrap_or(LARGEST_EXPONENT).min(LARGEST_EXPONENT);
    (if after.starts_with('-') { -size } else { size }, &unsigned[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        let (decimal, rest) = Decimal::split(text).unwrap();
        assert_eq!(rest, "");
        decimal
    }

    #[test]
    fn numbers_end_where_units_start() {
        assert_eq!(Decimal::split("12.5GB/s").unwrap().1, "GB/s");
        assert_eq!(Decimal::split("1EB").unwrap().1, "EB");
        assert_eq!(Decimal::split("1e3B").unwrap(), (decimal("1000"), "B"));
        assert_eq!(Decimal::split("1_000.5 s").unwrap().1, " s");
        for not_a_number in ["", "-", ".", "_1", "GB", "e5"] {
            assert_eq!(Decimal::split(not_a_number), None, "{not_a_number}");
        }
    }

    #[test]
    fn scaling_is_correctly_rounded() {
        assert_eq!(decimal("0.1").scaled(-6), 1e-7);
        assert_eq!(decimal("25.405126421726545").scaled(-12), 2.5405126421726545e-11);
        assert_eq!(decimal("1e400").scaled(0), f64::INFINITY);
    }

    #[test]
    fn whole_numbers_are_exact() {
        assert_eq!(decimal("1.5").whole(0, 1024), Whole::Exact(1536));
        assert_eq!(decimal("0.3").whole(0, 1024), Whole::Rounded(307));
        assert_eq!(decimal("18446744.073709551615").whole(12, 1), Whole::Exact(u64::MAX));
        assert_eq!(decimal("18446744.073709551616").whole(12, 1), Whole::TooLarge);
        assert_eq!(decimal("1e-9999").whole(0, 1), Whole::Rounded(0));
        assert_eq!(decimal("9e9999").whole(0, 1), Whole::TooLarge);
        assert_eq!(decimal(&"9".repeat(60)).whole(-50, 1), Whole::Rounded(10_000_000_000));
    }

    #[test]
    fn plain_notation() {
        assert_eq!(decimal("1234").plain(3), "1.234");
        assert_eq!(decimal("12e5").plain(3), "1200");
        assert_eq!(decimal("-5").plain(3), "-0.005");
        assert_eq!(decimal("0").plain(3), "0");
    }
}
