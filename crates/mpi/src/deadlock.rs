//! Ranks that wait for each other for ever: who they are and in which calls they wait.

use hpcast_units::Time;

use crate::state::State;

/// How many waiting ranks are named.
const NAMED: usize = 16;

/// No rank can go on.
#[derive(Debug)]
pub struct Deadlock {
    /// When nothing more happened.
    pub at: Time,
    /// Ranks that wait, with what they wait for; at most 16.
    pub waiting: Vec<(u32, String)>,
    /// How many ranks wait in all.
    pub count: usize,
}

impl std::error::Error for Deadlock {}

impl std::fmt::Display for Deadlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "deadlock after {:.9} s: {} ranks wait for something that never comes",
            self.at.as_secs(),
            self.count
        )?;
        for (rank, call) in &self.waiting {
            writeln!(f, "  rank {rank} waits in {call}")?;
        }
        if self.count > self.waiting.len() {
            writeln!(f, "  … and {} more ranks", self.count - self.waiting.len())?;
        }
        write!(f, "check that every send has its receive, with the same communicator and tag")
    }
}

impl Deadlock {
    pub(crate) fn of(state: &State, ranks: u32) -> Deadlock {
        let mut waiting: Vec<(u32, String)> = state
            .requests()
            .filter(|(_, request)| request.waited && request.done == Time::NEVER)
            .map(|(_, request)| (state.tasks[request.task as usize].rank, request.call.to_string()))
            .collect();
        waiting.extend(state.probing().map(|rank| (rank, "probe".to_owned())));
        waiting.sort();
        let count = waiting.chunk_by(|a, b| a.0 == b.0).count();
        debug_assert!(count <= ranks as usize);
        waiting.dedup_by_key(|(rank, _)| *rank);
        waiting.truncate(NAMED);
        Deadlock { at: state.now, waiting, count }
    }
}
