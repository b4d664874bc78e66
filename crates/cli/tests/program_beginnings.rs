//! What programs do in their first moments: greet, read, ask where they are, load libraries, start threads.

mod common;

use std::fs;
use std::process::Command;

use common::{Folder, Ran, compile_with, program_command, run_program};

/// Greets and reads a number, and only then starts a thread.
const GREETS: &str = r#"
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *twice(void *number) { *(int *)number *= 2; return NULL; }
int main(int argc, char **argv) {
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("welcome\n");
        if (scanf("%d", &number) != 1) return 1;
    }
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (argc > 1 && rank == 0) system("echo from a shell");
    pthread_t thread;
    if (pthread_create(&thread, NULL, twice, &number)) return 2;
    pthread_join(thread, NULL);
    MPI_Reduce(rank ? &number : MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d\n", number);
    MPI_Finalize();
    return 0;
}
"#;

/// A library that counts, and a program that loads it; all that it knows of MPI it asks for by name.
const COUNTS: &str = "static int count; int counted(int by) { return count += by; }";
const LOADS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int (*rank_of)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(RTLD_DEFAULT, "MPI_Comm_rank");
    int rank = -1, sum = 0;
    MPI_Init(&argc, &argv);
    rank_of(MPI_COMM_WORLD, &rank);
    if (dlopen("libnobody-has-this.so", RTLD_NOW) || !dlopen(NULL, RTLD_NOW) || !dlopen("libm.so.6", RTLD_NOW)) return 1;
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW);
        int (*counted)(int) = (int (*)(int))dlsym(library, "counted");
        counted(rank);
        rank = counted(1);
    }
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD, &rank), rank == 0) printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
"#;

/// What mpirun would have told.
const VARIABLES: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                           "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 8; i++) printf("%s%c", getenv(names[i]) ? getenv(names[i]) : "none", i < 7 ? ' ' : '\n');
    setenv("PMI_RANK", "mine", 1);
    if (getenv("PMI_RANK")[0] != 'm') printf("not mine\n");
    MPI_Finalize();
    return 0;
}
"#;

/// Waits that nobody ends, and one that a thread ends.
const DEADLINES: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static sem_t answer;
static double seconds(clockid_t clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static struct timespec in(clockid_t clock, double length) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += (long)(length * 1e9);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}
static void *answering(void *nothing) { for (volatile int i = 0; i < 10000000; i++) {} sem_post(&answer); return nothing; }
int main(int argc, char **argv) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_t thread;
    int late = 0;
    MPI_Init(&argc, &argv);
    sem_init(&answer, 0, 0);
    pthread_create(&thread, NULL, answering, NULL);
    struct timespec then = in(CLOCK_REALTIME, 600);
    late += sem_timedwait(&answer, &then) == 0;
    double start = MPI_Wtime();
    then = in(CLOCK_REALTIME, 0.125);
    late += sem_timedwait(&answer, &then) == -1 && errno == ETIMEDOUT && MPI_Wtime() - start >= 0.125;
    start = MPI_Wtime();
    pthread_mutex_lock(&mutex);
    then = in(CLOCK_REALTIME, 0.125);
    late += pthread_cond_timedwait(&condition, &mutex, &then) == ETIMEDOUT && MPI_Wtime() - start >= 0.125;
    start = seconds(CLOCK_MONOTONIC);
    then = in(CLOCK_MONOTONIC, 0.125);
    late += pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &then) == ETIMEDOUT;
    late += seconds(CLOCK_MONOTONIC) - start >= 0.125;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    printf("%d %d\n", late, MPI_Wtime() < 1);
    MPI_Finalize();
    return 0;
}
"#;

/// A library that needs another which is the MPI library's own, and wants a name from inside of that.
const INNER: &str = "extern int ompi_something_inside; int *inner(void) { return &ompi_something_inside; }";
const OUTER: &str = "extern int *inner(void); int outer(void) { return inner() != 0; }";
const NEEDS_OUTER: &str = r#"
#include <mpi.h>
#include <stdio.h>
extern int outer(void);
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    printf("%d\n", outer());
    MPI_Finalize();
    return 0;
}
"#;

/// A collector of garbage asks where the stack is.
const COLLECTS: &str = r#"
#include <mpi.h>
#include <stdio.h>
extern void *__libc_stack_end;
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    char here, *end = __libc_stack_end;
    printf("%d\n", end > &here && end - &here < 1 << 20);
    MPI_Finalize();
    return 0;
}
"#;

