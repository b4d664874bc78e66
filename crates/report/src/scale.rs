//! The scale of an axis: from quantities to positions, with ticks at round numbers.

use hpcast_units::{Bandwidth, Bytes, FlopRate, Seconds, count};

/// What an axis measures, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes; ticks are powers of two.
    Size,
    /// Seconds.
    Seconds,
    /// Bytes per second.
    Bandwidth,
    /// Floating-point operations per second.
    FlopRate,
    /// A part of a whole, told in percent.
    Share,
    /// How many, or anything else without a unit; a [`Quantity::Number`] where values are not whole.
    Count,
    /// Anything without a unit, with decimals.
    Number,
}

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences look equal.
    Linear,
    /// Equal ratios look equal; zero cannot be shown.
    Logarithmic,
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    /// Small ticks have none.
    pub label: Option<String>,
}

/// An axis with its range and ticks.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    spacing: Spacing,
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<Tick>,
    /// The unit of all labels, where they do not carry their own.
    pub unit: Option<&'static str>,
}

impl Scale {
    /// Covers the values, with at most about `room` labels. Values that cannot be shown are left out.
    pub fn of(quantity: Quantity, spacing: Spacing, values: impl Iterator<Item = f64>, room: usize) -> Scale {
        let (mut low, mut high, mut is_whole) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for value in values.filter(|value| can_show(*value, spacing)) {
            (low, high) = (low.min(value), high.max(value));
            is_whole &= value == value.trunc();
        }
        let quantity = if quantity == Quantity::Count && !is_whole { Quantity::Number } else { quantity };
        match spacing {
            Spacing::Linear if low > high => Scale::linear(quantity, 0.0, 1.0, room).extended(quantity, room),
            Spacing::Linear => Scale::linear(quantity, low.min(0.0), high.max(0.0), room).extended(quantity, room),
            Spacing::Logarithmic if low > high => Scale::logarithmic(quantity, 1.0, 1.0, room),
            Spacing::Logarithmic => Scale::logarithmic(quantity, low, high, room),
        }
    }

    /// Covers exactly `low` to `high`.
    pub fn linear(quantity: Quantity, low: f64, high: f64, room: usize) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        let step = step(quantity, (high - low) / room.max(1) as f64);
        // Parts of a power of two have many decimals, so sizes are told in the unit of a step.
        let largest = if quantity == Quantity::Size { step } else { low.abs().max(high.abs()) };
        let (factor, unit) = unit(quantity, largest);
        let first = (low / step).ceil() as i64;
        let last = (high / step * (1.0 + 1e-12)).floor() as i64;
        let ticks = (first..=last).map(|tick| {
            let value = tick as f64 * step;
            Tick { value, label: Some(numeral(value / factor)) }
        });
        Scale { spacing: Spacing::Linear, low, high, ticks: ticks.collect(), unit }
    }

    /// The same, but up to the next tick at both ends.
    fn extended(self, quantity: Quantity, room: usize) -> Scale {
        let step = step(quantity, (self.high - self.low) / room.max(1) as f64);
        let up = |value: f64| (value / step * (1.0 - 1e-12)).ceil() * step;
        Scale::linear(quantity, -up(-self.low), up(self.high), room)
    }

    fn logarithmic(quantity: Quantity, low: f64, high: f64, room: usize) -> Scale {
        let (low, high) = if low == high { (low / 2.0, high * 2.0) } else { (low, high) };
        match quantity {
            Quantity::Size => Scale::powers_of_two(low, high, room),
            _ => Scale::decades(quantity, low, high, room),
        }
    }

    fn powers_of_two(low: f64, high: f64, room: usize) -> Scale {
        let (first, last) = (low.log2().floor() as i32, high.log2().ceil() as i32);
        let every = [1, 2, 3, 5, 10, 20].into_iter().find(|every| (last - first) / every < room as i32).unwrap_or(20);
        let ticks = (first..=last).map(|power| {
            let value = f64::from(power).exp2();
            Tick { value, label: (power % every == 0).then(|| label(Quantity::Size, value)) }
        });
        let (low, high) = (f64::from(first).exp2(), f64::from(last).exp2());
        Scale { spacing: Spacing::Logarithmic, low, high, ticks: ticks.collect(), unit: None }
    }

    fn decades(quantity: Quantity, low: f64, high: f64, room: usize) -> Scale {
        let (first, last) = (low.log10().floor() as i32, (high * (1.0 - 1e-12)).log10().floor() as i32);
        let every = [1, 3, 6, 12].into_iter().find(|every| (last - first + 1) / every < room as i32).unwrap_or(12);
        // In a few decades there is room for 2 and 5 as well.
        let fine = 3 * (last - first + 1) < room as i32;
        let mut ticks: Vec<Tick> = Vec::new();
        for power in first..=last + 1 {
            for digit in 1..10 {
                let labelled = power.rem_euclid(every) == 0 && (digit == 1 || fine && (digit == 2 || digit == 5));
                let value = decimal(digit, power);
                ticks.push(Tick { value, label: labelled.then(|| label(quantity, value)) });
            }
        }
        // The range ends at ticks, but not at the first ones that come: 1, 2, 5 look better than 7.
        let round = |tick: &&Tick| {
            let digit = (tick.value / decimal(1, tick.value.log10().floor() as i32)).round() as i32;
            matches!(digit, 1 | 2 | 5 | 10)
        };
        let below = ticks.iter().filter(round).rev().find(|tick| tick.value <= low * (1.0 + 1e-12));
        let above = ticks.iter().filter(round).find(|tick| tick.value >= high * (1.0 - 1e-12));
        let (low, high) = (below.map_or(low, |tick| tick.value), above.map_or(high, |tick| tick.value));
        ticks.retain(|tick| tick.value >= low && tick.value <= high);
        Scale { spacing: Spacing::Logarithmic, low, high, ticks, unit: None }
    }

    /// Where the value is between the ends, 0 to 1; `None` if it cannot be shown.
    pub fn position(&self, value: f64) -> Option<f64> {
        can_show(value, self.spacing).then(|| match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        })
    }
}

