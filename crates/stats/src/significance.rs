//! Which terms a fit needs: those that are significant, and of these, if asked for, those that matter.
//!
//! T. Cornebize's thesis, section 12.2, tells why: with all terms of a polynomial, of which those of degree one were not
//! significant, the forecast of HPL was too low by an order of magnitude. A term that only fits the noise does little
//! harm where was measured, and any harm elsewhere.

use crate::least_squares::{Fit, FitError, Problem};

/// Backward elimination: the least significant term is dropped until all that are left are significant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elimination {
    /// Terms are significant if their p value is below this.
    pub level: f64,
    /// Terms are dropped, too, if without them no value in the data's range changes by more than this part of it. With
    /// many measurements terms become significant that no forecast would notice.
    pub relevance: Option<f64>,
}

impl Default for Elimination {
    /// A level of 0.001, and all that is significant is kept.
    ///
    /// The level is stricter than the usual 0.05 for two reasons. Polynomials are fitted for every processor: a cluster of
    /// 32 nodes with eight candidates a processor makes 500 tests, of which 25 would err at 0.05. And durations scatter
    /// more where they are longer, which makes the p values of unweighted fits too small. The terms of matrix products that
    /// thesis section 11.2.4 calls significant (MNK, MK, NK) have smaller p values in 95 of 100 published fits; MN,
    /// which it does not, has a larger one in two fifths of them.
    fn default() -> Elimination {
        Elimination { level: 0.001, relevance: None }
    }
}

/// A fit with the terms that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// With the terms that were kept.
    pub fit: Fit,
    /// The numbers of their columns.
    pub kept: Vec<usize>,
    /// The others, in the order in which they were dropped.
    pub dropped: Vec<Dropped>,
}

/// A term that was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// The column's name.
    pub name: String,
    /// Why.
    pub reason: Reason,
}

/// Why a term was left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The coefficient could as well be zero.
    Insignificant {
        /// Its p value, beside the terms that were left then.
        p: f64,
    },
    /// No forecast would notice.
    Irrelevant {
        /// The largest change of a value, as a part of it, with this and all irrelevant terms before left out.
        change: f64,
    },
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Reason::Insignificant { p } => write!(f, "not significant: p = {p:.3}"),
            Reason::Irrelevant { change } => write!(f, "changes no value by more than {:.2} %", 100.0 * change),
        }
    }
}

impl Elimination {
    /// Selects terms; those that are `pinned` stay, whatever their p value.
    pub fn select(&self, problem: &Problem, pinned: &[&str]) -> Result<Selection, FitError> {
        let names: Vec<&str> = problem.columns().iter().map(|column| column.name).collect();
        if let Some(unknown) = pinned.iter().find(|name| !names.contains(name)) {
            return Err(FitError::UnknownTerm { name: (*unknown).into() });
        }
        let is_pinned = |column: usize| pinned.contains(&names[column]);
        let mut selection = Selection { fit: problem.fit()?, kept: (0..names.len()).collect(), dropped: Vec::new() };
        while let Some((place, p)) = self.least_significant(&selection, is_pinned) {
            if selection.kept.len() == 1 {
                return Err(FitError::NothingSignificant { level: self.level.to_string() });
            }
            selection.drop(place, problem, Reason::Insignificant { p })?;
        }
        let significant = fitted_values(problem, &selection.kept, &selection.fit);
        while let Some((place, change)) = self.least_relevant(&selection, &significant, problem, is_pinned)? {
            selection.drop(place, problem, Reason::Irrelevant { change })?;
        }
        Ok(selection)
    }

    fn least_significant(&self, selection: &Selection, is_pinned: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
        let candidates = selection.kept.iter().zip(&selection.fit.estimates).enumerate();
        candidates
            .filter(|(_, (column, estimate))| !is_pinned(**column) && estimate.p >= self.level)
            // Of p values that are equal, as 1, the term that is nearer to zero.
            .max_by(|(_, (_, a)), (_, (_, b))| a.p.total_cmp(&b.p).then(b.t.abs().total_cmp(&a.t.abs())))
            .map(|(place, (_, estimate))| (place, estimate.p))
    }

    /// Compared with what all significant terms say, so that many small changes do not add up to a large one.
    fn least_relevant(
        &self,
        selection: &Selection,
        significant: &[f64],
        problem: &Problem,
        is_pinned: impl Fn(usize) -> bool,
    ) -> Result<Option<(usize, f64)>, FitError> {
        let Some(fraction) = self.relevance.filter(|_| selection.kept.len() > 1) else { return Ok(None) };
        let mut least = None;
        for place in (0..selection.kept.len()).filter(|&place| !is_pinned(selection.kept[place])) {
            let kept = without(&selection.kept, place);
            let change = largest_change(significant, &fitted_values(problem, &kept, &problem.fit_with(&kept)?));
            if change <= fraction && least.is_none_or(|(_, smallest)| change < smallest) {
                least = Some((place, change));
            }
        }
        Ok(least)
    }
}

impl Selection {
    fn drop(&mut self, place: usize, problem: &Problem, reason: Reason) -> Result<(), FitError> {
        let name = problem.columns()[self.kept[place]].name.into();
        self.kept = without(&self.kept, place);
        self.fit = problem.fit_with(&self.kept)?;
        self.dropped.push(Dropped { name, reason });
        Ok(())
    }
}

