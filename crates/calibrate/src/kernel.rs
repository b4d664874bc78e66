//! A kernel's model, from measured calls.
//!
//! For each processor, calls with the same arguments are averaged, and the averages fitted by a sum of terms. Which terms
//! are needed is decided by all processors together: a term stays if it is significant on at least half of them. What
//! single calls differ from that by has a standard deviation for each combination of arguments, which is fitted by the same
//! terms. (T. Cornebize's thesis, sections 5.1 and 12.2; his program cashew.)

use std::collections::BTreeMap;

use hpcast_models::compute::{Fit, Kernel, Noise, Row, Term};
use hpcast_stats::least_squares::{Column, FitError, Problem};
use hpcast_stats::significance::Elimination;

use crate::misses;

/// Measured calls of a kernel.
#[derive(Clone, Debug)]
pub struct Calls<'t> {
    /// The arguments by name, one value a call.
    pub arguments: Vec<(String, &'t [f64])>,
    /// How long each call took.
    pub seconds: &'t [f64],
    /// Node and socket of each call; empty where they are not told apart.
    pub processors: Vec<(u32, u32)>,
}

/// How to fit.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// The terms to choose from.
    pub terms: Vec<Term>,
    /// Those among them that are kept in any case.
    pub pinned: Vec<Term>,
    /// How the others are chosen.
    pub elimination: Elimination,
    /// How calls differ; none if they are taken to be alike.
    pub noise: Option<Noise>,
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// A term of arguments that were not measured.
    #[error("the term `{term}` needs an argument `{argument}` that was not measured")]
    Argument {
        /// The term.
        term: String,
        /// What it needs.
        argument: String,
    },
    /// Nothing fits.
    #[error("{}{error}", place(.processor))]
    Fit {
        /// Where: node and socket.
        processor: Option<(u32, u32)>,
        /// Why.
        error: FitError,
    },
}

fn place(processor: &Option<(u32, u32)>) -> String {
    processor.map_or(String::new(), |(node, socket)| format!("node {node}, socket {socket}: "))
}

impl KernelError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            KernelError::Argument { .. } => "leave the term out, or name the column with that argument",
            KernelError::Fit { error, .. } => error.remedy(),
        }
    }
}

/// Calls with the same arguments.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub arguments: Vec<f64>,
    /// Mean of the durations.
    pub seconds: f64,
    /// Single durations.
    pub calls: Vec<f64>,
}

/// What was measured on one processor.
struct Sample {
    processor: Option<(u32, u32)>,
    sizes: Vec<Size>,
}

/// Fits a model.
pub fn fit(calls: &Calls, recipe: &Recipe) -> Result<Kernel, KernelError> {
    let names: Vec<&str> = calls.arguments.iter().map(|(name, _)| name.as_str()).collect();
    check(recipe, &names)?;
    let samples = samples(calls);
    let terms = &recipe.terms;
    let designs: Vec<Design> = samples.iter().map(|sample| Design::new(sample, terms, &names)).collect();
    let kept = vote(&designs, recipe)?;
    let rows = designs.iter().map(|design| design.row(&kept, recipe)).collect::<Result<Vec<Row>, KernelError>>()?;
    let dropped = (0..terms.len()).filter(|place| !kept.contains(place)).map(|place| terms[place].clone()).collect();
    let sizes: Vec<&Size> = samples.iter().flat_map(|sample| &sample.sizes).collect();
    let mut kernel = Kernel {
        terms: kept.iter().map(|&place| terms[place].clone()).collect(),
        noise: recipe.noise.clone().unwrap_or_default(),
        measured: ranges(calls),
        ..Kernel::default()
    };
    let residuals = residuals(&samples, &rows, &kernel.terms, &names);
    kernel.fit = Some(Fit {
        points: calls.seconds.len() as u64,
        sizes: sizes.len() as u64,
        r_squared: r_squared(&sizes, &residuals),
        relative_error: mean(sizes.iter().zip(&residuals).map(|(size, residual)| (residual / size.seconds).abs())),
        dropped,
        warnings: misses::find(&sizes, &residuals),
    });
    kernel.rows = Row::with_mean(rows);
    Ok(kernel)
}

fn check(recipe: &Recipe, names: &[&str]) -> Result<(), KernelError> {
    for term in &recipe.terms {
        if let Some(argument) = term.names().find(|name| !names.contains(name)) {
            return Err(KernelError::Argument { term: term.to_string(), argument: argument.into() });
        }
    }
    Ok(())
}

