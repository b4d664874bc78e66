//! What the code of real programs costs: sampled, modelled, left out, with memory of its own or not.

mod common;

use std::process::Output;

use common::{Folder, command, machine};

/// Compiles a program with our own wrapper, in a folder of the test's own.
fn compiled(folder: &Folder, source: &str) -> String {
    let (file, program) = (folder.write("a.c", source), folder.path("a"));
    let arguments = ["cc", "-O1", "-fno-inline", "-Wall", "-Werror", &file, "-o", &program, "-lm"];
    let output = command(&arguments).env("HPCAST_HOME", folder.path("home")).output().expect("hpcast runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(ranks: &str, options: &[&str], program: &str) -> Output {
    let machine = machine("msc-512.toml");
    let mut arguments = vec!["run", "-n", ranks, "-m", &machine];
    arguments.extend(options);
    arguments.push(program);
    command(&arguments).output().expect("hpcast runs")
}

/// What the program prints, and the report.
fn runs(ranks: &str, options: &[&str], program: &str) -> (String, String) {
    let output = run(ranks, options, program);
    let [printed, report] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{options:?}\n{report}");
    (printed, report)
}

/// Calls that were executed, and calls of a function that was sampled.
fn executed(report: &str, symbol: &str) -> (u32, u32) {
    let line = report.lines().find(|line| line.contains(&format!("{symbol} = sampled"))).expect("sampled calls");
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
    (numbers.next().expect("a number"), numbers.next().expect("a number"))
}

/// Each rank calls a function with two sizes, and a product of matrices that get smaller.
const WORK: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
double smooth(int n) {
    double sum = 0;
    for (int i = 0; i < 2000 * n; i++) sum += 1.0 / (1 + i);
    return sum;
}
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha, const double *a,
            const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc) {
    (void)ta, (void)tb, (void)alpha, (void)beta;
    for (int j = 0; j < *n; j++)
        for (int l = 0; l < *k; l++)
            for (int i = 0; i < *m; i++) c[i + j * *ldc] += a[i + l * *lda] * b[l + j * *ldb];
}
int main(int argc, char **argv) {
    double *a = calloc(80 * 80, 8), *c = calloc(80 * 80, 8), one = 1, kept = 0;
    int rank, ld = 80;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double start = MPI_Wtime();
    for (int i = 0; i < 300; i++) kept += smooth(1 + i % 2);
    double middle = MPI_Wtime();
    for (int i = 0; i < 300; i++) {
        int m = 80 - i / 10;
        dgemm_("N", "N", &m, &m, &ld, &one, a, &ld, a, &ld, &one, c, &ld);
    }
    double end = MPI_Wtime();
    if (rank == 0) printf("%.9f %.9f\n", middle - start, end - middle);
    MPI_Finalize();
    return kept < 0;
}
"#;

fn times(printed: &str) -> [f64; 2] {
    let numbers: Vec<f64> = printed.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    [numbers[0], numbers[1]]
}

/// Compares sampled calls with executed ones, run just before; gives what is wrong.
fn compare_sampled(program: &str, functions: &str) -> Result<(), String> {
    let [smooth, product] = times(&runs("2", &["--compute", "run"], program).0);
    let near = |found: f64, wanted: f64, report: &str| match (found / wanted - 1.0).abs() < 0.4 {
        true => Ok(()),
        false => Err(format!("{found} instead of {wanted}\n{report}")),
    };
    let few = |(some, all): (u32, u32), least: u32| match all == 600 && (least..400).contains(&some) {
        true => Ok(()),
        false => Err(format!("{some} of {all} calls were executed")),
    };
    for options in [["--functions", functions, "--compute", "run"], ["--functions", functions, "--compute", "skip"]] {
        let (printed, report) = runs("2", &options, program);
        near(times(&printed)[0], smooth, &report)?;
        few(executed(&report, "smooth"), 40)?;
    }
    let (printed, report) = runs("2", &["--compute", "sample"], program);
    near(times(&printed)[1], product, &report)?;
    few(executed(&report, "dgemm_"), 20)?;
    // Twice as fast a machine takes half the time, whatever is charged otherwise.
    let (printed, report) = runs("2", &["--functions", functions, "--compute", "skip", "--speed", "2"], program);
    near(2.0 * times(&printed)[0], smooth, &report)
}

