//! Real programs with threads that are in MPI at the same time (MPI_THREAD_MULTIPLE): how they end, and what time it is for them. What
//! they compute is compared with Open MPI and MPICH in `conformance/cases/threads`.

mod common;

use common::{Folder, command, machine};

/// A rank has two threads; what they do is the first argument.
const PROGRAM: &str = r#"
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, right;
static const char *what;
static volatile int done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;

static int is(const char *word) { return !strcmp(what, word); }

/* Waits until a time that nobody wakes it before. */
static double wait_in_vain(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&change, &lock, &until) == 0);
    pthread_mutex_unlock(&lock);
    return MPI_Wtime();
}

static void *other(void *unused) {
    int number = 0;
    if (is("deadlock")) MPI_Recv(&number, 1, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("probe")) MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is("abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
    if (is("crash") && rank == 1) raise(SIGSEGV);
    if (is("exit") && rank == 1) exit(3);
    if (is("sleep")) {
        usleep(300000);
        MPI_Send(&number, 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
    }
    if (is("deadline")) {
        double now = wait_in_vain();
        if (rank == 0) printf("deadline %.3f\n", now);
        MPI_Send(&number, 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
    }
    if (is("look")) {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        done = 1;
    }
    return unused;
}

int main(int argc, char **argv) {
    int level, number = 0;
    what = argv[1];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    if (is("deadlock") || is("probe") || is("abort") || is("crash") || is("exit"))
        MPI_Ssend(&number, 1, MPI_INT, right, 77, MPI_COMM_WORLD);
    if (is("sleep") || is("deadline")) {
        for (int i = 0; i < 100; i++) MPI_Barrier(MPI_COMM_WORLD);
        double before = MPI_Wtime();
        MPI_Recv(&number, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0) printf("%d %.3f\n", before < 0.05, MPI_Wtime());
    }
    if (is("look")) {
        MPI_Send(&number, 1, MPI_INT, right, 6, MPI_COMM_WORLD);
        while (!done);
    }
    pthread_join(thread, NULL);
    if (rank == 0) puts(level == MPI_THREAD_MULTIPLE ? "multiple" : "less");
    MPI_Finalize();
    return 0;
}
"#;

/// What the program prints on three ranks, what the report says, and the exit code.
fn runs(what: &str) -> (String, String, Option<i32>) {
    let folder = Folder::new(&format!("threads-{what}"));
    let (source, program) = (folder.write("a.c", PROGRAM), folder.path("a"));
    let words = ["cc", "-O1", &source, "-o", &program, "-pthread"];
    let output = command(&words).env("HPCAST_HOME", folder.path("home")).output().expect("hpcast runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let machine = machine("dahu.toml");
    let output = command(&["run", "-n", "3", "-m", &machine, "--compute", "skip", &program, what]).output();
    let output = output.expect("hpcast runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn all_calls_that_wait_for_ever_are_named() {
    for (what, other) in
        [("deadlock", "waits in MPI_Recv for a message with tag 5"), ("probe", "waits in MPI_Probe for a message")]
    {
        let (_, report, code) = runs(what);
        assert_eq!(code, Some(1), "{report}");
        assert!(report.contains("3 ranks wait for something that never comes"), "{report}");
        for rank in 0..3 {
            assert!(report.contains(&format!("rank {rank} {other}")), "{report}");
            assert!(report.contains(&format!("rank {rank} waits in MPI_Ssend for its 4 B with tag 77")), "{report}");
        }
    }
}

#[test]
fn any_thread_may_end_the_rank() {
    let ends = [
        ("abort", "rank 1 called MPI_Abort with code 5", 5),
        ("crash", "rank 1 got SIGSEGV", 139),
        ("exit", "rank 1 ended with exit code 3", 3),
    ];
    for (what, words, status) in ends {
        let (_, report, code) = runs(what);
        assert_eq!(code, Some(status), "{what}: {report}");
        assert!(report.contains(words), "{report}");
    }
}

#[test]
fn a_thread_that_sleeps_holds_up_nobody() {
    let (text, report, code) = runs("sleep");
    assert_eq!((text.as_str(), code), ("1 0.300\nmultiple\n", Some(0)), "{report}");
}

#[test]
fn deadlines_are_times_of_the_simulation() {
    let (text, report, code) = runs("deadline");
    assert_eq!((text.as_str(), code), ("deadline 0.050\n1 0.050\nmultiple\n", Some(0)), "{report}");
}

#[test]
fn a_thread_may_look_at_memory_until_another_has_its_message() {
    let (text, report, code) = runs("look");
    assert_eq!((text.as_str(), code), ("multiple\n", Some(0)), "{report}");
}
