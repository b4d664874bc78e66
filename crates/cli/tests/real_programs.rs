//! Real MPI programs: compiled by our wrappers and run on simulated machines.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{Folder, Ran, command, compile, hpcast, machine, prints, refuses, root};

const C: &str = r#"
#include <mpi.h>
#include <stdio.h>
static int calls;
static void largest(void *in, void *inout, int *len, MPI_Datatype *datatype) {
    int i;
    (void)datatype;
    for (i = 0; i < *len; i++)
        if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i];
    calls++;
}
int main(int argc, char **argv) {
    int rank, size, most;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(largest, 1, &op);
    MPI_Allreduce(&rank, &most, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    if (rank == 1) printf("rank %d of %d: %d %s\n", rank, size, most, argc > 1 ? argv[1] : "");
    MPI_Finalize();
    return rank == 0 ? 3 : 0;
}
"#;

const CXX: &str = r#"
#include <mpi.h>
#include <iostream>
#include <numeric>
#include <vector>
int main() {
    MPI_Init(nullptr, nullptr);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<double> all(size);
    const double mine = rank + 0.5;
    MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) std::cout << "sum " << std::accumulate(all.begin(), all.end(), 0.0) << std::endl;
    MPI_Finalize();
}
"#;

/// Buffers of two types, a status, a sentinel, handles that are compared and error codes that are left out.
const FORTRAN: &str = "
program ring
  use mpi_f08
  implicit none
  integer :: rank, size, got
  double precision :: total
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, size), 7, got, 1, MPI_INTEGER, &
    modulo(rank - 1, size), 7, MPI_COMM_WORLD, status)
  total = got
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0,1x,i0,1x,i0,1x,f4.1,1x,l1)', got, status%MPI_SOURCE, status%MPI_TAG, total, &
    MPI_COMM_WORLD == MPI_COMM_SELF
  call MPI_Finalize()
end program
";

const OLD_FORTRAN: &str = "
      program old
      include 'mpif.h'
      integer rank, total, ierror
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      total = rank
      call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_MAX,
     +  MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) write (*,*) 'largest', total
      call MPI_FINALIZE(ierror)
      end
";

/// Counts of both kinds in the same call's place.
const LONG_COUNTS: &str = "
program large
  use mpi_f08
  implicit none
  integer :: rank, values(4), got(4)
  integer(kind=MPI_COUNT_KIND) :: four = 4, found, bytes, counts(2) = [1, 1]
  integer(kind=MPI_ADDRESS_KIND) :: places(2) = [0, 2]
  type(MPI_Status) :: status
  type(MPI_Datatype) :: large_type
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  values = [1, 2, 3, 4] * 10**rank
  call MPI_Sendrecv(values, four, MPI_INTEGER, 1 - rank, 7, got, four, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, found)
  call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_INTEGER, large_type)
  call MPI_Type_size(large_type, bytes)
  call MPI_Type_free(large_type)
  if (rank == 0) print '(4(i0,1x),i0,1x,i0)', got, found, bytes
  got = 0
  call MPI_Iallgatherv(values, 1_MPI_COUNT_KIND, MPI_INTEGER, got, counts, places, MPI_INTEGER, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Bcast(values, 2, MPI_INTEGER, 1, MPI_COMM_WORLD)
  if (rank == 0) print '(4(i0,1x),i0)', got, values(1)
  call MPI_Finalize()
end program
";

/// Our header, library and modules in a folder of the test's own.
fn at_home(home: &Folder, arguments: &[&str]) -> Output {
    command(arguments).env("HPCAST_HOME", home.path("home")).output().expect("hpcast runs")
}

/// Compiles, or says why not.
fn compiles(home: &Folder, arguments: &[&str]) {
    let output = at_home(home, arguments);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && words.is_empty(), "{arguments:?}\n{words}");
}

/// What a program prints, and its exit code.
fn runs(ranks: &str, program: &str, arguments: &[&str]) -> (String, Option<i32>) {
    runs_so(&[], ranks, program, arguments)
}

