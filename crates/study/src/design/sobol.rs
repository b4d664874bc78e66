//! I. M. Sobol's sequence of points that fill a cube evenly.
//!
//! Direction numbers: S. Joe, F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J.
//! Sci. Comput. 30, 2008, their table `new-joe-kuo-6`. The order is that of I. A. Antonov, V. M. Saleev (1979), with Gray
//! codes. A shift of all digits by random ones keeps the evenness and makes seeds differ.

use hpcast_engine::random::Key;

/// Bits of a coordinate; a sequence repeats after as many points as these can count.
const BITS: usize = 52;

/// Dimensions of which direction numbers are known.
pub(super) const DIMENSIONS: usize = 1 + DIRECTIONS.len();

/// The first points, a row each, with digits shifted by `seed`.
///
/// # Panics
/// If there are more dimensions than [`DIMENSIONS`].
pub(super) fn points(dimensions: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let shifts = Key::new(seed).purpose("Sobol shift");
    shifted(dimensions, count, |dimension| shifts.word(dimension, 0) >> (64 - BITS))
}

fn shifted(dimensions: usize, count: usize, shift: impl Fn(u32) -> u64) -> Vec<Vec<f64>> {
    let directions: Vec<[u64; BITS]> = (0..dimensions).map(directions).collect();
    let mut digits: Vec<u64> = (0..).take(dimensions).map(shift).collect();
    let unit = (-(BITS as f64)).exp2();
    let mut points = Vec::with_capacity(count);
    for index in 0..count {
        points.push(digits.iter().map(|&digits| digits as f64 * unit).collect());
        // The bit in which the Gray codes of this number and the next differ.
        let bit = (index.trailing_ones() as usize).min(BITS - 1);
        digits.iter_mut().zip(&directions).for_each(|(digits, directions)| *digits ^= directions[bit]);
    }
    points
}

fn directions(dimension: usize) -> [u64; BITS] {
    let mut m = [1u64; BITS];
    if let Some(&(polynomial, first)) = dimension.checked_sub(1).map(|dimension| &DIRECTIONS[dimension]) {
        let degree = first.len();
        m[..degree].copy_from_slice(first);
        for i in degree..BITS {
            m[i] = m[i - degree] ^ (m[i - degree] << degree);
            for k in (1..degree).filter(|k| polynomial >> (degree - k) & 1 == 1) {
                m[i] ^= m[i - k] << k;
            }
        }
    }
    let mut directions = [0; BITS];
    (0..BITS).for_each(|i| directions[i] = m[i] << (BITS - 1 - i));
    directions
}

/// For each dimension but the first a primitive polynomial, its highest power first, and the first direction numbers.
#[rustfmt::skip]
const DIRECTIONS: [(u64, &[u64]); 47] = [
    (3, &[1]), (7, &[1, 3]), (11, &[1, 3, 1]), (13, &[1, 1, 1]), (19, &[1, 1, 3, 3]), (25, &[1, 3, 5, 13]),
    (37, &[1, 1, 5, 5, 17]), (41, &[1, 1, 5, 5, 5]), (47, &[1, 1, 7, 11, 19]), (55, &[1, 1, 5, 1, 1]),
    (59, &[1, 1, 1, 3, 11]), (61, &[1, 3, 5, 5, 31]), (67, &[1, 3, 3, 9, 7, 49]), (91, &[1, 1, 1, 15, 21, 21]),
    (97, &[1, 3, 1, 13, 27, 49]), (103, &[1, 1, 1, 15, 7, 5]), (109, &[1, 3, 1, 15, 13, 25]),
    (115, &[1, 1, 5, 5, 19, 61]), (131, &[1, 3, 7, 11, 23, 15, 103]), (137, &[1, 3, 7, 13, 13, 15, 69]),
    (143, &[1, 1, 3, 13, 7, 35, 63]), (145, &[1, 3, 5, 9, 1, 25, 53]), (157, &[1, 3, 1, 13, 9, 35, 107]),
    (167, &[1, 3, 1, 5, 27, 61, 31]), (171, &[1, 1, 5, 11, 19, 41, 61]), (185, &[1, 3, 5, 3, 3, 13, 69]),
    (191, &[1, 1, 7, 13, 1, 19, 1]), (193, &[1, 3, 7, 5, 13, 19, 59]), (203, &[1, 1, 3, 9, 25, 29, 41]),
    (211, &[1, 3, 5, 13, 23, 1, 55]), (213, &[1, 3, 7, 3, 13, 59, 17]), (229, &[1, 3, 1, 3, 5, 53, 69]),
    (239, &[1, 1, 5, 5, 23, 33, 13]), (241, &[1, 1, 7, 7, 1, 61, 123]), (247, &[1, 1, 7, 9, 13, 61, 49]),
    (253, &[1, 3, 3, 5, 3, 55, 33]), (285, &[1, 3, 1, 15, 31, 13, 49, 245]), (299, &[1, 3, 5, 15, 31, 59, 63, 97]),
    (301, &[1, 3, 1, 11, 11, 11, 77, 249]), (333, &[1, 3, 1, 11, 27, 43, 71, 9]),
    (351, &[1, 1, 7, 15, 21, 11, 81, 45]), (355, &[1, 3, 7, 3, 25, 31, 65, 79]), (357, &[1, 3, 1, 1, 19, 11, 3, 205]),
    (361, &[1, 1, 5, 9, 19, 21, 29, 157]), (369, &[1, 3, 7, 11, 1, 33, 89, 185]), (391, &[1, 3, 3, 3, 15, 9, 79, 71]),
    (397, &[1, 3, 7, 11, 15, 39, 119, 27]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy 1.17: stats.qmc.Sobol(48, scramble=False).random(64).
    #[test]
    fn known_points() {
        let points = shifted(DIMENSIONS, 64, |_| 0);
        assert_eq!(points[1], [0.5; DIMENSIONS]);
        assert_eq!(points[6][..5], [0.625, 0.125, 0.875, 0.625, 0.625]);
        assert_eq!(points[13][40..], [0.9375, 0.1875, 0.4375, 0.3125, 0.3125, 0.9375, 0.4375, 0.9375]);
        let last = [0.015625, 0.796875, 0.359375, 0.453125, 0.859375, 0.140625, 0.578125, 0.140625];
        assert_eq!(points[63][..8], last);
        let last = [0.671875, 0.171875, 0.484375, 0.171875, 0.328125, 0.515625, 0.140625, 0.609375];
        assert_eq!(points[63][40..], last);
    }

    #[test]
    fn every_dimension_fills_all_strata() {
        let points = points(DIMENSIONS, 256, 5);
        for dimension in 0..DIMENSIONS {
            let mut strata: Vec<usize> = points.iter().map(|point| (point[dimension] * 256.0) as usize).collect();
            strata.sort();
            assert_eq!(strata, (0..256).collect::<Vec<_>>(), "{dimension}");
        }
    }
}
