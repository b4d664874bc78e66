//! The units that exist, by what they measure, and how a text with one of them is read and printed.
//!
//! GB is 10^9 bytes and GiB 2^30; a bit is spelt out, because `b` alone is taken for a byte too often.

use crate::decimal::Decimal;
use crate::error::UnitError;

/// One name of a unit: worth `factor * 10^exponent` base units.
#[derive(Debug)]
pub(crate) struct Unit {
    pub name: &'static str,
    pub exponent: i32,
    /// A power of two where printing uses the unit, so that no digit is lost.
    pub factor: f64,
}

const fn unit(name: &'static str, exponent: i32) -> Unit {
    Unit { name, exponent, factor: 1.0 }
}

const fn times(name: &'static str, factor: f64) -> Unit {
    Unit { name, exponent: 0, factor }
}

const fn bits(name: &'static str, exponent: i32) -> Unit {
    Unit { name, exponent, factor: 0.125 }
}

/// What a quantity measures.
#[derive(Debug)]
pub(crate) struct Dimension {
    pub noun: &'static str,
    pub example: &'static str,
    /// The unit suggested to those who forget it.
    pub usual: &'static str,
    /// All units; those of the decimal ladder that printing climbs come first, in ascending order.
    pub units: &'static [Unit],
    /// Length of that ladder.
    pub ladder: usize,
}

pub(crate) const KIB: f64 = 1024.0;
pub(crate) const MIB: f64 = KIB * KIB;
pub(crate) const GIB: f64 = MIB * KIB;
pub(crate) const TIB: f64 = GIB * KIB;
pub(crate) const PIB: f64 = TIB * KIB;
pub(crate) const EIB: f64 = PIB * KIB;

pub(crate) static SIZE: Dimension = Dimension {
    noun: "size",
    example: "64 KiB",
    usual: "B",
    units: &[
        unit("B", 0),
        unit("kB", 3),
        unit("MB", 6),
        unit("GB", 9),
        unit("TB", 12),
        unit("PB", 15),
        unit("EB", 18),
        times("KiB", KIB),
        times("MiB", MIB),
        times("GiB", GIB),
        times("TiB", TIB),
        times("PiB", PIB),
        times("EiB", EIB),
    ],
    ladder: 7,
};

pub(crate) static BANDWIDTH: Dimension = Dimension {
    noun: "bandwidth",
    example: "12.5 GB/s",
    usual: "GB/s",
    units: &[
        unit("B/s", 0),
        unit("kB/s", 3),
        unit("MB/s", 6),
        unit("GB/s", 9),
        unit("TB/s", 12),
        unit("PB/s", 15),
        bits("bit/s", 0),
        bits("kbit/s", 3),
        bits("Mbit/s", 6),
        bits("Gbit/s", 9),
        bits("Tbit/s", 12),
        times("KiB/s", KIB),
        times("MiB/s", MIB),
        times("GiB/s", GIB),
        times("TiB/s", TIB),
    ],
    ladder: 6,
};

pub(crate) static DURATION: Dimension = Dimension {
    noun: "duration",
    example: "90 ns",
    usual: "us",
    units: &[
        unit("as", -18),
        unit("fs", -15),
        unit("ps", -12),
        unit("ns", -9),
        unit("us", -6),
        unit("ms", -3),
        unit("s", 0),
        // The micro sign and the Greek letter.
        unit("\u{b5}s", -6),
        unit("\u{3bc}s", -6),
        times("min", 60.0),
        times("h", 3600.0),
    ],
    ladder: 7,
};

pub(crate) static FREQUENCY: Dimension = Dimension {
    noun: "frequency",
    example: "2.7 GHz",
    usual: "GHz",
    units: &[unit("Hz", 0), unit("kHz", 3), unit("MHz", 6), unit("GHz", 9), unit("THz", 12)],
    ladder: 5,
};

pub(crate) static FLOP_RATE: Dimension = Dimension {
    noun: "flop rate",
    example: "1.2 Tflop/s",
    usual: "Gflop/s",
    units: &[
        unit("flop/s", 0),
        unit("kflop/s", 3),
        unit("Mflop/s", 6),
        unit("Gflop/s", 9),
        unit("Tflop/s", 12),
        unit("Pflop/s", 15),
        unit("Eflop/s", 18),
    ],
    ladder: 7,
};

pub(crate) static LENGTH: Dimension = Dimension {
    noun: "length",
    example: "2.5 m",
    usual: "m",
    units: &[unit("mm", -3), unit("m", 0), unit("km", 3), unit("cm", -2)],
    ladder: 3,
};

