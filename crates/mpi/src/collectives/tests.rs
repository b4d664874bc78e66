//! Every algorithm, on many numbers of ranks, sizes and roots: it ends, whatever the protocol; every message is
//! received; data can have reached whoever must have it; both protocols see the same messages.

use super::algorithm::Algorithm;
use super::recorder::{Protocol, Recorder, Trace, record};
use super::*;

mod costs;
mod decisions;
mod libraries;
mod names;

/// Whose start must precede whose end.
#[derive(Clone, Copy)]
enum Reach {
    /// Everybody's everybody's.
    All,
    /// The root's everybody's.
    From(u32),
    /// Everybody's the root's.
    To(u32),
    /// The ranks' up to each.
    Prefix,
    /// The ranks' before each.
    Before,
}

impl Reach {
    fn must_know(self, rank: u32, count: u32) -> u64 {
        let below = |rank: u32| 1_u64.checked_shl(rank).map_or(u64::MAX, |bit| bit - 1);
        match self {
            Reach::All => below(count),
            Reach::From(root) => 1 << root,
            Reach::To(root) if rank == root => below(count),
            Reach::To(_) => 0,
            Reach::Prefix => below(rank + 1),
            Reach::Before => below(rank),
        }
    }
}

fn check<F: Future<Output = ()>>(what: &str, count: u32, reach: Reach, program: impl Fn(Recorder) -> F) -> Vec<Trace> {
    let traces = record(what, Protocol::Rendezvous, count, &program);
    for (rank, (rendezvous, eager)) in traces.iter().zip(record(what, Protocol::Eager, count, &program)).enumerate() {
        let must = reach.must_know(rank as u32, count);
        for trace in [rendezvous, &eager] {
            assert_eq!(trace.knows & must, must, "{what}, {count} ranks: rank {rank} has not heard of all it needs");
        }
        assert_eq!(rendezvous.calls, eager.calls, "{what}, {count} ranks");
        assert_eq!(rendezvous.combined, eager.combined);
    }
    traces
}

/// Numbers of ranks: all small ones, and larger ones at and beside powers of two.
const RANKS: [u32; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33, 64];
/// Counts of elements: none, one, fewer than ranks, odd, round, many.
const COUNTS: [u64; 6] = [0, 1, 5, 33, 64, 1001];

fn roots(count: u32) -> impl Iterator<Item = u32> {
    let mut roots = vec![0, 1 % count, count / 2, count - 1];
    roots.dedup();
    roots.into_iter()
}

/// All algorithms with default parameters, and once more with each parameter set to something small.
fn variants<A: Algorithm>(ranks: u32) -> Vec<A> {
    let mut variants = A::ALL.to_vec();
    for &algorithm in A::ALL {
        let mut changed = algorithm;
        for (name, value) in changed.parameters() {
            *value = if name == "segment" { 36 } else { 3 };
        }
        if changed != algorithm {
            variants.push(changed);
        }
    }
    variants.retain(|algorithm| algorithm.supports(ranks));
    variants
}

/// Runs every variant of an operation on every number of ranks and every count of 4-byte elements.
fn for_all<A: Algorithm>(mut test: impl FnMut(A, u32, Buffer, &str)) {
    for ranks in RANKS.into_iter().filter(|&ranks| ranks > 1) {
        for algorithm in variants::<A>(ranks) {
            for count in COUNTS {
                let what = format!("{} {algorithm:?}, {count} elements", A::OPERATION);
                test(algorithm, ranks, Buffer::new(count, 4), &what);
            }
        }
    }
}

fn selections() -> [Selection; 2] {
    Library::ALL.map(Selection::of)
}

#[test]
fn barriers_hold_everybody() {
    for ranks in RANKS.into_iter().filter(|&ranks| ranks > 1) {
        for algorithm in variants::<Barrier>(ranks) {
            let run = async |channel: Recorder| algorithm.run(&channel).await;
            let traces = check(&format!("barrier {algorithm:?}"), ranks, Reach::All, run);
            assert!(traces.iter().flat_map(Trace::sent).all(|(_, bytes)| bytes == 0));
        }
    }
}

#[test]
fn broadcasts_reach_everybody() {
    for_all(|algorithm: Bcast, ranks, buffer, what| {
        for root in roots(ranks) {
            // With no data the scattering broadcasts send nothing, as in the real libraries.
            let reach = if buffer.count == 0 { Reach::To(ranks) } else { Reach::From(root) };
            let run = async |channel: Recorder| algorithm.run(&channel, buffer, root).await;
            check(&format!("{what}, root {root}"), ranks, reach, run);
        }
    });
}

#[test]
fn reductions_hear_everybody() {
    for_all(|algorithm: Reduce, ranks, buffer, what| {
        for (root, operator) in roots(ranks).flat_map(|root| [(root, Operator::BuiltIn), (root, Operator::Ordered)]) {
            let run = async |channel: Recorder| algorithm.run(&channel, buffer, operator, root).await;
            let traces = check(&format!("{what}, root {root}, {operator:?}"), ranks, Reach::To(root), run);
            // Every operand but one is combined into the result.
            let combined: u64 = traces.iter().map(|trace| trace.combined).sum();
            assert_eq!(combined, u64::from(ranks - 1) * buffer.total(), "{what}, {ranks} ranks, root {root}");
        }
    });
}

