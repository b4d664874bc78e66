//! The sequence of basic elements as a number, for checks that sender and receiver mean the same.

use super::basic::{Basic, Kind};

/// Stands for a sequence of basic elements, and does not depend on how the datatype was built.
///
/// It is the value of a polynomial whose coefficients are the elements, modulo 2^64: that of a repeated sequence takes a
/// few multiplications. Types of different languages but equal meaning are the same (`MPI_INT`, `MPI_INTEGER`,
/// `MPI_INT32_T`), since programs mix them; so are `MPI_BYTE` and `MPI_PACKED` with everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    hash: u64,
    /// The base of the polynomial to the power of the number of elements.
    power: u64,
    /// Whether there are bytes or packed data.
    untyped: bool,
}

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Signature {
    /// No elements.
    pub const EMPTY: Signature = Signature { hash: 0, power: 1, untyped: false };

    /// One element, or the two of a pair.
    pub fn of(basic: Basic) -> Signature {
        if let Some((first, second)) = basic.pair() {
            return Signature::of(first).then(Signature::of(second));
        }
        match basic.kind() {
            Kind::Marker => Signature::EMPTY,
            Kind::Byte | Kind::Packed => Signature { hash: 1, power: BASE, untyped: true },
            kind => {
                let code = (kind as u64) << 8 | basic.size() as u64;
                Signature { hash: code.wrapping_mul(0xD6E8_FEB8_6659_FD93) | 1, power: BASE, untyped: false }
            }
        }
    }

    /// This sequence, then the other.
    pub fn then(self, next: Signature) -> Signature {
        Signature {
            hash: self.hash.wrapping_mul(next.power).wrapping_add(next.hash),
            power: self.power.wrapping_mul(next.power),
            untyped: self.untyped || next.untyped,
        }
    }

    /// This sequence `count` times.
    pub fn times(self, mut count: i64) -> Signature {
        let (mut result, mut square) = (Signature::EMPTY, self);
        while count > 0 {
            if count & 1 == 1 {
                result = result.then(square);
            }
            square = square.then(square);
            count >>= 1;
        }
        result
    }

    /// Whether data sent as one may be received as the other.
    pub fn matches(self, other: Signature) -> bool {
        self.untyped || other.untyped || self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sequence_counts() {
        let (int, double) = (Signature::of(Basic::Int), Signature::of(Basic::Double));
        assert_eq!(int.times(6), int.times(2).times(3));
        assert_eq!(int.then(double).times(2), int.then(double).then(int).then(double));
        assert_ne!(int.then(double), double.then(int));
        assert_ne!(int.times(2), int.times(3));
        assert_eq!(Signature::of(Basic::DoubleInt), double.then(int));
        assert!(int.matches(Signature::of(Basic::Integer)));
        assert!(!int.matches(Signature::of(Basic::Float)));
        assert!(int.matches(Signature::of(Basic::Byte).times(4)));
        assert_eq!(int.times(0), Signature::EMPTY);
    }
}
