//! What a copy costs: time to make it, memory, mappings, with 10,000 copies of small programs in three languages (or as many as
//! are named: `cargo bench -p hpcast-loader -- 1000`). Then what an exception costs with one copy and with all of them.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;
use std::{env, fs};

use common::{Folder, call, open, ready};

const C: &str = "#include <stdio.h>\nint count; int main(void) { return printf(\"%d\\n\", ++count); }";
const CPP: &str = "#include <iostream>\nint count; int main() { std::cout << ++count << std::endl; }";
const FORTRAN: &str = "program main\n integer, save :: count = 1\n print *, count\nend program";

/// Exceptions that pass ten functions.
const THROW: &str = "static int deep(int n) { struct S { int v = 1; ~S() { asm volatile(\"\" : : \"r\"(v)); } } s; \
    if (n == 0) throw 1; return deep(n - 1) + s.v; }
    extern \"C\" int fall(int times) { int sum = 0; while (times--) try { sum += deep(10); } catch (int x) { sum += x; } return sum; }
    int main() {}";

/// Kilobytes of memory and of page tables that the process has.
fn memory() -> (f64, f64) {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number")
    };
    (field("RssAnon:"), field("VmPTE:"))
}

fn main() {
    let count: usize = env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(10_000);
    let folder = Folder::new("bench");
    println!(
        "{:<10} {:>8} {:>10} {:>10} {:>12} {:>10}",
        "", "copies", "µs a copy", "KiB a copy", "page tables", "mappings"
    );
    for (compiler, name, source) in [("gcc", "c", C), ("g++", "cpp", CPP), ("gfortran", "fortran", FORTRAN)] {
        let Some(path) = folder.compile(compiler, name, source, &[]) else { continue };
        let program = open(&path);
        let before = memory();
        let start = Instant::now();
        let mut copies = Vec::with_capacity(count);
        let problem = loop {
            match program.instantiate() {
                Ok(_) if copies.len() == count => break None,
                Ok(copy) => copies.push(copy),
                Err(error) => break Some(error),
            }
        };
        let (seconds, after) = (start.elapsed().as_secs_f64(), memory());
        let each = |total: f64| total / copies.len() as f64;
        println!(
            "{name:<10} {:>8} {:>10.2} {:>10.2} {:>12.2} {:>10}",
            copies.len(),
            each(seconds) * 1e6,
            each(after.0 - before.0),
            each(after.1 - before.1),
            program.mappings()
        );
        if let Some(error) = problem {
            println!("{error}; {}", error.remedy());
        }
    }
    exceptions(&folder, count);
}

fn exceptions(folder: &Folder, count: usize) {
    const TIMES: usize = 10_000;
    let Some(path) = folder.compile("g++", "throw", THROW, &["-fno-optimize-sibling-calls"]) else { return };
    let program = open(&path);
    let mut copies = Vec::new();
    for copies_now in [1, count] {
        while copies.len() < copies_now {
            copies.push(ready(&program));
        }
        let start = Instant::now();
        assert_eq!(call(&copies[copies_now / 2], "fall", TIMES as i32), TIMES as i32);
        let each = start.elapsed().as_secs_f64() / TIMES as f64;
        println!("an exception through ten functions, {copies_now} copies: {:.2} µs", each * 1e6);
    }
}