fn without(kept: &[usize], place: usize) -> Vec<usize> {
    kept.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, column)| *column).collect()
}

/// Of what one fit says about the data, if another took its place.
fn largest_change(old: &[f64], new: &[f64]) -> f64 {
    let change = |(old, new): (&f64, &f64)| if old == new { 0.0 } else { ((new - old) / old).abs() };
    old.iter().zip(new).map(change).fold(0.0, f64::max)
}

fn fitted_values(problem: &Problem, kept: &[usize], fit: &Fit) -> Vec<f64> {
    let mut sums = vec![0.0; problem.columns()[0].values.len()];
    for (&column, coefficient) in kept.iter().zip(fit.coefficients()) {
        let values = problem.columns()[column].values;
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += coefficient * value);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::Column;
    use crate::normal;

    const NAMES: [&str; 8] = ["1", "M", "N", "K", "M*N", "M*K", "N*K", "M*N*K"];

    /// Sizes up to 2,000 and what a product of such matrices takes, with noise that is the same in every run.
    fn measurements(rows: u64, noise: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut columns = vec![Vec::new(); NAMES.len()];
        let mut durations = Vec::new();
        for i in 1..=rows {
            let [m, n, k] = [i * 7919 % 1999, i * 104_729 % 1997, i * 1_299_709 % 1993].map(|x| (x + 1) as f64);
            let terms = [1.0, m, n, k, m * n, m * k, n * k, m * n * k];
            columns.iter_mut().zip(terms).for_each(|(column, term)| column.push(term));
            // The fraction of multiples of the golden ratio: even, and unlike the sizes.
            let z = normal::quantile((i as f64 * 0.618_033_988_749_894_9 + 0.1).fract());
            durations.push(7e-11 * m * n * k + 2.4e-9 * m * k + 3.2e-9 * n * k + noise * z);
        }
        (columns, durations)
    }

    fn select(elimination: Elimination, pinned: &[&str], rows: u64, noise: f64) -> Result<Selection, FitError> {
        let (columns, durations) = measurements(rows, noise);
        let columns: Vec<Column> = NAMES.iter().zip(&columns).map(|(name, values)| Column { name, values }).collect();
        elimination.select(&Problem::new(&columns, &durations, None).unwrap(), pinned)
    }

    fn names(selection: &Selection) -> Vec<&str> {
        selection.fit.estimates.iter().map(|estimate| estimate.name.as_str()).collect()
    }

    #[test]
    fn only_planted_terms_stay() {
        for noise in [0.0, 1e-4, 1e-3] {
            let selection = select(Elimination::default(), &[], 500, noise).unwrap();
            assert_eq!(names(&selection), ["M*K", "N*K", "M*N*K"], "{noise} {:?}", selection.dropped);
            assert_eq!(selection.dropped.len(), 5);
            for (found, planted) in selection.fit.coefficients().zip([2.4e-9, 3.2e-9, 7e-11]) {
                assert!((found / planted - 1.0).abs() < 0.05 + 1e-9 / noise.max(1e-9), "{found:e}");
            }
            let is_above = |dropped: &Dropped| matches!(dropped.reason, Reason::Insignificant { p } if p >= 0.001);
            assert!(selection.dropped.iter().all(is_above));
        }
    }

    #[test]
    fn pinned_terms_stay_whatever_their_p_value() {
        let selection = select(Elimination::default(), &["1", "M*N"], 500, 1e-3).unwrap();
        assert_eq!(names(&selection), ["1", "M*N", "M*K", "N*K", "M*N*K"]);
        let error = select(Elimination::default(), &["Q"], 500, 1e-3).unwrap_err();
        assert_eq!(error, FitError::UnknownTerm { name: "Q".into() });
    }

    /// Without noise every planted term is significant, but the surfaces of the matrices add little to most products.
    #[test]
    fn what_changes_little_goes_if_asked_for() {
        let loose = Elimination { relevance: Some(1e9), ..Elimination::default() };
        let selection = select(loose, &["M*N*K"], 500, 0.0).unwrap();
        assert_eq!(names(&selection), ["M*N*K"]);
        let strict = Elimination { relevance: Some(1e-3), ..Elimination::default() };
        assert_eq!(names(&select(strict, &[], 500, 0.0).unwrap()), ["M*K", "N*K", "M*N*K"]);
    }

    #[test]
    fn nothing_significant_is_an_error() {
        let values = [vec![1.0; 20], (0..20).map(f64::from).collect()];
        let noise: Vec<f64> = (0..20).map(|i| f64::from(i * i % 7) - 2.5).collect();
        let columns = [Column { name: "1", values: &values[0] }, Column { name: "N", values: &values[1] }];
        let problem = Problem::new(&columns, &noise, None).unwrap();
        let error = Elimination::default().select(&problem, &[]).unwrap_err();
        assert_eq!(error.to_string(), "no term is significant at the level 0.001");
        assert_eq!(names(&Elimination::default().select(&problem, &["1"]).unwrap()), ["1"]);
    }

    #[test]
    fn reasons_are_readable() {
        assert_eq!(Reason::Insignificant { p: 0.314 }.to_string(), "not significant: p = 0.314");
        assert_eq!(Reason::Irrelevant { change: 0.00123 }.to_string(), "changes no value by more than 0.12 %");
    }
}
