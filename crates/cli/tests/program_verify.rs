//! `hpcast run --verify`: the same program natively and simulated.

mod common;

use std::process::Command;

use common::{Folder, Ran, compile, program_command};

const HONEST: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv) {
    int rank, size, sum;
    char name[100];
    time_t now = time(NULL);
    MPI_Init(&argc, &argv);
    double start = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d, %.9f\n", rank, size, sum, 1.0 / 3 + 1e-9 * (argc > 1));
    if (rank == 0) printf("on %s", ctime(&now));
    if (rank == 0) printf("Elapsed time: %.9f s\n", MPI_Wtime() - start);
    snprintf(name, sizeof name, "part-%d.txt", rank);
    FILE *file = fopen(name, "w");
    fprintf(file, "%d\n", rank * rank);
    fclose(file);
    MPI_Finalize();
    return 4;
}
"#;

/// Tells whether it is simulated.
const TREACHEROUS: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_library_version(version, &length);
    int simulated = strstr(version, "hpcast") != NULL;
    printf("same on %d\n", rank);
    if (rank == 1) printf("answer %d\n", 42 + simulated);
    if (rank == 0) {
        FILE *file = fopen(simulated ? "simulated.txt" : "native.txt", "w");
        fclose(file);
    }
    MPI_Finalize();
    return simulated;
}
"#;

/// Compilers of MPI libraries that are installed; without any nothing can be compared.
fn compilers() -> Vec<&'static str> {
    let found = |name: &&str| Command::new(name).arg("-show").output().is_ok_and(|told| told.status.success());
    let launchers = [("mpicc.openmpi", "mpirun.openmpi"), ("mpicc.mpich", "mpiexec.mpich")];
    let both =
        launchers.into_iter().filter(|(cc, run)| found(cc) && Command::new(run).arg("--version").output().is_ok());
    let names: Vec<&str> = both.map(|(cc, _)| cc).collect();
    if names.is_empty() {
        println!("left out: there is no MPI library");
    }
    names
}

fn build(folder: &Folder, compiler: &str, name: &str, source: &str) -> String {
    let (source, program) = (folder.write(&format!("{name}.c"), source), folder.path(name));
    let done = Command::new(compiler).args(["-w", &source, "-o", &program]).output().expect("a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// In a folder of its own, which must stay as it is.
fn verify(folder: &Folder, options: &[&str], program: &[&str]) -> Ran {
    std::fs::create_dir_all(folder.path("work")).expect("a folder");
    let mut all = vec!["--verify"];
    all.extend(options);
    let mut command = program_command(3, &all, program);
    let ran = command.current_dir(folder.path("work")).output().expect("hpcast runs").into();
    assert_eq!(std::fs::read_dir(folder.path("work")).expect("a folder").count(), 0);
    ran
}

#[test]
fn programs_that_behave_alike_pass() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("verify-same-{compiler}"));
        let program = build(&folder, compiler, "honest", HONEST);
        let json = folder.path("verification.json");
        let ran = verify(&folder, &["--json", &json], &[&program]);
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (Some(0), "The runs do the same: 5 lines, 2 with other times, 3 files, exit code 4\n"),
            "{}{}",
            ran.out,
            ran.err
        );
        let report: serde_json::Value = serde_json::from_str(&folder.read("verification.json")).expect("JSON");
        assert_eq!(
            (&report["same"], &report["native"]["exit_code"], &report["files"]),
            (&true.into(), &4.into(), &3.into())
        );
    }
}

#[test]
fn differences_are_shown() {
    for compiler in compilers() {
        let folder = Folder::new(&format!("verify-different-{compiler}"));
        let program = build(&folder, compiler, "treacherous", TREACHEROUS);
        let json = folder.path("verification.json");
        let ran = verify(&folder, &["--json", &json], &[&program]);
        assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
        for part in [
            "--- native (mpi",
            "+++ simulated (hpcast run -n 3)\n",
            "@@ exit code @@\n-0\n+1\n",
            "@@ rank 1, line 2 @@\n-answer 42\n+answer 43\n",
            "only the native run has written native.txt\n",
            "only the simulated run has written simulated.txt\n",
            "The runs differ: 4 lines, 2 files, exit code 0\n",
        ] {
            assert!(ran.out.contains(part), "{part}\n{}", ran.out);
        }
        assert!(!ran.out.contains("same on"), "{}", ran.out);
        let report: serde_json::Value = serde_json::from_str(&folder.read("verification.json")).expect("JSON");
        assert_eq!((&report["same"], &report["differences"][0]["what"]), (&false.into(), &"rank 1".into()));
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Folder::new("verify-refused");
    let program = compile(&folder, "honest", HONEST);
    let ran = verify(&folder, &[], &[&program]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("compile it with mpicc of Open MPI or MPICH"), "{}", ran.err);
    let ran = verify(&folder, &[], &[&folder.path("absent")]);
    assert!(ran.code == Some(2) && ran.err.contains("No such file"), "{}", ran.err);
}
