//! Files that are no programs for `hpcast run`, or not in this way: each is refused with a remedy.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::{Folder, command, compile, machine, program_command, run_program};

const PLAIN: &str = r#"
#include <mpi.h>
#include <stdio.h>
int __attribute__((noinline)) smooth(int n) {
    volatile int sum = 0;
    for (int i = 0; i < n; i++) sum += i * n;
    return sum;
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    printf("%d\n", smooth(argc));
    MPI_Finalize();
    return 0;
}
"#;

/// Exit code 2, nothing on standard output, and an error that says all of this.
fn refuses(options: &[&str], program: &str, parts: &[&str]) {
    let ran = run_program(2, options, &[program]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    assert!(ran.err.starts_with("error: "), "{}", ran.err);
    for part in parts {
        assert!(ran.err.contains(part), "{program} should say {part}: {}", ran.err);
    }
}

/// The system's C compiler.
fn cc(folder: &Folder, name: &str, source: &str, arguments: &[&str]) -> String {
    let (source, program) = (folder.write(&format!("{name}.c"), source), folder.path(name));
    let done = Command::new("cc").args(["-w", &source, "-o", &program]).args(arguments).output().expect("cc runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

#[test]
fn files_that_are_no_programs_are_refused() {
    let folder = Folder::new("program-input");
    let program = compile(&folder, "plain", PLAIN);
    let bytes = fs::read(&program).expect("a program");
    let with = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        fs::write(folder.path(name), bytes).expect("a file");
        folder.path(name)
    };
    refuses(&[], &folder.path("absent"), &["No such file", "check the path"]);
    refuses(&[], &folder.path(""), &["directory"]);
    refuses(&[], &folder.write("text", "hello\n"), &["is not a program", "name the program itself"]);
    refuses(&[], &folder.write("empty", ""), &["is not a program"]);
    refuses(
        &["--ranks-as", "copies"],
        &folder.write("script", "#!/bin/sh\nexec ./plain\n"),
        &["is a script for /bin/sh", "name the program"],
    );
    refuses(&[], &with("arm", &|bytes| bytes[18] = 183), &["another machine (AArch64", "x86-64"]);
    refuses(&[], &with("small", &|bytes| bytes[4] = 1), &["32-bit", "x86-64"]);
    refuses(&[], &with("cut", &|bytes| bytes.truncate(200)), &["is damaged", "build or install it anew"]);
    refuses(&[], &with("headless", &|bytes| bytes[32..40].fill(0xFF)), &["is damaged"]);
    refuses(
        &[],
        &cc(&folder, "static", "int main(void) { return 0; }", &["-static"]),
        &["linked statically", "-static"],
    );
    refuses(
        &[],
        &cc(&folder, "lib.so", "int f(void) { return 0; }", &["-shared"]),
        &["is a library", "name the program"],
    );
    let fixed = cc(&folder, "fixed", "int main(void) { return 0; }", &["-no-pie", "-fno-pie"]);
    refuses(&["--ranks-as", "copies"], &fixed, &["not position-independent", "-pie"]);
    if !common::is_root() {
        fs::set_permissions(&program, fs::Permissions::from_mode(0o000)).expect("its owner");
        refuses(&[], &program, &["denied", "permissions"]);
    }
}

#[test]
fn a_missing_library_is_named() {
    let folder = Folder::new("program-library");
    cc(&folder, "libabsent.so", "int absent(void) { return 1; }", &["-shared", "-fPIC"]);
    let here = format!("-L{}", folder.path(""));
    let source = "int absent(void); int main(void) { return absent(); }";
    let program = cc(&folder, "needing", source, &[&here, "-labsent"]);
    fs::remove_file(folder.path("libabsent.so")).expect("the library");
    refuses(&[], &program, &["libabsent.so", "needing", "LD_LIBRARY_PATH", "apt-file search libabsent.so"]);
}

#[test]
fn a_function_that_is_not_there_is_shown_with_those_that_are() {
    let folder = Folder::new("program-function");
    let program = compile(&folder, "plain", PLAIN);
    let functions = folder.write("functions.toml", "# mine\n\n[function.smoth]\nhow = \"skip\"\n");
    refuses(
        &["--functions", &functions],
        &program,
        &["no function smoth", "functions.toml:3:1", "did you mean `smooth`"],
    );
    let functions = folder.write("other.toml", "[function.nothing_like_it_here]\nhow = \"skip\"\n");
    refuses(&["--functions", &functions], &program, &["no function nothing_like_it_here", "other.toml:1:1", "nm"]);
    refuses(&["--functions", &folder.path("absent.toml")], &program, &["absent.toml"]);
    let functions =
        folder.write("good.toml", "[function.smooth]\nhow = \"skip\"\nreturns = 5\narguments = \"int n\"\n");
    assert_eq!(run_program(1, &["--functions", &functions], &[&program]).out, "5\n");
}

#[test]
fn ranks_must_fit_the_machine() {
    let folder = Folder::new("program-ranks");
    let program = compile(&folder, "plain", PLAIN);
    let with = |ranks: &str| {
        let output =
            command(&["run", "-n", ranks, "-m", &machine("msc-512.toml"), &program]).output().expect("hpcast runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (ranks, part) in
        [("0", "ask for at least one"), ("1000000", "1,000,000 ranks do not fit"), ("-3", "-3"), ("many", "many")]
    {
        let (code, message) = with(ranks);
        assert!(code == Some(2) && message.contains(part), "-n {ranks}: {message}");
    }
}

#[test]
fn a_program_without_mpi_runs_as_often_as_asked() {
    let folder = Folder::new("program-alone");
    let source = "#include <stdio.h>\nint main(void) { printf(\"alone\\n\"); return 0; }";
    let program = cc(&folder, "alone", source, &[]);
    let ran = run_program(3, &[], &[&program]);
    assert_eq!((ran.out.as_str(), ran.code), ("alone\nalone\nalone\n", Some(0)));
    assert!(ran.err.contains("uses no MPI: its ranks know nothing of each other"), "{}", ran.err);
}

#[test]
fn the_working_folder_can_be_named() {
    let folder = Folder::new("program-wdir");
    let source = "#include <stdio.h>\nint main(void) { FILE *f = fopen(\"here\", \"w\"); return f ? fclose(f) : 1; }";
    let program = cc(&folder, "writing", source, &[]);
    fs::create_dir(folder.path("inside")).expect("a folder");
    let ran = run_program(1, &["--wdir", &folder.path("inside")], &[&program]);
    assert!(ran.code == Some(0) && fs::exists(folder.path("inside/here")).expect("a folder"), "{}", ran.err);
    refuses(&["--wdir", &folder.path("nowhere")], &program, &["nowhere"]);
}

/// Counts calls of MPI_Send, as tools do.
const TOOL: &str = r#"
#include <mpi.h>
#include <stdio.h>
static int sends;
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
int MPI_Finalize(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%d sends\n", sends);
    return PMPI_Finalize();
}
"#;

/// A library of the program that sends.
const LIBRARY: &str = r#"
#include <mpi.h>
void tell(int to) { MPI_Send(&to, 1, MPI_INT, to, 1, MPI_COMM_WORLD); }
"#;

const SENDING: &str = r#"
#include <mpi.h>
void tell(int to);
int main(int argc, char **argv) {
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) { tell(1); MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); }
    else for (int i = 0; i < 2; i++) MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn tools_see_the_calls_of_programs_and_their_libraries() {
    let folder = Folder::new("program-tools");
    let library = common::compile_with(&folder, "libtell.so", LIBRARY, &["-shared", "-fPIC"]);
    let run_path = format!("-Wl,-rpath,{}", folder.path(""));
    let plain = common::compile_with(&folder, "sending", SENDING, &[&library, &run_path]);
    assert_eq!(run_program(2, &[], &[&plain]).out, "");
    // In the program itself, in a library that is linked before MPI, and in one that is preloaded.
    let inside = common::compile_with(&folder, "inside", &format!("{TOOL}{SENDING}"), &[&library, &run_path]);
    assert_eq!(run_program(2, &[], &[&inside]).out, "2 sends\n");
    let tool = common::compile_with(&folder, "libtool.so", TOOL, &["-shared", "-fPIC"]);
    let linked = common::compile_with(&folder, "linked", SENDING, &["-Wl,--no-as-needed", &tool, &library, &run_path]);
    assert_eq!(run_program(2, &[], &[&linked]).out, "2 sends\n");
    let preloaded = program_command(2, &[], &[&plain]).env("LD_PRELOAD", &tool).output().expect("hpcast runs");
    assert_eq!(
        String::from_utf8_lossy(&preloaded.stdout),
        "2 sends\n",
        "{}",
        String::from_utf8_lossy(&preloaded.stderr)
    );
}