#[test]
fn sampled_functions_take_as_long_as_executed_ones() {
    let folder = Folder::new("sample");
    let program = compiled(&folder, WORK);
    let functions = folder.write(
        "functions.toml",
        "[function.smooth]\nhow = \"sample\"\narguments = \"int n\"\nprecision = 0.02\nleast = 20\n",
    );
    // Time of other programs on this computer is not charged, but what they do to its caches and clock is: what is wrong by chance
    // is right at another time.
    let attempts: Vec<_> = (0..8).map_while(|_| compare_sampled(&program, &functions).err()).collect();
    assert!(attempts.len() < 8, "{}", attempts.join("\n"));
}

#[test]
fn functions_that_communicate_cannot_be_sampled() {
    let folder = Folder::new("sample-mpi");
    let program = compiled(
        &folder,
        "#include <mpi.h>\nvoid step(int n) { (void)n; MPI_Barrier(MPI_COMM_WORLD); }\n\
         int main(void) { MPI_Init(0, 0); step(1); MPI_Finalize(); return 0; }\n",
    );
    let functions = folder.write("functions.toml", "[function.step]\nhow = \"sample\"\narguments = \"int n\"\n");
    let output = run("2", &["--functions", &functions], &program);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    for part in ["MPI_Barrier", "inside step", "sampled"] {
        assert!(words.contains(part), "{words}");
    }
}

