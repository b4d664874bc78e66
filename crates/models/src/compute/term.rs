//! Products of a kernel's arguments, such as `M*N*K`.

use std::fmt;
use std::str::FromStr;

/// Arguments of a call, at most; those of the BLAS have four.
pub const MOST_ARGUMENTS: usize = 8;
/// Factors of a product, at most.
const MOST_FACTORS: usize = 4;

/// A product of arguments, by their names; of none, it is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// In the order in which they are written.
    names: Vec<String>,
}

impl Term {
    /// The product of no arguments: one.
    pub fn one() -> Term {
        Term { names: Vec::new() }
    }

    /// The names of its factors; one that comes twice is there twice.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Its value, where `of` gives those of the arguments.
    pub fn value(&self, of: impl FnMut(&str) -> f64) -> f64 {
        self.names().map(of).product()
    }

    /// The product for a caller that gives its arguments in this order.
    ///
    /// # Errors
    /// The name of an argument that the caller does not have.
    pub fn bind(&self, arguments: &[&str]) -> Result<Product, String> {
        let mut places = [0; MOST_FACTORS];
        for (place, name) in places.iter_mut().zip(&self.names) {
            let found = arguments.iter().position(|argument| argument == name).ok_or_else(|| name.clone())?;
            *place = found as u8 + 1;
        }
        Ok(Product { places })
    }
}

/// A text that is no product of arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no product of arguments")]
pub struct TermError(String);

impl TermError {
    /// What to do about it.
    pub const REMEDY: &'static str = "write `1`, or a product of up to four arguments, such as `M*N*K` or `N^2`";
}

impl FromStr for Term {
    type Err = TermError;

    fn from_str(text: &str) -> Result<Term, TermError> {
        let error = || TermError(text.into());
        if text.trim() == "1" {
            return Ok(Term::one());
        }
        let mut names = Vec::new();
        for factor in text.split('*') {
            let (name, power) = match factor.split_once('^') {
                Some((name, power)) => (name, power.trim().parse().map_err(|_| error())?),
                None => (factor, 1),
            };
            let name = name.trim();
            if !is_name(name) || power == 0 || names.len() + power > MOST_FACTORS {
                return Err(error());
            }
            names.extend(std::iter::repeat_n(name.to_owned(), power));
        }
        names.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
        Ok(Term { names })
    }
}

/// Sizes as in the BLAS come first, in their usual order.
fn place(name: &str) -> usize {
    ["M", "N", "K", "S"].iter().position(|known| *known == name).unwrap_or(usize::MAX)
}

/// Whether a text may name an argument.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.names.is_empty() {
            return f.write_str("1");
        }
        for (i, same) in self.names.chunk_by(|a, b| a == b).enumerate() {
            let times = if i > 0 { "*" } else { "" };
            match same.len() {
                1 => write!(f, "{times}{}", same[0])?,
                power => write!(f, "{times}{}^{power}", same[0])?,
            }
        }
        Ok(())
    }
}

/// The arguments of one call, in the order of its program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arguments {
    /// One, then the arguments.
    values: [f64; 1 + MOST_ARGUMENTS],
}

impl Arguments {
    /// These values; what is missing is zero.
    #[inline]
    pub fn new<const COUNT: usize>(arguments: [f64; COUNT]) -> Arguments {
        const { assert!(COUNT <= MOST_ARGUMENTS, "too many arguments") };
        let mut values = [0.0; 1 + MOST_ARGUMENTS];
        values[0] = 1.0;
        values[1..=COUNT].copy_from_slice(&arguments);
        Arguments { values }
    }

    /// The first [`MOST_ARGUMENTS`] of these values; what is missing is zero.
    pub fn from_slice(arguments: &[f64]) -> Arguments {
        let mut all = Arguments::new([]);
        all.set(arguments.iter().copied());
        all
    }

    /// Changes the first of them.
    #[inline]
    pub fn set(&mut self, arguments: impl IntoIterator<Item = f64>) {
        self.values[1..].iter_mut().zip(arguments).for_each(|(value, argument)| *value = argument);
    }

    /// The first so many, or all that there can be.
    #[inline]
    pub fn first(&self, count: usize) -> &[f64] {
        &self.values[1..=count.min(MOST_ARGUMENTS)]
    }

    /// The value at a place, counted from zero.
    #[inline]
    pub fn at(&self, place: usize) -> f64 {
        self.values[1 + place]
    }
}

/// A product of arguments, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Counted from one; zero stands for no argument.
    places: [u8; MOST_FACTORS],
}

impl Product {
    /// Its value for these arguments.
    #[inline]
    pub fn of(self, arguments: &Arguments) -> f64 {
        let value = |place: u8| arguments.values[usize::from(place) % (1 + MOST_ARGUMENTS)];
        self.places.into_iter().map(value).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_prints_and_multiplies() {
        let arguments = Arguments::new([2.0, 3.0, 5.0, 7.0, 11.0]);
        for (text, printed, value) in [
            ("1", "1", 1.0),
            ("M*N*K", "M*N*K", 30.0),
            ("K * M", "M*K", 10.0),
            ("N", "N", 3.0),
            ("S*M*M", "M^2*S", 28.0),
            ("N^2*N", "N^3", 27.0),
            ("lda*M", "M*lda", 22.0),
        ] {
            let term: Term = text.parse().unwrap();
            let product = term.bind(&["M", "N", "K", "S", "lda"]).unwrap();
            assert_eq!((term.to_string().as_str(), product.of(&arguments)), (printed, value));
            assert_eq!(term.value(|name| if name == "lda" { 11.0 } else { arguments.at(place(name)) }), value);
        }
    }

    #[test]
    fn refuses_what_is_no_product() {
        for text in ["", "M*", "M*N*K*S*M", "N^5", "N^0", "N^x", "2*M", "M+N", "1*M", "M N", "N^-1"] {
            assert_eq!(text.parse::<Term>(), Err(TermError(text.into())));
        }
    }

    #[test]
    fn an_argument_that_the_caller_does_not_have_is_named() {
        let term: Term = "M*lda".parse().unwrap();
        assert_eq!(term.bind(&["M", "N"]), Err("lda".into()));
    }
}
