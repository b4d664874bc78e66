//! Thousands of copies.

mod common;

use std::fs;
use std::sync::Mutex;

use common::{Folder, call, open, ready};

/// One at a time: they measure the memory of the process, and use most of its mappings.
static ALONE: Mutex<()> = Mutex::new(());

/// Private memory of the process in KiB.
fn memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn ten_thousand_copies_take_two_pages_each() {
    let _alone = ALONE.lock();
    let source = "int data = 1, empty[10000]; int *pointer = &data; int next(int by) { return *pointer += by; } int main(void) {}";
    let folder = Folder::new("many");
    let Some(path) = folder.compile("gcc", "many", source, &[]) else { return };
    let program = open(&path);
    let before = memory();
    let copies: Vec<_> = (0..10_000).map(|_| program.instantiate().expect("a copy")).collect();
    let each = (memory() - before) / 10_000.0;
    assert!(each < 9.0, "{each} KiB");
    for (number, copy) in copies.iter().enumerate() {
        assert_eq!(call(copy, "next", number as i32), 1 + number as i32);
    }
    assert!(copies.iter().all(|copy| program.describe(copy.entry()).is_some()));
    drop(copies);
    let left = memory() - before;
    assert!(left < 4096.0, "{left} KiB after all copies are gone");
}

#[test]
fn there_is_a_way_around_the_limit_of_mappings() {
    let _alone = ALONE.lock();
    let folder = Folder::new("mappings");
    let mut calls = String::new();
    let names = ["one", "two", "three", "four", "five"];
    for name in names {
        let source = format!("int value_{name} = 1; int {name}(int x) {{ return value_{name} += x; }}");
        let library = format!("lib{name}.so");
        let Some(_) = folder.compile("gcc", &library, &source, &["-shared", "-fPIC"]) else { return };
        calls += &format!(" + {name}(x)");
    }
    let source = format!("int sum(int x) {{ return 0 {calls}; }} int main(void) {{}}");
    let options = ["-L.", "-lone", "-ltwo", "-lthree", "-lfour", "-lfive", "-Wl,-rpath,$ORIGIN"];
    let path = folder.compile("gcc", "user", &source, &options).expect("as before");
    let program = open(&path);
    assert_eq!(program.mappings(), 12);
    let copies: Vec<_> = (0..8_000).map(|_| ready(&program)).collect();
    for copy in &copies {
        assert_eq!((call(copy, "sum", 1), call(copy, "sum", 2)), (10, 20));
    }
}
