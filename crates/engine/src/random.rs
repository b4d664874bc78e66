//! Keyed random numbers: a draw depends on (seed, purpose, entity, index), never on the order of draws.
//!
//! The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
//! SC 2011): a counter goes through ten rounds of multiplication and exchange under a key. No state, no order.

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
        Stream { key: [self.seed as u32, (self.seed >> 32) as u32], purpose: hash }
    }
}

/// Random draws for one purpose, each found by (entity, index).
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    key: [u32; 2],
    purpose: u32,
}

impl Stream {
    /// 128 random bits for the `index`-th draw of `entity` (a rank, a node, a link).
    #[inline]
    pub fn bits(&self, entity: u32, index: u64) -> [u32; 4] {
        philox([index as u32, (index >> 32) as u32, entity, self.purpose], self.key)
    }

    /// 64 random bits.
    #[inline]
    pub fn word(&self, entity: u32, index: u64) -> u64 {
        let [low, high, ..] = self.bits(entity, index);
        u64::from(high) << 32 | u64::from(low)
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

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        let left = u64::from(counter[0]) * 0xD251_1F53;
        let right = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (right >> 32) as u32 ^ counter[1] ^ key[0],
            right as u32,
            (left >> 32) as u32 ^ counter[3] ^ key[1],
            left as u32,
        ];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three vectors published with the Random123 library (kat_vectors, philox4x32 10 rounds).
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
        assert_eq!(
            philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]),
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]
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
