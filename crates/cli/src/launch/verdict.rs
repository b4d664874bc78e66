//! How a real program has ended: what is said of it, and the exit code.

use std::collections::BTreeMap;

use hpcast_emulate::{Ended, Ending, Finding, Stage, Whereabouts};
use hpcast_mpi::RunError;
use hpcast_report::RunReport;
use hpcast_units::{Seconds, count};
use serde_json::json;

use super::deadlock;
use crate::failure::Failure;

/// How a run has ended.
pub(super) struct Verdict {
    /// In a word, for programs.
    word: &'static str,
    /// What went wrong.
    message: Option<String>,
    /// Where the ranks were, if that matters.
    state: String,
    simulated: Seconds,
    code: i32,
    warnings: Vec<String>,
}

impl Verdict {
    /// The first end that is not a proper one counts; then what the simulation says.
    pub fn of(finding: &Finding) -> Verdict {
        let mut verdict = Verdict {
            word: "finished",
            message: None,
            state: String::new(),
            simulated: Seconds::new(finding.so_far.as_ref().map_or(0.0, |outcome| outcome.simulated.as_secs())),
            code: 0,
            warnings: unfinalised(&finding.endings),
        };
        if finding.endings.iter().any(|ended| verdict.take(ended)) {
            return verdict;
        }
        match (&finding.outcome, hpcast_emulate::stopped_by()) {
            (Err(_), Some(signal)) => {
                (verdict.word, verdict.code) = ("interrupted", 128 + signal);
                verdict.state = state(&finding.whereabouts);
            }
            (Err(RunError::Deadlock(found)), None) => {
                (verdict.word, verdict.code) = ("deadlock", 1);
                verdict.message = Some(deadlock::text(found, finding));
            }
            (Err(error @ RunError::TooLong), None) => {
                (verdict.word, verdict.code) = ("too long", 2);
                let remedy =
                    "give a smaller problem, or check the speeds of the machine and that no rank polls for ever";
                verdict.message = Some(format!("{error}; {remedy}\n{}", state(&finding.whereabouts).trim_end()));
            }
            (Err(RunError::Interrupted), None) => (verdict.word, verdict.code) = ("interrupted", 130),
            (Ok(_), _) => {}
        }
        verdict
    }

    /// Takes note of how a rank has ended; true if that has ended the run.
    fn take(&mut self, ended: &Ended) -> bool {
        let Ended { rank, at, stage, ending, backtrace } = ended;
        let at = format!("after {:.9} s", at.as_secs());
        let (word, message, code) = match ending {
            Ending::Stopped => return false,
            Ending::Exit(status) if *status & 0xFF == 0 || *stage != Stage::During => {
                self.code = if self.code == 0 { *status & 0xFF } else { self.code };
                return false;
            }
            Ending::Exit(status) => {
                let message = format!("rank {rank} ended with exit code {status} {at}, without MPI_Finalize");
                ("exit", message, *status & 0xFF)
            }
            Ending::Abort(status) => {
                let code = if status & 0xFF == 0 { 1 } else { status & 0xFF };
                ("abort", format!("rank {rank} called MPI_Abort with code {status} {at}"), code)
            }
            Ending::Aborted(what) => ("signal", format!("rank {rank} stopped {at}: {what}"), 134),
            Ending::Fault { function, what, .. } => ("error", format!("rank {rank}: {function}: {what}, {at}"), 1),
            Ending::Signal { number, what, call, .. } => {
                let place = call.map(|name| format!(" in {name}")).unwrap_or_default();
                ("signal", format!("rank {rank} got {what}{place} {at}"), 128 + number)
            }
            Ending::Unsupported(symbol) => ("unsupported", unsupported(*rank, symbol), 1),
        };
        let lines = backtrace.iter().map(|line| format!("\n  {line}")).collect::<String>();
        (self.word, self.message, self.code) = (word, Some(message + &lines), code);
        true
    }

    /// The exit code, unless something went wrong.
    pub fn exit_code(self) -> Result<i32, Failure> {
        match self.message {
            Some(message) => Err(Failure::Program(message)),
            None => Ok(self.code),
        }
    }

    /// Whether the program has not come to its end.
    pub fn is_failure(&self) -> bool {
        self.message.is_some()
    }

    /// What the report says of it.
    pub fn add_to(&self, report: &mut RunReport) {
        report.interrupted = self.word == "interrupted";
        report.more.insert("ended".into(), self.word.into());
        report.more.insert("exit_code".into(), self.code.into());
        if let Some(message) = &self.message {
            report.more.insert("error".into(), json!(message));
        }
        report.warnings.extend(self.warnings.iter().cloned());
    }

    /// Says what went wrong; the exit code is the program's.
    pub fn say_and_exit(self, elapsed: f64) -> ! {
        if let Some(message) = &self.message {
            eprintln!("error: {message}");
        }
        if self.word == "interrupted" {
            eprintln!(
                "\ninterrupted after {}, with {} simulated",
                Seconds::new(elapsed).human(),
                self.simulated.human()
            );
            eprint!("{}", self.state);
        }
        std::process::exit(self.code)
    }
}

fn unsupported(rank: u32, symbol: &str) -> String {
    match symbol {
        "fork" | "vfork" | "pthread_create" => {
            format!(
                "rank {rank} called {symbol}: all ranks run in one process and one thread; ask for --ranks-as processes"
            )
        }
        "dlopen" => format!(
            "rank {rank} loads a library (dlopen), which all ranks in this process would share; ask for --ranks-as processes"
        ),
        "dup2" | "dup3" | "close" | "freopen" => format!(
            "rank {rank} puts a file in the place of its standard input or output ({symbol}), which would be that of all ranks; ask for --ranks-as processes"
        ),
        "kill for another rank" => format!(
            "rank {rank} sends another rank a signal (kill), but all ranks run in one process; ask for --ranks-as processes"
        ),
        symbol if symbol.starts_with("exec") || symbol.starts_with("fexec") => {
            format!(
                "rank {rank} called {symbol}, which would replace all ranks by another program; ask for --ranks-as processes"
            )
        }
        _ => format!(
            "rank {rank} called {symbol}, which hpcast does not have; `hpcast mpi coverage` lists what there is"
        ),
    }
}

/// Ranks that left without a word.
fn unfinalised(endings: &[Ended]) -> Vec<String> {
    let is_meant = |ended: &&Ended| ended.stage == Stage::During && matches!(ended.ending, Ending::Exit(_));
    let ranks: Vec<u32> = endings.iter().filter(is_meant).map(|ended| ended.rank).collect();
    if ranks.is_empty() {
        return Vec::new();
    }
    vec![format!("{} ended without MPI_Finalize", deadlock::ranks(ranks))]
}

/// How many ranks are where, most first.
fn state(whereabouts: &[Whereabouts]) -> String {
    let mut counts: BTreeMap<Whereabouts, u64> = BTreeMap::new();
    for place in whereabouts {
        *counts.entry(*place).or_default() += 1;
    }
    let mut counts: Vec<(Whereabouts, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(place, ranks)| (std::cmp::Reverse(*ranks), *place));
    let line = |(place, ranks): (Whereabouts, u64)| {
        let place = match place {
            Whereabouts::Calling(function) => format!("in {function}"),
            Whereabouts::Computing => "computing".into(),
            Whereabouts::NotBegun => "not begun".into(),
            Whereabouts::Ended => "ended".into(),
        };
        format!("{:>9} {} {place}\n", count(ranks), if ranks == 1 { "rank " } else { "ranks" })
    };
    counts.into_iter().map(line).collect()
}