/// Calls by processor and by arguments.
fn samples(calls: &Calls) -> Vec<Sample> {
    let mut by_processor: BTreeMap<Option<(u32, u32)>, Vec<usize>> = BTreeMap::new();
    for call in 0..calls.seconds.len() {
        by_processor.entry(calls.processors.get(call).copied()).or_default().push(call);
    }
    let key = |call: usize| calls.arguments.iter().map(move |(_, values)| values[call]);
    let mut samples = Vec::new();
    for (processor, mut numbers) in by_processor {
        numbers.sort_by(|&a, &b| key(a).partial_cmp(key(b)).unwrap_or(std::cmp::Ordering::Equal));
        let same = |a: &usize, b: &usize| key(*a).eq(key(*b));
        let sizes: Vec<Size> = numbers
            .chunk_by(same)
            .map(|numbers| {
                let calls: Vec<f64> = numbers.iter().map(|&call| calls.seconds[call]).collect();
                Size { arguments: key(numbers[0]).collect(), seconds: mean(calls.iter().copied()), calls }
            })
            .collect();
        samples.push(Sample { processor, sizes });
    }
    samples
}

/// The values of all terms on one processor.
struct Design<'s> {
    sample: &'s Sample,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    means: Vec<f64>,
}

impl<'s> Design<'s> {
    fn new(sample: &'s Sample, terms: &[Term], names: &[&str]) -> Design<'s> {
        let column = |term: &Term| sample.sizes.iter().map(|size| value(term, names, &size.arguments)).collect();
        Design {
            sample,
            names: terms.iter().map(Term::to_string).collect(),
            columns: terms.iter().map(column).collect(),
            means: sample.sizes.iter().map(|size| size.seconds).collect(),
        }
    }

    fn failed(&self, error: FitError) -> KernelError {
        KernelError::Fit { processor: self.sample.processor, error }
    }

    fn problem(&self) -> Result<Problem<'_>, KernelError> {
        let columns: Vec<Column> =
            self.names.iter().zip(&self.columns).map(|(name, values)| Column { name, values }).collect();
        Problem::new(&columns, &self.means, None).map_err(|error| self.failed(error))
    }

