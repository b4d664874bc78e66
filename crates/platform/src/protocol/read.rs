//! The protocol in TOML: overheads and factors by message size, as one value or as a list of pieces.

use hpcast_units::{Bytes, Seconds};
use toml::de::DeValue;

use super::{Mode, Piece, Piecewise, Protocol};
use crate::fields::{Reader, Section};

impl Protocol {
    /// Reads the functions of a section such as `[mpi.between]`.
    pub fn read(reader: &mut Reader, section: &mut Section<'_>) -> Protocol {
        Protocol {
            send: read_overhead(reader, section, "send"),
            isend: read_overhead(reader, section, "isend"),
            receive: read_overhead(reader, section, "receive"),
            latency_factor: read_factor(reader, section, "latency-factor"),
            latency: read_overhead(reader, section, "latency"),
            bandwidth_factor: read_factor(reader, section, "bandwidth-factor"),
        }
    }
}

/// `"1.2 us"`, or pieces `{ above = "8 kB", base = "1.2 us", per-byte = "0.02 ns" }`, with `modes` in place of `base` where it
/// is drawn.
fn read_overhead(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Piecewise {
    match section.value(key) {
        None => Piecewise::default(),
        Some(DeValue::Array(_)) => {
            let example = "{ above = \"0 B\", base = \"1.2 us\", per-byte = \"0.02 ns\" }";
            read_pieces(reader, section, key, example, |reader, piece, above| {
                let per_byte: Seconds = piece.quantity(reader, "per-byte").unwrap_or_default();
                let base = piece.quantity(reader, "base");
                let Some(modes) = read_modes(reader, piece) else {
                    let base: Seconds = piece.needed(reader, "base", base, "base = \"1.2 us\"");
                    return Piece { above, base: base.get(), per_byte: per_byte.get(), modes: Vec::new() };
                };
                if base.is_some() {
                    reader.fail(&piece.key("base"), "there are `base` and `modes`", "write only one of them");
                }
                Piece::noisy(above, per_byte.get(), modes)
            })
        }
        Some(_) => {
            section.quantity(reader, key).map(|value: Seconds| Piecewise::constant(value.get())).unwrap_or_default()
        }
    }
}

fn read_modes(reader: &mut Reader, piece: &mut Section<'_>) -> Option<Vec<Mode>> {
    let example = "{ share = 0.9, mean = \"1.2 us\", deviation = \"0.1 us\" }";
    let mut modes = Vec::new();
    for mut mode in piece.sections(reader, "modes", example)? {
        let share = mode.number(reader, "share");
        let (mean, deviation) = (mode.quantity(reader, "mean"), mode.quantity(reader, "deviation"));
        let mean: Seconds = mode.needed(reader, "mean", mean, "mean = \"1.2 us\"");
        let deviation: Seconds = mode.needed(reader, "deviation", deviation, "deviation = \"0.1 us\"");
        let share = mode.needed(reader, "share", share, "share = 0.9");
        modes.push(Mode { share, mean: mean.get(), deviation: deviation.get() });
        mode.finish(reader);
    }
    Some(modes)
}

/// `0.95`, or pieces `{ above = "8 kB", factor = 0.95 }`.
fn read_factor(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Piecewise {
    match section.value(key) {
        None => Piecewise::default(),
        Some(DeValue::Array(_)) => {
            let example = "{ above = \"0 B\", factor = 0.95 }";
            read_pieces(reader, section, key, example, |reader, piece, above| {
                let factor = piece.number(reader, "factor");
                let base = piece.needed(reader, "factor", factor, "factor = 0.95");
                let per_byte = piece.number(reader, "per-byte").unwrap_or(0.0);
                Piece { above, base, per_byte, modes: Vec::new() }
            })
        }
        Some(_) => section.number(reader, key).map(Piecewise::constant).unwrap_or_default(),
    }
}

fn read_pieces(
    reader: &mut Reader,
    section: &mut Section<'_>,
    key: &'static str,
    example: &str,
    read: impl Fn(&mut Reader, &mut Section<'_>, u64) -> Piece,
) -> Piecewise {
    let mut pieces: Vec<Piece> = Vec::new();
    for mut piece in section.sections(reader, key, example).unwrap_or_default() {
        let above = piece.quantity(reader, "above");
        let above: Bytes = piece.needed(reader, "above", above, "above = \"0 B\"");
        let above = above.get();
        let found = read(reader, &mut piece, above);
        if pieces.last().is_some_and(|last| last.above > above) {
            reader.fail(&piece.key("above"), "the pieces are not in ascending order", "put smaller sizes first");
        }
        piece.finish(reader);
        pieces.push(found);
    }
    Piecewise::new(pieces)
}
