//! Tuning: the best point of a space with as few runs as can be.
//!
//! A [`Tuner`] is asked which runs to do next and told what they found. It never runs anything, and given the same seed
//! and answers it asks for the same runs.
//!
//! Where cheaper runs exist (a smaller problem, a shorter sample), it begins with many of these and does the best of them
//! again at the next price, up to the full one: successive halving (K. Jamieson, A. Talwalkar, "Non-stochastic best arm
//! identification and hyperparameter optimization", AISTATS 2016; L. Li et al., "Hyperband", JMLR 18, 2018). A model of all
//! that is known (`surrogate.rs`) says which are best, and later where the expected improvement is largest. Without
//! cheaper runs, a Latin hypercube comes first.

mod error;
mod rungs;
mod space;
mod surrogate;

pub use error::TuneError;

use crate::design::{Domain, Setting};
use crate::frame::Better;
use rungs::Rungs;
use space::{Identity, Space};
use surrogate::{Known, Surrogate};

/// What a search may do.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What all runs together may cost; a full run costs 1.
    pub budget: f64,
    /// What cheaper kinds of runs cost, as parts of a full one, in rising order; empty where there are none.
    pub cheaper: Vec<f64>,
    /// Which values are good.
    pub better: Better,
    /// For each factor with levels, whether neighbouring ones are more alike than others, as sizes are and algorithms are
    /// not. Factors beyond its end have no order.
    pub ordered: Vec<bool>,
    /// Seed of the search.
    pub seed: u64,
}

/// A run that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number, from 0, by which the result is told.
    pub number: usize,
    /// What the factors are set to.
    pub point: Vec<Setting>,
    /// Which kind of run: a number of [`Options::cheaper`], or their count for a full run.
    pub fidelity: usize,
    /// What it costs.
    pub cost: f64,
}

/// The best that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The number of its full run.
    pub trial: usize,
    /// What the factors are set to.
    pub point: Vec<Setting>,
    /// What was found.
    pub value: f64,
}

/// What has become of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Asked,
    Failed,
    Found(f64),
}

/// A search.
#[derive(Clone, Debug)]
pub struct Tuner {
    space: Space,
    options: Options,
    rungs: Rungs,
    /// Points to begin with.
    first: Vec<Vec<Setting>>,
    trials: Vec<(Trial, State)>,
}

impl Tuner {
    /// A search in the space of these factors.
    pub fn new(domains: &[Domain], options: Options) -> Result<Tuner, TuneError> {
        let space = Space::new(domains, &options.ordered, options.seed)?;
        error::check(&options)?;
        let rungs = Rungs::new(&options, &space);
        let first = space.first(rungs.planned(0))?;
        Ok(Tuner { space, options, rungs, first, trials: Vec::new() })
    }

    /// Up to `count` runs to do next. None at all: the budget is spent, every point has been tried, or results that were
    /// asked for must be told first.
    pub fn ask(&mut self, count: usize) -> Vec<Trial> {
        let before = self.trials.len();
        let mut surrogate = None;
        while self.trials.len() < before + count {
            let Some((point, fidelity)) = self.next(&mut surrogate) else { break };
            let cost = self.cost(fidelity);
            self.trials.push((Trial { number: self.trials.len(), point, fidelity, cost }, State::Asked));
        }
        self.trials[before..].iter().map(|(trial, _)| trial.clone()).collect()
    }

    /// What a run found; nothing if it failed, in which case its point is not asked for again.
    pub fn tell(&mut self, number: usize, value: Option<f64>) -> Result<(), TuneError> {
        let count = self.trials.len();
        let (_, state) = self.trials.get_mut(number).ok_or(TuneError::UnknownTrial { number, count })?;
        if *state != State::Asked {
            return Err(TuneError::ToldBefore { number });
        }
        *state = value.filter(|value| value.is_finite()).map_or(State::Failed, State::Found);
        Ok(())
    }

    /// The best of all full runs so far.
    pub fn best(&self) -> Option<Best> {
        let full = self.options.cheaper.len();
        let found = self.trials.iter().filter(|(trial, _)| trial.fidelity == full);
        let values = found.filter_map(|(trial, state)| match state {
            State::Found(value) => Some((trial, *value)),
            _ => None,
        });
        let (trial, value) = values.min_by(|a, b| self.loss(a.1).total_cmp(&self.loss(b.1)))?;
        Some(Best { trial: trial.number, point: trial.point.clone(), value })
    }

