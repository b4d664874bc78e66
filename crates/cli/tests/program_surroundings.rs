//! What a program finds around it: clocks, its node, its own symbols, threads.

mod common;

use std::process::Command;

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

/// What is a process's own: where it works, its number, its handlers of signals, what it does at its end.
const OWN: &str = r#"
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int rank, seen;
static void handler(int signal) { seen += signal; }
static void informed(int signal, siginfo_t *what, void *registers) {
    (void)registers;
    seen += what->si_signo == signal ? 100 * signal : 0;
}
static void at_the_end(int code, void *word) { printf("%d ends with %d %s\n", rank, code, (char *)word); }
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    on_exit(at_the_end, "in order");
    char folder[20], where[4096];
    sprintf(folder, "of-%d", rank);
    mkdir(folder, 0700);
    if (chdir(folder) != 0) return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    getcwd(where, sizeof where);
    fclose(fopen("file", "w"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (chdir("..") != 0) return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    strcat(folder, "/file");
    const int found = access(folder, F_OK) == 0;
    int mine = getpid(), all[3];
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    const int differ = all[0] != all[1] && all[1] != all[2] && all[0] != all[2];
    signal(SIGUSR1, rank == 1 ? SIG_IGN : handler);
    struct sigaction action = {.sa_sigaction = informed, .sa_flags = SA_SIGINFO}, kept;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGTERM, NULL, &kept);
    MPI_Barrier(MPI_COMM_WORLD);
    raise(SIGUSR1);
    kill(getpid(), SIGTERM);
    printf("%d %s %d %d %d %d\n", rank, strrchr(where, '/'), found, differ, seen, kept.sa_sigaction == informed);
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

/// What a program finds out about its own file.
const ITSELF: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>
static const char *last(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }
int main(int argc, char **argv) {
    char link[PATH_MAX] = "", number[40], copies[PATH_MAX] = "";
    MPI_Init(&argc, &argv);
    readlink("/proc/self/exe", link, sizeof link - 1);
    sprintf(number, "/proc/%d/exe", (int)getpid());
    const int same = readlink(number, copies, sizeof copies) == (int)strlen(link) && strcmp(link, copies) == 0;
    const int fails = readlink("nowhere", number, sizeof number) == -1 && errno == ENOENT;
    struct timespec time;
    const int base = timespec_get(&time, TIME_UTC);
    printf("%s %d %d %s %s %s %d\n", last(link), same && link[0] == '/', fails, program_invocation_short_name,
           last(program_invocation_name), last((const char *)getauxval(AT_EXECFN)), base == 1 && time.tv_sec < 1000000100);
    if (argc > 1) puts(last(realpath("/proc/self/exe", NULL)));
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn a_program_finds_its_own_file() {
    let folder = Folder::new("itself");
    for how in [&["-O1"][..], &["-O2", "-D_FORTIFY_SOURCE=2"], &["-fPIC"]] {
        let program = compile_with(&folder, "itself", ITSELF, how);
        let ran = run_program(1, &["--ranks-as", "copies"], &[&program, "real"]);
        let line = "itself 1 1 itself itself itself 1\n";
        assert_eq!((ran.code, ran.out), (Some(0), line.to_owned() + "itself\n"), "{how:?}: {}", ran.err);
        let ran = run_program(1, &["--ranks-as", "processes"], &[&program]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), line), "{how:?}: {}", ran.err);
    }
}

#[test]
fn address_sanitizer_finds_what_ranks_do_wrong() {
    const SOURCE: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *all = malloc(2 * sizeof *all);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    printf("%d\n", all[argc]);
    free(all);
    MPI_Finalize();
    return 0;
}
"#;
    let library = Command::new("cc").arg("-print-file-name=libasan.so").output().expect("a compiler");
    if !library.stdout.contains(&b'/') {
        println!("skipped: there is no libasan on this machine");
        return;
    }
    let folder = Folder::new("sanitizer");
    let program = compile_with(&folder, "sanitizer", SOURCE, &["-fsanitize=address"]);
    let ran = run_program(2, &[], &[&program]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "1\n1\n"), "{}", ran.err);
    let ran = run_program(2, &[], &[&program, "too far"]);
    assert!(ran.code != Some(0) && ran.err.contains("heap-buffer-overflow"), "{}", ran.err);
}

