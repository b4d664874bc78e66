//! How far levels, and pairs of levels, lie from the mean.

use std::collections::BTreeMap;

use hpcast_stats::Uncertain;
use hpcast_stats::least_squares::{Model, Nested};

use super::anova::{Anova, Coding, Terms};
use super::{AnalysisError, CONFIDENCE, data};
use crate::frame::Frame;

/// What the levels of a factor do.
#[derive(Clone, Debug, PartialEq)]
pub struct MainEffect {
    /// The factor.
    pub factor: usize,
    /// Levels that have values.
    pub levels: Vec<LevelEffect>,
}

/// What a level does.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelEffect {
    /// The number of the level.
    pub level: usize,
    /// Values with it.
    pub count: usize,
    /// What the mean of these values would be if they had all levels of the other factors as often as all values have: their mean
    /// where a design is balanced.
    pub mean: f64,
    /// How far a value is from that of a mean level, all other factors being the same: by least squares, so that levels
    /// are compared fairly where a design is not balanced.
    pub effect: f64,
    /// Where the effect lies with 95 % confidence; nothing where no noise is known.
    pub interval: Option<(f64, f64)>,
}

/// What a pair of levels does beyond what both do on their own.
#[derive(Clone, Debug, PartialEq)]
pub struct PairEffect {
    /// Numbers of the two levels.
    pub levels: (usize, usize),
    /// Values with both.
    pub count: usize,
    /// The mean of these values.
    pub mean: f64,
    /// How far the mean is from what a sum of main effects gives.
    pub effect: f64,
}

impl MainEffect {
    /// How far the levels are apart.
    pub fn spread(&self) -> f64 {
        let effects = self.levels.iter().map(|level| level.effect);
        let (least, most) = effects
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), effect| (least.min(effect), most.max(effect)));
        if least > most { 0.0 } else { most - least }
    }
}

/// Main effects of all factors that vary and are in the model level by level; `anova` gives the noise for their intervals.
pub fn main_effects(frame: &Frame, response: usize, anova: &Anova) -> Result<Vec<MainEffect>, AnalysisError> {
    let additive = Additive::new(frame, response)?;
    let factors = (0..frame.factors.len()).filter(|&factor| additive.terms.codings[factor] == Some(Coding::Levels));
    let effect = |factor| MainEffect { factor, levels: additive.level_effects(frame, factor, anova) };
    Ok(factors.map(effect).collect())
}

/// Interactions of two factors.
pub fn pair_effects(frame: &Frame, response: usize, pair: (usize, usize)) -> Result<Vec<PairEffect>, AnalysisError> {
    data::check_factor(frame, pair.0)?;
    data::check_factor(frame, pair.1)?;
    let additive = Additive::new(frame, response)?;
    let mut cells: BTreeMap<(usize, usize), (Vec<f64>, f64)> = BTreeMap::new();
    for (place, &(row, value)) in additive.known.iter().enumerate() {
        let levels = (frame.factors[pair.0].values[row], frame.factors[pair.1].values[row]);
        let cell = cells.entry(levels).or_default();
        cell.0.push(value);
        cell.1 += value - additive.expected(place);
    }
    let effect = |(levels, (values, rest)): ((usize, usize), (Vec<f64>, f64))| {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        PairEffect { levels, count, mean, effect: rest / count as f64 }
    };
    Ok(cells.into_iter().map(effect).collect())
}

/// The sum of main effects that fits best.
struct Additive {
    known: Vec<(usize, f64)>,
    mean: f64,
    terms: Terms,
    model: Model,
}

impl Additive {
    fn new(frame: &Frame, response: usize) -> Result<Additive, AnalysisError> {
        let known = data::known(frame, response)?;
        let mean = known.iter().map(|(_, value)| value).sum::<f64>() / known.len() as f64;
        let rows: Vec<usize> = known.iter().map(|(row, _)| *row).collect();
        let terms = Terms::new(frame, &rows, data::by_levels(frame, &known).len(), false)?;
        let centred: Vec<f64> = known.iter().map(|(_, value)| value - mean).collect();
        let model = Nested::new(&terms.columns, &centred).model(&terms.all());
        Ok(Additive { known, mean, terms, model })
    }

    fn expected(&self, row: usize) -> f64 {
        let parts = self.terms.columns.iter().zip(&self.model.coefficients);
        self.mean + parts.map(|(column, coefficient)| column[row] * coefficient).sum::<f64>()
    }