    /// The coefficients of the terms that were kept.
    fn row(&self, kept: &[usize], recipe: &Recipe) -> Result<Row, KernelError> {
        let fit = self.problem()?.fit_with(kept).map_err(|error| self.failed(error))?;
        let places = (0..kept.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let mut row = Row {
            processor: self.sample.processor,
            seconds: fit.coefficients().collect(),
            covariance: places.map(|place| fit.covariance[place]).collect(),
            ..Row::default()
        };
        if recipe.noise.is_some() {
            row.deviation = self.deviation(kept);
        }
        Ok(row)
    }

    /// The standard deviation of calls, fitted by the same terms. Where it would be negative somewhere, terms with negative
    /// coefficients are left out. Empty if calls were not repeated.
    fn deviation(&self, kept: &[usize]) -> Vec<f64> {
        let sample = self.sample;
        let repeated: Vec<usize> = (0..sample.sizes.len()).filter(|&size| sample.sizes[size].calls.len() > 1).collect();
        let spread: Vec<f64> = repeated.iter().map(|&size| deviation(&sample.sizes[size].calls)).collect();
        let columns: Vec<Vec<f64>> =
            self.columns.iter().map(|column| repeated.iter().map(|&size| column[size]).collect()).collect();
        let design: Vec<Column> =
            self.names.iter().zip(&columns).map(|(name, values)| Column { name, values }).collect();
        let Ok(problem) = Problem::new(&design, &spread, None) else { return Vec::new() };
        let mut used: Vec<usize> = kept.to_vec();
        while let Ok(fit) = problem.fit_with(&used) {
            let at = |size: usize| fit.at(used.iter().map(|&term| columns[term][size]));
            let coefficients: Vec<f64> = fit.coefficients().collect();
            let worst = (0..used.len()).min_by(|&a, &b| coefficients[a].total_cmp(&coefficients[b]));
            match worst {
                Some(worst) if coefficients[worst] < 0.0 && (0..repeated.len()).any(|size| at(size) < 0.0) => {
                    used.remove(worst);
                }
                _ => {
                    let of =
                        |term: &usize| used.iter().position(|other| other == term).map_or(0.0, |i| coefficients[i]);
                    return kept.iter().map(of).collect();
                }
            }
        }
        Vec::new()
    }
}

/// The terms that at least half of the processors need.
fn vote(designs: &[Design], recipe: &Recipe) -> Result<Vec<usize>, KernelError> {
    let pinned: Vec<String> = recipe.pinned.iter().map(Term::to_string).collect();
    let pinned: Vec<&str> = pinned.iter().map(String::as_str).collect();
    let mut votes = vec![0; recipe.terms.len()];
    for design in designs {
        let selection = recipe.elimination.select(&design.problem()?, &pinned);
        for place in selection.map_err(|error| design.failed(error))?.kept {
            votes[place] += 1;
        }
    }
    Ok((0..votes.len()).filter(|&term| 2 * votes[term] >= designs.len()).collect())
}

fn value(term: &Term, names: &[&str], arguments: &[f64]) -> f64 {
    term.value(|name| names.iter().position(|known| *known == name).map_or(0.0, |place| arguments[place]))
}

fn ranges(calls: &Calls) -> BTreeMap<String, [f64; 2]> {
    let range = |values: &[f64]| {
        [values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(0.0, f64::max)]
    };
    calls.arguments.iter().map(|(name, values)| (name.clone(), range(values))).collect()
}

/// Measured less modelled mean, size by size.
fn residuals(samples: &[Sample], rows: &[Row], terms: &[Term], names: &[&str]) -> Vec<f64> {
    let mut residuals = Vec::new();
    for (sample, row) in samples.iter().zip(rows) {
        for size in &sample.sizes {
            let model: f64 =
                terms.iter().zip(&row.seconds).map(|(term, c)| c * value(term, names, &size.arguments)).sum();
            residuals.push(size.seconds - model);
        }
    }
    residuals
}

fn r_squared(sizes: &[&Size], residuals: &[f64]) -> f64 {
    let centre = mean(sizes.iter().map(|size| size.seconds));
    let all: f64 = sizes.iter().map(|size| (size.seconds - centre).powi(2)).sum();
    let left: f64 = residuals.iter().map(|residual| residual * residual).sum();
    if all > 0.0 { 1.0 - left / all } else { 1.0 }
}

pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

/// The standard deviation of several values.
fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values.iter().copied());
    (values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(texts: &[&str]) -> Vec<Term> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// A number in [-1, 1) that looks random.
    fn jitter(i: usize) -> f64 {
        ((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Calls of two processors whose durations are known, each size 20 times, with noise of 1 % of the time.
    fn measured() -> ([Vec<f64>; 3], Vec<(u32, u32)>) {
        let (mut m, mut n, mut seconds, mut processors) = (vec![], vec![], vec![], vec![]);
        for i in 0..4000 {
            let size = i / 20;
            let (rows, columns) = (f64::from(10 + size % 17 * 30), f64::from(20 + size % 13 * 45));
            let slow = f64::from(i % 2) * 0.5 + 1.0;
            let expected = slow * (1e-6 + 3e-9 * rows * columns);
            m.push(rows);
            n.push(columns);
            seconds.push(expected * (1.0 + 0.01 * jitter(i as usize)));
            processors.push((7, (i % 2) as u32));
        }
        ([m, n, seconds], processors)
    }

    #[test]
    fn finds_what_was_planted_and_drops_what_was_not() {
        let ([m, n, seconds], processors) = measured();
        let arguments = vec![("M".to_owned(), &m[..]), ("N".to_owned(), &n[..])];
        let calls = Calls { arguments, seconds: &seconds, processors };
        let recipe = Recipe { terms: terms(&["1", "M*N", "M", "N"]), noise: Some(Noise::Normal), ..Recipe::default() };
        let kernel = fit(&calls, &recipe).unwrap();
        assert_eq!(kernel.terms, terms(&["1", "M*N"]));
        let found = kernel.fit.clone().unwrap();
        assert_eq!((found.points, found.sizes, &found.dropped), (4000, 400, &terms(&["M", "N"])));
        assert!(found.r_squared > 0.9999 && found.relative_error < 0.01, "{found:?}");
        assert_eq!(kernel.rows.iter().map(|row| row.processor).collect::<Vec<_>>(), [None, Some((7, 0)), Some((7, 1))]);
        for (row, slow) in kernel.rows.iter().zip([1.25, 1.0, 1.5]) {
            assert!((row.seconds[1] / (slow * 3e-9) - 1.0).abs() < 2e-3, "{row:?}");
            // Uniform noise of 1 % has a deviation of 1 % over the root of 3.
            assert!((row.deviation[1] / (slow * 3e-11 / 3f64.sqrt()) - 1.0).abs() < 0.1, "{row:?}");
        }
        assert_eq!(kernel.rows[1].covariance.len(), 3);
        assert_eq!(kernel.measured["M"], [10.0, 490.0]);
    }

    #[test]
    fn what_cannot_be_fitted_is_said() {
        let x = [1.0, 2.0, 3.0, 4.0];
        let calls = |arguments| Calls { arguments, seconds: &x, processors: vec![] };
        let recipe = |texts: &[&str]| Recipe { terms: terms(texts), ..Recipe::default() };
        let message = |arguments, texts: &[&str]| fit(&calls(arguments), &recipe(texts)).unwrap_err().to_string();
        assert_eq!(message(vec![("N".into(), &x)], &["M"]), "the term `M` needs an argument `M` that was not measured");
        let collinear = message(vec![("M".into(), &x), ("N".into(), &x)], &["M", "N"]);
        assert!(collinear.contains("`N` follows from `M`"), "{collinear}");
        assert!(message(vec![("N".into(), &x)], &["1", "N", "N^2", "N^3"]).contains("cannot determine"));
    }
}
