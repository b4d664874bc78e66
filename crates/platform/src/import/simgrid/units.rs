//! Quantities as SimGrid writes them: `12.5GBps`, `10Gbps`, `5120MiBps`, `0.05us`, `20Gf`, or a bare number.
//!
//! The units are those of `xbt_parse_units.cpp` (SimGrid 3.32). A number without a unit is in bytes per second, seconds
//! or flop/s, in every version of the format; since version 4 SimGrid warns about it.

/// What a quantity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bandwidth,
    Time,
    Speed,
}

/// A unit: a power of ten, and what remains.
struct Unit {
    exponent: i32,
    factor: f64,
}

/// A non-negative quantity in bytes per second, seconds or flop/s; the error says what is wrong with it.
pub(super) fn parse(text: &str, kind: Kind) -> Result<f64, String> {
    let text = text.trim();
    let (mantissa, exponent, unit) = split(text).ok_or_else(|| format!("`{text}` does not start with a number"))?;
    let unit = match unit {
        "" => Unit { exponent: 0, factor: 1.0 },
        _ => kind.unit(unit).ok_or_else(|| format!("`{unit}` is not a unit of {}", kind.noun()))?,
    };
    // Moving the decimal point in the text, not in the number, keeps `0.1us` equal to 1e-7 s.
    let scaled = format!("{mantissa}e{}", exponent.saturating_add(unit.exponent));
    let value = scaled.parse::<f64>().map_err(|_| format!("`{text}` is not a number"))? * unit.factor;
    match value {
        _ if !value.is_finite() => Err(format!("`{text}` is too large")),
        _ if value < 0.0 => Err(format!("`{text}` is negative")),
        _ => Ok(value),
    }
}

/// Mantissa, decimal exponent, and what follows the number.
fn split(text: &str) -> Option<(&str, i32, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with(['+', '-']));
    let whole = digits(&text[sign..]);
    let mut end = sign + whole;
    if text[end..].starts_with('.') {
        let fraction = digits(&text[end + 1..]);
        if whole + fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    let (mantissa, rest) = text.split_at(end);
    // `1e3` has an exponent, `1EBps` has a prefix.
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let sign = usize::from(after.starts_with(['+', '-']));
        let length = sign + digits(&after[sign..]);
        if length > sign {
            // More digits than an i32 holds: as good as infinite, or as zero.
            let extreme = if after.starts_with('-') { i32::MIN / 2 } else { i32::MAX / 2 };
            return Some((mantissa, after[..length].parse().unwrap_or(extreme), &after[length..]));
        }
    }
    Some((mantissa, 0, rest))
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Kind::Bandwidth => "bandwidth: use for instance GBps or Gbps",
            Kind::Time => "time: use for instance us",
            Kind::Speed => "speed: use for instance Gf",
        }
    }

    fn unit(self, name: &str) -> Option<Unit> {
        match self {
            Kind::Time => {
                let (exponent, factor) = match name {
                    "w" => (0, 604_800.0),
                    "d" => (0, 86_400.0),
                    "h" => (0, 3_600.0),
                    "m" => (0, 60.0),
                    "s" => (0, 1.0),
                    "ms" => (-3, 1.0),
                    "us" => (-6, 1.0),
                    "ns" => (-9, 1.0),
                    "ps" => (-12, 1.0),
                    _ => return None,
                };
                Some(Unit { exponent, factor })
            }
            Kind::Bandwidth => match name.strip_suffix("Bps") {
                Some(prefix) => short_prefix(prefix, 1.0),
                None => short_prefix(name.strip_suffix("bps")?, 0.125),
            },
            Kind::Speed => match name.strip_suffix("flops") {
                Some(prefix) => {
                    let long = ["", "kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta"];
                    let power = long.iter().position(|name| *name == prefix)?;
                    Some(Unit { exponent: 3 * power as i32, factor: 1.0 })
                }
                None => short_prefix(name.strip_suffix('f')?, 1.0).filter(|_| !name.contains('i')),
            },
        }
    }
}

/// `k`, `M`, ... (powers of 1,000), `Ki`, `Mi`, ... (powers of 1,024), or nothing.
fn short_prefix(prefix: &str, factor: f64) -> Option<Unit> {
    const DECIMAL: &str = "kMGTPEZY";
    const BINARY: &str = "KMGTPEZY";
    let power = |letters: &str, letter: &str| match letter.len() {
        1 => letters.find(letter).map(|place| place as i32 + 1),
        _ => None,
    };
    if prefix.is_empty() {
        return Some(Unit { exponent: 0, factor });
    }
    match prefix.strip_suffix('i') {
        Some(letter) => power(BINARY, letter).map(|p| Unit { exponent: 0, factor: factor * 1024f64.powi(p) }),
        None => power(DECIMAL, prefix).map(|p| Unit { exponent: 3 * p, factor }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Bandwidth, Speed, Time};

    #[test]
    fn units_of_simgrid() {
        assert_eq!(parse("12.5GBps", Bandwidth), Ok(12.5e9));
        assert_eq!(parse("10Gbps", Bandwidth), Ok(1.25e9));
        assert_eq!(parse("5120MiBps", Bandwidth), Ok(5120.0 * 1024.0 * 1024.0));
        assert_eq!(parse("8Kibps", Bandwidth), Ok(1024.0));
        assert_eq!(parse("100000000000.0Bps", Bandwidth), Ok(1e11));
        assert_eq!(parse("6.875E8", Bandwidth), Ok(6.875e8));
        assert_eq!(parse("1EBps", Bandwidth), Ok(1e18));
        assert_eq!(parse("1.5E-9s", Time), Ok(1.5e-9));
        assert_eq!(parse("0.10us", Time), Ok(1e-7));
        assert_eq!(parse("2.4E-5", Time), Ok(2.4e-5));
        assert_eq!(parse("2m", Time), Ok(120.0));
        assert_eq!(parse("0", Time), Ok(0.0));
        assert_eq!(parse("20000", Speed), Ok(20_000.0));
        assert_eq!(parse("98.095Mf", Speed), Ok(98.095e6));
        assert_eq!(parse("1.5gigaflops", Speed), Ok(1.5e9));
    }

    #[test]
    fn nonsense_is_named() {
        for (text, kind) in [
            ("", Time),
            ("fast", Bandwidth),
            (".", Time),
            ("-1us", Time),
            ("1e999", Time),
            ("1KBps", Bandwidth),
            ("1 GB/s", Bandwidth),
            ("1Bps", Time),
            ("1Gif", Speed),
            ("1e99999999999999999999s", Time),
        ] {
            assert!(parse(text, kind).is_err(), "{text}");
        }
        assert_eq!(parse("1e-99999999999999999999s", Time), Ok(0.0));
    }
}