const RETURNS: &str = r#"
#include <mpi.h>
#include <stdio.h>
int pick(int n) { return n + 1000; }
int fixed(void) { return 1; }
double ratio(void) { return 1; }
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) printf("%d ", pick(5 + rank));
    printf("%d %g\n", fixed(), ratio());
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn functions_that_are_left_out_return_what_is_said() {
    let folder = Folder::new("returns");
    let program = compiled(&folder, RETURNS);
    let functions = folder.write(
        "functions.toml",
        "[function.pick]\nhow = \"skip\"\narguments = \"int n\"\nreturns = \"random below n\"\n\
         [function.fixed]\nhow = \"skip\"\nreturns = 42\n[function.ratio]\nhow = \"skip\"\nreturns = 0.25\n",
    );
    let drawn = |seed: &str| {
        let options = ["--compute", "skip", "--prefix", "--functions", &functions, "--seed", seed];
        let mut lines: Vec<String> = runs("3", &options, &program).0.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let lines = drawn("1");
    assert_eq!(lines.len(), 3);
    for (rank, line) in lines.iter().enumerate() {
        assert!(line.ends_with("42 0.25"), "{line}");
        let numbers: Vec<usize> = line.split_whitespace().rev().skip(2).filter_map(|word| word.parse().ok()).collect();
        let numbers = &numbers[..20];
        assert!(numbers.iter().all(|&number| number < 5 + rank), "{line}");
        assert!(numbers.iter().any(|number| number != &numbers[0]), "{line}");
    }
    assert_eq!(drawn("1"), lines, "the same seed");
    assert_ne!(drawn("2"), lines, "another seed");
}

/// Routines of LAPACK and FFTW that must not be executed.
const LIBRARIES: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static volatile int executed;
void dgetrf_(int *m, int *n, double *a, int *lda, int *ipiv, int *info) {
    executed += *m + *n + *info;
    a[0] = *lda, ipiv[0] = *info = executed;
}
void dgeqrf_(int *m, int *n, double *a, int *lda, double *tau, double *work, int *lwork, int *info) {
    executed += *m + *n + *lda + *lwork + *info;
    a[0] = tau[0] = work[0] = *lwork = *info = executed;
}
float snrm2_(int *n, float *x, int *incx) {
    executed += *n + *incx;
    return x[0] + executed;
}
void *fftw_plan_dft_2d(int n0, int n1, void *in, void *out, int sign, unsigned flags) {
    executed += n0 + n1 + sign + (int)flags;
    return executed > 0 ? in : out;
}
void fftw_execute(void *plan) {
    executed += plan != NULL;
    if (executed > 100) executed = 1;
}
void fftw_destroy_plan(void *plan) {
    executed += plan != NULL;
    if (executed > 100) executed = 1;
}
int main(int argc, char **argv) {
    int n = 1000, ipiv[1000], info = 7, lwork = -1, one = 1;
    double a[1], tau[1], work[1] = {0};
    float x[1] = {3};
    MPI_Init(&argc, &argv);
    double start = MPI_Wtime();
    dgetrf_(&n, &n, a, &n, ipiv, &info);
    double factor = MPI_Wtime() - start;
    printf("%d %d %d\n", info, ipiv[0], ipiv[999]);
    info = 7, start = MPI_Wtime();
    dgeqrf_(&n, &n, a, &n, tau, work, &lwork, &info);
    double asked = MPI_Wtime() - start;
    printf("%d %d %g\n", info, work[0] >= n, snrm2_(&one, x, &one));
    start = MPI_Wtime();
    void *plan = fftw_plan_dft_2d(1024, 1024, a, a, -1, 0);
    double planned = MPI_Wtime() - start;
    start = MPI_Wtime();
    fftw_execute(plan);
    double transform = MPI_Wtime() - start;
    fftw_destroy_plan(plan);
    printf("%.6f %d %.6f %d\n", factor, asked < 1e-6 && planned < 1e-6, transform, executed);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn libraries_are_modelled_by_what_they_do_at_least() {
    let folder = Folder::new("libraries");
    let program = compiled(&folder, LIBRARIES);
    let models = folder.write("models.toml", "name = \"none\"\n");
    let (printed, report) = runs("1", &["--compute", "skip", "--models", &models], &program);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[..2], ["0 1 1000", "0 1 1"]);
    // Of this machine is assumed that it does 0.9 Gflop/s and moves 0.05 B for each: 2/3 N^3 operations, 32 B for each of 2^20 points.
    assert_eq!(lines[2], "0.740741 1 0.745654 0");
    for symbol in ["dgetrf_", "fftw_execute"] {
        assert!(report.contains(&format!("{symbol} = as fast as the machine file's roofline")), "{report}");
    }
    // A model of the file comes first.
    let text = "name = \"mine\"\n[kernel.dgetrf]\nterms = [\"N\"]\nseconds = [1e-3]\n[kernel.dfft]\nterms = [\"N\"]\nseconds = [1e-6]\n";
    let models = folder.write("models.toml", text);
    let (printed, report) = runs("1", &["--compute", "skip", "--models", &models], &program);
    assert_eq!(printed.lines().nth(2), Some("1.000000 1 1.048576 0"));
    assert!(!report.contains("dgetrf_ ="), "{report}");
}

const ARRAYS: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int *get(size_t bytes) { return malloc(bytes); }
int *matrix(void) { int *memory = get(1 << 20); memory[5] = 0; return memory; }
int *table(void) { int *memory = get(1 << 20); memory[5] = 0; return memory; }
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *a = matrix(), *b = table();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) a[5] = b[5] = 7;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d %d\n", a[5], b[5]);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn who_allocates_may_decide_what_is_folded() {
    let folder = Folder::new("sites");
    let program = compiled(&folder, ARRAYS);
    let functions = folder.write("functions.toml", "[allocation.matrix]\nfold = true\n");
    let printed = |options: &[&str]| runs("2", options, &program).0;
    assert_eq!(printed(&["--compute", "skip"]), "0 0\n", "ranks have memory of their own");
    assert_eq!(printed(&["--compute", "skip", "--functions", &functions]), "7 0\n", "one array is shared");
    assert_eq!(printed(&["--compute", "skip", "--fold", "0.5"]), "7 7\n", "both are");
    let functions = folder.write("functions.toml", "[allocation.table]\nfold = false\n");
    assert_eq!(
        printed(&["--compute", "skip", "--fold", "0.5", "--functions", &functions]),
        "7 0\n",
        "but not the table"
    );
}