/// The same with more options.
fn runs_so(options: &[&str], ranks: &str, program: &str, arguments: &[&str]) -> (String, Option<i32>) {
    let machine = machine("msc-512.toml");
    let mut all = vec!["run", "-n", ranks, "-m", &machine, "--compute", "skip"];
    all.extend(options);
    all.push(program);
    all.extend(arguments);
    let output = hpcast(&all);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() != Some(0) {
        println!("{}", String::from_utf8_lossy(&output.stderr));
    }
    (printed, output.status.code())
}

/// Whether there is a Fortran compiler: tests of Fortran are left out without.
fn has_fortran() -> bool {
    let found = Command::new("gfortran").arg("--version").output().is_ok();
    if !found {
        println!("left out: there is no gfortran");
    }
    found
}

#[test]
fn a_program_in_c_is_compiled_and_run() {
    let folder = Folder::new("compile-c");
    let (source, object, program) = (folder.write("a.c", C), folder.path("a.o"), folder.path("a"));
    for standard in ["-std=c90", "-std=c99", "-std=c11"] {
        compiles(&folder, &["cc", "-Wall", "-Wextra", "-pedantic", "-Werror", standard, "-c", &source, "-o", &object]);
    }
    compiles(&folder, &["cc", &object, "-o", &program]);
    assert_eq!(runs("4", &program, &["given"]), ("rank 1 of 4: 3 given\n".into(), Some(3)));
    // Elsewhere it says where it belongs.
    let alone = Command::new(&program).output().expect("the program starts");
    assert_eq!(alone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&alone.stderr).contains("hpcast run"));
}

#[test]
fn a_program_in_cxx_is_compiled_and_run() {
    let folder = Folder::new("compile-cxx");
    let (source, program) = (folder.write("a.cpp", CXX), folder.path("a"));
    compiles(&folder, &["cxx", "-Wall", "-Wextra", "-pedantic", "-Werror", "-std=c++11", &source, "-o", &program]);
    assert_eq!(runs("4", &program, &[]), ("sum 8\n".into(), Some(0)));
}

#[test]
fn programs_in_fortran_are_compiled_and_run() {
    if !has_fortran() {
        return;
    }
    let folder = Folder::new("compile-fortran");
    let (source, program) = (folder.write("a.f90", FORTRAN), folder.path("a"));
    compiles(&folder, &["f90", "-Wall", &source, "-o", &program]);
    assert_eq!(runs("4", &program, &[]), ("3 3 7  6.0 F\n".into(), Some(0)));
    let (source, program) = (folder.write("old.f", OLD_FORTRAN), folder.path("old"));
    compiles(&folder, &["f90", &source, "-o", &program]);
    assert_eq!(runs("4", &program, &[]).0.split_whitespace().collect::<Vec<_>>(), ["largest", "3"]);
}

#[test]
fn counts_are_long_where_fortran_says_so() {
    if !has_fortran() {
        return;
    }
    let folder = Folder::new("compile-long");
    let (source, program) = (folder.write("a.f90", LONG_COUNTS), folder.path("a"));
    compiles(&folder, &["f90", &source, "-o", &program]);
    // As with the real MPICH 4.0.2.
    assert_eq!(runs("2", &program, &[]).0, "10 20 30 40 4 12000000000\n1 0 10 0 10\n");
}

#[test]
fn wrappers_pass_on_what_the_compiler_says() {
    let folder = Folder::new("compile-wrong");
    let source = folder.write("wrong.c", "#include <mpi.h>\nint main(void) { return MPI_Nothing(); }\n");
    let output = at_home(&folder, &["cc", "-Werror=implicit-function-declaration", &source]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("MPI_Nothing"));
    let output = at_home(&folder, &["cc", "-dumpmachine"]);
    assert!(output.status.success() && !output.stdout.is_empty());
}

/// They bring their own MPI, so that nothing could be put in its place.
#[test]
fn static_programs_are_refused_where_they_would_be_linked() {
    let folder = Folder::new("compile-static");
    let (source, object) = (folder.write("a.c", C), folder.path("a.o"));
    compiles(&folder, &["cc", "-static", "-c", &source, "-o", &object]);
    for option in ["-static", "-static-pie"] {
        let output = at_home(&folder, &["cc", option, &object, "-o", &folder.path("a")]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains("brings its own MPI") && message.contains(&format!("leave {option} out")),
            "{message}"
        );
    }
}