#[test]
fn allreductions_hear_and_reach_everybody() {
    for_all(|algorithm: Allreduce, ranks, buffer, what| {
        for (selection, operator) in selections().iter().zip([Operator::BuiltIn, Operator::Ordered]) {
            let run = async |channel: Recorder| algorithm.run(&channel, selection, buffer, operator).await;
            // Without data there is nothing to combine, but messages still flow.
            check(what, ranks, if buffer.count == 0 { Reach::To(ranks) } else { Reach::All }, run);
        }
    });
}

#[test]
fn gathers_and_scatters_connect_the_root() {
    for_all(|algorithm: Gather, ranks, block, what| {
        for root in roots(ranks) {
            let run = async |channel: Recorder| algorithm.run(&channel, block, root).await;
            check(&format!("{what}, root {root}"), ranks, Reach::To(root), run);
        }
    });
    for_all(|algorithm: Scatter, ranks, block, what| {
        for root in roots(ranks) {
            let run = async |channel: Recorder| algorithm.run(&channel, block, root).await;
            check(&format!("{what}, root {root}"), ranks, Reach::From(root), run);
        }
    });
}

/// Blocks that differ, one of them empty.
fn uneven(rank: u32) -> u64 {
    [7, 0, 90, 1, 33][rank as usize % 5]
}

#[test]
fn uneven_gathers_and_scatters_skip_empty_blocks() {
    let bytes = |rank: u32| 4 * uneven(rank);
    for ranks in RANKS {
        for root in roots(ranks) {
            for algorithm in variants::<Gatherv>(ranks) {
                let run = async |channel: Recorder| algorithm.run(&channel, &bytes, root).await;
                let traces = check(&format!("gatherv {algorithm:?}"), ranks, Reach::To(ranks), run);
                let empty_too = algorithm == Gatherv::NbcLinear;
                for rank in (0..ranks).filter(|&rank| rank != root) {
                    let sent: Vec<_> =
                        Some((root, bytes(rank))).filter(|&(_, bytes)| empty_too || bytes > 0).into_iter().collect();
                    assert_eq!(traces[rank as usize].sent().collect::<Vec<_>>(), sent);
                }
            }
            for algorithm in variants::<Scatterv>(ranks) {
                let run = async |channel: Recorder| algorithm.run(&channel, &bytes, root).await;
                let traces = check(&format!("scatterv {algorithm:?}"), ranks, Reach::To(ranks), run);
                let empty_too = algorithm == Scatterv::NbcLinear;
                let wanted: Vec<_> = (0..ranks)
                    .filter(|&rank| rank != root && (empty_too || bytes(rank) > 0))
                    .map(|rank| (rank, bytes(rank)))
                    .collect();
                assert_eq!(traces[root as usize].sent().collect::<Vec<_>>(), wanted);
            }
        }
    }
}

/// Every rank receives so many bytes.
fn received(traces: &[Trace]) -> Vec<u64> {
    let mut received = vec![0; traces.len()];
    for (to, bytes) in traces.iter().flat_map(Trace::sent) {
        received[to as usize] += bytes;
    }
    received
}

#[test]
fn allgathers_reach_everybody() {
    for_all(|algorithm: Allgather, ranks, block, what| {
        for selection in selections() {
            let run = async |channel: Recorder| algorithm.run(&channel, &selection, block).await;
            // Without data the parts of the linear form send nothing.
            check(what, ranks, if block.count == 0 { Reach::To(ranks) } else { Reach::All }, run);
        }
    });
}

#[test]
fn uneven_allgathers_move_every_block_once() {
    for ranks in RANKS.into_iter().filter(|&ranks| ranks > 1) {
        let blocks = Blocks::each(&uneven, 4);
        let all = blocks.together(ranks).total();
        for algorithm in variants::<Allgatherv>(ranks) {
            for selection in selections() {
                let run = async |channel: Recorder| algorithm.run(&channel, &selection, blocks).await;
                let traces = check(&format!("allgatherv {algorithm:?}"), ranks, Reach::To(ranks), run);
                if algorithm != Allgatherv::Default {
                    let wanted: Vec<u64> = (0..ranks).map(|rank| all - blocks.bytes(rank)).collect();
                    assert_eq!(received(&traces), wanted, "{algorithm:?}, {ranks} ranks");
                }
            }
        }
    }
}

