//! The rules choose what the libraries choose, on both sides of every switch point.

use super::super::algorithm::Algorithm;
use super::super::*;

/// Asked from Open MPI's source by `tests/libraries/decisions.py`.
const OPENMPI: &str = include_str!("../../../tests/libraries/openmpi-decisions.txt");

/// Algorithms are listed in the order of Open MPI's numbers.
fn numbered<A: Algorithm>(number: usize) -> &'static str {
    A::ALL[number - 1].name()
}

/// The names of what Open MPI chose and of what our rule chooses.
fn choices(operation: &str, operator: Operator, ranks: u32, bytes: u64, number: usize) -> (&'static str, &'static str) {
    let rules = Selection::of(Library::OpenMpi);
    let buffer = Buffer::of_bytes(bytes);
    match operation {
        "barrier" => (numbered::<Barrier>(number), rules.barrier(ranks).name()),
        "bcast" => (numbered::<Bcast>(number), rules.bcast(ranks, buffer).name()),
        "reduce" => (numbered::<Reduce>(number), rules.reduce(ranks, buffer, operator).name()),
        "allreduce" => (numbered::<Allreduce>(number), rules.allreduce(ranks, buffer, operator).name()),
        "gather" => (numbered::<Gather>(number), rules.gather(ranks, buffer).name()),
        "scatter" => (numbered::<Scatter>(number), rules.scatter(ranks, buffer).name()),
        "allgather" => (numbered::<Allgather>(number), rules.allgather(ranks, buffer).name()),
        "allgatherv" => (numbered::<Allgatherv>(number), rules.allgatherv(ranks, &Blocks::equal(buffer)).name()),
        "alltoall" => (numbered::<Alltoall>(number), rules.alltoall(ranks, buffer).name()),
        "alltoallv" => (numbered::<Alltoallv>(number), rules.alltoallv(ranks).name()),
        "reduce-scatter" => {
            // One rank has it all: the rule looks at the total.
            let counts = |rank: u32| if rank == 0 { bytes } else { 0 };
            let chosen = rules.reduce_scatter(ranks, &Blocks::each(&counts, 1), operator);
            (numbered::<ReduceScatter>(number), chosen.name())
        }
        "reduce-scatter-block" => {
            (numbered::<ReduceScatterBlock>(number), rules.reduce_scatter_block(ranks, buffer, operator).name())
        }
        _ => panic!("{operation} is not known"),
    }
}

#[test]
fn open_mpi_chooses_by_its_tables() {
    let mut compared = 0;
    for line in OPENMPI.lines().filter(|line| !line.starts_with('#')) {
        let (head, switches) = line.split_once(" | ").unwrap();
        let [operation, commutes, ranks] = head.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let operator = if commutes == "c" { Operator::BuiltIn } else { Operator::Ordered };
        let mut before = None;
        for switch in switches.split(' ') {
            let (bytes, number) = switch.split_once(':').unwrap();
            let (bytes, number) = (bytes.parse::<u64>().unwrap(), number.parse().unwrap());
            let mut check = |bytes, number| {
                let (theirs, ours) = choices(operation, operator, ranks.parse().unwrap(), bytes, number);
                assert_eq!(ours, theirs, "{line}: {bytes} bytes");
                compared += 1;
            };
            check(bytes, number);
            if let Some(before) = before.replace(number) {
                check(bytes - 1, before);
            }
        }
    }
    assert!(compared > 2000, "only {compared} choices were compared");
}

/// Open MPI's numbers, which `numbered` relies on.
#[test]
fn the_first_algorithms_are_those_of_open_mpi() {
    let names = |all: &[&str], of: &[&'static str]| assert_eq!(all, &of[..all.len()]);
    fn of<A: Algorithm>() -> Vec<&'static str> {
        A::ALL.iter().map(|algorithm| algorithm.name()).collect()
    }
    names(&["linear", "double-ring", "recursive-doubling", "bruck", "two-processes", "tree"], &of::<Barrier>());
    names(
        &["linear", "chain", "pipeline", "split-binary", "binary", "binomial", "knomial", "scatter-allgather"],
        &of::<Bcast>(),
    );
    names(&["linear", "chain", "pipeline", "binary", "binomial", "in-order-binary", "rabenseifner"], &of::<Reduce>());
    names(
        &["linear", "nonoverlapping", "recursive-doubling", "ring", "segmented-ring", "rabenseifner"],
        &of::<Allreduce>(),
    );
    names(&["linear", "binomial", "linear-sync"], &of::<Gather>());
    names(&["linear", "binomial", "linear-nb"], &of::<Scatter>());
    names(&["linear", "bruck", "recursive-doubling", "ring", "neighbor-exchange", "two-processes"], &of::<Allgather>());
    names(&["default", "bruck", "ring", "neighbor-exchange", "two-processes"], &of::<Allgatherv>());
    names(&["linear", "pairwise", "bruck", "linear-sync", "two-processes"], &of::<Alltoall>());
    names(&["linear", "pairwise"], &of::<Alltoallv>());
    names(&["non-overlapping", "recursive-halving", "ring", "butterfly"], &of::<ReduceScatter>());
    names(&["linear", "recursive-doubling", "recursive-halving", "butterfly"], &of::<ReduceScatterBlock>());
}