/// Two groups of products in one call, and the same ones one by one; then groups in which there is nothing to do.
const BATCH: &str = r#"
#include <mpi.h>
#include <stdio.h>
static int executed;
#define LETTER(X, NUMBER) \
    void cblas_##X##gemm_batch(int order, const int *ta, const int *tb, const int *m, const int *n, const int *k, \
                               const NUMBER *alpha, const NUMBER **a, const int *lda, const NUMBER **b, const int *ldb, \
                               const NUMBER *beta, NUMBER **c, const int *ldc, int groups, const int *sizes) { executed++; } \
    void cblas_##X##gemm(int order, int ta, int tb, int m, int n, int k, NUMBER alpha, const NUMBER *a, int lda, \
                         const NUMBER *b, int ldb, NUMBER beta, NUMBER *c, int ldc) { executed++; } \
    static void X(void) { \
        int t[3] = {111, 111, 111}, m[3] = {40, 7, 0}, n[3] = {50, 8, 5}, k[3] = {60, 9, 5}, sizes[3] = {5, 2, 4}; \
        NUMBER one[3] = {1, 1, 1}; \
        double start = MPI_Wtime(), middle; \
        cblas_##X##gemm_batch(101, t, t, m, n, k, one, 0, k, 0, n, one, 0, n, 3, sizes); \
        middle = MPI_Wtime(); \
        for (int group = 0; group < 3; group++) \
            for (int i = 0; i < sizes[group]; i++) \
                cblas_##X##gemm(101, 111, 111, m[group], n[group], k[group], 1, 0, 1, 0, 1, 1, 0, 1); \
        printf("%s %.9f %.9f\n", #X, middle - start, MPI_Wtime() - middle); \
    }
LETTER(s, float)
LETTER(d, double)
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    s();
    d();
    if (executed) printf("executed\n");
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn a_batch_takes_as_long_as_its_products() {
    let folder = Folder::new("batch");
    let program = compiled(&folder, BATCH);
    let models = folder.write("models.toml", "name = \"none\"\n");
    let text = "name = \"mine\"\n[kernel.dgemm]\nterms = [\"1\", \"M*N*K\"]\nseconds = [1e-3, 1e-8]\n[kernel.sgemm]\nterms = [\"1\"]\nseconds = [2e-3]\n";
    let mine = folder.write("mine.toml", text);
    for (file, wanted) in [(&models, None), (&mine, Some([0.014, 0.007 + 1e-8 * (5.0 * 120_000.0 + 2.0 * 504.0)]))] {
        let (printed, report) = runs("1", &["--compute", "skip", "--models", file], &program);
        let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split(' ').collect()).collect();
        assert_eq!(lines.len(), 2, "{printed}\n{report}");
        for (place, words) in lines.iter().enumerate() {
            let [batch, single]: [f64; 2] = [1, 2].map(|place| words[place].parse().expect("a time"));
            // Reading the clock takes 25 ns.
            assert!(batch > 1e-4 && (batch - single).abs() < 1e-7, "{printed}");
            assert!(wanted.is_none_or(|wanted| (batch - wanted[place]).abs() < 1e-7), "{printed}");
        }
    }
}

/// The same computation three times: without a region, and in two.
const REGIONS: &str = r#"
#include <mpi.h>
#include <stdio.h>
static double compute(void) {
    volatile double sum = 0;
    double start = MPI_Wtime();
    for (int i = 0; i < 20000000; i++) sum += i;
    return MPI_Wtime() - start;
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double before = compute();
    MPI_Pcontrol(3);
    double first = compute();
    MPI_Pcontrol(4);
    double second = compute();
    MPI_Pcontrol(1);
    printf("%d %d %d %d\n", before > 1e-3, first > 1e-3, second > 1e-3, compute() > 1e-3);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn regions_are_charged_as_their_levels_say() {
    let folder = Folder::new("regions");
    let program = compiled(&folder, REGIONS);
    let regions = "[region.setup]\nlevel = 3\ncompute = \"skip\"\n[region.solve]\nlevel = 4\ncompute = \"run\"\n";
    let regions = folder.write("functions.toml", regions);
    for (compute, without, with) in [("run", "1 1 1 1\n", "1 0 1 1\n"), ("skip", "0 0 0 0\n", "0 0 1 0\n")] {
        assert_eq!(runs("1", &["--compute", compute], &program).0, without);
        for ranks_as in ["copies", "processes"] {
            let options = ["--compute", compute, "--functions", &regions, "--ranks-as", ranks_as];
            assert_eq!(runs("1", &options, &program).0, with, "{compute} {ranks_as}");
        }
    }
    let wrong = folder.write("wrong.toml", "[region.setup]\nlevel = 3\ncompute = \"often\"\n");
    let output = run("1", &["--functions", &wrong], &program);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && words.contains("region setup: `compute` is run or skip"), "{words}");
}
