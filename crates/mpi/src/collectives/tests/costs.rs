//! Messages and bytes of each rank follow the closed forms of the literature.

use super::super::recorder::{Protocol, Recorder, Trace, record};
use super::super::*;

/// What each rank sends: number of messages and bytes.
fn sent(traces: &[Trace]) -> Vec<(usize, u64)> {
    traces.iter().map(|trace| (trace.sent().count(), trace.sent().map(|(_, bytes)| bytes).sum())).collect()
}

fn run<F: Future<Output = ()>>(count: u32, program: impl Fn(Recorder) -> F) -> Vec<Trace> {
    record("costs", Protocol::Eager, count, program)
}

fn allreduce_with(algorithm: Allreduce, ranks: u32, buffer: Buffer) -> Vec<Trace> {
    let selection = Selection::default();
    run(ranks, async |channel: Recorder| algorithm.run(&channel, &selection, buffer, Operator::BuiltIn).await)
}

const POWERS: [u32; 5] = [2, 4, 8, 32, 64];

#[test]
fn recursive_doubling_exchanges_everything_log_p_times() {
    for ranks in POWERS {
        let buffer = Buffer::new(100, 8);
        let steps = ranks.ilog2() as usize;
        let traces = allreduce_with(Allreduce::RecursiveDoubling, ranks, buffer);
        assert_eq!(sent(&traces), vec![(steps, 800 * steps as u64); ranks as usize]);
        assert!(traces.iter().all(|trace| trace.combined == 800 * steps as u64));
    }
    // Beyond a power of two: one message there, one back.
    let traces = allreduce_with(Allreduce::RecursiveDoubling, 9, Buffer::new(1, 8));
    assert_eq!(sent(&traces)[0], (1, 8));
    assert_eq!(sent(&traces)[1], (4, 32));
    assert_eq!(sent(&traces)[8], (3, 24));
}

#[test]
fn a_ring_sends_two_blocks_less_than_twice_the_data() {
    for ranks in [2_u32, 3, 7, 8, 33] {
        let blocks = u64::from(ranks);
        let buffer = Buffer::new(10 * blocks, 8);
        let steps = 2 * (ranks as usize - 1);
        let traces = allreduce_with(Allreduce::Ring, ranks, buffer);
        assert_eq!(sent(&traces), vec![(steps, 80 * steps as u64); ranks as usize]);
        assert!(traces.iter().all(|trace| trace.combined == 80 * (blocks - 1)));
    }
}

#[test]
fn segments_make_phases_of_the_ring() {
    // 4 ranks, blocks of 12 elements, pieces of 4: 3 phases of 3 messages, then 3 messages of whole blocks.
    let traces = allreduce_with(Allreduce::SegmentedRing { segment: 32 }, 4, Buffer::new(48, 8));
    assert_eq!(sent(&traces), vec![(12, 9 * 32 + 3 * 96); 4]);
}

#[test]
fn rabenseifner_moves_twice_the_data_less_two_blocks() {
    for algorithm in [Allreduce::Rabenseifner, Allreduce::MpichRabenseifner, Allreduce::MpichIrabenseifner] {
        for ranks in POWERS {
            let (steps, bytes) = (2 * ranks.ilog2() as usize, 64 * 8 * 3);
            let traces = allreduce_with(algorithm, ranks, Buffer::new(64 * 3, 8));
            let moved = 2 * bytes * u64::from(ranks - 1) / u64::from(ranks);
            assert_eq!(sent(&traces), vec![(steps, moved); ranks as usize], "{algorithm}, {ranks} ranks");
        }
    }
}

#[test]
fn binomial_trees_send_p_minus_1_messages() {
    let buffer = Buffer::new(10, 8);
    for ranks in [2, 5, 8, 17, 64] {
        for algorithm in [Bcast::Binomial { segment: 0 }, Bcast::MpichBinomial, Bcast::NbcBinomial] {
            let traces = run(ranks, async |channel: Recorder| algorithm.run(&channel, buffer, 1).await);
            let messages: usize = sent(&traces).iter().map(|(messages, _)| messages).sum();
            assert_eq!(messages, ranks as usize - 1);
            // The root feeds one child for each bit of the number of ranks.
            assert_eq!(sent(&traces)[1].0, (ranks - 1).ilog2() as usize + 1, "{algorithm}, {ranks} ranks");
        }
        let traces = run(ranks, async |channel: Recorder| Gather::Binomial.run(&channel, buffer, 0).await);
        let bytes: u64 = sent(&traces).iter().map(|(_, bytes)| bytes).sum();
        // Every block climbs as many edges as its place has bits.
        assert_eq!(bytes, 80 * (0..ranks).map(|place| u64::from(place.count_ones())).sum::<u64>());
    }
}

