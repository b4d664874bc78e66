//! The least squares of one piece: on each processor, with the terms that at least half of the processors need.

use hpcast_models::compute::{Row, Term};
use hpcast_stats::least_squares::{Column, FitError, Problem};
use hpcast_stats::significance::Elimination;

use super::sample::{Sample, Size};
use super::{Errors, KernelError, Recipe, value};

/// How far a first fit may be from what was measured to be believed.
const TRUSTED: f64 = 3.0;

/// What was measured of a piece on one processor, and the values of all terms there.
pub(super) struct Design<'s> {
    processor: Option<(u32, u32)>,
    /// Which piece, for people; nothing if there is only one.
    piece: String,
    sizes: Vec<&'s Size>,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    means: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl<'s> Design<'s> {
    /// The sizes of a sample that belong to a piece.
    pub fn new(
        sample: &'s Sample,
        piece: String,
        belongs: impl Fn(&Size) -> bool,
        recipe: &Recipe,
        names: &[&str],
    ) -> Design<'s> {
        let sizes: Vec<&Size> = sample.sizes.iter().filter(|size| belongs(size)).collect();
        let column = |term: &Term| sizes.iter().map(|size| value(term, names, &size.arguments)).collect();
        let mut design = Design {
            processor: sample.processor,
            piece,
            names: recipe.terms.iter().map(Term::to_string).collect(),
            columns: recipe.terms.iter().map(column).collect(),
            means: sizes.iter().map(|size| size.seconds).collect(),
            sizes,
            weights: None,
        };
        if recipe.errors == Errors::Relative {
            design.weigh();
        }
        design
    }

    /// Each error counts relative to the modelled duration. Relative to the measured one, as at first, a call that chance
    /// made long would count less than one that it made short, and the model would be too low.
    fn weigh(&mut self) {
        let weight = |seconds: &f64| seconds.powi(-2);
        self.weights = Some(self.means.iter().map(weight).collect());
        let Ok(fit) = self.problem().and_then(|problem| problem.fit().map_err(|error| self.failed(error))) else {
            return;
        };
        let model = |size: usize| fit.at(self.columns.iter().map(|column| column[size]));
        // A model that is far off must not decide what counts.
        let modelled = |size: usize| model(size).clamp(self.means[size] / TRUSTED, self.means[size] * TRUSTED);
        self.weights = Some((0..self.sizes.len()).map(|size| weight(&modelled(size))).collect());
    }

    fn failed(&self, error: FitError) -> KernelError {
        KernelError::Fit { processor: self.processor, piece: self.piece.clone(), error }
    }

    fn problem(&self) -> Result<Problem<'_>, KernelError> {
        let columns: Vec<Column> =
            self.names.iter().zip(&self.columns).map(|(name, values)| Column { name, values }).collect();
        Problem::new(&columns, &self.means, self.weights.as_deref()).map_err(|error| self.failed(error))
    }

    /// The coefficients of the terms that were kept.
    fn row(&self, kept: &[usize]) -> Result<Row, KernelError> {
        let fit = self.problem()?.fit_with(kept).map_err(|error| self.failed(error))?;
        let places = (0..kept.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        Ok(Row {
            processor: self.processor,
            seconds: fit.coefficients().collect(),
            covariance: places.map(|place| fit.covariance[place]).collect(),
            freedom: Some(fit.freedom as u64),
            ..Row::default()
        })
    }
}

/// A piece on all processors.
pub(super) struct Piece {
    /// The terms that it needs, by their places in the recipe.
    pub kept: Vec<usize>,
    /// Processor by processor.
    pub rows: Vec<Row>,
}

