//! `hpcast tune`: the best combination of a study's factors with as few runs as can be.

mod kept;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use hpcast_study::design::{Domain, Setting};
use hpcast_study::execute::Ended;
use hpcast_study::file::{Study, StudyFactor, Values};
use hpcast_study::planned::{PlannedRun, Planner};
use hpcast_study::run::Outputs;
use hpcast_study::tune::{Options as Search, Trial, Tuner};
use hpcast_units::{Time, count};

use crate::failure::Failure;
use crate::running::Running;
use crate::study::{Pool, figure_of, version};
use kept::Kept;

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
    /// Keep all that is tried in this folder; what is there already is not done again
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
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
    kept: Option<Kept>,
    /// Processor time of the cheap runs and of the full ones that were done now, and how many.
    spent: [(f64, u32); 2],
}

/// A cheap run may cost so many times what the study says, or so many times less, before it is told.
const MISJUDGED: f64 = 2.0;

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
        let name = options.file.file_stem().unwrap_or_default().to_string_lossy();
        let open = |out: &PathBuf| Kept::open(out, study, &name, options.budget);
        Ok(Hunt {
            study,
            tuner,
            planner: Planner::new(study, &version())?,
            tried: Vec::new(),
            kept: options.out.as_ref().map(open).transpose()?,
            spent: Default::default(),
        })
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
        let found = self.do_runs(trials, &runs, options, running)?;
        for ((trial, run), outputs) in trials.iter().zip(&runs).zip(&found) {
            if running.interrupt().load(Ordering::Relaxed) && outputs.is_none() {
                continue;
            }
            let is_full = self.is_full(trial);
            if let (Some(kept), Some(outputs), true) = (&mut self.kept, outputs, is_full) {
                kept.add_row(self.study, run, outputs)?;
            }
            let value = outputs.as_ref().and_then(|outputs| figure_of(&self.study.responses[0].figure, outputs));
            let levels = self.study.factors.iter().zip(&run.levels);
            let levels: Vec<String> = levels.map(|(factor, (level, _))| format!("{} {level}", factor.name)).collect();
            self.tried.push((levels.join(", "), is_full, value));
            self.tuner.tell(trial.number, value).map_err(|error| Failure::input(error.to_string()))?;
        }
        Ok(())
    }

    /// What runs find, those that are not known from before done now.
    fn do_runs(
        &mut self,
        trials: &[Trial],
        runs: &[PlannedRun],
        options: &Options,
        running: &Running,
    ) -> Result<Vec<Option<Outputs>>, Failure> {
        let mut known = match &mut self.kept {
            Some(kept) => {
                kept.add_documents(self.planner.documents())?;
                kept.known(runs)?
            }
            None => Default::default(),
        };
        let mut found: Vec<Option<Outputs>> = runs.iter().map(|run| known.remove(&run.inputs.key())).collect();
        let missing = (0..runs.len()).filter(|number| found[*number].is_none());
        let tasks: Vec<_> = missing.map(|number| Pool::task(number, runs[number].inputs.clone())).collect();
        let full: Vec<bool> = trials.iter().map(|trial| self.is_full(trial)).collect();
        let Hunt { study, planner, kept, spent, .. } = self;
        options.pool.run(&study.folder, &tasks, planner.documents(), running, |all: Vec<Ended>| {
            for ended in all {
                if let Some(kept) = kept {
                    kept.add_run(&runs[ended.number], &ended)?;
                }
                let (seconds, count) = &mut spent[usize::from(full[ended.number])];
                *seconds += ended.ending.cost.cpu_seconds;
                *count += 1;
                found[ended.number] = ended.ending.result.ok();
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// What cheap runs really cost, where that is far from what the study says.
    fn misjudged(&self) -> Option<String> {
        let (_, assumed) = self.study.cheap.as_ref()?;
        let mean = |(seconds, count): (f64, u32)| (count > 0 && seconds > 0.0).then(|| seconds / f64::from(count));
        let measured = mean(self.spent[0])? / mean(self.spent[1])?;
        let is_far = measured > assumed * MISJUDGED || measured < assumed / MISJUDGED;
        is_far.then(|| {
            format!("cheap runs took {measured:.2} of the processor time of full ones; cheap-cost says {assumed}\n")
        })
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
        text += &self.misjudged().unwrap_or_default();
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
