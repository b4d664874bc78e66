//! Sums of floating-point numbers have the digits that the algorithm of the library gives.

mod common;

use common::{Folder, compile, run_program};

/// Ranks bring 1, 10^16, -10^16 and 1: 10^16 + 1 is rounded to 10^16. The second number is 0 but for a 1 of the second rank.
const SUMS: &str = r#"
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    double mine[8] = {0}, sums[8], rooted[8] = {0};
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 8; i++) mine[i] = (double[]){1, 1e16, -1e16, 1}[rank];
    MPI_Allreduce(mine, sums, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(mine, rooted, 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Iallreduce(MPI_IN_PLACE, mine, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8 && rank == 0; i++) printf("%g ", sums[i]);
    if (rank == 0) printf("| %g | %g\n", rooted[0], mine[7]);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn sums_have_the_digits_of_the_algorithm() {
    let folder = Folder::new("rounding");
    let program = compile(&folder, "sums", SUMS);
    let sums = |options: &[&str]| {
        let ran = run_program(4, options, &[&program]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    };
    // (1 + 10^16) + (-10^16 + 1), and from the last rank to the first.
    let [pairs, linear] = ["0 0 0 0 0 0 0 0 |", "1 1 1 1 1 1 1 1 |"];
    assert_eq!(
        sums(&["--coll", "allreduce=recursive-doubling", "--coll", "reduce=linear"]),
        format!("{pairs} 1 | 0\n")
    );
    assert_eq!(sums(&["--coll", "allreduce=linear", "--coll", "reduce=binomial"]), format!("{linear} 0 | 1\n"));
    // Two elements a block: ((1 + 10^16) - 10^16) + 1, (10^16 - 10^16) + 1 + 1, (-10^16 + 1) + 1 + 10^16, (1 + 1) + 10^16 - 10^16.
    assert_eq!(sums(&["--coll", "allreduce=ring", "--coll", "reduce=pipeline"]), "1 1 2 2 0 0 2 2 | 1 | 2\n");
}