/// Makes a shared library; gives its file.
fn library(folder: &Folder, name: &str, source: &str, flags: &[&str]) -> String {
    let (source, file) = (folder.write(&format!("{name}.c"), source), folder.path(name));
    let soname = format!("-Wl,-soname,{name}");
    let words = ["-shared", "-fPIC", &source, "-o", &file, &soname];
    let output = Command::new("cc").args(words).args(flags).output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    file
}

fn expect(ran: &Ran, printed: &str, because: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), printed), "{}", ran.err);
    assert!(ran.err.contains(because), "{}", ran.err);
}

#[test]
fn who_has_greeted_can_still_begin_anew() {
    let folder = Folder::new("greets");
    let program = compile_with(&folder, "greets", GREETS, &["-pthread"]);
    let input = folder.write("input", "21\n");
    let ran = |arguments: &[&str]| {
        let file = fs::File::open(&input).expect("the input");
        Ran::from(program_command(2, &[], arguments).stdin(file).output().expect("hpcast runs"))
    };
    expect(&ran(&[&program]), "welcome\n84\n", "because rank 0 called pthread_create");
    // What another program has printed cannot be taken back, and comes in its place.
    let shown = ran(&[&program, "shell"]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(1), "welcome\nfrom a shell\n"), "{}", shown.err);
    assert!(shown.err.contains("ask for --ranks-as processes"), "{}", shown.err);
}

#[test]
fn who_loads_libraries_becomes_processes() {
    let folder = Folder::new("loads");
    let counts = library(&folder, "libcounts.so", COUNTS, &[]);
    let program = compile_with(&folder, "loads", LOADS, &["-ldl"]);
    let ran = run_program(4, &[], &[&program]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "6\n"), "{}", ran.err);
    assert!(!ran.err.contains("processes"), "{}", ran.err);
    // Each rank has a counter of its own: 1 + 2 + 3 + 4.
    expect(&run_program(4, &[], &[&program, &counts]), "10\n", "because rank 0 called dlopen");
    let ran = run_program(4, &["--ranks-as", "copies"], &[&program, &counts]);
    assert!(ran.err.contains("loads a library (dlopen)"), "{}", ran.err);
}

#[test]
fn ranks_find_what_mpirun_tells_them() {
    let folder = Folder::new("variables");
    let program = compile_with(&folder, "variables", VARIABLES, &[]);
    for kind in ["copies", "processes"] {
        let ran = run_program(3, &["--ranks-as", kind, "--ranks-per-node", "2", "--oversubscribe"], &[&program]);
        let mut lines: Vec<&str> = ran.out.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["0 3 0 2 0 3 0 2", "1 3 1 2 1 3 1 2", "2 3 0 1 2 3 0 1"], "{}", ran.err);
    }
}

#[test]
fn deadlines_are_those_of_the_simulation() {
    let folder = Folder::new("deadlines");
    let program = compile_with(&folder, "deadlines", DEADLINES, &["-pthread"]);
    expect(&run_program(2, &[], &[&program]), "5 1\n5 1\n", "because rank 0 called pthread_create");
}

#[test]
fn libraries_of_libraries_find_names_inside_mpi() {
    let folder = Folder::new("inside");
    library(&folder, "libmpi_cxx.so.40", INNER, &[]);
    let place = format!("-L{}", folder.path(""));
    library(&folder, "libouter.so", OUTER, &[&place, "-l:libmpi_cxx.so.40"]);
    let flags = [place.as_str(), "-l:libouter.so", "-Wl,--allow-shlib-undefined"];
    let program = compile_with(&folder, "needs", NEEDS_OUTER, &flags);
    for kind in ["copies", "processes"] {
        let mut command = program_command(2, &["--ranks-as", kind], &[&program]);
        let ran = Ran::from(command.env("LD_LIBRARY_PATH", folder.path("")).output().expect("hpcast runs"));
        expect(&ran, "1\n1\n", "");
    }
}

#[test]
fn collectors_of_garbage_know_their_stack() {
    let folder = Folder::new("collects");
    let program = compile_with(&folder, "collects", COLLECTS, &[]);
    expect(&run_program(2, &[], &[&program]), "1\n1\n", "because it searches its memory for pointers");
}
