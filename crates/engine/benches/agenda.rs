//! How fast the agenda is: one thing is done and another planned, with so many planned all the time.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hpcast_engine::Agenda;
use hpcast_units::Time;

const TURNS: u64 = 10_000;

fn hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("agenda");
    group.throughput(Throughput::Elements(TURNS));
    for planned in [10, 1_000, 50_000] {
        for (name, spread) in [("in order", 0), ("in any order", 1_000_000)] {
            let mut agenda = Agenda::default();
            let mut state = 1u64;
            let mut delay = move || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                Time::from_ps(1_000_000 + (((state >> 33) * spread) >> 31))
            };
            for slot in 0..planned {
                agenda.push(delay(), slot);
            }
            group.bench_function(BenchmarkId::new(name, planned), |bencher| {
                bencher.iter(|| {
                    for _ in 0..TURNS {
                        if let Some(entry) = agenda.first() {
                            agenda.pop();
                            agenda.push(entry.time() + delay(), black_box(entry.slot()));
                        }
                    }
                })
            });
        }
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