const KIB: u64 = 1 << 10;

#[test]
fn mpich_broadcasts_by_size_and_power_of_two() {
    let rules = Selection::of(Library::Mpich);
    let chosen = |ranks, bytes| rules.bcast(ranks, Buffer::of_bytes(bytes));
    assert_eq!(chosen(7, 1 << 30), Bcast::MpichBinomial);
    assert_eq!(chosen(8, 12 * KIB), Bcast::MpichBinomial);
    assert_eq!(chosen(8, 12 * KIB + 1), Bcast::MpichScatterAllgather);
    assert_eq!(chosen(9, 12 * KIB + 1), Bcast::MpichScatterAllgatherRing);
    assert_eq!(chosen(8, 512 * KIB), Bcast::MpichScatterAllgather);
    assert_eq!(chosen(8, 512 * KIB + 1), Bcast::MpichScatterAllgatherRing);
}

#[test]
fn mpich_scatters_reductions_of_its_own_operators() {
    let rules = Selection::of(Library::Mpich);
    let reduce = |count, element, operator| rules.reduce(9, Buffer::new(count, element), operator);
    assert_eq!(reduce(256, 8, Operator::BuiltIn), Reduce::MpichBinomial);
    assert_eq!(reduce(257, 8, Operator::BuiltIn), Reduce::MpichRabenseifner);
    assert_eq!(reduce(257, 8, Operator::Commutative), Reduce::MpichBinomial);
    // Nine ranks are folded to eight.
    assert_eq!(reduce(7, 1000, Operator::BuiltIn), Reduce::MpichBinomial);
    assert_eq!(reduce(8, 1000, Operator::BuiltIn), Reduce::MpichRabenseifner);
    let allreduce = |count, element, operator| rules.allreduce(9, Buffer::new(count, element), operator);
    assert_eq!(allreduce(8, 1, Operator::BuiltIn), Allreduce::RecursiveDoubling);
    assert_eq!(allreduce(9, 1, Operator::BuiltIn), Allreduce::MpichRabenseifner);
    assert_eq!(allreduce(9, 1, Operator::Ordered), Allreduce::RecursiveDoubling);
    assert_eq!(allreduce(7, 8, Operator::BuiltIn), Allreduce::RecursiveDoubling);
}

#[test]
fn mpich_gathers_by_total_size() {
    let rules = Selection::of(Library::Mpich);
    let allgather = |ranks, bytes| rules.allgather(ranks, Buffer::of_bytes(bytes));
    assert_eq!(allgather(8, 64 * KIB - 1), Allgather::RecursiveDoubling);
    assert_eq!(allgather(8, 64 * KIB), Allgather::Ring);
    assert_eq!(allgather(10, 8 * KIB - 1), Allgather::Bruck);
    assert_eq!(allgather(10, 8 * KIB), Allgather::Ring);
    let allgatherv = |ranks, bytes| rules.allgatherv(ranks, &Blocks::equal(Buffer::of_bytes(bytes)));
    assert_eq!(allgatherv(8, 64 * KIB - 1), Allgatherv::RecursiveDoubling);
    assert_eq!(allgatherv(8, 64 * KIB), Allgatherv::MpichRing { segment: 32 * KIB });
    assert_eq!(allgatherv(10, 8 * KIB - 1), Allgatherv::Bruck);
    assert_eq!(rules.gather(100, Buffer::of_bytes(1)), Gather::Binomial);
    assert_eq!(rules.scatter(100, Buffer::of_bytes(1 << 30)), Scatter::Binomial);
}

#[test]
fn mpich_exchanges_by_size() {
    let rules = Selection::of(Library::Mpich);
    let alltoall = |ranks, bytes| rules.alltoall(ranks, Buffer::of_bytes(bytes));
    assert_eq!(alltoall(8, 1), Alltoall::Scattered { batch: 32 });
    assert_eq!(alltoall(9, 256), Alltoall::Bruck);
    assert_eq!(alltoall(9, 257), Alltoall::Scattered { batch: 32 });
    assert_eq!(alltoall(9, 32 * KIB), Alltoall::Scattered { batch: 32 });
    assert_eq!(alltoall(9, 32 * KIB + 1), Alltoall::MpichPairwise);
    assert_eq!(rules.alltoallv(1000), Alltoallv::Scattered { batch: 32 });
}