#[test]
fn wrappers_tell_builds_what_they_add() {
    let folder = Folder::new("compile-show");
    let told = |argument: &str| String::from_utf8_lossy(&at_home(&folder, &["cc", argument]).stdout).into_owned();
    assert!(told("--showme:compile").contains("-I"));
    assert_eq!(told("--showme:compile"), told("-compile-info"));
    assert!(told("--showme:link").contains("-lmpi_abi"));
    assert!(told("-show").starts_with("cc "));
    let bin = at_home(&folder, &["mpi", "wrappers"]).stdout;
    let mpicc = Path::new(String::from_utf8_lossy(&bin).trim()).join("mpicc");
    let own = Command::new(mpicc).arg("-show").env("HPCAST_HOME", folder.path("home")).output().expect("mpicc runs");
    assert_eq!(String::from_utf8_lossy(&own.stdout), told("-show"));
}

#[test]
fn a_program_that_is_started_by_itself_is_one_rank() {
    const SOURCE: &str = r#"
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int ranks;
    char line[20] = "";
    printf("begins\n");
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    fgets(line, sizeof line, stdin);
    printf("%d %d %s|%s|%s\n", ranks, argc, argv[1], argv[2], line);
    MPI_Finalize();
    return 3;
}
"#;
    let folder = Folder::new("alone");
    let program = compile(&folder, "alone", SOURCE);
    let options = format!("-m {} --compute skip", machine("dahu.toml"));
    let start = |options: &str| {
        let mut command = Command::new(&program);
        command.args(["a b", ""]).env("HPCAST_RUN", options).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("started");
        child.stdin.take().expect("a pipe").write_all(b"words").expect("read or kept");
        Ran::from(child.wait_with_output().expect("it ends"))
    };
    let ran = start(&options);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), "begins\n1 3 a b||words\n"), "{}", ran.err);
    let ran = start(&format!("{options} --ranks-as processes"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), "begins\n1 3 a b||words\n"), "{}", ran.err);
    let ran = start("");
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("hpcast run -n RANKS") && ran.err.contains("HPCAST_RUN"), "{}", ran.err);
}

#[test]
fn mpiexec_of_the_wrappers_runs_a_program() {
    let folder = Folder::new("compile-mpiexec");
    let (source, program) = (folder.write("a.c", C), folder.path("a"));
    compiles(&folder, &["cc", &source, "-o", &program]);
    let bin = at_home(&folder, &["mpi", "wrappers"]).stdout;
    let mpiexec = Path::new(String::from_utf8_lossy(&bin).trim()).join("mpiexec");
    let run = |options: &str| {
        let mut command = Command::new(&mpiexec);
        command.args(["--oversubscribe", "-n", "2", &program]).env("HPCAST_HOME", folder.path("home"));
        command.env("HPCAST_RUN", options).output().expect("mpiexec runs")
    };
    let output = run(&format!("-m {} --compute skip", machine("msc-512.toml")));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!((printed, output.status.code()), runs("2", &program, &[]));
    let output = run("");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("HPCAST_RUN"));
}

#[test]
fn two_builds_may_begin_at_once() {
    let folder = Folder::new("compile-twice");
    let source = folder.write("a.c", C);
    let start = |number: usize| {
        let object = folder.path(&format!("a{number}.o"));
        let mut command = command(&["cc", "-c", &source, "-o", &object]);
        command.env("HPCAST_HOME", folder.path("home")).spawn().expect("hpcast starts")
    };
    let builds: Vec<_> = (0..4).map(start).collect();
    for mut build in builds {
        assert!(build.wait().expect("an end").success());
    }
    let homes = fs::read_dir(folder.path("home")).expect("the folder").count();
    assert_eq!(homes, 1, "nothing is left over");
}

#[test]
fn what_is_missing_for_compiling_is_said() {
    let folder = Folder::new("compile-missing");
    let source = folder.write("a.c", C);
    let fails = |variable: &str, value: &str, parts: &[&str]| {
        let output = command(&["cc", &source]).env("HPCAST_HOME", folder.path("home")).env(variable, value).output();
        let output = output.expect("hpcast runs");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}");
        parts.iter().for_each(|part| assert!(words.contains(part), "{words}"));
    };
    fails("HPCAST_CC", "no-such-compiler", &["no-such-compiler", "HPCAST_CC"]);
    fails("HPCAST_HOME", "/dev/null/home", &["/dev/null/home", "HPCAST_HOME"]);
}

