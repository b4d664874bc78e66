//! Two models of a kernel, side by side: how durations changed, on which processors, and whether it is more than chance.

use std::collections::{BTreeMap, BTreeSet};

use hpcast_models::compute::{Arguments, BoundKernel, Kernel, MOST_ARGUMENTS, Row, Term};
use hpcast_stats::{StudentT, normal};

/// What arguments are taken to be where no model says what was measured.
pub const ASSUMED: [f64; 2] = [64.0, 4096.0];

/// A model with what its rows call the machine's first node.
#[derive(Clone, Copy, Debug)]
pub struct Model<'m> {
    /// The model.
    pub kernel: &'m Kernel,
    /// The first node.
    pub first_node: u32,
}

/// Why two models cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// No size belongs to both.
    #[error("{argument} was measured from {} for one model, and from {} for the other", words(.ranges[0]), words(.ranges[1]))]
    Apart {
        /// Which argument.
        argument: String,
        /// Where.
        ranges: [[f64; 2]; 2],
    },
    /// More arguments than a call has.
    #[error("the models have {found} arguments, and a call has at most {MOST_ARGUMENTS}")]
    TooMany {
        /// How many there are.
        found: usize,
    },
}

fn words([least, most]: [f64; 2]) -> String {
    format!("{least} to {most}")
}

/// What became of a kernel from the first model to the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The sizes that were asked for: least and most of each argument.
    pub ranges: Vec<(String, [f64; 2])>,
    /// Whether all of them were measured for a model, or some assumed.
    pub is_measured: bool,
    /// All processors; none if one of the models expects no time.
    pub overall: Option<Change>,
    /// Those that a model lists, by what the first one calls them, or the second if only that lists any. In order.
    pub processors: Vec<((u32, u32), Change)>,
    /// Standard deviation of calls over their expectation, on the mean of both models' sizes; zero without noise.
    pub noise: [f64; 2],
    /// The largest and the least ratio.
    pub extremes: Option<[Extreme; 2]>,
}

/// How durations changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Second over first, geometric mean over sizes.
    pub ratio: f64,
    /// The same for the largest size.
    pub largest: f64,
    /// The standard error of the logarithm of `ratio`, if both models say how sure they are.
    pub error: Option<f64>,
    /// Its degrees of freedom; none if a model does not say them. Then the error counts as exact.
    pub freedom: Option<f64>,
}

impl Change {
    /// Where the ratio is with a probability of 95 %.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let errors = self.freedom.map_or(normal::quantile(0.975), |freedom| StudentT { freedom }.quantile(0.975));
        let reach = (errors * self.error?).exp();
        Some([self.ratio / reach, self.ratio * reach])
    }

    /// How likely so large a ratio, or a larger one, would be if nothing had changed.
    pub fn p(&self) -> Option<f64> {
        match self.error? {
            0.0 => Some(if self.ratio == 1.0 { 1.0 } else { 0.0 }),
            error => {
                let away = (self.ratio.ln() / error).abs();
                Some(self.freedom.map_or(2.0 * normal::cdf(-away), |freedom| StudentT { freedom }.two_sided(away)))
            }
        }
    }
}

/// A variance that was estimated.
#[derive(Clone, Copy)]
struct Variance {
    value: f64,
    /// Degrees of freedom, if they are known.
    freedom: Option<f64>,
}

impl Variance {
    /// Of a sum of what is independent: its degrees of freedom are those of the chi-squared distribution with the same first
    /// two moments (F. E. Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics
    /// Bulletin 2, 1946; B. L. Welch, Biometrika 34, 1947).
    fn sum(parts: impl IntoIterator<Item = Variance>) -> Variance {
        let (mut value, mut left) = (0.0, Some(0.0));
        for part in parts.into_iter().filter(|part| part.value > 0.0) {
            value += part.value;
            left = left.zip(part.freedom).map(|(left, freedom)| left + part.value.powi(2) / freedom);
        }
        Variance { value, freedom: left.filter(|left| *left > 0.0).map(|left| value.powi(2) / left) }
    }

    fn scaled(self, factor: f64) -> Variance {
        Variance { value: self.value * factor, ..self }
    }
}

/// The size and the processor where durations changed most.
#[derive(Clone, Debug, PartialEq)]
pub struct Extreme {
    /// Second over first.
    pub ratio: f64,
    /// In the order of the ranges.
    pub arguments: Vec<f64>,
    /// By what the first model calls it; none if all are alike.
    pub processor: Option<(u32, u32)>,
}