fn can_show(value: f64, spacing: Spacing) -> bool {
    value.is_finite() && (spacing == Spacing::Linear || value > 0.0)
}

/// `digit * 10^power`, the nearest double, so that 1e-6 is 1e-6 and not a neighbour of it.
fn decimal(digit: i32, power: i32) -> f64 {
    format!("{digit}e{power}").parse().unwrap_or(f64::NAN)
}

/// The first round step that is not below `least`: 1, 2 or 5 times a power of ten, or a power of two for sizes.
fn step(quantity: Quantity, least: f64) -> f64 {
    match quantity {
        Quantity::Size => least.max(1.0).log2().ceil().exp2(),
        _ => {
            let power = least.log10().floor() as i32;
            let steps = [decimal(1, power), decimal(2, power), decimal(5, power), decimal(1, power + 1)];
            let step = steps.into_iter().find(|step| *step >= least * (1.0 - 1e-12)).unwrap_or(steps[3]);
            if quantity == Quantity::Count { step.max(1.0) } else { step }
        }
    }
}

/// The unit in which numbers up to `largest` are easy to read.
fn unit(quantity: Quantity, largest: f64) -> (f64, Option<&'static str>) {
    let units: &[(f64, &str)] = match quantity {
        Quantity::Size => &[(1.0, "B"), (1024.0, "KiB"), (1048576.0, "MiB"), (1073741824.0, "GiB")],
        Quantity::Seconds => &[(1e-12, "ps"), (1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")],
        Quantity::Bandwidth => &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")],
        Quantity::FlopRate => &[
            (1.0, "flop/s"),
            (1e3, "kflop/s"),
            (1e6, "Mflop/s"),
            (1e9, "Gflop/s"),
            (1e12, "Tflop/s"),
            (1e15, "Pflop/s"),
            (1e18, "Eflop/s"),
        ],
        Quantity::Share => &[(0.01, "%")],
        Quantity::Count | Quantity::Number => return (1.0, None),
    };
    let fits = units.iter().rev().find(|(factor, _)| *factor <= largest * (1.0 + 1e-12));
    let (factor, name) = fits.copied().unwrap_or(units[0]);
    (factor, Some(name))
}

/// A number with as many decimals as it needs, up to six.
fn plain(value: f64) -> String {
    if value.abs() >= 1e4 && value == value.trunc() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(value.abs() as u64));
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn label(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Size if value < 1.0 => format!("{} B", plain(value)),
        Quantity::Size => Bytes::new(value.round() as u64).human(),
        Quantity::Seconds => Seconds::new(value).human(),
        Quantity::Bandwidth => Bandwidth::new(value).human(),
        Quantity::FlopRate => FlopRate::new(value).human(),
        Quantity::Share => format!("{} %", plain(100.0 * value)),
        Quantity::Count | Quantity::Number => numeral(value),
    }
}

/// A number without a unit: what has too many zeros is told by its power of ten.
fn numeral(value: f64) -> String {
    if value == 0.0 || value.abs() >= 1e-4 {
        return plain(value);
    }
    let text = format!("{value:.3e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTITIES: [Quantity; 6] =
        [Quantity::Size, Quantity::Seconds, Quantity::Bandwidth, Quantity::FlopRate, Quantity::Share, Quantity::Count];

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().filter_map(|tick| tick.label.as_deref()).collect()
    }

    fn log(quantity: Quantity, values: &[f64], room: usize) -> Scale {
        Scale::of(quantity, Spacing::Logarithmic, values.iter().copied(), room)
    }

    /// Seconds of a study need no unit to be seen.
    #[test]
    fn what_is_not_whole_has_decimals() {
        let labels = |values: &[f64]| -> Vec<String> {
            let scale = Scale::of(Quantity::Count, Spacing::Linear, values.iter().copied(), 5);
            scale.ticks.into_iter().filter_map(|tick| tick.label).collect()
        };
        assert_eq!(labels(&[0.0013, 0.0041]), ["0", "0.001", "0.002", "0.003", "0.004", "0.005"]);
        assert_eq!(labels(&[2.5e-6]), ["0", "5e-7", "1e-6", "1.5e-6", "2e-6", "2.5e-6"]);
        assert_eq!(labels(&[1.0, 3.0]), ["0", "1", "2", "3"]);
    }

    #[test]
    fn sizes_are_powers_of_two() {
        let scale = log(Quantity::Size, &[8.0, 1_048_576.0], 10);
        assert_eq!(labels(&scale), ["16 B", "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]);
        assert_eq!((scale.low, scale.high), (8.0, 1_048_576.0));
        assert_eq!(scale.position(8.0), Some(0.0));
        assert_eq!(scale.position(0.0), None);
    }

    #[test]
    fn few_decades_show_2_and_5() {
        let scale = log(Quantity::Seconds, &[1.3e-6, 42e-6], 10);
        assert_eq!(labels(&scale), ["1 us", "2 us", "5 us", "10 us", "20 us", "50 us"]);
        assert_eq!((scale.low, scale.high), (1e-6, 50e-6));
    }

    #[test]
    fn many_decades_show_some() {
        let scale = log(Quantity::Seconds, &[1e-9, 1.0], 6);
        assert_eq!(labels(&scale), ["1 ns", "1 us", "1 ms", "1 s"]);
        assert_eq!((scale.low, scale.high), (1e-9, 1.0));
    }

    #[test]
    fn linear_scales_begin_at_zero_and_share_a_unit() {
        let scale = Scale::of(Quantity::Seconds, Spacing::Linear, [1.2e-4, 1.05e-3].into_iter(), 6);
        assert_eq!(labels(&scale), ["0", "0.2", "0.4", "0.6", "0.8", "1", "1.2"]);
        assert_eq!(scale.unit, Some("ms"));
        let scale = Scale::of(Quantity::Size, Spacing::Linear, [1024.0, 5e6].into_iter(), 6);
        assert_eq!((labels(&scale), scale.unit), (vec!["0", "1", "2", "3", "4", "5"], Some("MiB")));
        let scale = Scale::of(Quantity::Size, Spacing::Linear, [1048576.0].into_iter(), 4);
        assert_eq!((labels(&scale), scale.unit), (vec!["0", "256", "512", "768", "1024"], Some("KiB")));
        let scale = Scale::of(Quantity::Count, Spacing::Linear, [3.0].into_iter(), 10);
        assert_eq!(labels(&scale), ["0", "1", "2", "3"]);
    }

    #[test]
    fn shares_are_percent_and_speeds_have_large_units() {
        let scale = Scale::linear(Quantity::Share, 0.0, 1.0, 5);
        assert_eq!((labels(&scale), scale.unit), (vec!["0", "20", "40", "60", "80", "100"], Some("%")));
        let scale = Scale::of(Quantity::FlopRate, Spacing::Linear, [2.3e16].into_iter(), 6);
        assert_eq!((labels(&scale), scale.unit), (vec!["0", "5", "10", "15", "20", "25"], Some("Pflop/s")));
    }

    #[test]
    fn exact_ranges_stay() {
        let scale = Scale::linear(Quantity::Seconds, 0.0, 7.3e-6, 5);
        assert_eq!((labels(&scale), scale.high), (vec!["0", "2", "4", "6"], 7.3e-6));
    }

    #[test]
    fn nothing_to_show_is_no_trouble() {
        for spacing in [Spacing::Linear, Spacing::Logarithmic] {
            for quantity in QUANTITIES {
                for values in [vec![], vec![0.0], vec![f64::NAN, f64::INFINITY], vec![5.0], vec![1e-12, 1e12]] {
                    let scale = Scale::of(quantity, spacing, values.iter().copied(), 8);
                    assert!(scale.high > scale.low, "{quantity:?} {spacing:?} {values:?}");
                    assert!(scale.ticks.len() < 1000, "{quantity:?} {spacing:?} {values:?} {}", scale.ticks.len());
                    for value in values.iter().filter_map(|value| scale.position(*value)) {
                        assert!((-1e-9..=1.0 + 1e-9).contains(&value));
                    }
                }
            }
        }
    }
}
