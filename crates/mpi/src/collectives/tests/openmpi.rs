//! The calls of every algorithm of Open MPI, and of its rules, are those of the real library.
//!
//! `tests/openmpi/calls.txt` was recorded from Open MPI 4.1.4 by `tests/openmpi/record.py` beside it: each rank's
//! point-to-point calls in order, blocking or not, with peer and bytes, and its waits.

use super::super::recorder::{Protocol, Recorder, Trace, record};
use super::super::*;
use super::uneven;

const RECORDED: &str = include_str!("../../../tests/openmpi/calls.txt");

/// One recorded call of a collective: `bcast=binary 5 37 4 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    /// Operation, and perhaps algorithm.
    choice: String,
    ranks: u32,
    buffer: Buffer,
    root: u32,
}

impl Case {
    /// The case, the rank, and what the rank did.
    fn parse(line: &str) -> (Case, u32, &str) {
        let (head, calls) = line.split_once(" |").unwrap();
        let mut fields = head.split(' ');
        let choice = fields.next().unwrap().to_owned();
        let mut number = || fields.next().unwrap().parse::<u64>().unwrap();
        let (ranks, count, element, root) = (number() as u32, number(), number(), number() as u32);
        (Case { choice, ranks, buffer: Buffer::new(count, element), root }, number() as u32, calls.trim())
    }

    fn selection(&self) -> Selection {
        let mut selection = Selection::of(Library::OpenMpi);
        if self.choice.contains('=') {
            selection.choose(self.choice.trim_start_matches('i')).unwrap();
        }
        if self.is_nonblocking() { selection.for_nonblocking() } else { selection }
    }

    fn is_nonblocking(&self) -> bool {
        self.choice.starts_with('i')
    }

    /// Does the call on all ranks, with the data of `calls.c`.
    fn run(&self) -> Vec<Trace> {
        let (selection, buffer, root) = (&self.selection(), self.buffer, self.root);
        let operation = self.choice.split('=').next().unwrap().trim_start_matches('i');
        let counts = |rank: u32| buffer.count * uneven(rank);
        let blocks = &Blocks::each(&counts, buffer.element);
        let bytes = |rank: u32| blocks.bytes(rank);
        let built_in = Operator::BuiltIn;
        record(&self.choice, Protocol::Eager, self.ranks, async |channel: Recorder| {
            let channel = &channel;
            let pair = |from: u32, to: u32| buffer.bytes(buffer.count * uneven(from + 2 * to));
            match operation {
                "barrier" => barrier(channel, selection).await,
                "bcast" => bcast(channel, selection, buffer, root).await,
                "reduce" => reduce(channel, selection, buffer, built_in, root).await,
                "allreduce" => allreduce(channel, selection, buffer, built_in).await,
                "gather" => gather(channel, selection, buffer, root).await,
                "gatherv" => gatherv(channel, selection, &bytes, root).await,
                "scatter" => scatter(channel, selection, buffer, root).await,
                "scatterv" => scatterv(channel, selection, &bytes, root).await,
                "allgather" => allgather(channel, selection, buffer).await,
                "allgatherv" => allgatherv(channel, selection, blocks).await,
                "alltoall" => alltoall(channel, selection, buffer).await,
                "alltoallv" => {
                    let (sent, received) = (|to| pair(channel.me(), to), |from| pair(from, channel.me()));
                    alltoallv(channel, selection, &Sizes { sent: &sent, received: &received }).await;
                }
                "reduce-scatter" => reduce_scatter(channel, selection, blocks, built_in).await,
                "reduce-scatter-block" => reduce_scatter_block(channel, selection, buffer, built_in).await,
                "scan" => scan(channel, selection, buffer).await,
                "exscan" => exscan(channel, selection, buffer).await,
                _ => panic!("{operation} is not known"),
            }
        })
    }
}

/// Words that mean the same made the same: a receive or send that is waited for at once is a blocking one.
fn normal(calls: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for call in calls.split_whitespace() {
        match words.last_mut() {
            Some(last) if call == "w1" && last.starts_with(['r', 's']) => *last = last[..1].to_uppercase() + &last[1..],
            _ => words.push(call.to_owned()),
        }
    }
    words
}

/// Open MPI's linear barrier receives from anybody, ours from each: `r*` stands for any receive.
fn same(ours: &str, theirs: &str) -> bool {
    ours == theirs || (theirs.ends_with('*') && ours.starts_with(&theirs[..1]))
}

/// What remains of a non-blocking collective: its sends and its receives, each in order. When its rounds are waited
/// for the record does not tell, and within a round the order is of no account.
fn rounds(calls: &str) -> Vec<String> {
    let messages = |kind: char| calls.split_whitespace().filter(move |call| call.to_ascii_lowercase().starts_with(kind));
    messages('s').chain(messages('r')).map(str::to_ascii_lowercase).collect()
}

#[test]
fn calls_are_those_of_open_mpi() {
    // Another recording can be named, of more ranks and sizes than the one kept here.
    let other = std::env::var("HPCAST_OPENMPI_CALLS").map(|file| std::fs::read_to_string(file).unwrap());
    let text = other.as_deref().unwrap_or(RECORDED);
    let mut traces: Option<(Case, Vec<Trace>)> = None;
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (case, rank, theirs) = Case::parse(line);
        if traces.as_ref().is_none_or(|(last, _)| *last != case) {
            let run = case.run();
            traces = Some((case.clone(), run));
        }
        let (_, traces) = traces.as_ref().unwrap();
        let calls: Vec<String> = traces[rank as usize].calls.iter().map(ToString::to_string).collect();
        let calls = calls.join(" ");
        let compare = if case.is_nonblocking() { rounds } else { normal };
        let (ours, theirs) = (compare(&calls), compare(theirs));
        compared += 1;
        if ours.len() != theirs.len() || !ours.iter().zip(&theirs).all(|(ours, theirs)| same(ours, theirs)) {
            wrong.push(format!("{line}\n    ours: {calls}"));
        }
    }
    let some = wrong[..wrong.len().min(20)].join("\n");
    assert!(wrong.is_empty(), "{} of {compared} differ, among them:\n{some}", wrong.len());
    assert!(compared > 1000, "only {compared} lines were compared");
}
