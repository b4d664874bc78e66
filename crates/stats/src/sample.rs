//! Samples: their mean, how sure it is, and whether two means differ.

use crate::distributions::StudentT;

/// What is known of a mean from values around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Values.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The variance of a value, over one less than their number; nothing for a single value.
    pub variance: Option<f64>,
}

impl Sample {
    /// Of these values; nothing of none.
    pub fn of(values: &[f64]) -> Option<Sample> {
        let first = *values.first()?;
        let count = values.len();
        // Around the first: what is constant has no variance, not even by rounding.
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Sample { count, mean, variance: (count > 1).then(|| squares / (count as f64 - 1.0)) })
    }

    /// The mean with the variance and degrees of freedom of its error; nothing for a single value.
    pub fn estimate(&self) -> Option<Uncertain> {
        let variance = self.variance? / self.count as f64;
        Some(Uncertain { value: self.mean, variance, freedom: self.count as f64 - 1.0 })
    }

    /// Where the true mean lies with this confidence, such as 0.95, if the values are normal.
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        Some(self.estimate()?.interval(confidence))
    }
}

/// A number with the variance of its error, which itself is known from a number of degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uncertain {
    /// The number.
    pub value: f64,
    /// The variance of its error.
    pub variance: f64,
    /// How many degrees of freedom the variance was found with; infinite if it is known.
    pub freedom: f64,
}

impl Uncertain {
    /// The difference of two independent ones.
    ///
    /// Degrees of freedom: B. L. Welch, "The generalization of Student's problem when several different population
    /// variances are involved", Biometrika 34, 1947; F. E. Satterthwaite, Biometrics Bulletin 2, 1946.
    pub fn minus(&self, other: &Uncertain) -> Uncertain {
        let variance = self.variance + other.variance;
        Uncertain { value: self.value - other.value, variance, freedom: joint_freedom(&[*self, *other]) }
    }

    /// The same with another source of error, of known variance.
    pub fn with_variance(&self, more: f64) -> Uncertain {
        let other = Uncertain { value: 0.0, variance: more, freedom: f64::INFINITY };
        Uncertain { value: self.value, ..self.minus(&other) }
    }

    /// Where the true number lies with this confidence.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        if self.variance == 0.0 {
            return (self.value, self.value);
        }
        let half = quantile(self.freedom, 0.5 + 0.5 * confidence) * self.variance.sqrt();
        (self.value - half, self.value + half)
    }

    /// The probability of a number at least as far from zero if the true one were zero.
    pub fn p(&self) -> f64 {
        if self.variance == 0.0 {
            return f64::from(self.value == 0.0);
        }
        let t = self.value / self.variance.sqrt();
        if self.freedom.is_infinite() {
            return 2.0 * crate::normal::cdf(-t.abs());
        }
        StudentT { freedom: self.freedom }.two_sided(t)
    }
}

/// Student's quantile; the normal one where the variance is known.
fn quantile(freedom: f64, p: f64) -> f64 {
    if freedom.is_infinite() { crate::normal::quantile(p) } else { StudentT { freedom }.quantile(p) }
}

fn joint_freedom(parts: &[Uncertain]) -> f64 {
    let total: f64 = parts.iter().map(|part| part.variance).sum();
    let shares = parts.iter().map(|part| (part.variance / total).powi(2) / part.freedom);
    let sum: f64 = shares.filter(|share| !share.is_nan()).sum();
    if sum > 0.0 { sum.recip() } else { f64::INFINITY }
}

/// p values that hold for all tests together: S. Holm, "A simple sequentially rejective multiple test procedure",
/// Scand. J. Stat. 6, 1979.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, &test) in order.iter().enumerate() {
        largest = largest.max((p[test] * (p.len() - rank) as f64).min(1.0));
        adjusted[test] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: [f64; 5] = [20.1, 19.8, 21.3, 20.7, 19.9];
    const B: [f64; 4] = [22.9, 21.0, 24.4, 23.1];

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found} for {expected}");
    }

    /// Values of scipy 1.17: stats.ttest_ind(a, b, equal_var=False) and its confidence_interval(0.95).
    #[test]
    fn known_test_of_welch() {
        let (a, b) = (Sample::of(&A).unwrap(), Sample::of(&B).unwrap());
        let difference = a.estimate().unwrap().minus(&b.estimate().unwrap());
        assert_close(difference.p(), 0.030319468186421443);
        assert_close(difference.freedom, 3.97356056974707);
        let (low, high) = difference.interval(0.95);
        assert_close(low, -4.592480940907443);
        assert_close(high, -0.3875190590925546);
        let (low, high) = a.interval(0.95).unwrap();
        assert_close(low, 19.576668438778785);
        assert_close(high, 21.14333156122122);
    }

    #[test]
    fn single_and_equal_values() {
        let one = Sample::of(&[3.0]).unwrap();
        assert_eq!((one.mean, one.variance, one.interval(0.95)), (3.0, None, None));
        assert_eq!(Sample::of(&[]), None);
        let same = Sample::of(&[0.1; 7]).unwrap().estimate().unwrap();
        assert_eq!((same.value, same.variance, same.interval(0.95)), (0.1, 0.0, (0.1, 0.1)));
        let other = Sample::of(&[0.2; 7]).unwrap().estimate().unwrap();
        assert_eq!((same.minus(&same).p(), same.minus(&other).p()), (1.0, 0.0));
        let known = same.with_variance(4.0);
        assert_eq!(known.freedom, f64::INFINITY);
        assert!((known.interval(0.95).1 - 0.1 - 3.919_927_969_080_108).abs() < 1e-12);
    }

    /// Values of R 4: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    #[test]
    fn known_adjustment() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        assert!(adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn adjusting_keeps_the_order(p in prop::collection::vec(0.0..=1.0f64, 1..20)) {
            let adjusted = holm(&p);
            for i in 0..p.len() {
                prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
