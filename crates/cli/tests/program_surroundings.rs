//! What a program finds around it: clocks, its node, its own symbols, threads.

mod common;

use common::{Folder, Ran, compile_with, program_command, run_program};

/// Waits of a simulated minute, each of another kind, and what clocks and names say of them.
const WAITS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
int exported(void) { return 42; }
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int length;
    char node[MPI_MAX_PROCESSOR_NAME], host[64];
    MPI_Get_processor_name(node, &length);
    gethostname(host, sizeof host);
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < 20) {}
    struct timeval limit = {20, 0};
    select(0, NULL, NULL, NULL, &limit);
    poll(NULL, 0, 10000);
    struct timespec later = {10, 0};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &later, NULL);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double waited = MPI_Wtime() - start;
    const double ticks = times(NULL) / (double)sysconf(_SC_CLK_TCK);
    int (*own)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "exported");
    void *(*reserve)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    free(reserve(100000));
    printf("%.1f %d %d %s %d\n", waited, usage.ru_utime.tv_sec >= 60, ticks >= 60,
           strcmp(node, host) == 0 ? host : "elsewhere", own == exported);
    MPI_Finalize();
    return 0;
}
"#;

const THREADS: &str = r#"
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int provided, threads = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    printf("%d %d\n", provided == MPI_THREAD_MULTIPLE, threads);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn clocks_and_names_are_those_of_the_simulation() {
    let folder = Folder::new("surroundings");
    let program = compile_with(&folder, "waits", WAITS, &["-rdynamic", "-ldl"]);
    let ran = run_program(1, &[], &[&program]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "60.0 1 1 node0 1\n"), "{}", ran.err);
}

#[test]
fn openmp_has_one_thread_unless_told_otherwise() {
    let folder = Folder::new("openmp");
    let program = compile_with(&folder, "threads", THREADS, &["-fopenmp"]);
    let output = program_command(2, &[], &[&program]).env_remove("OMP_NUM_THREADS").output();
    let ran = Ran::from(output.expect("hpcast runs"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "1 1\n1 1\n"), "{}", ran.err);
    assert!(ran.err.contains("threads = OpenMP has one in each rank"), "{}", ran.err);
}
