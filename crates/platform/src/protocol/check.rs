//! Whether a protocol makes sense.

use super::{Mode, Piecewise, Protocol};
use crate::fields::Problem;

/// How far the shares of modes may be from one in all: published ones are rounded.
const ROUNDING: f64 = 1e-6;
/// How far below zero the expectation of modes may be, in seconds: less than the clock can tell.
const UNNOTICED: f64 = 1e-13;

impl Protocol {
    /// All that makes no sense in a section of that name.
    pub fn check(&self, section: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (key, function) in self.functions() {
            let noun = if key.ends_with("factor") { "factor" } else { "duration" };
            function.check(&format!("{section}.{key}"), noun, key == "bandwidth-factor", &mut problems);
        }
        problems
    }
}

impl Piecewise {
    /// Thresholds must differ, and no size may have a value below zero (or of zero, where `strict`).
    fn check(&self, key: &str, noun: &str, strict: bool, problems: &mut Vec<Problem>) {
        let mut add = |key: String, message: String, remedy: String| problems.push(Problem { key, message, remedy });
        let pieces = self.pieces();
        for (i, piece) in pieces.iter().enumerate() {
            let next = pieces.get(i + 1);
            if next.is_some_and(|next| next.above == piece.above) {
                let message = format!("two pieces start above {} B", piece.above);
                add(format!("{key}[{}].above", i + 1), message, "remove one of them".into());
            }
            if !piece.modes.is_empty()
                && let Some(message) = check_modes(&piece.modes)
            {
                let remedy = "write shares that add up to 1, and no negative share or deviation";
                add(format!("{key}[{i}].modes"), message, remedy.into());
            }
            let first_size = if i == 0 { 0 } else { piece.above.saturating_add(1) };
            let start = piece.base + piece.per_byte * first_size as f64;
            let end = match next {
                Some(next) => piece.base + piece.per_byte * next.above as f64,
                None if piece.per_byte < 0.0 => f64::NEG_INFINITY,
                None => start,
            };
            let least = start.min(end) + if piece.modes.is_empty() { 0.0 } else { UNNOTICED };
            if !(start.is_finite() && piece.per_byte.is_finite()) || least < 0.0 || (strict && least == 0.0) {
                let bound = if strict { "greater than zero" } else { "zero or more" };
                let message = format!("the {noun} is not {bound} for all sizes of this piece");
                add(format!("{key}[{i}]"), message, format!("choose figures that give a {noun} {bound}"));
            }
        }
    }
}

fn check_modes(modes: &[Mode]) -> Option<String> {
    let sum: f64 = modes.iter().map(|mode| mode.share).sum();
    let is_fine = |mode: &Mode| mode.share >= 0.0 && mode.deviation >= 0.0 && mode.deviation.is_finite();
    if !modes.iter().all(is_fine) {
        return Some("a share or deviation is negative".into());
    }
    let adds_up = (sum - 1.0).abs() <= ROUNDING;
    (!adds_up).then(|| format!("the shares of the modes add up to {sum}"))
}
