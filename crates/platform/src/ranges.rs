//! Lists of numbers in brackets that stand for many names: `08-10,3`, as in `n[08-10,3]`.

/// Why a list cannot be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeError {
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