/// Fits a piece on each processor, with its deviation if calls differ.
pub(super) fn fit(designs: &[Design], recipe: &Recipe, with_deviation: bool) -> Result<Piece, KernelError> {
    let kept = vote(designs, recipe)?;
    let mut rows = designs.iter().map(|design| design.row(&kept)).collect::<Result<Vec<Row>, KernelError>>()?;
    if with_deviation {
        let spreads: Vec<Option<Spread>> = designs.iter().map(|design| Spread::new(design, &kept)).collect();
        let needed = needed_for_spread(&spreads, &recipe.pinned);
        for (row, spread) in rows.iter_mut().zip(&spreads) {
            row.deviation = spread.as_ref().map_or_else(Vec::new, |spread| spread.coefficients(&needed));
        }
    }
    Ok(Piece { kept, rows })
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

/// The standard deviation of calls of the same size, where calls were repeated.
///
/// Where relative errors are to be small, those of the deviation count relative to the duration, with which it mostly grows.
struct Spread {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    deviations: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Spread {
    /// Over the terms of the expectation. None if calls were not repeated, or took no time.
    fn new(design: &Design, kept: &[usize]) -> Option<Spread> {
        let repeated = design.sizes.iter().enumerate().filter(|(_, size)| size.seconds > 0.0);
        let repeated: Vec<(usize, f64)> =
            repeated.filter_map(|(place, size)| Some((place, size.deviation()?))).collect();
        let column = |&term: &usize| repeated.iter().map(|(size, _)| design.columns[term][*size]).collect();
        (!repeated.is_empty()).then(|| Spread {
            names: kept.iter().map(|&term| design.names[term].clone()).collect(),
            columns: kept.iter().map(column).collect(),
            deviations: repeated.iter().map(|(_, deviation)| *deviation).collect(),
            weights: design
                .weights
                .as_ref()
                .map(|_| repeated.iter().map(|(size, _)| design.means[*size].powi(-2)).collect()),
        })
    }

    fn problem(&self) -> Result<Problem<'_>, FitError> {
        let columns: Vec<Column> =
            self.names.iter().zip(&self.columns).map(|(name, values)| Column { name, values }).collect();
        Problem::new(&columns, &self.deviations, self.weights.as_deref())
    }

    /// One a term of the expectation; zero for those that are not needed. Where the deviation would be negative somewhere,
    /// terms with negative coefficients are left out, too. Empty if too little was measured.
    fn coefficients(&self, needed: &[usize]) -> Vec<f64> {
        let Ok(problem) = self.problem() else { return Vec::new() };
        let mut used: Vec<usize> = needed.to_vec();
        while let Ok(fit) = problem.fit_with(&used) {
            let at = |size: usize| fit.at(used.iter().map(|&term| self.columns[term][size]));
            let coefficients: Vec<f64> = fit.coefficients().collect();
            let worst = (0..used.len()).min_by(|&a, &b| coefficients[a].total_cmp(&coefficients[b]));
            match worst {
                Some(worst) if coefficients[worst] < 0.0 && (0..self.deviations.len()).any(|size| at(size) < 0.0) => {
                    used.remove(worst);
                }
                _ => {
                    let mut all = vec![0.0; self.names.len()];
                    used.iter().zip(coefficients).for_each(|(&term, coefficient)| all[term] = coefficient);
                    return all;
                }
            }
        }
        Vec::new()
    }

    /// The term that explains most by itself.
    fn best(&self) -> Option<usize> {
        let problem = self.problem().ok()?;
        let left = |&term: &usize| problem.fit_with(&[term]).map_or(f64::INFINITY, |fit| fit.residual_variance);
        (0..self.names.len()).min_by(|a, b| left(a).total_cmp(&left(b)))
    }
}

/// Less strict than for the expectation: a term too many does little harm, one too few makes short calls all alike.
const SPREAD_LEVEL: f64 = 0.05;

/// The terms that the deviation needs on at least half of the processors: with `1` alone it is the same for all sizes
/// (thesis section 5.1, N-1), with others it depends on them (N-2). Terms that are pinned stay here, too.
fn needed_for_spread(spreads: &[Option<Spread>], pinned: &[Term]) -> Vec<usize> {
    let pinned: Vec<String> = pinned.iter().map(Term::to_string).collect();
    let pinned: Vec<&str> = pinned.iter().map(String::as_str).collect();
    let elimination = Elimination { level: SPREAD_LEVEL, ..Elimination::default() };
    let mut votes: Vec<usize> = Vec::new();
    let mut voters = 0;
    for spread in spreads.iter().flatten() {
        votes.resize(spread.names.len(), 0);
        let Ok(problem) = spread.problem() else { continue };
        voters += 1;
        match elimination.select(&problem, &pinned) {
            Ok(selection) => selection.kept.into_iter().for_each(|term| votes[term] += 1),
            Err(_) => spread.best().into_iter().for_each(|term| votes[term] += 1),
        }
    }
    let needed: Vec<usize> = (0..votes.len()).filter(|&term| 2 * votes[term] >= voters).collect();
    if needed.is_empty() { (0..votes.len()).max_by_key(|&term| votes[term]).into_iter().collect() } else { needed }
}
