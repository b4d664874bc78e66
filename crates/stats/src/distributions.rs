//! Distributions of test statistics: Student's t, F and chi-squared.

use crate::special::{regularised_beta, regularised_gamma};

/// Student's t distribution: of an estimate divided by its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    /// Degrees of freedom, positive.
    pub freedom: f64,
}

impl StudentT {
    /// The probability of at most `t`.
    pub fn cdf(&self, t: f64) -> f64 {
        let tail = 0.5 * self.two_sided(t);
        if t < 0.0 { tail } else { 1.0 - tail }
    }

    /// The probability of being at least as far from zero as `t`: the p value of a two-sided test.
    pub fn two_sided(&self, t: f64) -> f64 {
        let square = t * t;
        if square.is_nan() || self.freedom.is_nan() || self.freedom <= 0.0 {
            return f64::NAN;
        }
        if square.is_infinite() {
            return 0.0;
        }
        let sum = self.freedom + square;
        regularised_beta(self.freedom / 2.0, 0.5, self.freedom / sum, square / sum)
    }

    /// Below it lies the part `p` of all draws.
    pub fn quantile(&self, p: f64) -> f64 {
        let tail = p.min(1.0 - p);
        if tail.is_nan() || tail <= 0.0 {
            return if p == 0.0 {
                f64::NEG_INFINITY
            } else if p == 1.0 {
                f64::INFINITY
            } else {
                f64::NAN
            };
        }
        let is_nearer = |t: f64| 0.5 * self.two_sided(t) > tail;
        let t = largest(is_nearer);
        if p < 0.5 { -t } else { t }
    }
}

/// Where a condition that holds from zero on ceases to hold. Halving an interval is slow but cannot fail.
fn largest(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while high < f64::MAX && holds(high) {
        (low, high) = (high, high * 2.0);
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The F distribution: of a quotient of two variances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FisherF {
    /// Degrees of freedom of the numerator, positive.
    pub numerator: f64,
    /// Degrees of freedom of the denominator, positive.
    pub denominator: f64,
}

impl FisherF {
    /// The probability of at most `f`.
    pub fn cdf(&self, f: f64) -> f64 {
        let (x, y) = self.parts(f);
        regularised_beta(self.numerator / 2.0, self.denominator / 2.0, x, y)
    }

    /// The probability of more than `f`: the p value of a test.
    pub fn above(&self, f: f64) -> f64 {
        let (x, y) = self.parts(f);
        regularised_beta(self.denominator / 2.0, self.numerator / 2.0, y, x)
    }

    fn parts(&self, f: f64) -> (f64, f64) {
        let (one, two) = (self.numerator * f.max(0.0), self.denominator);
        if one.is_infinite() { (1.0, 0.0) } else { (one / (one + two), two / (one + two)) }
    }
}

/// The chi-squared distribution: of a sum of squares of normal draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquared {
    /// Degrees of freedom, positive.
    pub freedom: f64,
}

impl ChiSquared {
    /// The probability of at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        regularised_gamma(self.freedom / 2.0, x / 2.0).0
    }

    /// The probability of more than `x`: the p value of a test.
    pub fn above(&self, x: f64) -> f64 {
        regularised_gamma(self.freedom / 2.0, x / 2.0).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_stays_none() {
        assert!(StudentT { freedom: 3.0 }.two_sided(f64::NAN).is_nan());
        assert!(StudentT { freedom: -1.0 }.two_sided(1.0).is_nan() && StudentT { freedom: 0.0 }.cdf(1.0).is_nan());
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-11 * expected.abs(), "{found:e} for {expected:e}");
    }

    /// Values of scipy 1.17: stats.t.cdf.
    #[test]
    fn known_probabilities_of_t() {
        for (freedom, t, expected) in [
            (1.0, 1.0, 0.75),
            (2.0, -3.0, 0.04773298313335456),
            (5.0, 2.5, 0.9727549503288119),
            (10.0, -8.0, 5.887471394833083e-06),
            (30.0, 0.5, 0.6896384975574363),
            (496.0, 3.67, 0.9998655808635074),
            (496.0, -4.5, 4.237465211191012e-06),
            (100000.0, -3.3, 0.0004835931311635716),
            (100000.0, -40.0, 0.0),
            (3.5, -1.25, 0.14417744938562452),
        ] {
            assert_close(StudentT { freedom }.cdf(t), expected);
        }
        assert_eq!(StudentT { freedom: 3.0 }.two_sided(f64::INFINITY), 0.0);
    }

    /// Values of scipy 1.17: stats.t.ppf.
    #[test]
    fn known_quantiles_of_t() {
        for (freedom, p, expected) in [
            (1.0, 0.75, 1.0000000000000002),
            (1.0, 1e-06, -318309.8861827435),
            (2.0, 0.975, 4.302652729749462),
            (5.0, 0.995, 4.032142983555228),
            (30.0, 0.025, -2.042272456301238),
            (496.0, 0.9995, 3.3102497858776436),
            (100000.0, 0.0005, -3.290624031411883),
            (2.5, 0.9, 1.7302509288071766),
        ] {
            assert_close(StudentT { freedom }.quantile(p), expected);
        }
        let t = StudentT { freedom: 5.0 };
        assert_eq!((t.quantile(0.0), t.quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(t.quantile(0.5).abs() < 1e-15 && t.quantile(1.5).is_nan());
    }

    /// Values of scipy 1.17: stats.f.cdf and sf.
    #[test]
    fn known_probabilities_of_f() {
        for (numerator, denominator, f, below, above) in [
            (1.0, 1.0, 1.0, 0.5000000000000001, 0.5000000000000001),
            (3.0, 10.0, 2.5, 0.8809604373417219, 0.11903956265827809),
            (4.0, 496.0, 8.0, 0.9999970407291694, 2.9592708306288644e-06),
            (20.0, 5.0, 0.2, 0.003930419924392704, 0.9960695800756073),
            (2.0, 100000.0, 7.0, 0.9990876711445125, 0.0009123288554874911),
            (50.0, 60.0, 1.5, 0.9335517053407213, 0.06644829465927866),
        ] {
            assert_close(FisherF { numerator, denominator }.cdf(f), below);
            assert_close(FisherF { numerator, denominator }.above(f), above);
        }
    }

    /// Values of scipy 1.17: stats.chi2.cdf and sf.
    #[test]
    fn known_probabilities_of_chi_squared() {
        for (freedom, x, below, above) in [
            (1.0, 3.84, 0.9499564787512949, 0.05004352124870519),
            (2.0, 0.5, 0.22119921692859512, 0.7788007830714049),
            (10.0, 35.0, 0.999875134747217, 0.0001248652527830378),
            (999.0, 1100.0, 0.9861815324744676, 0.013818467525532353),
            (0.5, 0.01, 0.2930808947210196, 0.7069191052789804),
            (999.0, 900.0, 0.011378812916581112, 0.9886211870834188),
        ] {
            assert_close(ChiSquared { freedom }.cdf(x), below);
            assert_close(ChiSquared { freedom }.above(x), above);
        }
    }
}
