//! What follows from the rows of a study, in one place for all who tell it.

use std::path::Path;

use hpcast_platform::diagnostic::Source;
use hpcast_study::analysis::effects::{MainEffect, main_effects};
use hpcast_study::analysis::elementary::{self, Elementary};
use hpcast_study::analysis::overhead::{BaseLine, Overhead, overheads};
use hpcast_study::analysis::sobol::{self, Indices};
use hpcast_study::analysis::{AnalysisError, Anova, Ranking};
use hpcast_study::design::Structure;
use hpcast_study::file::Study;
use hpcast_study::store::{StudyRecord, StudyRow};
use hpcast_study::{Better, Frame};
use hpcast_units::{Seconds, count};

/// Effects that are likelier by chance than this are none.
pub(super) const LEVEL: f64 = 0.05;

/// What a study has found about its first response.
pub struct Findings<'s> {
    /// The study.
    pub study: &'s StudyRecord,
    /// Its rows.
    pub rows: &'s [StudyRow],
    /// The rows as a table.
    pub frame: Frame,
    /// Combinations from the best to the worst.
    pub ranking: Result<Ranking, AnalysisError>,
    /// Which factors matter.
    pub anova: Result<Anova, AnalysisError>,
    /// What each level does.
    pub effects: Vec<MainEffect>,
    /// What others cost more than the base line.
    pub overheads: Vec<Overhead>,
    /// For factors of the base line, what their other levels cost more, all else being the same.
    pub by_level: Vec<(usize, Vec<Overhead>)>,
    /// Of a design for Sobol' indices.
    pub sobol: Option<Indices>,
    /// Of a design for elementary effects.
    pub morris: Vec<Option<Elementary>>,
}

impl<'s> Findings<'s> {
    /// Of the rows that are known; `uncertainty` is, for each of them, the standard deviation of the forecast's own error.
    pub fn new(study: &'s StudyRecord, rows: &'s [StudyRow], uncertainty: Option<&[f64]>) -> Findings<'s> {
        let frame = Frame::of(study, rows);
        let ranking = Ranking::new(&frame, 0, uncertainty);
        let structure = structure(study);
        let anova = match structure {
            // These designs have their own answer to the question what matters.
            Some(Structure::Saltelli(_) | Structure::Morris(_)) => Err(AnalysisError::NothingVaries),
            _ => Anova::new(&frame, 0),
        };
        let effects = anova.as_ref().ok().and_then(|anova| main_effects(&frame, 0, anova).ok()).unwrap_or_default();
        let sobol = match &structure {
            Some(Structure::Saltelli(layout)) => sobol::indices(&frame, 0, *layout, 0).ok(),
            _ => None,
        };
        let morris = match &structure {
            Some(Structure::Morris(trajectories)) => elementary::effects(&frame, 0, trajectories).unwrap_or_default(),
            _ => Vec::new(),
        };
        let overheads = base_point(study, rows)
            .and_then(|point| overheads(&frame, 0, BaseLine::Point(point)).ok())
            .unwrap_or_default();
        let by_level = base_levels(study, &frame)
            .filter_map(|(factor, level)| {
                Some((factor, self::overheads(&frame, 0, BaseLine::Level { factor, level }).ok()?))
            })
            .collect();
        Findings { study, rows, frame, ranking, anova, effects, overheads, by_level, sobol, morris }
    }

    /// The levels of a point, such as `nb 256, depth 1`.
    pub fn levels(&self, point: usize) -> String {
        let Some(row) = self.rows.iter().find(|row| row.point == point as u64) else { return String::new() };
        let levels = self.study.factors.iter().zip(&row.levels);
        levels.map(|(factor, (level, _))| format!("{} {level}", factor.name)).collect::<Vec<_>>().join(", ")
    }

    /// The answer in a sentence or two.
    pub fn answer(&self) -> String {
        let done = self.rows.iter().filter(|row| row.is_done).count() as u64;
        let response = self.study.responses.first().map_or("", |response| response.name.as_str());
        let mut said = Vec::new();
        if let Ok(ranking) = &self.ranking
            && let Some(best) = ranking.best()
        {
            let value = with_unit(response, best.mean);
            let interval = best.interval.map_or(String::new(), |(low, high)| {
                format!(" ({} to {})", with_unit(response, low), with_unit(response, high))
            });
            let what = match (response, self.better()) {
                ("seconds", Better::Lower) => "shortest time".to_owned(),
                (_, Better::Lower) => format!("lowest {response}"),
                (_, Better::Higher) => format!("highest {response}"),
            };
            said.push(format!("The {what}, {value}{interval}, comes with {}.", self.levels(best.point)));
            match ranking.as_good_as_best().count() {
                0 | 1 => {}
                2 => said.push("Another combination cannot be told from it.".into()),
                more => said.push(format!("{} others cannot be told from it.", more - 1)),
            }
        }
        said.extend(self.influence());
        let (all, ended) = (self.study.rows, self.rows.len() as u64);
        if ended > done {
            said.push(format!("{} of {} runs have failed.", count(ended - done), count(all)));
        }
        if ended < all {
            said.push(format!("So far {} of {} runs are done.", count(done), count(all)));
        }
        said.join(" ")
    }

    /// Which factor matters most.
    fn influence(&self) -> Option<String> {
        let name = |factor: usize| self.study.factors.get(factor).map_or("", |factor| factor.name.as_str());
        if let Some(indices) = &self.sobol {
            let (factor, index) = indices
                .factors
                .iter()
                .enumerate()
                .max_by(|one, other| one.1.total.value.total_cmp(&other.1.total.value))?;
            let part = 100.0 * index.total.value;
            return Some(format!("{} matters most: {part:.0} % of the variance has to do with it.", name(factor)));
        }
        if !self.morris.is_empty() {
            let known =
                self.morris.iter().enumerate().filter_map(|(factor, effect)| Some((factor, effect.as_ref()?.absolute)));
            let (factor, _) = known.max_by(|one, other| one.1.total_cmp(&other.1))?;
            return Some(format!("{} matters most.", name(factor)));
        }
        // That the only factor explains all says nothing.
        let anova = self.anova.as_ref().ok().filter(|_| self.study.factors.len() > 1)?;
        let counts = |term: &&hpcast_study::analysis::anova::Term| term.test.is_none_or(|test| test.p < LEVEL);
        let first = anova.terms.iter().filter(counts).max_by(|one, other| one.share.total_cmp(&other.share))?;
        let names: Vec<&str> = first.factors.iter().map(|factor| name(*factor)).collect();
        let (names, verb) = (names.join(" together with "), if names.len() > 1 { "explain" } else { "explains" });
        Some(format!("{names} {verb} {:.0} % of the differences.", 100.0 * first.share))
    }

    /// The factors that the plot begins with: what it goes over, and what it is coloured by. A line over numbers says most;
    /// colours are for what matters most beside them.
    pub(super) fn axes(&self) -> (usize, Option<usize>) {
        let mut factors: Vec<usize> = (0..self.study.factors.len()).collect();
        let share = |factor: &usize| {
            let terms = self.anova.iter().flat_map(|anova| &anova.terms);
            terms.filter(|term| term.factors.contains(factor)).map(|term| term.share).fold(0.0, f64::max)
        };
        // A stable order, so that equal ones stay in that of the study.
        factors.sort_by(|one, other| share(other).total_cmp(&share(one)));
        let varied = |factor: &usize| self.frame.factors[*factor].levels.len();
        let numbers = factors.iter().find(|factor| self.study.factors[**factor].numeric && varied(factor) > 2);
        // What matters most is often a pair: the one with more levels is easier to see along the axis.
        let x = numbers.or_else(|| factors.iter().take(2).rev().max_by_key(|factor| varied(factor)));
        let x = x.copied().unwrap_or(0);
        (x, factors.into_iter().find(|factor| *factor != x))
    }

    pub(super) fn better(&self) -> Better {
        self.study.responses.first().map_or(Better::Lower, |response| response.better())
    }
}

