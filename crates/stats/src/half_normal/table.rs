//! Draws of the half-normal distribution in a few nanoseconds.
//!
//! Its quantile function is interpolated, as in W. Hörmann, J. Leydold, "Continuous random variate generation by fast
//! numerical inversion", ACM TOMACS 13(4), 2003: a draw needs no second random number, keeps the order of the uniform
//! numbers, and takes no logarithm but in the last part of the tail.

use std::f64::consts::FRAC_2_PI;
use std::sync::LazyLock;

use crate::normal;

/// The uniform numbers are cut into 2^9 pieces of equal width.
const PIECE_BITS: u32 = 9;

/// In the last 16 of 512, one draw in 32, a cubic is not close enough any more.
const PIECES: usize = (1 << PIECE_BITS) - 16;

/// As many random bits are left for the place in a piece.
const PLACE_BITS: u32 = u64::BITS - PIECE_BITS;

/// Coefficients of a cubic, lowest power first; in one line of the cache.
#[repr(align(32))]
#[derive(Clone, Copy)]
struct Cubic([f64; 4]);

static TABLE: LazyLock<[Cubic; PIECES]> = LazyLock::new(|| std::array::from_fn(cubic));

/// A draw with expectation 0 and standard deviation 1, within 3e-8 of the exact one for these 64 random bits.
#[inline]
pub fn draw(word: u64) -> f64 {
    match TABLE.get((word >> PLACE_BITS) as usize) {
        Some(&Cubic([a, b, c, d])) => {
            // Less than 2^63: a signed number is converted by one instruction.
            let place = (word & ((1 << PLACE_BITS) - 1)) as i64 as f64;
            a + place * (b + place * (c + place * d))
        }
        None => exact(word),
    }
}

#[cold]
#[inline(never)]
fn exact(word: u64) -> f64 {
    quantile((!word as f64 + 0.5) / 2f64.powi(64))
}

/// What is exceeded with this probability.
fn quantile(above: f64) -> f64 {
    // Standard deviation of |Z|, whose expectation is sqrt(2/pi).
    let spread = (1.0 - FRAC_2_PI).sqrt();
    (-normal::quantile(above / 2.0) - FRAC_2_PI.sqrt()) / spread
}

/// Through four points of a piece, of which two are its ends: what is drawn has no gaps. Were the inner ones a third of the
/// way from the ends, as would be even, the error would be larger.
fn cubic(piece: usize) -> Cubic {
    const AT: [f64; 4] = [0.0, 0.25, 0.75, 1.0];
    let pieces = f64::from(1u32 << PIECE_BITS);
    let [a, b, c, d] = AT.map(|at| quantile(1.0 - (piece as f64 + at) / pieces));
    // Newton's divided differences, then powers of the place.
    let (ab, bc, cd) = ((b - a) / 0.25, (c - b) / 0.5, (d - c) / 0.25);
    let (abc, bcd) = ((bc - ab) / 0.75, (cd - bc) / 0.75);
    let abcd = bcd - abc;
    let unit = 2f64.powi(-(PLACE_BITS as i32));
    let (linear, square) = (ab - 0.25 * abc + 0.25 * 0.75 * abcd, abc - abcd);
    Cubic([a, linear * unit, square * unit.powi(2), abcd * unit.powi(3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_close_to_the_quantile_everywhere_and_grows() {
        let (mut last, mut worst) = (f64::NEG_INFINITY, 0.0_f64);
        for i in 0..1_000_000 {
            let word = u64::MAX / 1_000_000 * i;
            worst = worst.max((draw(word) - exact(word)).abs());
            assert!(draw(word) > last, "{word}");
            last = draw(word);
        }
        assert!(worst < 3e-8, "{worst:e}");
    }

    /// -1.3236 is where the half-normal begins; the last word is 2^-65 from the end: |Z| is 9.227 there (scipy 1.17,
    /// `norm.isf(2**-66)`).
    #[test]
    fn ends_where_it_should() {
        let spread = (1.0 - FRAC_2_PI).sqrt();
        assert!((draw(0) * spread + FRAC_2_PI.sqrt()).abs() < 1e-15);
        assert!((draw(u64::MAX) * spread + FRAC_2_PI.sqrt() - 9.2).abs() < 0.1, "{}", draw(u64::MAX));
    }
}
