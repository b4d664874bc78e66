//! The calls of every algorithm, and of the rules, are those of the real libraries.
//!
//! `tests/libraries/openmpi.txt` and `mpich.txt` were recorded from Open MPI 4.1.4 and MPICH 4.0.2 by `record.py`
//! beside them: each rank's point-to-point calls in order, with peer and bytes; of Open MPI also whether they block,
//! and the waits.

use super::super::recorder::{Protocol, Recorder, Trace, record};
use super::super::*;
use super::uneven;

const OPENMPI: &str = include_str!("../../../tests/libraries/openmpi.txt");
const MPICH: &str = include_str!("../../../tests/libraries/mpich.txt");

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

    fn selection(&self, library: Library) -> Selection {
        let mut selection = Selection::of(library);
        if self.choice.contains('=') {
            selection.choose(self.choice.trim_start_matches('i')).unwrap();
        }
        if self.is_nonblocking() { selection.for_nonblocking() } else { selection }
    }

    fn is_nonblocking(&self) -> bool {
        self.choice.starts_with('i')
    }

    /// Does the call on all ranks, with the data of `perform.h`.
    fn run(&self, library: Library) -> Vec<Trace> {
        let (selection, buffer, root) = (&self.selection(library), self.buffer, self.root);
        let operation = self.choice.split('=').next().unwrap().trim_start_matches('i');
        let operator = match operation {
            _ if operation.ends_with("-own") => Operator::Commutative,
            _ if operation.ends_with("-ordered") => Operator::Ordered,
            _ => Operator::BuiltIn,
        };
        let operation = operation.trim_end_matches("-own").trim_end_matches("-ordered");
        let counts = |rank: u32| buffer.count * uneven(rank);
        let blocks = &Blocks::each(&counts, buffer.element);
        let bytes = |rank: u32| blocks.bytes(rank);
        record(&self.choice, Protocol::Eager, self.ranks, async |channel: Recorder| {
            let channel = &channel;
            let pair = |from: u32, to: u32| buffer.bytes(buffer.count * uneven(from + 2 * to));
            match operation {
                "barrier" => barrier(channel, selection).await,
                "bcast" => bcast(channel, selection, buffer, root).await,
                "reduce" => reduce(channel, selection, buffer, operator, root).await,
                "allreduce" => allreduce(channel, selection, buffer, operator).await,
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
                "reduce-scatter" => reduce_scatter(channel, selection, blocks, operator).await,
                "reduce-scatter-block" => reduce_scatter_block(channel, selection, buffer, operator).await,
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

/// Sends and receives, each in order, blocking or not. More is not known of MPICH, nor of non-blocking collectives:
/// when a round of theirs is waited for the record does not tell, and within a round the order is of no account.
fn messages(calls: &str) -> Vec<String> {
    let all = calls.to_ascii_lowercase();
    let (sends, receives): (Vec<&str>, Vec<&str>) =
        all.split_whitespace().filter(|call| !call.starts_with('w')).partition(|call| call.contains(':'));
    sends.into_iter().chain(receives).map(str::to_owned).collect()
}

/// `r*` is a receive from anybody, where ours receives from each; `s3:?` a send of a size that was not told.
fn same(ours: &str, theirs: &str) -> bool {
    let known = theirs.trim_end_matches(['*', '?']);
    if known.len() < theirs.len() { ours.starts_with(known) } else { ours == theirs }
}

fn compare(library: Library, kept: &str, variable: &str) {
    // Another recording can be named, of more ranks and sizes than the one kept here.
    let other = std::env::var(variable).map(|file| std::fs::read_to_string(file).unwrap());
    let text = other.as_deref().unwrap_or(kept);
    let mut traces: Option<(Case, Vec<Trace>)> = None;
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (case, rank, theirs) = Case::parse(line);
        if traces.as_ref().is_none_or(|(last, _)| *last != case) {
            let run = case.run(library);
            traces = Some((case.clone(), run));
        }
        let (_, traces) = traces.as_ref().unwrap();
        let calls: Vec<String> = traces[rank as usize].calls.iter().map(ToString::to_string).collect();
        let calls = calls.join(" ");
        let view = if case.is_nonblocking() || library == Library::Mpich { messages } else { normal };
        let (ours, theirs) = (view(&calls), view(theirs));
        compared += 1;
        if ours.len() != theirs.len() || !ours.iter().zip(&theirs).all(|(ours, theirs)| same(ours, theirs)) {
            wrong.push(format!("{line}\n    ours: {calls}"));
        }
    }
    let some = wrong[..wrong.len().min(20)].join("\n");
    assert!(wrong.is_empty(), "{} of {compared} differ, among them:\n{some}", wrong.len());
    assert!(compared > 1000, "only {compared} lines were compared");
}

#[test]
fn calls_are_those_of_open_mpi() {
    compare(Library::OpenMpi, OPENMPI, "HPCAST_OPENMPI_CALLS");
}

#[test]
fn calls_are_those_of_mpich() {
    compare(Library::Mpich, MPICH, "HPCAST_MPICH_CALLS");
}