    fn level_effects(&self, frame: &Frame, factor: usize, anova: &Anova) -> Vec<LevelEffect> {
        let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for &(row, value) in &self.known {
            values.entry(frame.factors[factor].values[row]).or_default().push(value);
        }
        let count = values.len();
        let places = self.terms.of(&[factor]);
        let effect = |(place, (&level, values)): (usize, (&usize, &Vec<f64>))| {
            // The coefficient of the level less the mean of all levels; the first one has none.
            let mut numbers = vec![0.0; self.terms.columns.len()];
            for (other, &column) in (1..).zip(&places) {
                numbers[column] = f64::from(other == place) - 1.0 / count as f64;
            }
            let effect = numbers.iter().zip(&self.model.coefficients).map(|(number, c)| number * c).sum();
            let variance = self.model.variance(&numbers);
            let interval = variance.zip(anova.deviation()).map(|(variance, deviation)| {
                let variance = variance * deviation * deviation;
                Uncertain { value: effect, variance, freedom: anova.error.1 as f64 }.interval(CONFIDENCE)
            });
            LevelEffect { level, count: values.len(), mean: 0.0, effect, interval }
        };
        let mut levels: Vec<LevelEffect> = values.iter().enumerate().map(effect).collect();
        // On average over all values, levels do what makes these the values that they are.
        let all: usize = levels.iter().map(|level| level.count).sum();
        let done = levels.iter().map(|level| level.count as f64 * level.effect).sum::<f64>() / all as f64;
        levels.iter_mut().for_each(|level| level.mean = self.mean - done + level.effect);
        levels
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::data::tests::frame;

    #[test]
    fn balanced_effects_are_differences_of_means() {
        let rows: Vec<_> = (0..24)
            .map(|i| {
                let (a, b, again) = (i / 8, i / 2 % 4, i % 2);
                (vec![a, b], Some((10 * a + b * b) as f64 + if again == 0 { 0.5 } else { -0.5 }))
            })
            .collect();
        let frame = frame(&["a", "b"], &rows);
        let anova = Anova::new(&frame, 0).unwrap();
        let effects = main_effects(&frame, 0, &anova).unwrap();
        let found: Vec<f64> = effects[0].levels.iter().map(|level| level.effect).collect();
        assert!(found.iter().zip([-10.0, 0.0, 10.0]).all(|(found, expected)| (found - expected).abs() < 1e-12));
        assert!((effects[0].spread() - 20.0).abs() < 1e-12 && (effects[1].spread() - 9.0).abs() < 1e-12);
        // Noise: 24 squares of 0.5 over 12 degrees of freedom; an effect has the variance 1/8 - 1/24 of it. The quantile of
        // Student's t for 12 degrees of freedom is 2.178812829667228.
        let half = 2.178812829667228 * (0.5f64 / 12.0).sqrt();
        let (low, high) = effects[0].levels[2].interval.unwrap();
        assert!((low - 10.0 + half).abs() < 1e-12 && (high - 10.0 - half).abs() < 1e-12, "{low} {high}");
        assert!(
            pair_effects(&frame, 0, (0, 1)).unwrap().iter().all(|cell| cell.effect.abs() < 1e-12 && cell.count == 2)
        );
        assert!(pair_effects(&frame, 0, (0, 2)).is_err());
    }

    /// One at a time around 100: the base is the only run with level 0 of both factors, and the mean of the others with level 0 of one
    /// is that of the other's far levels.
    #[test]
    fn means_are_those_of_a_balanced_design() {
        let rows = [(0, 0, 100.0), (1, 0, 90.0), (2, 0, 95.0), (0, 1, 1000.0)].map(|(a, b, y)| (vec![a, b], Some(y)));
        let frame = frame(&["a", "b"], &rows);
        let effects = main_effects(&frame, 0, &Anova::new(&frame, 0).unwrap()).unwrap();
        let means: Vec<f64> = effects[0].levels.iter().map(|level| level.mean).collect();
        // Three of four runs have level 0 of b, which takes 900 less than the other.
        let expected = [100.0, 90.0, 95.0].map(|own| own + 0.25 * 900.0);
        assert!(means.iter().zip(expected).all(|(mean, own)| (mean - own).abs() < 1e-9), "{means:?}");
    }

    proptest! {
        /// Whatever points are missing, a sum of effects is found again as long as the design hangs together.
        #[test]
        fn sums_of_effects_are_found(
            a in prop::array::uniform3(-5.0..5.0f64), b in prop::array::uniform4(-5.0..5.0f64),
            keep in prop::collection::vec(any::<bool>(), 12),
        ) {
            let value = |i: usize| 100.0 + a[i / 4] + b[i % 4];
            // The first row and column of the table keep all levels connected.
            let rows: Vec<_> = (0..12).filter(|&i| keep[i] || i < 4 || i % 4 == 0)
                .map(|i| (vec![i / 4, i % 4], Some(value(i)))).collect();
            let frame = frame(&["a", "b"], &rows);
            let effects = main_effects(&frame, 0, &Anova::new(&frame, 0).unwrap()).unwrap();
            let mean = a.iter().sum::<f64>() / 3.0;
            for (level, truth) in effects[0].levels.iter().zip(a) {
                prop_assert!((level.effect - (truth - mean)).abs() < 1e-9);
            }
        }
    }
}
