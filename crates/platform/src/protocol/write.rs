//! The protocol as TOML that reads back to the same.

use hpcast_units::{Bytes, Seconds};

use super::{Mode, Piece, Protocol};

impl Protocol {
    /// The lines of a section; what it says nothing of is left out.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (key, function) in self.functions().into_iter().filter(|(_, function)| !function.pieces().is_empty()) {
            let write = if key.ends_with("factor") { factor } else { overhead };
            text += &format!("{key} = [\n");
            for piece in function.pieces() {
                text += &format!("  {{ above = \"{}\", {} }},\n", Bytes::new(piece.above), write(piece));
            }
            text += "]\n";
        }
        text
    }
}

fn overhead(piece: &Piece) -> String {
    let per_byte = match piece.per_byte {
        0.0 => String::new(),
        per_byte => format!("per-byte = {}", seconds(per_byte)),
    };
    let base = match &piece.modes[..] {
        [] => format!("base = {}", seconds(piece.base)),
        modes => format!("modes = [\n{}  ]", modes.iter().map(mode).collect::<String>()),
    };
    // Modes are lines of their own and come last.
    match (per_byte.is_empty(), piece.modes.is_empty()) {
        (true, _) => base,
        (false, true) => format!("{base}, {per_byte}"),
        (false, false) => format!("{per_byte}, {base}"),
    }
}

fn mode(mode: &Mode) -> String {
    let Mode { share, mean, deviation } = *mode;
    format!("    {{ share = {share:?}, mean = {}, deviation = {} }},\n", seconds(mean), seconds(deviation))
}

fn factor(piece: &Piece) -> String {
    let per_byte = if piece.per_byte == 0.0 { String::new() } else { format!(", per-byte = {:?}", piece.per_byte) };
    format!("factor = {:?}{per_byte}", piece.base)
}

fn seconds(seconds: f64) -> String {
    format!("\"{}\"", Seconds::new(seconds))
}
