/*
 * Runs HPL once with recording. Arguments: DIRECTORY N NB P Q PMAP DEPTH PFACT RFACT NBMIN NDIV BCAST SWAP THRESHOLD L1 U EQUIL,
 * the words of cases.txt. Prints the scaled residual and fails where it is too large.
 */
#include "record.h"

#include <math.h>

static const char *const *word;

static int number(const char *what) {
    char *end;
    long value = strtol(*word, &end, 10);
    if (end == *word || *end || value < 0) {
        fprintf(stderr, "error: %s: '%s' is not a number\n", what, *word);
        exit(2);
    }
    word++;
    return (int)value;
}

/* The place of the word in the list of words, which ends with NULL. */
static int choice(const char *what, const char *const *list) {
    for (int i = 0; list[i]; i++) {
        if (!strcmp(list[i], *word)) {
            word++;
            return i;
        }
    }
    fprintf(stderr, "error: %s: '%s' is none of its words\n", what, *word);
    exit(2);
}

#define CHOICE(what, ...) choice(what, (const char *const[]){__VA_ARGS__, NULL})

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
    if (argc != 18) {
        fprintf(stderr, "usage: %s DIRECTORY N NB P Q PMAP DEPTH PFACT RFACT NBMIN NDIV BCAST SWAP THRESHOLD L1 U EQUIL\n", argv[0]);
        return 2;
    }
    const char *directory = argv[1];
    word = (const char *const *)argv + 2;

    HPL_T_palg algo;
    HPL_T_pmat mat;
    HPL_T_grid grid;

    mat.n = number("N");
    mat.nb = number("NB");
    int p = number("P"), q = number("Q");
    HPL_T_ORDER order = CHOICE("PMAP", "row", "column") ? HPL_COLUMN_MAJOR : HPL_ROW_MAJOR;
    algo.depth = number("DEPTH");
    int pfact = CHOICE("PFACT", "left", "crout", "right");
    int rfact = CHOICE("RFACT", "left", "crout", "right");
    algo.nbmin = number("NBMIN");
    algo.nbdiv = number("NDIV");
    algo.btopo = HPL_1RING + CHOICE("BCAST", "1ring", "1ringM", "2ring", "2ringM", "long", "longM");
    algo.fswap = HPL_SWAP00 + CHOICE("SWAP", "binary", "long", "mix");
    algo.fsthr = number("THRESHOLD");
    int l1_transposed = CHOICE("L1", "plain", "transposed");
    int u_transposed = CHOICE("U", "plain", "transposed");
    algo.equil = CHOICE("EQUIL", "no", "yes");
    algo.align = 8;

    const HPL_T_FACT variant[3] = {HPL_LEFT_LOOKING, HPL_CROUT, HPL_RIGHT_LOOKING};
    const HPL_T_PFA_FUN panel[2][3] = {{HPL_pdpanllN, HPL_pdpancrN, HPL_pdpanrlN}, {HPL_pdpanllT, HPL_pdpancrT, HPL_pdpanrlT}};
    const HPL_T_RFA_FUN recursive[2][3] = {{HPL_pdrpanllN, HPL_pdrpancrN, HPL_pdrpanrlN},
                                           {HPL_pdrpanllT, HPL_pdrpancrT, HPL_pdrpanrlT}};
    const HPL_T_UPD_FUN update[2][2] = {{HPL_pdupdateNN, HPL_pdupdateNT}, {HPL_pdupdateTN, HPL_pdupdateTT}};
    algo.pfact = variant[pfact];
    algo.rfact = variant[rfact];
    algo.pffun = panel[l1_transposed][pfact];
    algo.rffun = recursive[l1_transposed][rfact];
    algo.upfun = update[l1_transposed][u_transposed];

    HPL_grid_init(MPI_COMM_WORLD, order, p, q, &grid);

    /* As the benchmark: a leading dimension that is a multiple of the alignment and no power of two. */
    mat.info = 0;
    mat.mp = HPL_numroc(mat.n, mat.nb, mat.nb, grid.myrow, 0, p);
    mat.nq = HPL_numroc(mat.n, mat.nb, mat.nb, grid.mycol, 0, q) + 1;
    mat.ld = (Mmax(1, mat.mp) - 1) / algo.align * algo.align + algo.align;
    while (!(mat.ld & (mat.ld - 1))) mat.ld += algo.align;
    size_t values = (size_t)(mat.ld + 1) * (size_t)mat.nq + (size_t)algo.align;
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
