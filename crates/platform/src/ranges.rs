//! Names with lists of numbers in brackets that stand for many: `n[08-10,3]` is `n08`, `n09`, `n10` and `n3`.

/// Names that one text may stand for: more is a mistake.
pub const MAX_NAMES: usize = 1_000_000;

/// Why a list cannot be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// It is no list of numbers and ranges.
    NotARange,
    /// It stands for too many numbers.
    TooMany,
}

/// The numbers of a list, at most `most`; each has as many digits as the first of its range, so that `08-10` is 08, 09, 10.
pub(crate) fn numbers(list: &str, most: usize) -> Result<Vec<String>, RangeError> {
    let mut numbers = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| match digits.bytes().all(|digit| digit.is_ascii_digit()) {
            true => digits.parse::<u32>().map_err(|_| RangeError::NotARange),
            false => Err(RangeError::NotARange),
        };
        let (low, high) = (number(first)?, number(last)?);
        if low > high {
            return Err(RangeError::NotARange);
        }
        if (high - low) as usize + numbers.len() >= most {
            return Err(RangeError::TooMany);
        }
        numbers.extend((low..=high).map(|number| format!("{number:0width$}", width = first.len())));
    }
    Ok(numbers)
}

/// The names that a text with at most one list stands for. A name without brackets stands for itself.
pub fn expand(text: &str) -> Result<Vec<String>, RangeError> {
    let Some((prefix, rest)) = text.split_once('[') else { return Ok(vec![text.into()]) };
    let (list, suffix) = rest.split_once(']').ok_or(RangeError::NotARange)?;
    if suffix.contains(['[', ']']) {
        return Err(RangeError::NotARange);
    }
    let numbers = numbers(list, MAX_NAMES)?;
    Ok(numbers.into_iter().map(|number| format!("{prefix}{number}{suffix}")).collect())
}