/// Options that each rank reads twice, while others do.
const OPTIONS: &str = r#"
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 2; round++) {
        int option;
        optind = 1;
        opterr = 0;
        printf("%d", rank);
        while ((option = getopt(argc, argv, "a:b")) != -1) {
            MPI_Barrier(MPI_COMM_WORLD);
            printf(" %c %s", option, option == 'a' ? optarg : option == '?' ? (char[]){optopt, 0} : "-");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        printf(" %s\n", argv[optind]);
    }
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn each_rank_reads_its_options() {
    let folder = Folder::new("options");
    for how in [&["-O1"][..], &["-fPIC"], &["-std=c99", "-D_POSIX_C_SOURCE=200809L"]] {
        let program = compile_with(&folder, "options", OPTIONS, how);
        let ran = run_program(2, &[], &[&program, "-a", "x", "-c", "-b", "rest"]);
        let lines = |rank| format!("{rank} a x ? c b - rest\n").repeat(2);
        let mut printed: Vec<_> = ran.out.lines().collect();
        printed.sort_unstable();
        assert_eq!(printed.join("\n") + "\n", lines(0) + &lines(1), "{how:?}: {}", ran.err);
    }
}

/// A rank that yields until another, which comes after it, has written.
const YIELDING: &str = r#"
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, *shared, unit;
    MPI_Aint bytes;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
    if (rank == 0) *shared = 2;
    MPI_Barrier(MPI_COMM_WORLD);
    while (*(int volatile *)shared != rank) sched_yield();
    --*shared;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d\n", *shared);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn who_yields_lets_others_go_on() {
    let folder = Folder::new("yielding");
    let program = compile_with(&folder, "yielding", YIELDING, &[]);
    let ran = run_program(3, &["--ranks-per-node", "3", "--oversubscribe"], &[&program]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "-1\n"), "{}", ran.err);
}

#[test]
fn copies_have_what_processes_have_of_their_own() {
    for how in ["copies", "processes"] {
        let folder = Folder::new("own");
        let program = compile_with(&folder, "own", OWN, &[]);
        let ran = run_program(3, &["--ranks-as", how, "--wdir", &folder.path("")], &[&program]);
        let mut lines: Vec<&str> = ran.out.lines().collect();
        lines.sort_unstable();
        let expected = [
            "0 /of-0 1 1 1510 1",
            "0 ends with 0 in order",
            "1 /of-1 1 1 1500 1",
            "1 ends with 0 in order",
            "2 /of-2 1 1 1510 1",
            "2 ends with 0 in order",
        ];
        assert_eq!((ran.code, lines), (Some(0), expected.to_vec()), "{how:?}: {}", ran.err);
    }
}

/// Ranks that write to files in place of standard output.
const ELSEWHERE: &str = r#"
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank;
    char name[20], line[80];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sprintf(name, "of-%d", rank);
    if (rank == 1 && strcmp(argv[1], "freopen") == 0) freopen(name, "w", stdout);
    if (rank == 1 && strcmp(argv[1], "dup2") == 0) dup2(open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
    if (rank == 1 && strcmp(argv[1], "close") == 0) {
        close(1);
        open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    }
    printf("from %d\n", rank);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && fgets(line, sizeof line, fopen("of-1", "r"))) printf("found: %s", line);
    if (fclose(stdout) != 0) return 1;
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn standard_output_of_one_rank_can_go_elsewhere() {
    for how in ["freopen", "dup2", "close"] {
        let folder = Folder::new("elsewhere");
        let program = compile_with(&folder, "elsewhere", ELSEWHERE, &["-w"]);
        let ran = run_program(2, &["--wdir", &folder.path("")], &[&program, how]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "from 0\nfound: from 1\n"), "{how:?}: {}", ran.err);
        assert!(ran.err.contains(&format!("because rank 1 called {how}")), "{how:?}: {}", ran.err);
    }
}
