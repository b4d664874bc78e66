//! Columns of the model: how factors become numbers.

use crate::analysis::AnalysisError;
use crate::frame::{Factor, Frame};

/// A range with more values than this is a number and not a list of levels.
const FEW_LEVELS: usize = 8;
/// Positive numbers whose largest is this many times the smallest are taken by their logarithms.
const WIDE: f64 = 50.0;
/// A model with more columns takes too long, and nobody reads its table: it has main effects only.
const MOST_COLUMNS: usize = 200;

/// How a factor is in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Every level for itself.
    Levels,
    /// A parabola in its numbers, or in their logarithms; in interactions a line.
    Trend {
        /// Whether by logarithms.
        logarithmic: bool,
    },
}

/// Effects and their columns; the first column is the constant.
pub(in crate::analysis) struct Terms {
    /// Factors of each effect.
    pub effects: Vec<Vec<usize>>,
    /// Numbers of the columns of each effect.
    places: Vec<Vec<usize>>,
    pub columns: Vec<Vec<f64>>,
    pub codings: Vec<Option<Coding>>,
}

impl Terms {
    /// Main effects, and interactions of two factors if wanted and there are not too many.
    pub fn new(frame: &Frame, rows: &[usize], groups: usize, pairs: bool) -> Result<Terms, AnalysisError> {
        let codings: Vec<Option<Coding>> = frame.factors.iter().map(|factor| coding(factor, rows, groups)).collect();
        let main: Vec<Vec<Vec<f64>>> = frame
            .factors
            .iter()
            .zip(&codings)
            .map(|(factor, coding)| coding.map_or(Vec::new(), |coding| columns(factor, coding, rows)))
            .collect();
        let varying: Vec<usize> = (0..main.len()).filter(|&factor| !main[factor].is_empty()).collect();
        if varying.is_empty() {
            return Err(AnalysisError::NothingVaries);
        }
        let mut terms =
            Terms { effects: Vec::new(), places: Vec::new(), columns: vec![vec![1.0; rows.len()]], codings };
        for &factor in &varying {
            terms.add(vec![factor], main[factor].clone());
        }
        // In interactions a trend is a line.
        let width = |factor: usize| match terms.codings[factor] {
            Some(Coding::Trend { .. }) => 1,
            _ => main[factor].len(),
        };
        let widths: Vec<usize> = (0..main.len()).map(width).collect();
        let all_pairs: Vec<(usize, usize)> =
            varying.iter().enumerate().flat_map(|(i, &a)| varying[i + 1..].iter().map(move |&b| (a, b))).collect();
        let more: usize = all_pairs.iter().map(|&(a, b)| widths[a] * widths[b]).sum();
        if pairs && terms.columns.len() + more <= MOST_COLUMNS {
            for (a, b) in all_pairs {
                let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).collect();
                let of = |factor: usize| &main[factor][..widths[factor]];
                let products = of(a).iter().flat_map(|x| of(b).iter().map(move |y| product(x, y))).collect();
                terms.add(vec![a, b], products);
            }
        }
        Ok(terms)
    }

    fn add(&mut self, effect: Vec<usize>, columns: Vec<Vec<f64>>) {
        let first = self.columns.len();
        self.effects.push(effect);
        self.places.push((first..first + columns.len()).collect());
        self.columns.extend(columns);
    }

    pub fn has_interactions(&self) -> bool {
        self.effects.iter().any(|effect| effect.len() > 1)
    }

    /// All columns.
    pub fn all(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    /// The columns of an effect.
    pub fn of(&self, effect: &[usize]) -> Vec<usize> {
        let own = self.effects.iter().zip(&self.places).filter(|(other, _)| **other == effect);
        own.flat_map(|(_, places)| places.iter().copied()).collect()
    }

    /// The constant and the columns of all effects that do not contain this one.
    pub fn not_containing(&self, effect: &[usize]) -> Vec<usize> {
        let contains = |other: &[usize]| effect.iter().all(|factor| other.contains(factor));
        let others = self.effects.iter().zip(&self.places).filter(|(other, _)| !contains(other));
        [0].into_iter().chain(others.flat_map(|(_, places)| places.iter().copied())).collect()
    }
}

fn coding(factor: &Factor, rows: &[usize], groups: usize) -> Option<Coding> {
    let mut levels: Vec<usize> = rows.iter().map(|&row| factor.values[row]).collect();
    levels.sort_unstable();
    levels.dedup();
    if levels.len() < 2 {
        return None;
    }
    let numbers: Option<Vec<f64>> = levels.iter().map(|&level| factor.levels[level].number).collect();
    let many = levels.len() > FEW_LEVELS || 2 * levels.len() > groups && levels.len() > 3;
    match numbers {
        Some(numbers) if factor.continuous && many => Some(Coding::Trend { logarithmic: is_wide(&numbers) }),
        _ => Some(Coding::Levels),
    }
}

/// Whether numbers are better seen by their logarithms.
pub(in crate::analysis) fn is_wide(numbers: &[f64]) -> bool {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    least > 0.0 && most >= WIDE * least
}

fn columns(factor: &Factor, coding: Coding, rows: &[usize]) -> Vec<Vec<f64>> {
    match coding {
        Coding::Levels => {
            let mut levels: Vec<usize> = rows.iter().map(|&row| factor.values[row]).collect();
            levels.sort_unstable();
            levels.dedup();
            let is = |level: usize| rows.iter().map(|&row| f64::from(factor.values[row] == level)).collect();
            levels.into_iter().skip(1).map(is).collect()
        }
        Coding::Trend { logarithmic } => {
            let number = |row: &usize| {
                let number = factor.levels[factor.values[*row]].number.unwrap_or(0.0);
                if logarithmic { number.ln() } else { number }
            };
            let numbers: Vec<f64> = rows.iter().map(number).collect();
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // Around zero, so that a line and a parabola are far from parallel.
            let line: Vec<f64> = numbers.iter().map(|x| (2.0 * x - least - most) / (most - least)).collect();
            let parabola = line.iter().map(|x| x * x).collect();
            vec![line, parabola]
        }
    }
}
