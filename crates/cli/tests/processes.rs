//! Real programs that cannot be copied in one process: each rank is a process of its own.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Folder, command, machine};

/// Rings of messages, windows on its own memory, threads, processes: as the first argument says.
const PROGRAM: &str = r#"
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size, left, right;

static void *twice(void *number) { *(int *)number *= 2; return NULL; }

static int ring(int number) {
    int got = -1;
    MPI_Sendrecv(&number, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return got;
}

static int window(void) {
    int memory = -1, old = -1, one = 1;
    MPI_Win win;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT, right, 0, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    return memory == left + 1 && old == rank;
}

static int thread(void) {
    int number = rank;
    pthread_t other;
    if (pthread_create(&other, NULL, twice, &number)) return -1;
    pthread_join(other, NULL);
    return number;
}

/* A forked process sees real time, and may execute programs; the rank sees virtual time. */
static int children(void) {
    int status = 0, code = WEXITSTATUS(system("exit 3"));
    struct timespec time;
    pid_t child = fork();
    if (child == 0) {
        clock_gettime(CLOCK_REALTIME, &time);
        char *words[] = {"sh", "-c", "exit 4", NULL};
        if (time.tv_sec > 1500000000) execvp("sh", words);
        _exit(1);
    }
    waitpid(child, &status, 0);
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec == 1000000000 ? 10 * code + WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    if (!strcmp(what, "crash") && rank == 1) raise(SIGSEGV);
    if (!strcmp(what, "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
    if (!strcmp(what, "wait") && rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(what, "ring")) number = ring(rank);
    if (!strcmp(what, "window")) number = window();
    if (!strcmp(what, "thread")) number = thread();
    if (!strcmp(what, "children")) number = children();
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %d\n", what, number);
    MPI_Finalize();
    return !strcmp(what, "status") && rank == 1 ? 7 : 0;
}
"#;

/// A folder with the program in it.
fn built(name: &str, flags: &[&str]) -> (Folder, String) {
    let folder = Folder::new(name);
    let (source, program) = (folder.write("a.c", PROGRAM), folder.path("a"));
    let mut words = vec!["cc", "-O1", &source, "-o", &program, "-pthread"];
    words.extend(flags);
    let output = command(&words).env("HPCAST_HOME", folder.path("home")).output().expect("hpcast runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (folder, program)
}

/// What it prints, what the report says, and the exit code.
fn runs(options: &[&str], program: &[&str]) -> (String, String, Option<i32>) {
    let machine = machine("msc-512.toml");
    let mut words = vec!["run", "-m", &machine, "--compute", "skip"];
    words.extend(options);
    words.extend(program);
    let output = command(&words).output().expect("hpcast runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// Prints this, and says why ranks were processes.
fn is_run_by_processes(program: &[&str], printed: &str, because: &str) {
    let (text, report, code) = runs(&["-n", "4"], program);
    assert_eq!((text.as_str(), code), (printed, Some(0)), "{report}");
    assert!(report.contains("ranks-as = processes, because") && report.contains(because), "{report}");
}

#[test]
fn what_cannot_be_copied_is_a_process_a_rank() {
    let (_folder, fixed) = built("processes-fixed", &["-no-pie"]);
    is_run_by_processes(&[&fixed, "ring"], "ring 6\n", "not position-independent");
    let (folder, program) = built("processes-other", &[]);
    is_run_by_processes(&[&program, "thread"], "thread 12\n", "pthread_create");
    is_run_by_processes(&[&program, "children"], "children 136\n", "fork");
    // A script that becomes the program.
    let script = folder.write("script", &format!("#!/bin/sh\nword=ring\nexec {program} $word\n"));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a script");
    is_run_by_processes(&[&script], "ring 6\n", "a script");
}

#[test]
fn processes_and_copies_do_the_same() {
    let (folder, program) = built("processes-same", &[]);
    for what in ["ring", "window"] {
        let found = ["copies", "processes"].map(|kind| {
            let json = folder.path(&format!("{kind}.json"));
            let (text, report, code) = runs(&["-n", "16", "--ranks-as", kind, "--json", &json], &[&program, what]);
            assert_eq!(code, Some(0), "{report}");
            let time = folder.read(&format!("{kind}.json"));
            let time: Vec<String> = time.lines().filter(|line| line.contains("simulated")).map(str::to_owned).collect();
            assert!(!time.is_empty());
            (text, time)
        });
        assert_eq!(found[0], found[1]);
    }
    // Two hundred and fifty-six of them.
    let (text, report, code) = runs(&["-n", "256", "--ranks-as", "processes"], &[&program, "ring"]);
    assert_eq!((text.as_str(), code), ("ring 32640\n", Some(0)), "{report}");
}

#[test]
fn ends_of_processes_are_told() {
    let (_folder, program) = built("processes-ends", &[]);
    let ends = |what: &str, part: &str, status: i32| {
        let (_, report, code) = runs(&["-n", "3", "--ranks-as", "processes"], &[&program, what]);
        assert_eq!(code, Some(status), "{report}");
        assert!(report.contains(part), "{report}");
    };
    ends("crash", "rank 1 got SIGSEGV", 139);
    ends("abort", "rank 1 called MPI_Abort with code 5", 5);
    ends("wait", "rank 1 waits in MPI_Recv", 1);
    ends("status", "Simulated time", 7);
}

#[test]
fn what_needs_copies_is_said() {
    let (_folder, program) = built("processes-fold", &["-no-pie"]);
    let (_, report, code) = runs(&["-n", "2", "--fold", "1"], &[&program]);
    assert_eq!(code, Some(2));
    assert!(report.contains("--fold"), "{report}");
    let (_, report, code) = runs(&["-n", "2", "--ranks-as", "copies"], &[&program]);
    assert_eq!(code, Some(2));
    assert!(report.contains("position-independent"), "{report}");
}

#[test]
fn a_command_is_found_as_shells_do() {
    let (text, report, code) = runs(&["-n", "2", "--ranks-as", "processes"], &["sh", "-c", "echo $0", "word"]);
    assert_eq!((text.as_str(), code), ("word\nword\n", Some(0)), "{report}");
    assert!(report.contains("uses no MPI"), "{report}");
}
