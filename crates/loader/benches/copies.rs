//! What a copy costs: time to make it, memory, mappings, with 10,000 copies of small programs in three languages (or as many as
//! are named: `cargo bench -p hpcast-loader -- 1000`).

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;
use std::{env, fs};

use common::{Folder, open};

const C: &str = "#include <stdio.h>\nint count; int main(void) { return printf(\"%d\\n\", ++count); }";
const CPP: &str = "#include <iostream>\nint count; int main() { std::cout << ++count << std::endl; }";
const FORTRAN: &str = "program main\n integer, save :: count = 1\n print *, count\nend program";

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
}
