//! Several runs of one forecast: what is drawn anew in each of them.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hpcast_models::compute::{Chance, ModelFile, Seeds};
use serde_json::Value;

use crate::failure::Failure;

/// What is not known for sure.
#[derive(Args)]
pub(crate) struct Chances {
    /// Run so many times, each time with the next seed, and say where 95 % of runs lie
    #[arg(long, default_value_t = 1, value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    repeat: u64,
    /// What each run draws anew (default: `calls` for a single run, else all that the model file knows)
    #[arg(long, value_name = "SOURCES", value_delimiter = ',', value_parser = chance(Chance::ALL))]
    vary: Option<Vec<Chance>>,
    /// Also find out how much each source of chance adds: runs everything once more for each of them
    #[arg(long)]
    sources: bool,
}

/// Reads the name of one of these.
pub(crate) fn chance<const N: usize>(known: [Chance; N]) -> impl TypedValueParser<Value = Chance> {
    let of = move |text: String| known.into_iter().find(|chance| chance.name() == text).unwrap_or(Chance::Calls);
    PossibleValuesParser::new(known.map(Chance::name)).map(of)
}

/// What a run draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
    /// What it is known by.
    pub seed: u64,
    pub seeds: Seeds,
    /// What differs from the run with the same seed, if it is that run once more.
    pub redrawn: Option<Chance>,
}

impl Chances {
    /// How many runs each combination of parameters has, but for those that look for sources.
    pub fn runs(&self) -> u64 {
        self.repeat
    }

    /// The runs of each combination of parameters.
    pub fn draws(&self, first: u64, vary: &[Chance]) -> Vec<Draw> {
        let mut draws = Vec::new();
        for number in 0..self.repeat {
            let seed = first + number;
            let draw = |redrawn: Option<Chance>| {
                let seed_of = |chance: Chance| match redrawn {
                    Some(anew) if anew == chance => seed + self.repeat,
                    _ => seed,
                };
                let drawn = |chance: Chance| vary.contains(&chance).then(|| seed_of(chance));
                let seeds = Seeds {
                    calls: drawn(Chance::Calls).unwrap_or(first),
                    coefficients: drawn(Chance::Coefficients),
                    nodes: drawn(Chance::Nodes).unwrap_or(first),
                    day: drawn(Chance::Days).map(|seed| seed as u32),
                    network: drawn(Chance::Network),
                };
                Draw { seed, seeds, redrawn }
            };
            draws.push(draw(None));
            if self.sources {
                draws.extend(vary.iter().map(|chance| draw(Some(*chance))));
            }
        }
        draws
    }

    /// What varies from run to run.
    pub fn varying(&self, first: u64, models: Option<&ModelFile>, processors: u64) -> Result<Vec<Chance>, Failure> {
        if first.checked_add(2 * self.repeat).is_none() {
            return Err(Failure::input("--seed is too large to count on from it; choose a smaller one"));
        }
        if self.sources && self.repeat < 2 {
            return Err(Failure::input("--sources compares several runs; add --repeat 10, or more"));
        }
        let knows = |chance: &Chance| match models {
            Some(models) => models.knows(*chance, processors),
            None => *chance == Chance::Calls,
        };
        let Some(asked) = &self.vary else {
            let all = Chance::ALL.into_iter().filter(knows);
            return Ok(if self.repeat == 1 { vec![Chance::Calls] } else { all.collect() });
        };
        if let Some(unknown) = asked.iter().find(|chance| !knows(chance)) {
            let remedy = match unknown {
                Chance::Calls => "",
                Chance::Coefficients => "`hpcast fit kernel` fits models and says how sure their coefficients are",
                Chance::Nodes | Chance::Days => {
                    "`hpcast fit cluster` finds out how processors and days differ; a processor that the file lists is known"
                }
                Chance::Network => "`hpcast fit network` fits what messages cost and says how sure that is",
            };
            return Err(Failure::input(format!(
                "--vary {}: there is no model file that says how much these differ; {remedy}",
                unknown.name()
            )));
        }
        Ok(Chance::ALL.into_iter().filter(|chance| asked.contains(chance)).collect())
    }

    /// For the report.
    pub fn describe(&self, vary: &[Chance]) -> [(&'static str, Value); 3] {
        let names: Vec<&str> = vary.iter().map(|chance| chance.name()).collect();
        [("repeat", self.repeat.into()), ("vary", names.join(",").into()), ("sources", self.sources.into())]
    }
}
