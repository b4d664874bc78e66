//! Products of a kernel's arguments, such as `M*N*K`.

use std::fmt;
use std::str::FromStr;

/// The arguments of one call. What a kernel does not have is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arguments {
    /// One, then the arguments in the order of [`LETTERS`].
    values: [f64; 1 + LETTERS.len()],
}

/// The names of arguments: sizes as in the BLAS, and the order of a triangular matrix.
const LETTERS: [char; 4] = ['M', 'N', 'K', 'S'];

impl Arguments {
    /// One size, called N, as of a vector.
    #[inline]
    pub fn n(n: u64) -> Arguments {
        Arguments::new(0, n, 0, 0)
    }

    /// A matrix of M rows and N columns.
    #[inline]
    pub fn mn(m: u64, n: u64) -> Arguments {
        Arguments::new(m, n, 0, 0)
    }

    /// A matrix product: M x K times K x N.
    #[inline]
    pub fn mnk(m: u64, n: u64, k: u64) -> Arguments {
        Arguments::new(m, n, k, 0)
    }

    /// A triangular matrix of order S against M x N.
    #[inline]
    pub fn mns(m: u64, n: u64, s: u64) -> Arguments {
        Arguments::new(m, n, 0, s)
    }

    #[inline]
    fn new(m: u64, n: u64, k: u64, s: u64) -> Arguments {
        Arguments { values: [1.0, m as f64, n as f64, k as f64, s as f64] }
    }
}

/// A product of at most three arguments; of none, it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Places in [`Arguments::values`], in order, the ones last.
    factors: [u8; 3],
}

impl Term {
    /// Its value for these arguments.
    #[inline]
    pub fn of(self, arguments: &Arguments) -> f64 {
        self.factors.iter().map(|&place| arguments.values[usize::from(place) % 5]).product()
    }
}

/// A text that is no product of arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no product of arguments")]
pub struct TermError(String);

impl TermError {
    /// What to do about it.
    pub const REMEDY: &'static str = "write `1`, or a product of up to three of M, N, K and S, such as `M*N*K`";
}

impl FromStr for Term {
    type Err = TermError;

    fn from_str(text: &str) -> Result<Term, TermError> {
        let error = || TermError(text.into());
        let mut factors = [0; 3];
        if text.trim() == "1" {
            return Ok(Term { factors });
        }
        for (i, name) in text.split('*').map(str::trim).enumerate() {
            let letter = name.parse().ok().and_then(|name: char| LETTERS.iter().position(|&letter| letter == name));
            *factors.get_mut(i).ok_or_else(error)? = letter.ok_or_else(error)? as u8 + 1;
        }
        factors.sort_by_key(|&place| if place == 0 { u8::MAX } else { place });
        Ok(Term { factors })
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: Vec<String> = self
            .factors
            .iter()
            .filter(|&&place| place > 0)
            .map(|&place| LETTERS[usize::from(place) - 1].to_string())
            .collect();
        f.write_str(if letters.is_empty() { "1" } else { "" })?;
        f.write_str(&letters.join("*"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_prints_and_multiplies() {
        let arguments = Arguments::new(2, 3, 5, 7);
        for (text, printed, value) in [
            ("1", "1", 1.0),
            ("M*N*K", "M*N*K", 30.0),
            ("K * M", "M*K", 10.0),
            ("N", "N", 3.0),
            ("S*M*M", "M*M*S", 28.0),
        ] {
            let term: Term = text.parse().unwrap();
            assert_eq!((term.to_string().as_str(), term.of(&arguments)), (printed, value));
        }
    }

    #[test]
    fn refuses_what_is_no_product() {
        for text in ["", "M*", "M*N*K*S", "m", "2*M", "M+N", "1*M", "MN"] {
            assert_eq!(text.parse::<Term>(), Err(TermError(text.into())));
        }
    }
}
