//! Finite fields: the numbers modulo a prime, and polynomials over them modulo one of their own.
//!
//! An element of GF(p^k) is the polynomial whose coefficients are the digits of its number in base p. Slim flies compute
//! with them for every route, so sums and products are arithmetic or look-ups in small tables.

use super::divisor::Divisor;

/// A field of q elements, numbered from 0; 0 and 1 are what they are called.
#[derive(Clone, Debug)]
pub(super) struct Field {
    q: Divisor,
    addition: Addition,
    /// 1, r, r^2, ..., r^(q - 2), twice, for a primitive element r.
    powers: Vec<u32>,
    /// The exponent of each element but 0.
    logarithms: Vec<u32>,
    /// What each element adds up to 0 with.
    negatives: Vec<u32>,
}

#[derive(Clone, Debug)]
enum Addition {
    /// Of primes.
    Modulo,
    /// Of powers of two.
    Exclusive,
    /// Of powers of other primes: a table of all sums.
    Table(Vec<u16>),
}

/// The prime of which q is a power, and which power.
pub(super) fn prime_power(q: u32) -> Option<(u32, u32)> {
    let prime = (2..).take_while(|divisor| divisor * divisor <= q).find(|divisor| q.is_multiple_of(*divisor));
    let prime = prime.unwrap_or(q);
    let mut power = 0;
    let mut rest = q;
    while prime > 1 && rest.is_multiple_of(prime) {
        rest /= prime;
        power += 1;
    }
    (q > 1 && rest == 1).then_some((prime, power))
}

impl Field {
    /// The field of q elements, if there is one; q is small.
    pub fn new(q: u32) -> Option<Field> {
        let (prime, power) = prime_power(q)?;
        let powers = if power == 1 { powers_modulo(q) } else { powers_of_x(prime, power) };
        let mut logarithms = vec![0; q as usize];
        for (exponent, &element) in (0..).zip(&powers) {
            logarithms[element as usize] = exponent;
        }
        let digits = |mut element: u32| {
            let mut digits = Vec::new();
            for _ in 0..power {
                digits.push(element % prime);
                element /= prime;
            }
            digits
        };
        let number = |digits: &[u32]| digits.iter().rev().fold(0, |number, digit| number * prime + digit);
        let negative =
            |element| number(&digits(element).iter().map(|digit| (prime - digit) % prime).collect::<Vec<_>>());
        let addition = match (prime, power) {
            (_, 1) => Addition::Modulo,
            (2, _) => Addition::Exclusive,
            _ => {
                let all: Vec<Vec<u32>> = (0..q).map(digits).collect();
                let sum = |a: &[u32], b: &[u32]| a.iter().zip(b).map(|(a, b)| (a + b) % prime).collect::<Vec<_>>();
                let sums = all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
                Addition::Table(sums.map(|(a, b)| number(&sum(a, b)) as u16).collect())
            }
        };
        let negatives = (0..q).map(negative).collect();
        let powers = powers.repeat(2);
        Some(Field { q: Divisor::new(q), addition, powers, logarithms, negatives })
    }

    #[inline]
    pub fn q(&self) -> u32 {
        self.q.value()
    }

    /// n / q and n mod q.
    #[inline]
    pub fn divide(&self, n: u32) -> (u32, u32) {
        self.q.divide(n)
    }

    /// Whether every element is its own negative.
    #[inline]
    pub fn is_even(&self) -> bool {
        self.q() & 1 == 0
    }

    #[inline]
    pub fn plus(&self, a: u32, b: u32) -> u32 {
        match &self.addition {
            Addition::Modulo => {
                let sum = a + b;
                if sum >= self.q() { sum - self.q() } else { sum }
            }
            Addition::Exclusive => a ^ b,
            Addition::Table(sums) => u32::from(sums[(a * self.q() + b) as usize]),
        }
    }

    #[inline]
    pub fn negative(&self, a: u32) -> u32 {
        self.negatives[a as usize]
    }

    #[inline]
    pub fn minus(&self, a: u32, b: u32) -> u32 {
        self.plus(a, self.negative(b))
    }

    #[inline]
    pub fn times(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.powers[(self.logarithms[a as usize] + self.logarithms[b as usize]) as usize]
    }

    /// a / b, where b is not 0.
    #[inline]
    pub fn over(&self, a: u32, b: u32) -> u32 {
        if a == 0 {
            return 0;
        }
        self.powers[(self.logarithms[a as usize] + (self.q() - 1) - self.logarithms[b as usize]) as usize]
    }

    /// 1, r, r^2, ..., r^(q - 2) for a primitive element r.
    pub fn powers(&self) -> &[u32] {
        &self.powers[..self.powers.len() / 2]
    }
}

/// The powers of the least number that gives all others but 0, modulo a prime.
fn powers_modulo(prime: u32) -> Vec<u32> {
    let powers = |root: u32| {
        let next = |power: &u32| Some(power * root % prime).filter(|&next| next != 1);
        std::iter::successors(Some(1), next).collect::<Vec<u32>>()
    };
    (1..prime).map(powers).find(|powers| powers.len() == prime as usize - 1).unwrap_or_default()
}

/// The powers of x modulo the first polynomial x^k - c(x) for which x is primitive.
fn powers_of_x(prime: u32, power: u32) -> Vec<u32> {
    let q = prime.pow(power);
    let top = q / prime;
    let powers = |remainder: u32| {
        let next = |element: &u32| {
            let (leading, mut rest) = (element / top, element % top * prime);
            // x^k is c(x): add it, digit by digit.
            let (mut place, mut added) = (1, remainder);
            for _ in 0..power {
                let digit = rest / place % prime;
                rest += ((digit + leading * (added % prime)) % prime) * place;
                rest -= digit * place;
                (place, added) = (place * prime, added / prime);
            }
            Some(rest).filter(|&next| next > 1)
        };
        // Where x is not primitive the powers end early, or never: they are no more than the elements.
        std::iter::successors(Some(1), next).take(q as usize).collect::<Vec<u32>>()
    };
    (1..q).map(powers).find(|powers| powers.len() == q as usize - 1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_and_their_powers() {
        assert_eq!([2, 7, 8, 9, 121].map(prime_power), [(2, 1), (7, 1), (2, 3), (3, 2), (11, 2)].map(Some));
        assert_eq!([0, 1, 6, 12, 45, 1000].map(prime_power), [None; 6]);
    }

    /// The laws of a field, for all elements of small ones.
    #[test]
    fn fields_are_fields() {
        for q in [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 32, 49, 64, 81] {
            let field = Field::new(q).unwrap();
            let mut powers = field.powers().to_vec();
            powers.sort_unstable();
            assert_eq!(powers, (1..q).collect::<Vec<_>>(), "q = {q}: a primitive element gives all but 0");
            for a in 0..q {
                assert_eq!((field.plus(a, 0), field.times(a, 1), field.times(a, 0)), (a, a, 0));
                assert_eq!(field.minus(a, a), 0);
                for b in 0..q {
                    assert_eq!(field.plus(a, b), field.plus(b, a));
                    assert_eq!(field.plus(field.minus(a, b), b), a);
                    assert_eq!(field.times(a, b), field.times(b, a));
                    assert!(b == 0 || field.times(field.over(a, b), b) == a);
                    for c in (0..q).step_by(3) {
                        let (left, right) = (field.times(a, field.plus(b, c)), field.times(a, b));
                        assert_eq!(left, field.plus(right, field.times(a, c)), "q = {q}: {a} ({b} + {c})");
                    }
                }
            }
        }
        assert!(Field::new(6).is_none());
    }
}
