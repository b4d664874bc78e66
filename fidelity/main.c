/*
 * Runs HPL once with recording. Arguments: DIRECTORY and the words of cases.txt. Prints the scaled residual and fails
 * where it is too large.
 */
#include "parameters.h"
#include "record.h"

#include <math.h>

static double max_over(MPI_Comm comm, double value) {
    PMPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
    return value;
}

/* ||Ax-b|| / (eps (||A|| ||x|| + ||b||) N), with infinity norms; at most 16 for HPL to pass. The matrix is generated again. */
static double residual(const HPL_T_grid *grid, const HPL_T_pmat *mat) {
    int nq = HPL_numroc(mat->n, mat->nb, mat->nb, grid->mycol, 0, grid->npcol);
    int owns_b = grid->mycol == HPL_indxg2p(mat->n, mat->nb, mat->nb, 0, grid->npcol);
    double *sums = calloc((size_t)mat->mp * 3 + 1, sizeof *sums);
    double r = 0, a = 0, b = 0, x = 0;
    if (!sums) abort();
    HPL_pdmatgen(grid, mat->n, mat->n + 1, mat->nb, mat->A, mat->ld, HPL_ISEED);
    for (int i = 0; i < mat->mp; i++) {
        const double *row = mat->A + i;
        double *sum = sums + 3 * i;
        for (int j = 0; j < nq; j++) {
            double value = row[(size_t)j * (size_t)mat->ld];
            sum[0] += value * mat->X[j];
            sum[1] += fabs(value);
        }
        if (owns_b) sum[2] = row[(size_t)nq * (size_t)mat->ld];
    }
    for (int j = 0; j < nq; j++) x = fmax(x, fabs(mat->X[j]));
    PMPI_Allreduce(MPI_IN_PLACE, sums, 3 * mat->mp, MPI_DOUBLE, MPI_SUM, grid->row_comm);
    for (int i = 0; i < mat->mp; i++) {
        r = fmax(r, fabs(sums[3 * i] - sums[3 * i + 2]));
        a = fmax(a, sums[3 * i + 1]);
        b = fmax(b, fabs(sums[3 * i + 2]));
    }
    free(sums);
    r = max_over(grid->all_comm, r);
    a = max_over(grid->all_comm, a);
    b = max_over(grid->all_comm, b);
    x = max_over(grid->all_comm, x);
    return r / (ldexp(1, -53) * (a * x + b) * mat->n);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2 + PARAMETER_COUNT) {
        fprintf(stderr, "usage: %s DIRECTORY " PARAMETERS "\n", argv[0]);
        return 2;
    }
    const char *directory = argv[1];
    HPL_T_palg algo;
    HPL_T_pmat mat;
    HPL_T_grid grid;
    size_t values = set_up((const char *const *)argv + 2, &grid, &algo, &mat);
    double *memory = aligned_alloc((size_t)algo.align * sizeof(double), (values + 8) / 8 * 8 * sizeof(double));
    if (!memory) abort();
    mat.A = memory;
    mat.X = mat.A + (size_t)mat.ld * (size_t)mat.nq;
    HPL_pdmatgen(&grid, mat.n, mat.n + 1, mat.nb, mat.A, mat.ld, HPL_ISEED);

    PMPI_Barrier(MPI_COMM_WORLD);
    record_start(&grid, mat.n);
    HPL_pdgesv(&grid, &algo, &mat);
    record_stop(directory);

    double scaled = residual(&grid, &mat);
    if (grid.iam == 0) printf("%.3f\n", scaled);
    free(memory);
    HPL_grid_exit(&grid);
    MPI_Finalize();
    return !(scaled <= 16);
}