#[test]
fn what_the_standard_abi_added_is_there() {
    let folder = Folder::new("compile-abi");
    let source = folder.write(
        "a.c",
        r#"
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int major, minor, source, tag, error;
    MPI_Status status;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Abi_get_version(&major, &minor);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Status_set_source(&status, 5);
    MPI_Status_set_tag(&status, 6);
    MPI_Status_set_error(&status, MPI_ERR_TRUNCATE);
    MPI_Status_get_source(&status, &source);
    MPI_Status_get_tag(&status, &tag);
    MPI_Status_get_error(&status, &error);
    printf("%d.%d %d %d %d %d %d\n", major, minor, MPI_Comm_toint(MPI_COMM_WORLD),
        MPI_Comm_fromint(MPI_Comm_toint(copy)) == copy, source, tag, error == MPI_ERR_TRUNCATE && status.MPI_TAG == 6);
    MPI_Finalize();
    return 0;
}
"#,
    );
    let program = folder.path("a");
    compiles(&folder, &["cc", "-Wall", "-Werror", &source, "-o", &program]);
    assert_eq!(runs("1", &program, &[]), ("1.0 257 1 5 6 1\n".into(), Some(0)));
}

#[test]
fn coverage_is_told() {
    let all = prints(&["mpi", "coverage"]);
    assert!(all.lines().any(|line| line.split_whitespace().eq(["MPI_Send", "yes", "yes"])));
    let missing = prints(&["mpi", "coverage", "--missing"]);
    assert!(!missing.contains("MPI_Send ") && missing.contains("696 of 696 in C"), "{missing}");
    refuses(&["mpi", "coverage", "--absent"], &["--absent"]);
}

/// What files of `conformance/cases` print, as `conformance/expected.txt` has it.
fn expected(name: &str) -> String {
    let text = fs::read_to_string(root().join("conformance/expected.txt")).expect("what cases print");
    let section = text.split("== ").find_map(|section| section.strip_prefix(&format!("{name}\n")));
    section.unwrap_or_else(|| panic!("{name} is in expected.txt")).to_owned()
}

#[test]
fn cases_behave_as_under_real_libraries() {
    let folder = Folder::new("conformance");
    let cases = root().join("conformance");
    let include = format!("-I{}", cases.display());
    let names = [
        "point_to_point/status.c",
        "collectives/all.c",
        "communicators/groups.c",
        "topologies/cartesian.c",
        "environment/info.c",
        "cxx/globals.cpp",
        "fortran/modern.F90",
        "fortran/header.F90",
    ];
    for name in names {
        let source = cases.join("cases").join(name);
        let text = fs::read_to_string(&source).expect("a case");
        let ranks = text.split("ranks: ").nth(1).and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let (source_name, program) = (source.display().to_string(), folder.path("case"));
        let compiler = match source.extension().and_then(OsStr::to_str) {
            Some("c") => vec!["cc", "-O1", &include, &source_name],
            Some("cpp") => vec!["cxx", "-O1", "-std=c++17", &include, &source_name],
            _ if !has_fortran() => continue,
            _ => vec!["f90", "-w", "-fallow-argument-mismatch", &include, "-J", "MODULES", "CASE", &source_name],
        };
        let (modules, helpers) = (folder.path(""), cases.join("case.F90").display().to_string());
        let place = |word: &str| match word {
            "MODULES" => modules.clone(),
            "CASE" => helpers.clone(),
            word => word.to_owned(),
        };
        let mut words: Vec<String> = compiler.into_iter().map(place).collect();
        words.extend(["-o".into(), program.clone(), "-lm".into()]);
        compiles(&folder, &words.iter().map(String::as_str).collect::<Vec<_>>());
        let ranks = ranks.expect("a number of ranks");
        assert_eq!(runs(ranks, &program, &[]), (expected(name), Some(0)), "{name}");
        assert_eq!(runs_so(&["--stacks", "shared"], ranks, &program, &[]), (expected(name), Some(0)), "{name}");
    }
}
