//! Lines of `ibnetdiscover`, each for itself.
//!
//! ```text
//! switchguid=0x2c9020047a5b0(2c9020047a5b0)
//! Switch  36 "S-0002c9020047a5b0"   # "leaf 1" enhanced port 0 lid 3 lmc 0
//! [1]     "H-0002c903000ea0a0"[1](2c903000ea0a1)   # "node01 HCA-1" lid 1 4xQDR
//! ```

use std::ops::Range;
use std::sync::Arc;

use hpcast_units::Bandwidth;

use crate::diagnostic::{Diagnostic, Source};

/// What a record describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Switch,
    /// A channel adapter, the port of a host.
    Adapter,
    Router,
}

/// The words that records begin with.
const KINDS: [(&str, Kind); 3] = [("Switch", Kind::Switch), ("Ca", Kind::Adapter), ("Rt", Kind::Router)];

/// Lines between records that say nothing about cables: identities, groups (`-g`), and the search itself (`-s`).
const OTHERS: [&str; 9] = [
    "vendid=",
    "devid=",
    "sysimgguid=",
    "switchguid=",
    "caguid=",
    "rtguid=",
    "Chassis ",
    "Non-Chassis Nodes",
    "DR path ",
];

/// A line that says something.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// `Switch 36 "S-..." # "description" ...`
    Device { kind: Kind, id: String, description: String, place: Range<usize> },
    /// `[1] "H-..."[1] # ... 4xEDR`
    Port { port: u32, peer: String, peer_port: u32, rate: Option<Bandwidth>, place: Range<usize> },
}

/// Whether a line begins as those of `ibnetdiscover` do.
pub(in crate::import) fn is_record(line: &str) -> bool {
    line.starts_with("# Topology file:")
        || OTHERS.iter().any(|word| line.starts_with(word))
        || kind(line).is_some()
        || is_of_a_list(line)
}

/// Whether a line is of a list without records: `Ca : 0x...` (`-l`, `-H`, `-S`, `-R`), or `CA 12 1 0x...`, `SW 3 36 0x...` (`-p`).
fn is_of_a_list(line: &str) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("CA" | "SW" | "RT") => {
            words.by_ref().take(2).all(|word| word.parse::<u32>().is_ok())
                && words.next().is_some_and(|guid| guid.starts_with("0x"))
        }
        Some(word) => KINDS.iter().any(|(name, _)| *name == word) && words.next() == Some(":"),
        None => false,
    }
}

fn kind(line: &str) -> Option<(Kind, &str)> {
    let (word, rest) = line.split_once([' ', '\t'])?;
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| (*kind, rest))
}

/// All lines that say something.
pub(super) fn lines(source: &Arc<Source>) -> Result<Vec<Line>, Diagnostic> {
    let mut lines = Vec::new();
    let mut byte = 0;
    for text in source.text.split_inclusive('\n') {
        let place = byte..byte + text.trim_end().len();
        byte += text.len();
        let text = text.trim_end();
        if text.trim().is_empty() || text.starts_with('#') || OTHERS.iter().any(|word| text.starts_with(word)) {
            continue;
        }
        let line = if text.starts_with('[') { port(text, &place) } else { device(text, &place) };
        lines.push(line.ok_or_else(|| {
            let message = if is_of_a_list(text) {
                "this is a list of ibnetdiscover, not its description of switches and adapters"
            } else {
                "this is no line of ibnetdiscover"
            };
            let remedy = "give hpcast all that `ibnetdiscover` printed, unchanged, without options that make lists";
            Diagnostic::error(message, remedy).at(source, place)
        })?);
    }
    Ok(lines)
}

fn device(text: &str, place: &Range<usize>) -> Option<Line> {
    let (kind, rest) = kind(text)?;
    let (ports, rest) = rest.trim_start().split_once([' ', '\t'])?;
    ports.parse::<u32>().ok()?;
    let (id, rest) = quoted(rest.trim_start())?;
    let comment = rest.trim_start().strip_prefix('#').unwrap_or_default();
    let description = quoted(comment.trim_start()).map_or("", |(description, _)| description);
    Some(Line::Device { kind, id: id.into(), description: description.into(), place: place.clone() })
}

fn port(text: &str, place: &Range<usize>) -> Option<Line> {
    let (port, rest) = bracketed(text)?;
    // A GUID, or the port's number outside of a chassis.
    let rest = &rest[rest.find('"')?..];
    let (peer, rest) = quoted(rest)?;
    let (peer_port, rest) = bracketed(rest)?;
    let rate = rest.split_once('#').and_then(|(_, comment)| {
        let behind = comment.rsplit('"').next().unwrap_or_default();
        behind.split_whitespace().rev().find_map(rate)
    });
    Some(Line::Port { port, peer: peer.into(), peer_port, rate, place: place.clone() })
}

/// `[12]rest`
fn bracketed(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest))
}

/// `"word"rest`
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('"')?.split_once('"')
}

/// The data rate of `4xEDR`: lanes times what a lane carries after coding, by the InfiniBand Architecture Specification,
/// volume 2: SDR, DDR and QDR signal at 2.5, 5 and 10 Gbit/s with 8b/10b coding, FDR10, FDR and EDR at 10.3125, 14.0625 and
/// 25.78125 Gbit/s with 64b/66b coding; of HDR, NDR and XDR the specification gives the rate of the data.
fn rate(word: &str) -> Option<Bandwidth> {
    let (lanes, speed) = word.split_once('x')?;
    let lanes = lanes.parse::<u32>().ok().filter(|lanes| [1, 2, 4, 8, 12].contains(lanes))?;
    let gigabits = match speed {
        "SDR" => 2.0,
        "DDR" => 4.0,
        "QDR" => 8.0,
        "FDR10" => 10.0,
        "FDR" => 14.0625 * 64.0 / 66.0,
        "EDR" => 25.0,
        "HDR" => 50.0,
        "NDR" => 100.0,
        "XDR" => 200.0,
        _ => return None,
    };
    Some(Bandwidth::new(f64::from(lanes) * gigabits * 1e9 / 8.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        let gigabits = |word| rate(word).map(|rate| rate.get() * 8e-9);
        assert_eq!(gigabits("4xEDR"), Some(100.0));
        assert_eq!(gigabits("4xHDR"), Some(200.0));
        assert_eq!(gigabits("2xNDR"), Some(200.0));
        assert_eq!(gigabits("12xQDR"), Some(96.0));
        assert!((gigabits("4xFDR").unwrap() - 54.5454).abs() < 1e-3);
        assert_eq!([gigabits("4x???"), gigabits("5xEDR"), gigabits("lid")], [None; 3]);
    }
}
