//! Names with ranges in them: `n[0-2]` is `n0`, `n1` and `n2`.

/// Names that one range may stand for: more is a mistake.
pub const MAX_NAMES: usize = 1_000_000;

/// Why a text stands for no names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeProblem {
    /// It is not written as ranges are.
    Malformed,
    /// It stands for more than [`MAX_NAMES`].
    Long,
}

/// The names that a text stands for. A name without brackets stands for itself.
pub fn expand(text: &str) -> Result<Vec<String>, RangeProblem> {
    let Some((prefix, rest)) = text.split_once('[') else { return Ok(vec![text.into()]) };
    let (list, suffix) = rest.split_once(']').ok_or(RangeProblem::Malformed)?;
    if suffix.contains(['[', ']']) {
        return Err(RangeProblem::Malformed);
    }
    let mut names = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| match digits.bytes().all(|digit| digit.is_ascii_digit()) {
            true => digits.parse::<u32>().map_err(|_| RangeProblem::Malformed),
            false => Err(RangeProblem::Malformed),
        };
        let (low, high) = (number(first)?, number(last)?);
        if low > high {
            return Err(RangeProblem::Malformed);
        }
        if (high - low) as usize + names.len() >= MAX_NAMES {
            return Err(RangeProblem::Long);
        }
        // As many digits as the first number has: `n[08-11]`.
        names.extend((low..=high).map(|number| format!("{prefix}{number:0width$}{suffix}", width = first.len())));
    }
    Ok(names)
}
