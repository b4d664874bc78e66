//! Keyed random numbers: a draw depends on (seed, purpose, entity, index), never on the order of draws.
//!
//! The generator is Philox2x64-7 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a
//! counter goes through rounds of multiplication and exchange under a key. No state, no order. Six rounds pass TestU01's
//! BigCrush according to the paper; the seventh is a margin. Ten rounds of Philox4x32 would be twice the multiplications
//! and more: half-normal noise would not be drawn at 100 million a second (docs/performance.md).

/// The seed of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    seed: u64,
}

impl Key {
    /// From the user's seed.
    pub fn new(seed: u64) -> Key {
        Key { seed }
    }

    /// The stream of draws for one purpose, such as `"placement"`; different purposes are independent.
    pub fn purpose(self, purpose: &str) -> Stream {
        // FNV-1a: the name only has to be spread over 32 bits.
        let hash =
            purpose.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
        Stream { seed: self.seed, purpose: hash }
    }
}

/// Random draws for one purpose, each found by (entity, index).
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    seed: u64,
    purpose: u32,
}

impl Stream {
    /// 64 random bits for the `index`-th draw of `entity` (a rank, a node, a link).
    #[inline]
    pub fn word(&self, entity: u32, index: u64) -> u64 {
        philox::<7>([index, u64::from(entity) << 32 | u64::from(self.purpose)], self.seed)[0]
    }

    /// Uniform in [0, 1).
    #[inline]
    pub fn uniform(&self, entity: u32, index: u64) -> f64 {
        (self.word(entity, index) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n`; the bias of the multiplication is below n / 2^64.
    ///
    /// # Panics
    /// If `n` is zero.
    #[inline]
    pub fn below(&self, n: u64, entity: u32, index: u64) -> u64 {
        assert!(n > 0, "no number is below zero");
        ((u128::from(self.word(entity, index)) * u128::from(n)) >> 64) as u64
    }

    /// Puts the items in random order (Fisher-Yates), keyed by `entity`.
    pub fn shuffle<T>(&self, items: &mut [T], entity: u32) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1, entity, last as u64) as usize;
            items.swap(last, other);
        }
    }
}

// Inlined for speed: the keys of the rounds are the same for all draws of a stream, and draws overlap.
#[inline]
fn philox<const ROUNDS: u32>(mut counter: [u64; 2], mut key: u64) -> [u64; 2] {
    for round in 0..ROUNDS {
        if round > 0 {
            key = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
        }
        let product = u128::from(counter[0]) * 0xD2B7_4407_B1CE_6E93;
        counter = [(product >> 64) as u64 ^ key ^ counter[1], product as u64];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors published with the Random123 library (kat_vectors, philox2x64, 7 and 10 rounds).
    #[test]
    fn known_answers() {
        assert_eq!(philox::<7>([0; 2], 0), [0xb41da69fbfefc666, 0x511e9ce1a5534056]);
        assert_eq!(philox::<10>([0; 2], 0), [0xca00a0459843d731, 0x66c24222c9a845b5]);
        assert_eq!(philox::<10>([u64::MAX; 2], u64::MAX), [0x65b021d60cd8310f, 0x4d02f3222f86df20]);
        assert_eq!(
            philox::<10>([0x243f6a8885a308d3, 0x13198a2e03707344], 0xa4093822299f31d0),
            [0x0a5e742c2997341c, 0xb0f883d38000de5d]
        );
    }

    #[test]
    fn uniform_has_the_right_moments() {
        let stream = Key::new(7).purpose("test");
        let n = 100_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for i in 0..n {
            let x = stream.uniform(3, i);
            assert!((0.0..1.0).contains(&x));
            sum += x;
            squares += x * x;
        }
        let (mean, second) = (sum / n as f64, squares / n as f64);
        assert!((mean - 0.5).abs() < 5e-3 && (second - 1.0 / 3.0).abs() < 5e-3, "{mean} {second}");
    }

    #[test]
    fn shuffle_is_a_permutation_and_depends_on_the_seed() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..100).collect();
            Key::new(seed).purpose("test").shuffle(&mut items, 0);
            items
        };
        let mut sorted = shuffled(1);
        sorted.sort();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
    }
}