/// Compares the second model with the first.
pub fn compare(first: Model, second: Model) -> Result<Comparison, CompareError> {
    let (ranges, is_measured) = common_ranges(first.kernel, second.kernel)?;
    let names: Vec<&str> = ranges.iter().map(|(name, _)| name.as_str()).collect();
    let grid = grid(&ranges);
    let models = [first, second].map(|model| Bound::new(model, &names));
    let mut changes = Vec::new();
    let mut extremes: Option<[Extreme; 2]> = None;
    let mut noise = [0.0; 2];
    let mut is_shared = false;
    let processors = processors(first, second);
    let lists = first.kernel.rows.iter().any(|row| row.processor.is_some());
    let first_name = if lists { first.first_node } else { second.first_node };
    for &processor in &processors {
        let sides = [0, 1].map(|i| models[i].on(processor, &grid));
        let name = processor.map(|(node, socket)| (node.saturating_add(first_name), socket));
        let Some(ratios) = ratios(&sides) else { continue };
        for (arguments, ratio) in grid.iter().zip(&ratios) {
            let here = || Extreme { ratio: *ratio, arguments: arguments.clone(), processor: name };
            match &mut extremes {
                None => extremes = Some([here(), here()]),
                Some([most, _]) if *ratio > most.ratio => *most = here(),
                Some([_, least]) if *ratio < least.ratio => *least = here(),
                Some(_) => {}
            }
        }
        let ratio = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let variance = sides[0].variance.zip(sides[1].variance).map(|(a, b)| Variance::sum([a, b]));
        // The grid ends with it.
        let largest = ratios.last().copied().unwrap_or(ratio);
        let (error, freedom) = (variance.map(|found| found.value.sqrt()), variance.and_then(|found| found.freedom));
        changes.push((name, Change { ratio, largest, error, freedom }));
        noise = [0, 1].map(|i| noise[i] + sides[i].noise);
        is_shared |= sides.iter().any(|side| side.is_shared);
    }
    let count = changes.len().max(1) as f64;
    Ok(Comparison {
        ranges,
        is_measured,
        overall: overall(&changes, is_shared),
        noise: noise.map(|noise| noise / count),
        processors: changes.into_iter().filter_map(|(name, change)| Some((name?, change))).collect(),
        extremes,
    })
}

/// Errors of models that processors have of their own make up for each other on the mean; that of a model which they share does
/// not, and to be on the safe side none does then.
fn overall(changes: &[(Option<(u32, u32)>, Change)], is_shared: bool) -> Option<Change> {
    let count = changes.len() as f64;
    let mean = |of: fn(&Change) -> f64| (changes.iter().map(|(_, change)| of(change).ln()).sum::<f64>() / count).exp();
    let (ratio, largest) = (mean(|change| change.ratio), mean(|change| change.largest));
    let variance = |(_, change): &(_, Change)| Some(Variance { value: change.error?.powi(2), freedom: change.freedom });
    let variances: Option<Vec<Variance>> = changes.iter().map(variance).collect();
    let whole = variances.map(|parts| match is_shared {
        true => Variance {
            value: (parts.iter().map(|part| part.value.sqrt()).sum::<f64>() / count).powi(2),
            freedom: parts.iter().map(|part| part.freedom).reduce(|a, b| Some(a?.min(b?))).flatten(),
        },
        false => Variance::sum(parts.into_iter().map(|part| part.scaled(count.powi(-2)))),
    });
    let (error, freedom) = (whole.map(|found| found.value.sqrt()), whole.and_then(|found| found.freedom));
    (!changes.is_empty()).then_some(Change { ratio, largest, error, freedom })
}

/// Least and most of each argument.
type Ranges = Vec<(String, [f64; 2])>;

/// The sizes that both models know, or else one of them.
fn common_ranges(first: &Kernel, second: &Kernel) -> Result<(Ranges, bool), CompareError> {
    let mut ranges: Ranges = Vec::new();
    let mut is_measured = true;
    for name in first.arguments().into_iter().chain(second.arguments()) {
        if ranges.iter().any(|(known, _)| known == name) {
            continue;
        }
        let range = match (first.measured.get(name), second.measured.get(name)) {
            (Some(a), Some(b)) => {
                let common = [a[0].max(b[0]), a[1].min(b[1])];
                if common[0] > common[1] {
                    return Err(CompareError::Apart { argument: name.into(), ranges: [*a, *b] });
                }
                common
            }
            (Some(range), None) | (None, Some(range)) => *range,
            (None, None) => {
                is_measured = false;
                ASSUMED
            }
        };
        ranges.push((name.to_owned(), range));
    }
    match ranges.len() {
        found if found > MOST_ARGUMENTS => Err(CompareError::TooMany { found }),
        _ => Ok((ranges, is_measured)),
    }
}