pub(crate) static POWER: Dimension = Dimension {
    noun: "power",
    example: "250 W",
    usual: "W",
    units: &[unit("mW", -3), unit("W", 0), unit("kW", 3), unit("MW", 6), unit("GW", 9)],
    ladder: 5,
};

pub(crate) static ALL: [&Dimension; 7] = [&SIZE, &BANDWIDTH, &DURATION, &FREQUENCY, &FLOP_RATE, &LENGTH, &POWER];

impl Dimension {
    /// The number and the unit that the text consists of.
    pub fn split(&'static self, text: &str) -> Result<(Decimal, &'static Unit), UnitError> {
        let trimmed = text.trim();
        let (number, rest) = Decimal::split(trimmed).ok_or_else(|| UnitError::not_a_number(text, self))?;
        let name = rest.trim_start();
        if name.is_empty() {
            return Err(UnitError::BareNumber { text: trimmed.into(), noun: self.noun, unit: self.usual });
        }
        if name.starts_with([',', '.']) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(UnitError::not_a_number(text, self));
        }
        match self.units.iter().find(|unit| unit.name == name) {
            Some(unit) => Ok((number, unit)),
            None => Err(self.unknown(&trimmed[..trimmed.len() - rest.len()], name)),
        }
    }

    /// The quantity in base units, possibly negative.
    pub fn parse(&'static self, text: &str) -> Result<f64, UnitError> {
        let (number, unit) = self.split(text)?;
        let value = number.scaled(unit.exponent) * unit.factor;
        if value.is_finite() { Ok(value) } else { Err(UnitError::TooLarge { text: text.into(), noun: self.noun }) }
    }

    /// The quantity in base units, not below zero.
    pub fn parse_positive(&'static self, text: &str) -> Result<f64, UnitError> {
        let value = self.parse(text)?;
        if value < 0.0 { Err(UnitError::Negative { text: text.into(), noun: self.noun }) } else { Ok(value) }
    }

    /// In the largest unit of the decimal ladder that leaves a digit before the point.
    pub fn print(&self, number: &Decimal) -> String {
        let unit = self.unit_for(number);
        format!("{} {}", number.plain(unit.exponent), unit.name)
    }

    /// The largest unit of the decimal ladder that leaves a digit before the point.
    pub fn unit_for(&self, number: &Decimal) -> &Unit {
        let ladder = &self.units[..self.ladder];
        if number.is_zero() {
            return ladder.iter().find(|unit| unit.exponent == 0).unwrap_or(&ladder[0]);
        }
        ladder.iter().rev().find(|unit| unit.exponent <= number.magnitude()).unwrap_or(&ladder[0])
    }

    fn unknown(&'static self, number: &str, name: &str) -> UnitError {
        let belongs_to = ALL.iter().find(|other| other.units.iter().any(|unit| unit.name == name));
        let mut candidates: Vec<&'static str> = match belongs_to {
            Some(_) => Vec::new(),
            None => self.units.iter().map(|unit| unit.name).filter(|known| loose(known) == loose(name)).collect(),
        };
        if let ["kB"] | ["kB/s"] = candidates[..] {
            // `KB` is the one prefix whose case people use to tell 1,000 from 1,024.
            candidates.push(if candidates[0] == "kB" { "KiB" } else { "KiB/s" });
        }
        if candidates.is_empty() {
            candidates = self.units.iter().map(|unit| unit.name).filter(|name| name.is_ascii()).collect();
        }
        let belongs_to = belongs_to.map(|other| other.noun);
        UnitError::UnknownUnit {
            number: number.trim().into(),
            unit: name.into(),
            noun: self.noun,
            belongs_to,
            candidates,
        }
    }
}

/// A unit's name with everything removed that people spell in their own way.
fn loose(name: &str) -> String {
    let mut name = name.to_lowercase().replace(' ', "");
    for (spelt, short) in [("bytes", "b"), ("byte", "b"), ("bits", "b"), ("bit", "b"), ("flops", "flop/s")] {
        name = name.replace(spelt, short);
    }
    name = name.replace("/s/s", "/s").replace("/sec", "/s");
    for (spelt, short) in
        [("seconds", "s"), ("second", "s"), ("secs", "s"), ("sec", "s"), ("hours", "h"), ("hour", "h")]
    {
        name = name.replace(spelt, short);
    }
    match name.strip_suffix("ps") {
        Some(stem) if stem.ends_with('b') => format!("{stem}/s"),
        _ => name,
    }
}
