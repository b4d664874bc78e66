//! How long a keyed draw takes, on one core.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hpcast_engine::random::Key;
use hpcast_stats::HalfNormal;

const DRAWS: u64 = 10_000;

/// As a program draws that simulates noise: one entity, index after index.
fn draws(criterion: &mut Criterion) {
    let stream = Key::new(1).purpose("bench");
    let noise = HalfNormal { expectation: 1.0, deviation: 0.1 };
    let mut group = criterion.benchmark_group("draws");
    group.throughput(Throughput::Elements(DRAWS));
    group.bench_function("word", |bencher| {
        bencher.iter(|| (0..DRAWS).fold(0, |sum, index| stream.word(black_box(3), index) ^ sum));
    });
    group.bench_function("half-normal, given bits", |bencher| {
        let step = black_box(0x9E37_79B9_7F4A_7C15);
        bencher.iter(|| (0..DRAWS).map(|i| noise.draw(i.wrapping_mul(step))).sum::<f64>());
    });
    group.bench_function("half-normal, keyed", |bencher| {
        bencher.iter(|| (0..DRAWS).map(|index| noise.draw(stream.word(3, index))).sum::<f64>());
    });
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