/// Sizes spread evenly over the orders of magnitude, in all combinations.
fn grid(ranges: &[(String, [f64; 2])]) -> Vec<Vec<f64>> {
    let steps = match ranges.len() {
        0 | 1 => 64,
        2 => 16,
        3 => 8,
        4 => 4,
        _ => 2,
    };
    let mut grid: Vec<Vec<f64>> = vec![Vec::new()];
    for (_, range) in ranges {
        let values = spread(*range, steps);
        grid = grid
            .into_iter()
            .flat_map(|before| values.iter().map(move |value| [before.clone(), vec![*value]].concat()))
            .collect();
    }
    grid
}

/// Values from one end of a range to the other, evenly over the orders of magnitude; between the ends, whole numbers.
pub fn spread([low, high]: [f64; 2], steps: usize) -> Vec<f64> {
    let value = |step: usize| {
        let part = step as f64 / steps as f64;
        let value = if low > 0.0 { low * (high / low).powf(part) } else { low + part * (high - low) };
        let whole = value.round().clamp(low, high);
        if step == 0 {
            low
        } else if step == steps {
            high
        } else {
            whole
        }
    };
    let mut values: Vec<f64> = (0..=steps).map(value).collect();
    values.dedup();
    values
}

/// Nodes counted from the machine's first; none if no model tells processors apart.
fn processors(first: Model, second: Model) -> Vec<Option<(u32, u32)>> {
    let listed = |model: Model| {
        let rows: Vec<Option<(u32, u32)>> = model.kernel.rows.iter().map(|row| row.processor).collect();
        rows.into_iter().flatten().filter_map(move |(node, socket)| Some((node.checked_sub(model.first_node)?, socket)))
    };
    let all: BTreeSet<(u32, u32)> = listed(first).chain(listed(second)).collect();
    if all.is_empty() { vec![None] } else { all.into_iter().map(Some).collect() }
}

struct Bound<'m> {
    model: Model<'m>,
    bound: Option<BoundKernel>,
    names: Vec<String>,
    rows: BTreeMap<Option<(u32, u32)>, &'m [Row]>,
}

/// What a model says of a processor.
#[derive(Default)]
struct Side {
    /// Size by size.
    seconds: Vec<f64>,
    /// Mean of deviation over expectation.
    noise: f64,
    /// Of the mean logarithm of `seconds`, if that is known.
    variance: Option<Variance>,
    /// It is the model of all processors that are not listed.
    is_shared: bool,
}

fn ratios([first, second]: &[Side; 2]) -> Option<Vec<f64>> {
    let both = first.seconds.iter().zip(&second.seconds);
    let positive = both.clone().all(|(a, b)| *a > 0.0 && *b > 0.0);
    positive.then(|| both.map(|(a, b)| b / a).collect())
}

