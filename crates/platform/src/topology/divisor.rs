//! Division by a number known in advance, without the processor's slow division: routing divides a lot.

/// Divides any `u32` by a fixed one with a multiplication and a shift.
///
/// Robison, "N-bit unsigned division via N-bit multiply-add" (ARITH 2005): with c = floor((2^64 - 1) / d),
/// floor(n / d) = floor(c (n + 1) / 2^64) for all n and d below 2^32, because the error (n + 1)(1 + r) / (d 2^64),
/// r = (2^64 - 1) mod d < d, lies in (0, 1/d].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    value: u32,
    reciprocal: u64,
}

impl Divisor {
    /// Prepares the division by `value`, which is not 0.
    pub const fn new(value: u32) -> Divisor {
        Divisor { value, reciprocal: u64::MAX / value as u64 }
    }

    /// The number itself.
    #[inline]
    pub const fn value(self) -> u32 {
        self.value
    }

    /// n / d.
    #[inline]
    pub const fn quotient(self, n: u32) -> u32 {
        ((self.reciprocal as u128 * (n as u128 + 1)) >> 64) as u32
    }

    /// n mod d.
    #[inline]
    pub const fn remainder(self, n: u32) -> u32 {
        n - self.quotient(n) * self.value
    }

    /// n / d and n mod d.
    #[inline]
    pub const fn divide(self, n: u32) -> (u32, u32) {
        let quotient = self.quotient(n);
        (quotient, n - quotient * self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges() {
        for d in [1, 2, 3, 7, 1 << 16, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX] {
            for n in [0, 1, d - 1, d, d.saturating_add(1), u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(d).divide(n), (n / d, n % d), "{n} / {d}");
            }
        }
    }

    proptest! {
        #[test]
        fn as_the_processor_divides(n: u32, d in 1u32..) {
            let d = d >> (n % 32);
            prop_assume!(d > 0);
            prop_assert_eq!(Divisor::new(d).divide(n), (n / d, n % d));
            prop_assert_eq!(Divisor::new(d).remainder(n), n % d);
        }
    }
}
