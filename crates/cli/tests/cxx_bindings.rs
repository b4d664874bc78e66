//! Programs that use the bindings for C++ of Open MPI 4 and MPICH 4, and one that executes another.

mod common;

use std::process::Command;

use common::{Folder, command, machine};

/// Functions of the program for operations, attributes and errors, and what is thrown.
const BINDINGS: &str = r#"
#include <mpi.h>
#include <cstdio>
static int copies, deletes, handled;
static void add_twice(const void *from, void *into, int count, const MPI::Datatype &) {
    for (int i = 0; i < count; i++) ((int *)into)[i] += 2 * ((const int *)from)[i];
}
static int copy(const MPI::Comm &, int, void *, void *in, void *out, bool &flag) {
    copies++;
    *(void **)out = in;
    flag = true;
    return 0;
}
static int remove(MPI::Comm &, int, void *, void *) { deletes++; return 0; }
static void handle(MPI::Comm &, int *code, ...) { handled = MPI::Get_error_class(*code) == MPI::ERR_RANK; }

int main(int argc, char **argv) {
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), one = 1, sum = 0, value = 7, *found = 0;
    MPI::Op op;
    op.Init(add_twice, true);
    MPI::COMM_WORLD.Allreduce(&one, &sum, 1, MPI::INT, op);
    op.Free();
    int key = MPI::Comm::Create_keyval(copy, remove, 0);
    MPI::COMM_WORLD.Set_attr(key, &value);
    MPI::Intracomm twin = MPI::COMM_WORLD.Dup();
    bool has = twin.Get_attr(key, &found);
    twin.Free();
    MPI::COMM_WORLD.Delete_attr(key);
    MPI::Comm::Free_keyval(key);
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(handle);
    MPI::COMM_WORLD.Set_errhandler(handler);
    MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, 99, 0);
    handler.Free();
    std::printf("%d: sum %d, attribute %d %d, %d copies, %d deletes, %d handled\n",
                rank, sum, has, found ? *found : 0, copies, deletes, handled);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
#ifdef MPICH
    /* Debian's Open MPI does not throw. */
    try {
        MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, 99, 0);
        std::printf("nothing was thrown\n");
    } catch (MPI::Exception &thrown) {
        if (thrown.Get_error_class() != MPI::ERR_RANK) std::printf("thrown: %s\n", thrown.Get_error_string());
    }
#endif
    MPI::Finalize();
    return 0;
}
"#;

/// Executes another program, which has no copies of the library's variables.
const FIRST: &str = r#"
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (MPI_COMM_WORLD != MPI_COMM_NULL && argc > 1) execv(argv[1], argv + 1);
    return 1;
}
"#;

const SECOND: &str = r#"
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm world = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
    MPI_Comm_rank(world, &rank);
    printf("%d: %d\n", rank, world == MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"#;

/// Nothing where there is no such compiler, or one without bindings for C++.
fn build(folder: &Folder, compiler: &str, options: &[&str], name: &str, source: &str) -> Option<String> {
    let (source, program) = (folder.write(name, source), folder.path(&format!("{name}.{compiler}")));
    let done = Command::new(compiler).args(options).args(["-w", &source, "-o", &program]).output();
    let is_done = done.is_ok_and(|done| done.status.success());
    if !is_done {
        println!("left out: {compiler} does not compile {name}");
    }
    is_done.then_some(program)
}

fn lines_of(ranks_as: &str, program: &[&str]) -> Vec<String> {
    let options = ["run", "-n", "2", "-m", &machine("dahu.toml"), "--compute", "skip", "--ranks-as", ranks_as];
    let ran = command(&options).args(program).output().expect("hpcast runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut lines: Vec<String> = String::from_utf8_lossy(&ran.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn functions_of_the_program_in_cxx_are_called() {
    let folder = Folder::new("cxx-bindings");
    let expected = |rank| format!("{rank}: sum 3, attribute 1 7, 1 copies, 2 deletes, 1 handled");
    for compiler in ["mpicxx.openmpi", "mpicxx.mpich"] {
        let Some(program) = build(&folder, compiler, &[], "bindings.cpp", BINDINGS) else { continue };
        for ranks_as in ["copies", "processes"] {
            assert_eq!(lines_of(ranks_as, &[&program]), [expected(0), expected(1)], "{compiler}, {ranks_as}");
        }
    }
}

#[test]
fn a_program_executed_by_another_has_handles_of_its_own() {
    let folder = Folder::new("cxx-executed");
    for compiler in ["mpicc.openmpi", "mpicc.mpich"] {
        let first = build(&folder, compiler, &["-no-pie", "-fno-pic"], "first.c", FIRST);
        let second = build(&folder, compiler, &["-fPIC"], "second.c", SECOND);
        let (Some(first), Some(second)) = (first, second) else { continue };
        assert_eq!(lines_of("processes", &[&first, &second]), ["0: 1", "1: 1"], "{compiler}");
    }
}