impl<'m> Bound<'m> {
    fn new(model: Model<'m>, names: &[&str]) -> Bound<'m> {
        Bound {
            model,
            // All arguments of both models are there.
            bound: BoundKernel::new(model.kernel, names).ok(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            rows: model.kernel.processors().map(|rows| (rows[0].processor, rows)).collect(),
        }
    }

    fn on(&self, processor: Option<(u32, u32)>, grid: &[Vec<f64>]) -> Side {
        let name = processor.map(|(node, socket)| (node.saturating_add(self.model.first_node), socket));
        let Some(bound) = &self.bound else { return Side::default() };
        let number = name.map_or(0, |(node, socket)| bound.processor(node, socket));
        let arguments: Vec<Arguments> = grid.iter().map(|values| Arguments::from_slice(values)).collect();
        let seconds: Vec<f64> = arguments.iter().map(|size| bound.expectation(number, size)).collect();
        let noise = arguments.iter().zip(&seconds).map(|(size, seconds)| bound.deviation(number, size) / seconds);
        let noise = noise.sum::<f64>() / grid.len() as f64;
        let own = self.rows.get(&name).copied();
        let rows = own.or(self.rows.get(&None).copied()).unwrap_or_default();
        Side { variance: self.variance(rows, grid, &seconds), seconds, noise, is_shared: own.is_none() }
    }

    /// The mean logarithm changes with a coefficient by the mean of its term over the duration. Pieces know nothing of
    /// each other.
    fn variance(&self, rows: &[Row], grid: &[Vec<f64>], seconds: &[f64]) -> Option<Variance> {
        let kernel = self.model.kernel;
        // Nobody knows how sure the figures of a roofline are.
        if kernel.roofline.is_some() {
            return None;
        }
        let value = |term: &Term, arguments: &[f64]| {
            term.value(|name| self.names.iter().position(|known| known == name).map_or(0.0, |place| arguments[place]))
        };
        let mut slopes = vec![vec![0.0; kernel.terms.len()]; rows.len()];
        for (arguments, seconds) in grid.iter().zip(seconds) {
            let split = kernel.split.as_ref().map_or(0.0, |split| value(split, arguments));
            let piece = rows.iter().position(|row| row.below.is_none_or(|below| split < below))?;
            for (slope, term) in slopes[piece].iter_mut().zip(&kernel.terms) {
                *slope += value(term, arguments) / seconds / grid.len() as f64;
            }
        }
        let mut parts = Vec::new();
        for (row, slopes) in rows.iter().zip(&slopes).filter(|(_, slopes)| slopes.iter().any(|slope| *slope != 0.0)) {
            let mut covariances = row.covariance.iter();
            let mut value: f64 = 0.0;
            for i in 0..slopes.len() {
                for j in 0..=i {
                    let twice = if i == j { 1.0 } else { 2.0 };
                    value += twice * slopes[i] * slopes[j] * covariances.next()?;
                }
            }
            parts.push(Variance { value: value.max(0.0), freedom: row.freedom.map(|freedom| freedom as f64) });
        }
        Some(Variance::sum(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Calls, Recipe, fit};

    fn terms(texts: &[&str]) -> Vec<Term> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    type Given = (Option<(u32, u32)>, [f64; 2]);

    fn kernel(rows: &[Given]) -> Kernel {
        let row = |&(processor, seconds): &Given| Row { processor, seconds: seconds.to_vec(), ..Row::default() };
        Kernel::new(terms(&["1", "N"]), rows.iter().map(row).collect())
    }

    #[test]
    fn processors_are_those_of_the_machine_whatever_their_names() {
        let spring = kernel(&[(None, [0.0, 1.0]), (Some((1, 0)), [0.0, 1.0]), (Some((2, 0)), [0.0, 2.0])]);
        let autumn = kernel(&[(None, [0.0, 1.5]), (Some((0, 0)), [0.0, 1.1]), (Some((1, 0)), [0.0, 1.0])]);
        let found =
            compare(Model { kernel: &spring, first_node: 1 }, Model { kernel: &autumn, first_node: 0 }).unwrap();
        let names: Vec<(u32, u32)> = found.processors.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [(1, 0), (2, 0)]);
        let ratios: Vec<f64> = found.processors.iter().map(|(_, change)| change.ratio).collect();
        assert!((ratios[0] - 1.1).abs() < 1e-12 && (ratios[1] - 0.5).abs() < 1e-12, "{ratios:?}");
        assert!((found.overall.unwrap().ratio - 0.55f64.sqrt()).abs() < 1e-12);
        let [most, least] = found.extremes.unwrap();
        assert_eq!((most.processor, least.processor), (Some((1, 0)), Some((2, 0))));
        assert!(!found.is_measured && found.overall.unwrap().p().is_none());
        // One model for all processors is compared with each.
        let alike = kernel(&[(None, [0.0, 4.0])]);
        let found = compare(Model { kernel: &spring, first_node: 1 }, Model { kernel: &alike, first_node: 0 }).unwrap();
        assert!((found.processors[1].1.ratio - 2.0).abs() < 1e-12);
    }

    #[test]
    fn ranges_are_common_and_free_kernels_have_no_ratio() {
        let mut a = kernel(&[(None, [1.0, 1.0])]);
        let mut b = a.clone();
        a.measured.insert("N".into(), [1.0, 100.0]);
        b.measured.insert("N".into(), [50.0, 1000.0]);
        fn model(kernel: &Kernel) -> Model<'_> {
            Model { kernel, first_node: 0 }
        }
        let found = compare(model(&a), model(&b)).unwrap();
        assert_eq!((found.ranges, found.is_measured), (vec![("N".to_owned(), [50.0, 100.0])], true));
        b.measured.insert("N".into(), [200.0, 1000.0]);
        let error = compare(model(&a), model(&b)).unwrap_err().to_string();
        assert_eq!(error, "N was measured from 1 to 100 for one model, and from 200 to 1000 for the other");
        assert_eq!(compare(model(&a), model(&Kernel::free())).unwrap().overall, None);
    }

    /// The error of a model that all processors share does not shrink with their number.
    #[test]
    fn a_shared_model_is_no_surer_for_many_processors() {
        let row =
            |processor| Row { processor, seconds: vec![0.0, 1.0], covariance: vec![0.0, 0.0, 1e-4], ..Row::default() };
        let rows = std::iter::once(None).chain((0..16).map(|node| Some((node, 0)))).map(row).collect();
        let (many, alike) = (Kernel::new(terms(&["1", "N"]), rows), Kernel::new(terms(&["1", "N"]), vec![row(None)]));
        let error = |a: &Kernel, b: &Kernel| {
            let model = |kernel| Model { kernel, first_node: 0 };
            compare(model(a), model(b)).unwrap().overall.unwrap().error.unwrap()
        };
        let single = error(&alike, &alike);
        assert!((error(&many, &alike) / single - 1.0).abs() < 1e-9);
        assert!((error(&many, &many) / single - 0.25).abs() < 1e-9);
    }

    /// From a table of Student's t: with 4 degrees of freedom 5 % are beyond 2.776 standard errors.
    #[test]
    fn few_degrees_of_freedom_make_it_less_sure() {
        let change = |freedom| Change { ratio: 0.2776f64.exp(), largest: 1.0, error: Some(0.1), freedom };
        assert!((change(Some(4.0)).p().unwrap() - 0.05).abs() < 1e-4);
        assert!((change(Some(4.0)).interval().unwrap()[0] - 1.0).abs() < 1e-4);
        assert!((change(None).p().unwrap() - 0.005_502).abs() < 1e-5);
        let part = |value: f64, freedom: f64| Variance { value, freedom: Some(freedom) };
        let freedom = |parts: &[Variance]| Variance::sum(parts.iter().copied()).freedom;
        assert_eq!(freedom(&[part(2.0, 4.0), part(2.0, 4.0)]), Some(8.0));
        assert_eq!(freedom(&[part(2.0, 4.0), part(0.0, 1.0)]), Some(4.0));
        assert_eq!(freedom(&[part(2.0, 4.0), Variance { value: 1.0, freedom: None }]), None);
    }

    /// Many pairs of fits to the same machine: the p values are those of chance, and a change of 2 % is none.
    #[test]
    fn what_is_more_than_chance_is_known() {
        let measure = |seed: u32, slow: f64, sizes: u32| {
            let jitter = |i: u32| {
                let mut z = (u64::from(seed) << 32 | u64::from(i)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                z = (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                normal::draw(((z ^ (z >> 32)) >> 11) as f64 / (1u64 << 53) as f64)
            };
            let n: Vec<f64> = (0..sizes).map(|i| f64::from(100 + 400 * i / sizes)).collect();
            let seconds: Vec<f64> =
                (0..sizes).map(|i| slow * (1e-5 + 1e-7 * n[i as usize]) + 3e-7 * jitter(i)).collect();
            let calls = Calls { arguments: vec![("N".into(), &n)], seconds: &seconds, processors: vec![] };
            let all = terms(&["1", "N"]);
            fit(&calls, &Recipe { pinned: all.clone(), terms: all, ..Recipe::default() }).unwrap()
        };
        let p = |seed: u32, slow: f64, sizes: u32| {
            let (a, b) = (measure(2 * seed, 1.0, sizes), measure(2 * seed + 1, slow, sizes));
            let model = |kernel| Model { kernel, first_node: 0 };
            compare(model(&a), model(&b)).unwrap().overall.unwrap().p().unwrap()
        };
        let chance = (0..400).filter(|seed| p(*seed, 1.0, 80) < 0.05).count();
        assert!((8..=34).contains(&chance), "{chance} of 400, where 20 are expected");
        assert!((0..50).all(|seed| p(seed, 1.02, 80) < 1e-3));
        // By the normal distribution it would be twice as many: errors are estimated from four sizes.
        let chance = (0..1000).filter(|seed| p(*seed, 1.0, 4) < 0.05).count();
        assert!((25..=75).contains(&chance), "{chance} of 1000, where 50 are expected");
    }
}
