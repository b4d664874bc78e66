//! Prints how long network models take for traffic of several kinds: `cargo run --release --example network`.

#[path = "../benches/scenarios.rs"]
mod scenarios;

use std::rc::Rc;

use hpcast_models::network::{Flow, Ideal, Network};
use scenarios::*;

fn cpu<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = clock();
    let value = work();
    (clock() - start, value)
}

/// The shortest of many short runs, in wall time: nobody interrupted that one.
fn shortest(rounds: u32, mut work: impl FnMut()) -> f64 {
    let run = |_| {
        let start = std::time::Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..rounds).map(run).fold(f64::INFINITY, f64::min)
}

/// CPU seconds of this thread.
fn clock() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

fn best(rounds: u32, mut work: impl FnMut()) -> f64 {
    (0..rounds).map(|_| cpu(&mut work).0).fold(f64::INFINITY, f64::min)
}

fn main() {
    let which: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| which.is_empty() || which.iter().any(|w| w == name);
    if wanted("ideal") {
        for flows in [1, 10, 100, 1000, 10_000] {
            let mut network = Ideal::new(machine(crossbar(2 * flows), 0.0));
            let mut next = disjoint(&mut network, flows);
            let time = shortest(1000, || run(&mut network, 2_000, &mut next));
            println!("ideal: {flows} disjoint flows: {:.1} ns a transfer", time / 2e-6);
        }
    }
    if wanted("a") {
        for flows in [1, 10, 100, 1000, 10_000] {
            let mut network = Flow::new(machine(crossbar(2 * flows), 0.0));
            let mut next = disjoint(&mut network, flows);
            let time = shortest(1000, || run(&mut network, 2_000, &mut next));
            println!("a) {flows} disjoint flows: {:.1} ns a transfer", time / 2e-6);
        }
    }
    if wanted("b") {
        for (ct, flows) in [(0.0, 1000), (0.05, 1000), (0.0, 4000), (0.05, 4000)] {
            let mut network = Flow::new(machine(fat_tree(16, 3), ct));
            let mut next = permutation(&mut network, 4096, flows);
            run(&mut network, 10_000, &mut next);
            let before = network.stats();
            let time = shortest(100, || run(&mut network, 1_000, &mut next));
            let after = network.stats();
            println!("b) {flows} flows, cross traffic {ct}: {:.2} us a change", time / 2_000.0 * 1e6);
            println!("   {:?}", std::array::from_fn::<f64, 8, _>(|i| (after[i] - before[i]) as f64 / 200_000.0));
        }
    }
    if wanted("c") {
        for ct in [0.0, 0.05] {
            let mut network = Flow::new(machine(crossbar(512), ct));
            let mut next = random_pairs(&mut network, 512, 2048);
            run(&mut network, 10_000, &mut next);
            let before = network.stats();
            let time = shortest(100, || run(&mut network, 1_000, &mut next));
            let after = network.stats();
            println!("c) cross traffic {ct}: {:.2} us a change", time / 2_000.0 * 1e6);
            println!("   {:?}", std::array::from_fn::<f64, 8, _>(|i| (after[i] - before[i]) as f64 / 200_000.0));
        }
    }
    if wanted("d") {
        for ct in [0.0, 0.05] {
            let time = best(2, || { let mut n = Flow::new(machine(crossbar(512), ct)); all_to_all(&mut n, 512, 100_000); println!("{:?}", n.stats()); });
            println!("d) crossbar, cross traffic {ct}: {time:.3} s");
            let time = best(2, || { let mut n = Flow::new(machine(fat_tree_512(), ct)); all_to_all(&mut n, 512, 100_000); println!("{:?}", n.stats()); });
            println!("d) fat tree, cross traffic {ct}: {time:.3} s");
        }
    }
    let _ = Rc::new(0);
}

fn fat_tree_512() -> hpcast_platform::topology::FatTree {
    use hpcast_platform::topology::*;
    let shape = FatTreeShape { down: vec![16, 32], up: vec![1, 16], parallel: vec![1, 1] };
    FatTree::new(shape, &[LINK; 2], Duplex::Split).expect("the shape is sound")
}