#[test]
fn alltoalls_connect_everybody() {
    for_all(|algorithm: Alltoall, ranks, block, what| {
        let run = async |channel: Recorder| algorithm.run(&channel, block).await;
        let reach = if block.count == 0 { Reach::To(ranks) } else { Reach::All };
        let traces = check(what, ranks, reach, run);
        if algorithm != Alltoall::Bruck {
            assert_eq!(received(&traces), vec![u64::from(ranks - 1) * block.total(); ranks as usize], "{what}");
        }
    });
    for ranks in RANKS {
        for algorithm in variants::<Alltoallv>(ranks) {
            let bytes = |from: u32, to: u32| 4 * uneven(from + 2 * to);
            let run = async |channel: Recorder| {
                let (sent, received) = (|to| bytes(channel.me(), to), |from| bytes(from, channel.me()));
                algorithm.run(&channel, Sizes { sent: &sent, received: &received }).await;
            };
            let traces = check(&format!("alltoallv {algorithm:?}"), ranks, Reach::To(ranks), run);
            for (to, received) in received(&traces).into_iter().enumerate() {
                let to = to as u32;
                let wanted: u64 = (0..ranks).filter(|&from| from != to).map(|from| bytes(from, to)).sum();
                assert_eq!(received, wanted, "{algorithm:?}, {ranks} ranks");
            }
        }
    }
}

#[test]
fn reduce_scatters_hear_everybody() {
    for_all(|algorithm: ReduceScatterBlock, ranks, block, what| {
        let selection = Selection::default();
        for operator in [Operator::BuiltIn, Operator::Ordered] {
            let run = async |channel: Recorder| algorithm.run(&channel, &selection, block, operator).await;
            check(what, ranks, if block.count == 0 { Reach::To(ranks) } else { Reach::All }, run);
        }
    });
    for ranks in RANKS.into_iter().filter(|&ranks| ranks > 1) {
        let equal = |_| 9;
        for (counts, irregular) in [(&uneven as &dyn Fn(u32) -> u64, true), (&equal, false)] {
            let blocks = Blocks::each(counts, 4);
            for algorithm in variants::<ReduceScatter>(ranks) {
                if irregular && algorithm == ReduceScatter::Noncommutative {
                    continue;
                }
                let selection = Selection::default();
                let run = async |channel: Recorder| {
                    algorithm.run(&channel, &selection, blocks, Operator::BuiltIn).await;
                };
                // An empty block needs to hear of nobody.
                let reach = if irregular { Reach::To(ranks) } else { Reach::All };
                check(&format!("reduce-scatter {algorithm:?}"), ranks, reach, run);
            }
        }
    }
}

#[test]
fn scans_hear_the_ranks_before() {
    for_all(|algorithm: Scan, ranks, buffer, what| {
        check(what, ranks, Reach::Prefix, async |channel: Recorder| algorithm.run(&channel, buffer).await);
    });
    for_all(|algorithm: Exscan, ranks, buffer, what| {
        check(what, ranks, Reach::Before, async |channel: Recorder| algorithm.run(&channel, buffer).await);
    });
}

/// The calls, blocking and not, by either library's rules: the whole way from rule to last message.
#[test]
fn calls_follow_the_rules() {
    let selections = selections().into_iter().flat_map(|selection| [selection.for_nonblocking(), selection]);
    let selections: Vec<Selection> = selections.collect();
    for ranks in RANKS {
        for selection in &selections {
            for count in [0, 1, 100, 20_000] {
                let buffer = Buffer::new(count, 8);
                let blocks = Blocks::equal(buffer);
                let size = |_| buffer.total();
                let sizes = Sizes { sent: &size, received: &size };
                let run = async |channel: Recorder| {
                    barrier(&channel, selection).await;
                    bcast(&channel, selection, buffer, 0).await;
                    reduce(&channel, selection, buffer, Operator::BuiltIn, ranks - 1).await;
                    allreduce(&channel, selection, buffer, Operator::Ordered).await;
                    gather(&channel, selection, buffer, 0).await;
                    gatherv(&channel, selection, &size, 0).await;
                    scatter(&channel, selection, buffer, 0).await;
                    scatterv(&channel, selection, &size, 0).await;
                    allgather(&channel, selection, buffer).await;
                    allgatherv(&channel, selection, &blocks).await;
                    alltoall(&channel, selection, buffer).await;
                    alltoallv(&channel, selection, &sizes).await;
                    reduce_scatter(&channel, selection, &blocks, Operator::BuiltIn).await;
                    reduce_scatter_block(&channel, selection, buffer, Operator::Ordered).await;
                    scan(&channel, selection, buffer).await;
                    exscan(&channel, selection, buffer).await;
                };
                check(&format!("all calls of {}", selection.library()), ranks, Reach::All, run);
            }
        }
    }
}

/// A rank's future must stay small: what an algorithm needs is on the heap, and that is not much either.
#[test]
fn a_call_is_small() {
    record("size", Protocol::Eager, 1, async |channel: Recorder| {
        let selection = Selection::default();
        let call = allreduce(&channel, &selection, Buffer::new(1, 8), Operator::BuiltIn);
        assert!(size_of_val(&call) <= 200, "{} bytes", size_of_val(&call));
        let running = Allreduce::RecursiveDoubling.run(&channel, &selection, Buffer::new(1, 8), Operator::BuiltIn);
        assert!(size_of_val(&*running) <= 400, "{} bytes", size_of_val(&*running));
    });
}
