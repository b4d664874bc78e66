//! Numbers for pairs: what joins all of several things with one another has a cable a pair.

/// Pairs of so many things.
pub(super) const fn count(things: u32) -> u64 {
    things as u64 * (things as u64).saturating_sub(1) / 2
}

/// The number of a pair among those of any number of things; they are less than 2^32 pairs.
#[inline]
pub(super) const fn number(lower: u32, upper: u32) -> u32 {
    count(upper) as u32 + lower
}

/// The lower and the upper of the pair with this number.
pub(super) const fn ends(number: u32) -> (u32, u32) {
    // upper (upper - 1) / 2 <= number, solved for upper.
    let upper = (1 + 8 * number as u64).isqrt().div_ceil(2) as u32;
    (number - count(upper) as u32, upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_number() {
        let mut next = 0;
        for upper in 0..50 {
            for lower in 0..upper {
                assert_eq!((number(lower, upper), ends(next)), (next, (lower, upper)));
                next += 1;
            }
        }
        assert_eq!(count(50), next as u64);
    }

    #[test]
    fn the_last_numbers() {
        let (lower, upper) = ends(u32::MAX);
        assert!(lower < upper);
        assert_eq!(number(lower, upper), u32::MAX);
    }
}
