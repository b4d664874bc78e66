//! The normal distribution.

use crate::special::regularised_gamma;

/// The probability that a standard normal draw is at most `x`.
pub fn cdf(x: f64) -> f64 {
    let tail = 0.5 * regularised_gamma(0.5, 0.5 * x * x).1;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The standard normal draw that belongs to a uniform number in [0, 1); always finite.
pub fn draw(uniform: f64) -> f64 {
    quantile(uniform.clamp(0.5 * f64::EPSILON, 1.0 - 0.5 * f64::EPSILON))
}

/// The quantile of the standard normal distribution: below it lies the part `p` of all draws.
///
/// Source: M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37,
/// 1988, function PPND16: relative error about 1e-16. One uniform number gives one draw, with no rejection and mostly
/// no logarithm, which suits draws that are found by their key.
pub fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = (-tail.ln()).sqrt();
    let value = if r <= 5.0 {
        polynomial(&MIDDLE.0, r - 1.6) / polynomial(&MIDDLE.1, r - 1.6)
    } else {
        polynomial(&FAR.0, r - 5.0) / polynomial(&FAR.1, r - 5.0)
    };
    value.copysign(q)
}

/// Numerator and denominator of a rational function, lowest power first.
type Rational = ([f64; 8], [f64; 8]);

#[inline]
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
);

const MIDDLE: Rational = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const FAR: Rational = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::{cdf, draw, quantile};

    /// Values of scipy 1.17: stats.norm.cdf.
    #[test]
    fn known_probabilities() {
        for (x, expected) in [
            (-30.0, 4.906713927147908e-198),
            (-8.0, 6.22096057427174e-16),
            (-3.0, 0.0013498980316300933),
            (-1.0, 0.15865525393145707),
            (-0.1, 0.460172162722971),
            (0.0, 0.5),
            (0.5, 0.6914624612740131),
            (2.0, 0.9772498680518208),
            (5.0, 0.9999997133484281),
        ] {
            assert!((cdf(x) - expected).abs() <= 1e-13 * expected, "{x}: {} {expected}", cdf(x));
        }
        assert_eq!((cdf(f64::NEG_INFINITY), cdf(f64::INFINITY)), (0.0, 1.0));
    }

    /// Values of Python's `statistics.NormalDist().inv_cdf`.
    #[test]
    fn known_quantiles() {
        for (p, expected) in KNOWN {
            assert!((quantile(p) - expected).abs() <= 1e-14 * expected.abs(), "{p}: {} {expected}", quantile(p));
        }
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(draw(0.0) < -8.0 && draw(0.0).is_finite() && draw(0.3) == quantile(0.3) && draw(1.0).is_finite());
    }

    const KNOWN: [(f64, f64); 14] = [
        (1e-300, -37.0470962993612),
        (1e-20, -9.262340089798405),
        (1e-09, -5.9978070150076865),
        (0.0001, -3.71901648545568),
        (0.02, -2.0537489106318225),
        (0.074, -1.4466320671589785),
        (0.076, -1.4325027208258114),
        (0.3, -0.5244005127080407),
        (0.5001, 0.0002506628300880075),
        (0.75, 0.6744897501960817),
        (0.9, 1.2815515655446008),
        (0.93, 1.4757910281791708),
        (0.99, 2.3263478740408408),
        (0.999999, 4.753424308817089),
    ];
}
