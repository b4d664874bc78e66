//! `hpcast tune`: the best combination of a study's factors with as few runs as can be.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use hpcast_study::design::{Domain, Setting};
use hpcast_study::execute::Ended;
use hpcast_study::file::{Study, StudyFactor, Values};
use hpcast_study::planned::Planner;
use hpcast_study::tune::{Options as Search, Trial, Tuner};
use hpcast_units::{Time, count};

use crate::failure::Failure;
use crate::running::Running;
use crate::study::{Pool, figure_of, version};

/// Options of `hpcast tune`.
#[derive(Args)]
pub(crate) struct Options {
    /// The study: its factors are searched, whatever its design; its first response is what is wanted
    file: PathBuf,
    /// What all runs together may cost, in full runs
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    budget: u32,
    /// Of the search
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    pool: Pool,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let running = Running::begin("tune".into());
    let study = Study::load(&options.file)?;
    crate::study::check_levels(&study)?;
    let mut search = Hunt::new(&study, options)?;
    let mut tell = running.progress(0.0..1.0, |_, _| Vec::new());
    let workers = options.pool.workers();
    loop {
        let trials = search.tuner.ask(workers);
        if trials.is_empty() {
            break;
        }
        search.try_all(&trials, options, &running)?;
        if running.interrupt().load(Ordering::Relaxed) {
            break;
        }
        if let Some(tell) = &mut tell {
            tell(search.tuner.spent() / f64::from(options.budget), Time::ZERO);
        }
    }
    let interrupted = running.interrupt().load(Ordering::Relaxed);
    drop(tell);
    running.end();
    crate::print(&search.text())?;
    if interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// A search that is going on.
struct Hunt<'s> {
    study: &'s Study,
    tuner: Tuner,
    planner: Planner<'s>,
    /// What was tried: levels, kind of run, value.
    tried: Vec<(String, bool, Option<f64>)>,
}

impl<'s> Hunt<'s> {
    fn new(study: &'s Study, options: &Options) -> Result<Hunt<'s>, Failure> {
        let better = study.responses.first().map(|response| response.better);
        let is_ordered = |factor: &StudyFactor| match &factor.values {
            Values::Levels(levels) => levels.iter().all(|level| level.number.is_some()),
            Values::Range(_) => true,
        };
        let search = Search {
            budget: f64::from(options.budget),
            cheaper: study.cheap.iter().map(|(_, cost)| *cost).collect(),
            better: better.ok_or_else(|| Failure::input("the study looks at nothing; add `responses`"))?,
            ordered: study.factors.iter().map(is_ordered).collect(),
            seed: options.seed,
        };
        let tuner = Tuner::new(&study.domains(), search).map_err(|error| {
            let said = error.to_string();
            let (message, remedy) = said.split_once("; ").unwrap_or((&said, ""));
            Failure::from(study.error("design", message, remedy))
        })?;
        Ok(Hunt { study, tuner, planner: Planner::new(study, &version())?, tried: Vec::new() })
    }

    fn is_full(&self, trial: &Trial) -> bool {
        self.study.cheap.is_none() || trial.fidelity > 0
    }

    /// Does some runs and tells the search what they found.
    fn try_all(&mut self, trials: &[Trial], options: &Options, running: &Running) -> Result<(), Failure> {
        let mut runs = Vec::new();
        for trial in trials {
            let cheap = self.study.cheap.as_ref().filter(|_| !self.is_full(trial));
            let more = cheap.map_or(&[][..], |(words, _)| words);
            runs.push(self.planner.run(trial.number as u64, &trial.point, more)?);
        }
        let mut values = vec![None; trials.len()];
        let tasks =
            runs.iter().enumerate().map(|(number, run)| Pool::task(number, run.inputs.clone())).collect::<Vec<_>>();
        let figure = &self.study.responses[0].figure;
        options.pool.run(&self.study.folder, &tasks, self.planner.documents(), running, |ended: Vec<Ended>| {
            for Ended { number, ending } in ended {
                values[number] = ending.result.as_ref().ok().and_then(|outputs| figure_of(figure, outputs));
            }
            Ok(())
        })?;
        for ((trial, run), value) in trials.iter().zip(&runs).zip(&values) {
            if running.interrupt().load(Ordering::Relaxed) && value.is_none() {
                continue;
            }
            let levels = self.study.factors.iter().zip(&run.levels);
            let levels: Vec<String> = levels.map(|(factor, (level, _))| format!("{} {level}", factor.name)).collect();
            self.tried.push((levels.join(", "), self.is_full(trial), *value));
            self.tuner.tell(trial.number, *value).map_err(|error| Failure::input(error.to_string()))?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        let response = &self.study.responses[0].name;
        let mut text = format!("{}\n", self.study.title);
        for (levels, full, value) in &self.tried {
            let kind = if *full { "run  " } else { "cheap" };
            let value = value.map_or("failed".into(), |value| value.to_string());
            text += &format!("  {kind}  {levels}: {value}\n");
        }
        let full = self.tried.iter().filter(|(_, full, _)| *full).count() as u64;
        let cheap = self.tried.len() as u64 - full;
        text += &format!(
            "{} full runs and {} cheap ones, as much as {:.1} full runs",
            count(full),
            count(cheap),
            self.tuner.spent()
        );
        text += &match combinations(&self.study.domains()) {
            Some(all) => format!(", of {} combinations\n", count(all)),
            None => "\n".into(),
        };
        match self.tuner.best() {
            Some(best) => {
                let levels =
                    self.study.factors.iter().zip(&best.point).map(|(factor, setting)| level(factor, *setting));
                text + &format!("best  {response} {}: {}\n", best.value, levels.collect::<Vec<_>>().join(", "))
            }
            None => text + "no full run has found anything\n",
        }
    }
}

fn level(factor: &StudyFactor, setting: Setting) -> String {
    let text = match (&factor.values, setting) {
        (Values::Levels(levels), Setting::Level(number)) => levels[number].text.clone(),
        (Values::Range(range), Setting::Coordinate(place)) => range.at(place, &factor.target).text,
        _ => String::new(),
    };
    format!("{} {text}", factor.name)
}

/// How many there are, if they can be counted.
fn combinations(domains: &[Domain]) -> Option<u64> {
    domains.iter().try_fold(1u64, |all, domain| all.checked_mul(domain.levels()? as u64))
}
