//! What a transfer costs in each network model, alone and under contention.
//!
//! A transfer is a start, an activation and an end; where figures are wanted by change (start or end), halve them.

mod scenarios;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hpcast_models::network::{Flow, Ideal, PacketNetwork};
use scenarios::{
    all_to_all, crossbar, disjoint, dragonfly, fat_tree, machine, permutation, random_messages, random_pairs, run,
    torus,
};

/// Transfers in one measurement.
const TRANSFERS: usize = 1000;

fn alone(c: &mut Criterion) {
    let mut group = c.benchmark_group("disjoint pairs on a crossbar");
    group.throughput(Throughput::Elements(TRANSFERS as u64));
    for flows in [1, 1000] {
        let mut ideal = Ideal::new(machine(crossbar(2 * flows), 0.0));
        let mut next = disjoint(&mut ideal, flows);
        group.bench_function(format!("ideal, {flows} flows"), |b| b.iter(|| run(&mut ideal, TRANSFERS, &mut next)));
        let mut flow = Flow::new(machine(crossbar(2 * flows), 0.0));
        let mut next = disjoint(&mut flow, flows);
        group.bench_function(format!("flow, {flows} flows"), |b| b.iter(|| run(&mut flow, TRANSFERS, &mut next)));
    }
}

fn contended(c: &mut Criterion) {
    let mut group = c.benchmark_group("contention");
    group.throughput(Throughput::Elements(TRANSFERS as u64));
    for cross_traffic in [0.0, 0.05] {
        let mut flow = Flow::new(machine(fat_tree(16, 3), cross_traffic));
        let mut next = permutation(&mut flow, 4096, 1000);
        group.bench_function(format!("1,000 flows by permutation, 4,096 nodes, cross-traffic {cross_traffic}"), |b| {
            b.iter(|| run(&mut flow, TRANSFERS, &mut next));
        });
        let mut flow = Flow::new(machine(crossbar(512), cross_traffic));
        let mut next = random_pairs(&mut flow, 512, 2048);
        group.bench_function(format!("2,048 random flows, 512 nodes, cross-traffic {cross_traffic}"), |b| {
            b.iter(|| run(&mut flow, TRANSFERS, &mut next));
        });
    }
}

fn at_once(c: &mut Criterion) {
    let mut group = c.benchmark_group("all to all at once");
    group.sample_size(10);
    group.bench_function("64 nodes", |b| {
        let machine = machine(crossbar(64), 0.0);
        b.iter_batched(
            || Flow::new(machine.clone()),
            |mut flow| all_to_all(&mut flow, 64, 100_000),
            BatchSize::PerIteration,
        );
    });
}

/// Throughput in packets that cross a link.
fn packets(c: &mut Criterion) {
    let mut group = c.benchmark_group("packet hops");
    let sixteen_packets = 65_536;
    for (name, machine) in [
        ("fat tree, 256 nodes", machine(fat_tree(16, 2), 0.0)),
        ("fat tree, 4,096 nodes", machine(fat_tree(16, 3), 0.0)),
        ("dragonfly, 1,056 nodes", machine(dragonfly(), 0.0)),
        ("torus, 512 nodes", machine(torus(8), 0.0)),
    ] {
        let nodes = machine.interconnect.topology().nodes();
        let mut network = PacketNetwork::new(machine, 0);
        let mut next = random_messages(&mut network, nodes, 4 * nodes, sixteen_packets);
        run(&mut network, 4 * nodes as usize, &mut next);
        let before = network.hops();
        run(&mut network, 10 * TRANSFERS, &mut next);
        group.throughput(Throughput::Elements((network.hops() - before) / 10));
        group.bench_function(name, |b| b.iter(|| run(&mut network, TRANSFERS, &mut next)));
    }
}

criterion_group!(benches, alone, contended, at_once, packets);
criterion_main!(benches);
