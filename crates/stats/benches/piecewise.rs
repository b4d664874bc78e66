//! Seconds to fit 100,000 points, and a few thousand: sizes over nine decades, four lines, noise.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hpcast_stats::piecewise::{Objective, Strategy, fit};

/// Last sizes of the lines, with their intercepts and slopes: those of the thesis' synthetic sets (section 5.3.3).
const LINES: [(f64, f64, f64); 4] = [
    (12_865.0, 4.181e-8, 1.739e-11),
    (969_136.0, 0.0, 5.457e-11),
    (5_081_106.0, 0.0, 8.929e-11),
    (f64::INFINITY, 1.294e-5, 1.935e-10),
];

/// Numbers between 0 and 1 that are the same in every run.
fn uniform() -> impl FnMut() -> f64 {
    let mut lcg = 1u64;
    move || {
        lcg = lcg.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (lcg >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Points with noise that the objective is meant for.
fn points(count: usize, objective: Objective) -> Vec<(f64, f64)> {
    let mut next = uniform();
    let mut point = || {
        let x = (next() * 1e9f64.ln()).exp();
        let (_, intercept, slope) = LINES.into_iter().find(|line| x <= line.0).expect("the last line has no end");
        let (y, noise) = (intercept + slope * x, (0..12).map(|_| next()).sum::<f64>() - 6.0);
        match objective {
            Objective::Ordinary => (x, y + 5e-9 * noise),
            Objective::Weighted => (x, y + 2e-12 * x * noise),
            Objective::Logarithmic => (x, y * (0.05 * noise).exp()),
        }
    };
    (0..count).map(|_| point()).collect()
}

fn fits(criterion: &mut Criterion) {
    for objective in [Objective::Ordinary, Objective::Weighted, Objective::Logarithmic] {
        let mut group = criterion.benchmark_group(format!("piecewise_{objective}"));
        group.sample_size(10).measurement_time(Duration::from_secs(3));
        for count in [1_000, 10_000, 100_000] {
            let points = points(count, objective);
            let found = fit(&points, objective, Strategy::Both).expect("a fit");
            assert_eq!(found.segments.len(), LINES.len(), "{objective}, {count} points");
            group.throughput(Throughput::Elements(count as u64));
            group.bench_with_input(BenchmarkId::from_parameter(count), &points, |bencher, points| {
                bencher.iter(|| fit(black_box(points), objective, Strategy::Both));
            });
        }
    }
}

criterion_group!(benches, fits);
criterion_main!(benches);