#[test]
fn mpich_reduces_and_scatters_by_total_size_and_operator() {
    let rules = Selection::of(Library::Mpich);
    let block = |ranks, bytes, operator| rules.reduce_scatter_block(ranks, Buffer::of_bytes(bytes), operator);
    assert_eq!(block(8, 64 * KIB - 1, Operator::Commutative), ReduceScatterBlock::RecursiveHalving);
    assert_eq!(block(8, 64 * KIB, Operator::Commutative), ReduceScatterBlock::Pairwise);
    assert_eq!(block(8, 1, Operator::Ordered), ReduceScatterBlock::Butterfly);
    assert_eq!(block(9, 1, Operator::Ordered), ReduceScatterBlock::RecursiveDoubling);
    let (equal, differing) = (|_| 10, |rank| u64::from(rank));
    let chosen =
        |ranks, counts: &dyn Fn(u32) -> u64, operator| rules.reduce_scatter(ranks, &Blocks::each(counts, 1), operator);
    assert_eq!(chosen(8, &differing, Operator::BuiltIn), ReduceScatter::RecursiveHalving);
    assert_eq!(chosen(8, &|_| 64 * KIB, Operator::BuiltIn), ReduceScatter::Pairwise);
    assert_eq!(chosen(8, &equal, Operator::Ordered), ReduceScatter::Noncommutative);
    assert_eq!(chosen(8, &differing, Operator::Ordered), ReduceScatter::RecursiveDoubling);
    assert_eq!(chosen(9, &equal, Operator::Ordered), ReduceScatter::RecursiveDoubling);
}

#[test]
fn non_blocking_forms_have_rules_of_their_own() {
    let rules = Selection::of(Library::OpenMpi).for_nonblocking();
    assert_eq!(rules.bcast(4, Buffer::of_bytes(1 << 20)), Bcast::Linear);
    assert_eq!(rules.bcast(5, Buffer::of_bytes(1 << 20)), Bcast::NbcBinomial);
    let allreduce = |ranks, count, element| rules.allreduce(ranks, Buffer::new(count, element), Operator::BuiltIn);
    assert_eq!(allreduce(4, 64 * KIB - 1, 1), Allreduce::NbcBinomial);
    assert_eq!(allreduce(4, 64 * KIB, 1), Allreduce::Rabenseifner);
    assert_eq!(allreduce(3, 64 * KIB, 1), Allreduce::NbcBinomial);
    assert_eq!(allreduce(5, 3, 64 * KIB), Allreduce::NbcRing);
    let reduce = |ranks, count, element| rules.reduce(ranks, Buffer::new(count, element), Operator::BuiltIn);
    assert_eq!(reduce(2, 64 * KIB, 1), Reduce::NbcChain { segment: 8 * KIB });
    assert_eq!(reduce(2, 64 * KIB - 1, 1), Reduce::NbcBinomial);
    assert_eq!(reduce(3, 2, 8), Reduce::Rabenseifner);
    let rules = Selection::of(Library::Mpich).for_nonblocking();
    assert_eq!(rules.bcast(8, Buffer::of_bytes(12 * KIB - 1)), Bcast::Knomial { segment: 0, radix: 2 });
    assert_eq!(rules.bcast(8, Buffer::of_bytes(12 * KIB)), Bcast::MpichIscatterAllgather);
    assert_eq!(rules.bcast(8, Buffer::of_bytes(512 * KIB)), Bcast::MpichIscatterAllgatherRing);
    assert_eq!(rules.alltoall(9, Buffer::of_bytes(2 * KIB)), Alltoall::Bruck);
    assert_eq!(rules.alltoall(9, Buffer::of_bytes(2 * KIB + 1)), Alltoall::Scattered { batch: 32 });
    let allgatherv = |bytes| rules.allgatherv(9, &Blocks::equal(Buffer::of_bytes(bytes)));
    assert_eq!(allgatherv(20 * KIB), Allgatherv::MpichRing { segment: 32 * KIB });
    assert_eq!(allgatherv(100 * KIB), Allgatherv::MpichRing { segment: 100 * KIB });
    // 40,000 doubles to each of 9 ranks: less than 512 K elements, more than 512 KiB.
    let block = rules.reduce_scatter_block(9, Buffer::new(40_000, 8), Operator::BuiltIn);
    assert_eq!(block, ReduceScatterBlock::RecursiveHalving);
}
