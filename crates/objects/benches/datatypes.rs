//! How fast data are moved and combined, on one core.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hpcast_objects::datatype::Order;
use hpcast_objects::{Basic, Datatype, Operation};

/// Packs one item again and again.
fn pack(criterion: &mut Criterion) {
    let double = Datatype::basic(Basic::Double);
    let cube = |lengths: [i64; 3], starts: [i64; 3]| {
        Datatype::subarray(&[66; 3], &lengths, &starts, Order::C, &double).unwrap()
    };
    // Blocks of one to three elements with gaps of one to five.
    let lengths: Vec<i64> = (0..10_000).map(|i| i * 7 % 3 + 1).collect();
    let mut at = 0;
    let displacements: Vec<i64> = (0..10_000)
        .map(|i| {
            at += lengths[i] + i as i64 * 3 % 5 + 1;
            at
        })
        .collect();
    let ints = [Basic::Int, Basic::Double, Basic::Char].map(Datatype::basic);
    let structure = Datatype::structure(&[1, 2, 3], &[0, 8, 24], &ints).unwrap();
    let types = [
        ("contiguous, 8 B", Datatype::contiguous(1, &double).unwrap()),
        ("contiguous, 1 MiB", Datatype::contiguous(1 << 17, &double).unwrap()),
        ("vector of 8 doubles", Datatype::vector(8, 1, 10, &double).unwrap()),
        ("vector of 1024 doubles", Datatype::vector(1024, 1, 10, &double).unwrap()),
        ("vector of 65536 doubles", Datatype::vector(65_536, 1, 10, &double).unwrap()),
        ("cube, face of rows", cube([1, 64, 64], [1, 1, 1])),
        ("cube, face of columns", cube([64, 1, 64], [1, 1, 1])),
        ("cube, face of elements", cube([64, 64, 1], [1, 1, 1])),
        ("cube, inside", cube([64, 64, 64], [1, 1, 1])),
        ("indexed, 10000 blocks", Datatype::indexed(&lengths, &displacements, &double).unwrap()),
        ("1000 structures", Datatype::contiguous(1000, &structure).unwrap()),
        ("one structure", structure),
    ];
    let mut group = criterion.benchmark_group("pack");
    for (name, datatype) in &types {
        let memory = vec![1_u8; datatype.true_ub() as usize];
        let mut out = vec![0_u8; datatype.size() as usize];
        group.throughput(Throughput::Bytes(datatype.size() as u64));
        group.bench_function(*name, |bencher| {
            // SAFETY: the memory holds an item, and `out` its data.
            bencher.iter(|| unsafe { datatype.pack(1, black_box(memory.as_ptr()), out.as_mut_ptr()) });
        });
    }
    group.finish();
}

/// From one layout to another.
fn copy(criterion: &mut Criterion) {
    let double = Datatype::basic(Basic::Double);
    let column = Datatype::vector(1024, 1, 10, &double).unwrap();
    let pairs = Datatype::vector(512, 2, 10, &double).unwrap();
    let mut group = criterion.benchmark_group("copy");
    for (name, from, to) in [
        ("column to column", &column, &column),
        ("column to pairs", &column, &pairs),
        ("pairs to column", &pairs, &column),
    ] {
        let memory = vec![1_u8; from.true_ub() as usize];
        let mut target = vec![0_u8; to.true_ub() as usize];
        group.throughput(Throughput::Bytes(from.size() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let (from_memory, to_memory) = (black_box(memory.as_ptr()), target.as_mut_ptr());
                // SAFETY: the memories hold an item each.
                unsafe { from.copy(1, from_memory, to, 1, to_memory, i64::MAX) }
            });
        });
    }
    group.finish();
}

/// Reductions of 1024 elements, and of one.
fn combine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("combine");
    let elements =
        [(Operation::Sum, Basic::Double), (Operation::Max, Basic::Int), (Operation::Maxloc, Basic::DoubleInt)];
    for (operation, basic) in elements.into_iter().chain([(Operation::Sum, Basic::LongDouble)]) {
        for count in [1, 1024] {
            let input = vec![0_u8; basic.extent() as usize * count];
            let mut inout = input.clone();
            group.throughput(Throughput::Bytes((basic.size() * count as i64) as u64));
            group.bench_function(format!("{count} x {} {}", operation.name(), basic.name()), |bencher| {
                bencher.iter(|| {
                    // SAFETY: both hold `count` elements.
                    unsafe { operation.apply(basic, black_box(input.as_ptr()), inout.as_mut_ptr(), count) }
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, pack, copy, combine);
criterion_main!(benches);