    /// What all runs that were asked for cost, those that are not told yet included.
    pub fn spent(&self) -> f64 {
        self.trials.iter().map(|(trial, _)| trial.cost).sum()
    }

    fn cost(&self, fidelity: usize) -> f64 {
        self.options.cheaper.get(fidelity).copied().unwrap_or(1.0)
    }

    fn loss(&self, value: f64) -> f64 {
        match self.options.better {
            Better::Lower => value,
            Better::Higher => -value,
        }
    }

    /// The next run, and the model that was made for it, which serves until it is asked again.
    fn next(&self, surrogate: &mut Option<Surrogate>) -> Option<(Vec<Setting>, usize)> {
        let left = self.options.budget - self.spent();
        let full = self.options.cheaper.len();
        for fidelity in 0..=full {
            let asked = self.of(fidelity).count();
            if asked >= self.rungs.planned(fidelity) || self.cost(fidelity) > left + 1e-9 {
                continue;
            }
            if fidelity == 0 {
                match self.first.get(asked) {
                    Some(point) => return Some((point.clone(), 0)),
                    // Fewer different points than planned.
                    None => continue,
                }
            }
            // The best of the cheaper ones are not known before all of these are.
            if self.of(fidelity - 1).any(|(_, state)| *state == State::Asked) {
                return None;
            }
            if let Some(point) = self.promoted(fidelity, surrogate) {
                return Some((point, fidelity));
            }
        }
        if 1.0 > left + 1e-9 {
            return None;
        }
        self.improving(surrogate).map(|point| (point, full))
    }

    fn of(&self, fidelity: usize) -> impl Iterator<Item = &(Trial, State)> {
        self.trials.iter().filter(move |(trial, _)| trial.fidelity == fidelity)
    }

    /// The best point of the next cheaper runs that has not come so far.
    fn promoted(&self, fidelity: usize, surrogate: &mut Option<Surrogate>) -> Option<Vec<Setting>> {
        let known: Vec<Identity> = self.of(fidelity).map(|(trial, _)| space::identity(&trial.point)).collect();
        let candidates = self.of(fidelity - 1).filter(|(trial, state)| {
            matches!(state, State::Found(_)) && !known.contains(&space::identity(&trial.point))
        });
        let candidates: Vec<Vec<Setting>> = candidates.map(|(trial, _)| trial.point.clone()).collect();
        let model = self.model(surrogate)?;
        let expected = |point: &Vec<Setting>| model.at(point).mean;
        candidates.into_iter().min_by(|a, b| expected(a).total_cmp(&expected(b)))
    }

    /// The point with the largest expected improvement among those without a full run.
    fn improving(&self, surrogate: &mut Option<Surrogate>) -> Option<Vec<Setting>> {
        let full = self.options.cheaper.len();
        let tried: Vec<Identity> = self
            .trials
            .iter()
            .filter(|(trial, state)| trial.fidelity == full || *state == State::Failed)
            .map(|(trial, _)| space::identity(&trial.point))
            .collect();
        let best: Vec<Vec<Setting>> = self.best().map(|best| best.point).into_iter().collect();
        let candidates = self.space.candidates(&tried, &best, self.trials.len());
        let model = match self.model(surrogate) {
            Some(model) => model,
            // All runs failed so far: anything new is as good.
            None => return candidates.into_iter().next(),
        };
        let scored = candidates.into_iter().map(|point| (model.improvement(&point), point));
        // The first of equals, so that nothing depends on how a maximum is found.
        let (_, point) = scored.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        model.suppose(&point);
        Some(point)
    }

    /// The model of all that is known, with what is asked for taken to be as expected.
    fn model<'a>(&self, surrogate: &'a mut Option<Surrogate>) -> Option<&'a mut Surrogate> {
        if surrogate.is_none() {
            let known = self.trials.iter().filter_map(|(trial, state)| match state {
                State::Found(value) => {
                    Some(Known { point: trial.point.clone(), fidelity: trial.fidelity, value: *value })
                }
                _ => None,
            });
            let full = self.options.cheaper.len();
            let mut made = Surrogate::new(&self.space, known.collect(), full, self.options.better)?;
            for (trial, state) in &self.trials {
                if *state == State::Asked && trial.fidelity == full {
                    made.suppose(&trial.point);
                }
            }
            *surrogate = Some(made);
        }
        surrogate.as_mut()
    }
}

#[cfg(test)]
mod tests;