/// How the points of its design belong together, as its file says. A search does not follow the design of its file.
fn structure(study: &StudyRecord) -> Option<Structure> {
    let source = Source::new("study.toml", study.file.as_str());
    let parsed = Study::parse(&source, Path::new("")).ok()?;
    if parsed.design.name() == study.design { parsed.structure() } else { None }
}

/// The point of the base line, if all its levels are given and it was run.
fn base_point(study: &StudyRecord, rows: &[StudyRow]) -> Option<usize> {
    if study.baseline.is_empty() {
        return None;
    }
    let is_base = |row: &&StudyRow| {
        study.baseline.iter().all(|(name, text)| {
            let place = study.factors.iter().position(|factor| factor.name == *name);
            place.is_some_and(|place| row.levels[place].0 == *text)
        })
    };
    rows.iter().find(is_base).map(|row| row.point as usize)
}

/// A figure of a run as it is told in a sentence: times have units.
pub fn with_unit(name: &str, value: f64) -> String {
    let is_time = name == "seconds" || name.ends_with("_seconds");
    if is_time { Seconds::new(rounded(value)).to_string() } else { figure(value) }
}

/// To four digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The factors of the base line, in the order of the study, with their levels there.
fn base_levels<'s>(study: &'s StudyRecord, frame: &'s Frame) -> impl Iterator<Item = (usize, usize)> + 's {
    study.factors.iter().enumerate().filter_map(|(factor, column)| {
        let (_, text) = study.baseline.iter().find(|(name, _)| *name == column.name)?;
        Some((factor, frame.factors[factor].levels.iter().position(|level| level.text == *text)?))
    })
}

/// Four digits are enough to compare.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let before = if size == 0.0 { 0.0 } else { size.log10().floor() };
    let digits = (3.0 - before).max(0.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        for (value, text) in [
            (123456.7, "123457"),
            (1000.4, "1000"),
            (12.3456, "12.35"),
            (0.5, "0.5000"),
            (-0.001173519, "-0.001174"),
            (1.5e-6, "1.500e-6"),
            (0.0, "0.000"),
        ] {
            assert_eq!(figure(value), text);
        }
    }
}