#[test]
fn pipelines_send_every_piece_along_every_edge() {
    let algorithm = Bcast::Pipeline { segment: 32 };
    let traces = run(6, async |channel: Recorder| algorithm.run(&channel, Buffer::new(10, 8), 0).await);
    assert_eq!(sent(&traces), [[(3, 80); 5].as_slice(), &[(0, 0)]].concat());
}

#[test]
fn gathering_to_all_receives_every_other_block_once() {
    let selection = Selection::default();
    let block = Buffer::new(5, 8);
    for ranks in [2_u32, 6, 8, 33] {
        let (others, log) = (u64::from(ranks - 1), (ranks - 1).ilog2() as usize + 1);
        let cases = [
            (Allgather::Bruck, log),
            (Allgather::RecursiveDoubling, log),
            (Allgather::Ring, ranks as usize - 1),
            (Allgather::NeighborExchange, if ranks % 2 == 0 { ranks as usize / 2 } else { ranks as usize - 1 }),
            (Allgather::NbcLinear, ranks as usize - 1),
        ];
        for (algorithm, messages) in cases {
            let traces = run(ranks, async |channel: Recorder| algorithm.run(&channel, &selection, block).await);
            assert_eq!(sent(&traces), vec![(messages, 40 * others); ranks as usize], "{algorithm}, {ranks} ranks");
        }
    }
}

#[test]
fn bruck_forwards_half_of_the_blocks_in_each_step() {
    let block = Buffer::new(5, 8);
    for ranks in POWERS {
        let log = ranks.ilog2() as usize;
        let traces = run(ranks, async |channel: Recorder| Alltoall::Bruck.run(&channel, block).await);
        assert_eq!(sent(&traces), vec![(log, 40 * u64::from(ranks) / 2 * log as u64); ranks as usize]);
        let traces = run(ranks, async |channel: Recorder| Alltoall::Pairwise.run(&channel, block).await);
        assert_eq!(sent(&traces), vec![(ranks as usize - 1, 40 * u64::from(ranks - 1)); ranks as usize]);
    }
}

#[test]
fn scattering_broadcasts_cost_twice_the_data() {
    // Root: scatter n (p-1)/p, then allgather n (p-1)/p.
    for (algorithm, messages) in [(Bcast::ScatterAllgather, 3 + 3), (Bcast::ScatterAllgatherRing, 3 + 7)] {
        let traces = run(8, async |channel: Recorder| algorithm.run(&channel, Buffer::new(80, 1), 0).await);
        assert_eq!(sent(&traces)[0], (messages, 70 + 70));
    }
    // Fewer elements than ranks go linearly with Open MPI, but not with MPICH.
    let few = Buffer::new(4, 8);
    let traces = run(8, async |channel: Recorder| Bcast::ScatterAllgather.run(&channel, few, 0).await);
    assert_eq!(sent(&traces)[0], (7, 7 * 32));
    let traces = run(8, async |channel: Recorder| Bcast::MpichScatterAllgather.run(&channel, few, 0).await);
    assert_eq!(sent(&traces)[0], (6, 28 + 28));
}

#[test]
fn reduce_scatters_halve() {
    let selection = Selection::default();
    for ranks in POWERS {
        let others = u64::from(ranks - 1);
        for algorithm in
            [ReduceScatterBlock::RecursiveHalving, ReduceScatterBlock::Butterfly, ReduceScatterBlock::Pairwise]
        {
            let run = run(ranks, async |channel: Recorder| {
                algorithm.run(&channel, &selection, Buffer::new(3, 8), Operator::BuiltIn).await;
            });
            let messages =
                if algorithm == ReduceScatterBlock::Pairwise { ranks as usize - 1 } else { ranks.ilog2() as usize };
            assert_eq!(sent(&run), vec![(messages, 24 * others); ranks as usize]);
            assert!(run.iter().all(|trace| trace.combined == 24 * others));
        }
    }
}

#[test]
fn barriers_cost_log_p_rounds_or_a_tree() {
    let messages = |algorithm: Barrier, ranks| {
        sent(&run(ranks, async |channel: Recorder| algorithm.run(&channel).await)).iter().map(|sent| sent.0).sum()
    };
    for ranks in [2_u32, 3, 8, 13, 33] {
        let (p, log) = (ranks as usize, (ranks - 1).ilog2() as usize + 1);
        let total: usize = messages(Barrier::Bruck, ranks);
        assert_eq!(total, p * log);
        assert_eq!(messages(Barrier::Tree, ranks), 2 * (p - 1));
        assert_eq!(messages(Barrier::Linear, ranks), 2 * (p - 1));
        assert_eq!(messages(Barrier::DoubleRing, ranks), 2 * p);
        let power = 1 << ranks.ilog2();
        let extra = ranks - power;
        assert_eq!(messages(Barrier::RecursiveDoubling, ranks), (power * power.ilog2() + 2 * extra) as usize);
    }
}
