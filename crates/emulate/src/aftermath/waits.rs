//! Who waits for whom.

use std::collections::BTreeMap;
use std::rc::Rc;

use hpcast_mpi::{Awaited, Deadlock, Wait};

use super::communicator;
use crate::process::Process;

/// A rank, or one of its threads, that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The rank.
    pub rank: u32,
    /// The function that it is in.
    pub call: &'static str,
    /// What it waits for.
    pub awaited: Awaited,
    /// In which communicator, if that is known.
    pub communicator: Option<String>,
}

/// What each thread of each rank waits for: of several things the first that names somebody.
pub(crate) fn waits(deadlock: &Deadlock, processes: &[Rc<Process>]) -> Vec<Waiting> {
    let ranks = deadlock.waits.chunk_by(|a, b| a.rank == b.rank);
    let known = ranks.filter_map(|waits| Some((processes.get(waits[0].rank as usize)?, waits)));
    known.flat_map(|(process, waits)| of_rank(process, waits)).collect()
}

/// What each thread of a rank waits for.
fn of_rank(process: &Process, waits: &[Wait]) -> Vec<Waiting> {
    let calls = process.calls();
    // What goes on in the background counts for the thread that is named first.
    let place = |wait: &Wait| calls.iter().position(|(task, _)| *task == wait.task).unwrap_or(0);
    let describe = |thread: usize| {
        let mut waits = waits.iter().filter(|wait| place(wait) == thread);
        let wait = waits.clone().find(|wait| wait.awaited.peer().is_some()).or(waits.next())?;
        let channel = match wait.awaited {
            Awaited::Message { channel, .. } | Awaited::Receiver { channel, .. } => Some(channel),
            Awaited::Probed | Awaited::Background(_) => None,
        };
        Some(Waiting {
            rank: wait.rank,
            call: calls.get(thread).map_or("its own code", |(_, call)| call),
            awaited: wait.awaited,
            communicator: channel.map(|channel| communicator(process, channel.context)),
        })
    };
    (0..calls.len().max(1)).filter_map(describe).collect()
}

/// Ranks that wait for each other in a circle, if some do: each for the next, and the last for the first.
pub fn circle(waits: &[Waiting]) -> Vec<u32> {
    // Of several threads the first that waits for somebody counts.
    let edges = waits.iter().rev().filter_map(|wait| Some((wait.rank, wait.awaited.peer()?)));
    let peers: BTreeMap<u32, u32> = edges.collect();
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    for &start in peers.keys() {
        let mut rank = start;
        // As far as nobody has gone before.
        while !seen.contains_key(&rank) {
            seen.insert(rank, start);
            let Some(&next) = peers.get(&rank) else { break };
            rank = next;
        }
        if seen.get(&rank) == Some(&start) && peers.contains_key(&rank) {
            let around = std::iter::successors(Some(rank), |rank| peers.get(rank).copied());
            let first = rank;
            let rest = around.skip(1).take_while(|&next| next != first);
            return std::iter::once(first).chain(rest).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcast_mpi::{Channel, Context};

    /// Ranks that wait for messages of others.
    fn waiting(edges: &[(u32, Option<u32>)]) -> Vec<Waiting> {
        let channel = Channel { context: Context::told(0), is_hidden: false };
        let awaited = |from| Awaited::Message { from, tag: Some(1), channel };
        let wait = |&(rank, from)| Waiting { rank, call: "MPI_Recv", awaited: awaited(from), communicator: None };
        edges.iter().map(wait).collect()
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(circle(&waiting(&[(0, Some(1)), (1, Some(2)), (2, Some(1)), (3, Some(0))])), [1, 2]);
        assert_eq!(circle(&waiting(&[(0, Some(0))])), [0]);
        assert_eq!(circle(&waiting(&[(4, Some(2)), (2, Some(9)), (5, Some(7)), (7, Some(5))])), [5, 7]);
    }

    #[test]
    fn chains_are_no_circles() {
        assert!(circle(&waiting(&[(0, Some(1)), (1, Some(2)), (2, None), (3, Some(0)), (4, Some(3))])).is_empty());
        assert!(circle(&waiting(&[(3, Some(0)), (0, Some(1))])).is_empty());
        assert!(circle(&[]).is_empty());
    }
}
