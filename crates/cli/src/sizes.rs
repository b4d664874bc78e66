//! Sizes on the command line: `1000B`, `8B..1MiB` (doubling), or a list with commas.

use std::str::FromStr;

use hpcast_units::Bytes;

/// One or more sizes, in the order in which they are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    text: String,
    bytes: Vec<u64>,
}

impl Sizes {
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let mut bytes = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((first, last)) => bytes.extend(doubling(size(first)?, size(last)?)?),
                None => bytes.push(size(part)?),
            }
        }
        Ok(Sizes { text: text.to_owned(), bytes })
    }
}

fn size(text: &str) -> Result<u64, String> {
    text.trim().parse::<Bytes>().map(Bytes::get).map_err(|error| error.to_string())
}

/// From the first size, doubling, up to the last.
fn doubling(first: u64, last: u64) -> Result<Vec<u64>, String> {
    if first > last {
        return Err("the first size of a range is the smaller one: write `8B..1MiB`".to_owned());
    }
    let mut sizes: Vec<u64> =
        std::iter::successors(Some(first), |&size| size.max(1).checked_mul(if size == 0 { 1 } else { 2 }))
            .take_while(|&size| size <= last)
            .collect();
    // A range that starts from nothing goes on with one byte.
    sizes.dedup();
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<u64> {
        text.parse::<Sizes>().unwrap().bytes
    }

    #[test]
    fn ranges_double() {
        assert_eq!(sizes("8B..64B"), [8, 16, 32, 64]);
        assert_eq!(sizes("3B..10B"), [3, 6]);
        assert_eq!(sizes("0B..4B"), [0, 1, 2, 4]);
        assert_eq!(sizes("1kB, 1KiB..2KiB"), [1000, 1024, 2048]);
    }

    #[test]
    fn mistakes_are_errors() {
        for text in ["1000", "8B..", "1MiB..8B", "", "8 bits", "-1B"] {
            assert!(text.parse::<Sizes>().is_err(), "{text}");
        }
    }
}
