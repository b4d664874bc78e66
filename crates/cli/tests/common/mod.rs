//! What tests of the whole program share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An HPL.dat with lists: two sizes, three widths of a panel, two grids, two broadcasts.
pub const HPL_DAT: &str = include_str!("../../../apps/tests/HPL.dat");

/// What may differ between two equal runs.
pub const VARIES: [&str; 4] = ["cpu_seconds", "wall_seconds", "peak_memory_bytes", "provenance"];

/// A temporary folder, which is removed again.
pub struct Folder(PathBuf);

impl Folder {
    /// Folders that are there at the same time need different names.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("hpcast-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    /// Where a file in it is, or would be.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).expect("a temporary file");
        self.path(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Fits of dgemm on the two sockets of eight nodes, on six days; the last node is slow.
pub fn daily_fits() -> String {
    let mut text = String::from("date,node,cpu,intercept,mnk,mnk_residual\n");
    for i in 0..96u32 {
        let (node, cpu, day) = (i / 12, i % 2, i / 2 % 6);
        let chance = |salt: u32| f64::from((i + salt).wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
        let slow =
            if node == 7 { 1.2 } else { 1.0 + 0.02 * f64::from(node * 5 % 7) / 7.0 } + 0.005 * f64::from(day % 3);
        let (intercept, mnk) = (2e-6 * (1.0 + 0.1 * chance(1)), 7e-11 * slow * (1.0 + 0.002 * chance(2)));
        text +=
            &format!("2026-11-0{},{node},{cpu},{intercept:e},{mnk:e},{:e}\n", day + 1, 2e-12 * (1.0 + 0.2 * chance(3)));
    }
    text
}

/// A small study of 20 runs, to be written beside a `machine.toml`.
pub const SMALL_STUDY: &str = r#"
title = "Halo exchanges"
program = "run halo2d -n 16 --ranks-per-node 1 --size {size} --count 2"
machine = "machine.toml"
responses = ["seconds"]
[[factor]]
name = "size"
levels = ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB"]
[design]
repetitions = 4
"#;

/// A folder with that study and a machine, and the study's file.
pub fn small_study(name: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    fs::copy(machine("msc-512.toml"), folder.path("machine.toml")).expect("a machine");
    let study = folder.write("study.toml", SMALL_STUDY);
    (folder, study)
}

pub fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|told| told.stdout == b"0\n")
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One of our machines.
pub fn machine(file: &str) -> String {
    root().join("machines").join(file).display().to_string()
}

/// `hpcast`, to be run at the root of the project.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hpcast"));
    command.args(arguments).current_dir(root());
    command
}

pub fn hpcast(arguments: &[&str]) -> Output {
    command(arguments).output().expect("hpcast runs")
}

/// Succeeds, and prints this.
pub fn prints(arguments: &[&str]) -> String {
    let output = hpcast(arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Fails with exit code 2, says all of these and prints nothing else.
pub fn refuses(arguments: &[&str], parts: &[&str]) {
    let output = hpcast(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{message}");
    assert!(output.stdout.is_empty(), "{arguments:?} prints nothing else");
    for part in parts {
        assert!(message.contains(part), "{arguments:?} should say `{part}`:\n{message}");
    }
}

/// Compiles a program in C with our wrapper. Its header and library are made once for all tests.
pub fn compile(folder: &Folder, name: &str, source: &str) -> String {
    compile_with(folder, name, source, &[])
}

/// The same, with more arguments for the compiler.
pub fn compile_with(folder: &Folder, name: &str, source: &str, arguments: &[&str]) -> String {
    let (source, program) = (folder.write(&format!("{name}.c"), source), folder.path(name));
    let mut all = vec!["cc", "-O1", "-g", "-w", &source, "-o", &program];
    all.extend(arguments);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home");
    let output = command(&all).env("HPCAST_HOME", home).output().expect("hpcast runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Exit code, standard output and standard error.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs a real program on so many ranks, without the time of its own code.
pub fn run_program(ranks: u32, options: &[&str], program: &[&str]) -> Ran {
    program_command(ranks, options, program).output().expect("hpcast runs").into()
}

pub fn program_command(ranks: u32, options: &[&str], program: &[&str]) -> Command {
    let (ranks, machine) = (ranks.to_string(), machine("msc-512.toml"));
    let mut all = vec!["run", "-n", &ranks, "-m", &machine, "--compute", "skip"];
    all.extend(options);
    all.extend(program);
    command(&all)
}
