//! What users of real programs see: texts, ends, faults, deadlocks, what is left behind, and what Ctrl-C does.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use common::{Folder, Ran, compile, program_command, run_program};

const TEXTS: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, n = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    usleep(1000 * (size - rank));
    printf("one of %d\n", rank);
    usleep(10000);
    printf("two of %d,", rank);
    fflush(stdout);
    usleep(10);
    printf(" whole\n");
    fprintf(stderr, "error of %d\n", rank);
    if (rank == 2) write(1, "directly\n", 9);
    if (scanf("%d", &n) != 1) n = -2;
    printf("rank %d read %d", rank, n);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn texts_come_in_the_order_of_virtual_time() {
    let folder = Folder::new("program-texts");
    let program = compile(&folder, "texts", TEXTS);
    let mut command = program_command(3, &[], &[&program]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
    child.stdin.take().expect("its input").write_all(b"17\n18\n").expect("a pipe");
    let ran = Ran::from(child.wait_with_output().expect("an end"));
    let whole = "one of 2\none of 1\none of 0\ntwo of 2, whole\ndirectly\ntwo of 1, whole\ntwo of 0, whole\n";
    assert_eq!((ran.out.as_str(), ran.code), (&*format!("{whole}rank 0 read 17rank 1 read -2rank 2 read -2"), Some(0)));
    assert!(ran.err.starts_with("error of 2\nerror of 1\nerror of 0\n"), "{}", ran.err);
}

#[test]
fn lines_begin_with_what_is_asked_for() {
    let folder = Folder::new("program-prefix");
    let program = compile(&folder, "texts", TEXTS);
    let ran = run_program(2, &["--prefix"], &[&program]);
    assert!(ran.out.starts_with("[1] one of 1\n[0] one of 0\n[1] two of 1, whole\n"), "{}", ran.out);
    let ran = run_program(2, &["--prefix=time"], &[&program]);
    assert!(
        ran.out.starts_with("[1 0.001000000] one of 1\n[0 0.002000000] one of 0\n[1 0.011010000] two"),
        "{}",
        ran.out
    );
}

const FAULTS: &str = r#"
#include <mpi.h>
#include <assert.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int zero;
static int __attribute__((noinline)) deeper(int n) { volatile char a[1000]; a[n % 1000] = 1; return deeper(n + 1) + a[5]; }
static int how(char **argv, const char *what) { return strcmp(argv[1], what) == 0; }
static void __attribute__((noinline)) fail(char **argv) {
    if (how(argv, "segv")) *(volatile int *)16 = 1;
    if (how(argv, "fpe")) printf("%d\n", 100 / zero);
    if (how(argv, "ill")) __builtin_trap();
    if (how(argv, "bus")) raise(SIGBUS);
    if (how(argv, "assert")) assert(zero == 1);
    if (how(argv, "abort")) abort();
    if (how(argv, "stack")) deeper(0);
    if (how(argv, "exit")) exit(7);
    if (how(argv, "exit0")) exit(0);
    if (how(argv, "mpi-abort")) MPI_Abort(MPI_COMM_WORLD, 9);
    if (how(argv, "err")) errx(5, "no such thing");
    if (how(argv, "term")) raise(SIGTERM);
    if (how(argv, "free")) { char *p = malloc(100); free(p); free(p); }
    if (how(argv, "large-free")) { char *p = malloc(5000), *q = malloc(5000); free(p); free(p); free(q); }
    if (how(argv, "null")) MPI_Send(NULL, 100, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (how(argv, "buffer")) MPI_Send((void *)8192, 100, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (how(argv, "peer")) MPI_Send((void *)&zero, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
    if (how(argv, "exec")) execlp("true", "true", NULL);
    if (how(argv, "fork")) fork();
    if (how(argv, "system")) printf("gave %d\n", system("echo from the shell"));
}
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("hello from %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) fail(argv);
    if (!how(argv, "exit0")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn faults_are_reported_with_rank_time_and_place() {
    let folder = Folder::new("program-faults");
    let program = common::compile_with(&folder, "faults", FAULTS, &["-fno-builtin"]);
    let json = folder.path("report.json");
    let fails_on = |stacks: &str, how: &str, code: i32, parts: &[&str]| {
        let options = ["--json", &json, "--ranks-as", "copies", "--stacks", stacks];
        let ran = run_program(3, &options, &[&program, how]);
        assert_eq!(ran.code, Some(code), "{how}, {stacks}: {}", ran.err);
        for rank in 0..3 {
            assert!(ran.out.contains(&format!("hello from {rank}\n")), "{how}, {stacks}: what others wrote is kept");
        }
        for part in parts {
            assert!(ran.err.contains(part), "{how}, {stacks} should say {part}: {}", ran.err);
        }
    };
    let fails = |how: &str, code: i32, parts: &[&str]| {
        ["own", "shared"].into_iter().for_each(|stacks| fails_on(stacks, how, code, parts));
    };
    let ended = || {
        let report: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&json).expect("a report")).expect("JSON");
        report["ended"].as_str().unwrap_or_default().to_owned()
    };
    let with_place = |what: &'static str| ["rank 1 got", what, "after 0.000", " s\n  fail + 0x", "main + 0x"];
    fails("segv", 139, &with_place("SIGSEGV"));
    assert_eq!(ended(), "signal");
    fails("fpe", 136, &with_place("SIGFPE"));
    fails("ill", 132, &with_place("SIGILL"));
    fails("bus", 135, &["rank 1 got SIGBUS", "fail + 0x"]);
    fails("stack", 139, &["rank 1 got SIGSEGV (its stack is full", "deeper + 0x"]);
    fails("assert", 134, &["rank 1 stopped after 0.000", "assertion `zero == 1' failed", "fail + 0x"]);
    fails("abort", 134, &["rank 1 stopped after", "abort", "fail + 0x"]);
    fails("free", 134, &["rank 1 got SIGABRT", "fail + 0x"]);
    fails("large-free", 134, &["rank 1 got SIGABRT"]);
    fails("exit", 7, &["rank 1 ended with exit code 7 after 0.000", "without MPI_Finalize"]);
    assert_eq!(ended(), "exit");
    fails("exit0", 0, &["rank 1 ended without MPI_Finalize"]);
    assert_eq!(ended(), "finished");
    fails("mpi-abort", 9, &["rank 1 called MPI_Abort with code 9 after 0.000"]);
    fails("err", 5, &["faults: no such thing", "rank 1 ended with exit code 5"]);
    fails("term", 143, &["rank 1 got signal 15"]);
    fails("null", 1, &["rank 1: MPI_Send: MPI_ERR_BUFFER"]);
    fails("buffer", 139, &["rank 1 got SIGSEGV", "MPI_Send"]);
    fails("peer", 1, &["rank 1: MPI_Send: MPI_ERR_RANK", "99 is no rank", "fail + 0x"]);
    fails("exec", 1, &["rank 1 called execlp"]);
    fails("fork", 1, &["rank 1 called fork"]);
    fails("system", 0, &[]);
}

const BUFFERS: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define BAD ((char *)8192)
static int rank;
static char good[1 << 20];
static const char *how;
static int is(const char *name) { return !strcmp(how, name); }
__attribute__((noinline)) static void give(void) {
    int small = is("small"), count = small ? 100 : 1 << 20;
    MPI_Request request;
    MPI_Status status;
    if (is("small") || is("large")) {
        if (rank == 1) MPI_Send(BAD, count, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(good, count, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
    } else if (is("late")) {
        /* The receive is there before the message, so that it is moved while the sender runs. */
        if (rank == 1) MPI_Recv(BAD, 100, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
        if (rank == 0) MPI_Sendrecv(good, 1, MPI_BYTE, 0, 9, good + 1, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &status);
        if (rank == 0) MPI_Send(good, 100, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (is("wait")) {
        if (rank == 1) MPI_Irecv(BAD, 1 << 20, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request), MPI_Wait(&request, &status);
        if (rank == 0) MPI_Send(good, 1 << 20, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (is("vector")) {
        MPI_Datatype type;
        MPI_Type_vector(1000, 1, 3, MPI_INT, &type);
        MPI_Type_commit(&type);
        if (rank == 1) MPI_Recv(BAD, 1, type, 0, 1, MPI_COMM_WORLD, &status);
        if (rank == 0) MPI_Send(good, 1, type, 1, 1, MPI_COMM_WORLD);
    } else if (is("read-only")) {
        if (rank == 1) MPI_Recv((char *)"constant", 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
        if (rank == 0) MPI_Send(good, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (is("impossible")) {
        if (rank == 1) MPI_Send((char *)(1L << 62), 100, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(good, 100, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
    } else if (is("end")) {
        /* Only the end of it is not there. */
        if (rank == 1) MPI_Send((char *)sbrk(0) - 8192, 1 << 30, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(malloc(1 << 30), 1 << 30, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
    } else if (is("sum")) {
        MPI_Allreduce(rank == 1 ? BAD : good, good + 4096, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (is("neighbours")) {
        MPI_Comm ring;
        int all = 3, around = 1;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &around, 0, &ring);
        MPI_Neighbor_allgather(rank == 1 ? BAD : good, 100, MPI_BYTE, good + 4096, 100, MPI_BYTE, ring);
    } else if (is("get")) {
        MPI_Win window;
        MPI_Win_create(good, sizeof good, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        if (rank == 1) MPI_Get(BAD, 100, MPI_BYTE, 0, 0, 100, MPI_BYTE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
    how = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("hello from %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    give();
    printf("goodbye from %d\n", rank);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn a_buffer_that_is_not_there_is_the_fault_of_who_gave_it() {
    let folder = Folder::new("program-buffers");
    let program = compile(&folder, "buffers", BUFFERS);
    let json = folder.path("report.json");
    for (how, function) in [
        ("small", "MPI_Send"),
        ("large", "MPI_Send"),
        ("late", "MPI_Recv"),
        ("wait", "MPI_Wait"),
        ("vector", "MPI_Recv"),
        ("read-only", "MPI_Recv"),
        ("impossible", "MPI_Send"),
        ("end", "MPI_Send"),
        ("sum", "MPI_Allreduce"),
        ("neighbours", "MPI_Neighbor_allgather"),
        ("get", "MPI_Win_fence"),
    ] {
        let _ = fs::remove_file(&json);
        let ran = run_program(3, &["--json", &json], &[&program, how]);
        assert_eq!(ran.code, Some(139), "{how}: {}", ran.err);
        for rank in 0..3 {
            assert!(ran.out.contains(&format!("hello from {rank}\n")), "{how}: what others wrote is kept");
        }
        assert!(!ran.out.contains("goodbye from 1"), "{how}: {}", ran.out);
        for part in
            ["error: rank 1 got SIGSEGV (", &format!(") in {function} after 0.000"), "\n  give + 0x", "main + 0x"]
        {
            assert!(ran.err.contains(part), "{how} should say {part}: {}", ran.err);
        }
        let report: serde_json::Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
        assert_eq!((&report["ended"], &report["exit_code"]), (&"signal".into(), &139.into()), "{how}");
        assert!(report["simulated_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{how}");
    }
}

const DEADLOCKS: &str = r#"
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank, size, x = 0;
    static char big[1 << 20];
    MPI_Comm half;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    if (!strcmp(argv[1], "circle")) {
        if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1) MPI_Send(big, 1 << 20, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
        else MPI_Barrier(half);
    } else if (!strcmp(argv[1], "tag")) {
        if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    } else if (!strcmp(argv[1], "any")) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(&x, 1, MPI_INT, (rank + 1) % size, 5, half, requests);
        MPI_Ibarrier(MPI_COMM_WORLD, requests + 1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn deadlocks_say_who_waits_for_whom() {
    let folder = Folder::new("program-deadlock");
    let program = compile(&folder, "deadlocks", DEADLOCKS);
    let says = |ranks: u32, how: &str, parts: &[&str]| {
        let ran = run_program(ranks, &[], &[&program, how]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.lines().count() < 20, "{}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "{how} should say {part}: {}", ran.err);
        }
    };
    says(
        400,
        "circle",
        &[
            "deadlock after 0.0",
            "400 ranks wait for something that never comes\n2 ranks wait for each other, in a circle:\n",
            "  rank 0 waits in MPI_Recv for a message with tag 5 from rank 1 (MPI_COMM_WORLD)\n",
            "  rank 1 waits in MPI_Send for its 1,048,576 B with tag 7 to be received by rank 0 (MPI_COMM_WORLD)\n",
            "398 ranks (2-399) wait in MPI_Barrier (half), such as\n    rank 2 waits in MPI_Barrier for rank ",
        ],
    );
    says(
        4,
        "tag",
        &[
            "1 rank waits",
            "rank 0 waits in MPI_Recv for a message with tag 5 from rank 1, which has ended (MPI_COMM_WORLD)\n    rank 1 has sent it one with tag 6 instead\n",
            "ranks 1-3 ended before",
        ],
    );
    says(2, "any", &["rank 0 waits in MPI_Recv for a message with any tag from any rank (MPI_COMM_WORLD)"]);
}

const LEAVING: &str = r#"
#include <mpi.h>
int main(int argc, char **argv) {
    int rank, i, x = 0, y;
    MPI_Comm copy;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    MPI_Type_contiguous(3, MPI_INT, &type);
    if (argc > 1) {
        if (rank == 0) for (i = 0; i < 20; i++) MPI_Send(&x, 1, MPI_INT, 1, 7 + i, copy);
        if (rank == 1) MPI_Irecv(&y, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &request);
        if (rank == 2) MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    } else {
        MPI_Type_free(&type);
        MPI_Comm_free(&copy);
    }
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn what_is_left_behind_is_listed() {
    let folder = Folder::new("program-left");
    let program = compile(&folder, "leaving", LEAVING);
    let json = folder.path("report.json");
    let ran = run_program(3, &["--json", &json], &[&program, "much"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for line in [
        "left behind               rank  peer  tag  bytes  communicator\n",
        "sent, never received         0     1    7      4  copy\n",
        "receive, never completed     1     0   99      -  MPI_COMM_WORLD\n",
        "receive, never completed     2   any  any      -  MPI_COMM_WORLD\n",
        "and 12 more messages that were never received\n",
        "not freed: 3 communicators, of rank 0 and 2 more\n",
        "not freed: 3 datatypes, of rank 0 and 2 more\n",
    ] {
        assert!(ran.err.contains(line), "{line}\n{}", ran.err);
    }
    let report: serde_json::Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
    let left = &report["left_behind"];
    assert_eq!((&left["message_count"], &left["messages"][0]["tag"]), (&20.into(), &7.into()));
    assert_eq!((&left["request_count"], &left["objects"][0]["kind"]), (&2.into(), &"communicators".into()));
    let clean = run_program(3, &[], &[&program]);
    assert!(
        clean.code == Some(0) && !clean.err.contains("left behind") && !clean.err.contains("not freed"),
        "{}",
        clean.err
    );
}

const ENDLESS: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank;
    volatile double sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("hello from %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "compute") && rank == 1) for (;;) sum += 1;
    if (!strcmp(argv[1], "library") && rank == 1) for (;;) free(malloc(100));
    if (!strcmp(argv[1], "calls")) for (;;) MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "asks")) for (;;) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "posts")) for (;;) MPI_Irecv((void *)&sum, 1, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"#;

/// Sends a signal when a line was printed; gives the rest.
fn stopped(mut child: Child, signal: &str) -> Ran {
    let mut out = BufReader::new(child.stdout.take().expect("its output"));
    let mut text = String::new();
    out.read_line(&mut text).expect("a line");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    out.read_to_string(&mut text).expect("text");
    let ran = Ran::from(child.wait_with_output().expect("an end"));
    Ran { out: text, ..ran }
}

#[test]
fn an_interrupted_run_says_where_it_was_and_keeps_what_there_is() {
    let folder = Folder::new("program-interrupt");
    let program = compile(&folder, "endless", ENDLESS);
    let (json, trace) = (folder.path("report.json"), folder.path("trace.json"));
    for (how, signal, code, place) in [
        ("compute", "-INT", 130, "1 rank  computing\n"),
        ("library", "-TERM", 143, "1 rank  computing\n"),
        ("calls", "-INT", 130, "in MPI_Barrier\n"),
        // Between two questions, or in one of them.
        ("asks", "-INT", 130, "        1 rank  "),
    ] {
        let mut command = program_command(3, &["--json", &json, "--trace", &trace], &[&program, how]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hpcast starts");
        let ran = stopped(child, signal);
        assert_eq!(ran.code, Some(code), "{how}: {}", ran.err);
        assert_eq!(ran.out.lines().count(), 3, "{how}: {}", ran.out);
        assert!(ran.err.contains("interrupted after ") && ran.err.contains(place), "{how}: {}", ran.err);
        let report: serde_json::Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
        assert_eq!((&report["interrupted"], &report["ended"]), (&true.into(), &"interrupted".into()));
        assert!(report["simulated_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
        let trace: serde_json::Value = serde_json::from_str(&folder.read("trace.json")).expect("JSON");
        assert!(trace.to_string().len() > 100, "{trace}");
    }
}

/// Its process is not killed while it changes the simulation.
#[test]
fn a_rank_that_is_a_process_leaves_mpi_before_it_is_stopped() {
    let folder = Folder::new("program-interrupt-process");
    let program = compile(&folder, "endless", ENDLESS);
    for _ in 0..4 {
        let mut command = program_command(2, &["--ranks-as", "processes"], &[&program, "posts"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hpcast starts");
        let ran = stopped(child, "-TERM");
        assert_eq!(ran.code, Some(143), "{}", ran.err);
        assert!(ran.err.contains("interrupted after ") && !ran.err.contains("error:"), "{}", ran.err);
    }
}

/// Runs until it says that a rank computes for ever, and then stops it; gives what it said until then.
fn named(how: &str, options: &[&str], program: &str) -> (String, Ran) {
    let mut command = program_command(3, options, &[program, how]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("hpcast starts");
    let mut err = BufReader::new(child.stderr.take().expect("its words"));
    let mut said = String::new();
    while !said.ends_with("Ctrl-C stops the run\n") {
        assert!(err.read_line(&mut said).expect("a line") > 0, "{how}: {said}");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    let mut rest = String::new();
    err.read_to_string(&mut rest).expect("text");
    let code = child.wait().expect("an end").code();
    (said, Ran { code, out: String::new(), err: rest })
}

#[test]
fn a_rank_that_computes_for_ever_is_named() {
    let folder = Folder::new("program-endless");
    let program = compile(&folder, "endless", ENDLESS);
    for how in ["compute", "library"] {
        let (said, ran) = named(how, &["--patience", "0.3"], &program);
        assert!(said.contains("note: rank 1 has computed for 0."), "{how}: {said}");
        assert!(said.contains(" s without a call of MPI, at 0.000"), "{how}: {said}");
        if how == "compute" {
            assert!(ran.err.starts_with("  main + 0x"), "{}", ran.err);
        }
        assert_eq!(ran.code, Some(130), "{how}: {}", ran.err);
        assert!(ran.err.contains("1 rank  computing\n"), "{how}: {}", ran.err);
    }
    let (said, ran) = named("compute", &["--patience", "0.3", "--ranks-as", "processes"], &program);
    assert!(said.contains("note: rank 1 has computed for 0."), "{said}");
    assert!(ran.err.starts_with("  its process is "), "{}", ran.err);
    assert_eq!(ran.code, Some(130), "{}", ran.err);
}

const BUSY: &str = r#"
#include <mpi.h>
#include <time.h>
/* Computes about a second of CPU time, with a call now and then. */
int main(int argc, char **argv) {
    int rank, i, ranks;
    volatile double sum = 0;
    double until;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < 200; i++) {
        long step;
        for (step = 0; step < 2000000; step++) sum += 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    }
    until = MPI_Wtime() + 0.1;
    while (MPI_Wtime() < until) sum += 1;
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn a_rank_that_calls_now_and_then_is_not_named() {
    let folder = Folder::new("program-busy");
    let program = compile(&folder, "busy", BUSY);
    for ranks_as in ["copies", "processes"] {
        let ran = run_program(2, &["--patience", "0.3", "--ranks-as", ranks_as], &[&program]);
        assert!(ran.code == Some(0) && !ran.err.contains("note:"), "{}", ran.err);
    }
    let ran = run_program(2, &["--patience=-1"], &[&program]);
    assert!(ran.code == Some(2) && ran.err.contains("--patience -1"), "{}", ran.err);
}
