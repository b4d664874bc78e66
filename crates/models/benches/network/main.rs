//! What a transfer costs in each network model, alone and under contention.
//!
//! A transfer is a start, an activation and an end; where figures are wanted by change (start or end), halve them.

mod scenarios;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hpcast_models::network::{Flow, Ideal};
use scenarios::{all_to_all, crossbar, disjoint, fat_tree, machine, permutation, random_pairs, run};

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

criterion_group!(benches, alone, contended, at_once);
criterion_main!(benches);
