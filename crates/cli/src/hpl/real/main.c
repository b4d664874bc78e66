/*
 * The real HPL in the simulator. Arguments: FILE, to which the seconds of HPL_pdgesv are written; PIVOTS, the number of an open file with the
 * row of each column's pivot, an int each; `any` or `equal`, where all candidates for a pivot are zero; and the words of parameters.h.
 * Numbers mean nothing here: kernels only take time, and the matrix is memory that all ranks share.
 */
#include "parameters.h"

#include <unistd.h>

/* Of the simulator. */
void *hpcast_folded_malloc(size_t size);
double hpcast_now(void);
void hpcast_polls_on(void);
void hpcast_progress(double fraction);
void hpcast_sleep_until(double seconds);
void hpl_dlocswpN(int columns);
void hpl_dlocswpT(int columns);

/* The file with the pivots, and the few of them that are needed now: thousands of ranks in one process do not map the whole of it. */
enum { PIVOTS = 1024 };
static int pivots_file;
static int pivots[PIVOTS], first_pivot = -PIVOTS;
static int are_equal;

static void stop(const char *what) {
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int pivot(int column) {
    if (column < first_pivot || column >= first_pivot + PIVOTS) {
        first_pivot = column / PIVOTS * PIVOTS;
        if (pread(pivots_file, pivots, sizeof pivots, (off_t)first_pivot * sizeof(int)) <= 0) stop("the pivots");
    }
    return pivots[column - first_pivot];
}

/* The process that owns the pivot finds a larger number than all others can; theirs are what `idamax` has drawn. */
void __real_HPL_dlocmax(HPL_T_panel *panel, const int count, const int ii, const int jj, double *work);
void __wrap_HPL_dlocmax(HPL_T_panel *panel, const int count, const int ii, const int jj, double *work) {
    __real_HPL_dlocmax(panel, count, ii, jj, work);
    if (count <= 0) return;
    if (are_equal) work[0] = 0;
    int nb = panel->nb, processes = panel->grid->nprow, row = pivot(panel->ia + jj);
    if (row / nb % processes != panel->grid->myrow) return;
    int local = row / (nb * processes) * nb + row % nb;
    if (!are_equal) work[0] = 2;
    work[1] = local - panel->ii - ii;
    work[2] = row;
}

void __wrap_HPL_dlocswpN(HPL_T_panel *panel, const int ii, const int jj, double *work) {
    hpl_dlocswpN(panel->jb);
}

void __wrap_HPL_dlocswpT(HPL_T_panel *panel, const int ii, const int jj, double *work) {
    hpl_dlocswpT(panel->jb);
}

/*
 * What the swaps of rows are computed from, as plain arguments: the simulator executes these functions once, and gives their results to all
 * processes that bring the same (functions.toml).
 */
void __real_HPL_pipid(HPL_T_panel *panel, int *k, int *ipid);
__attribute__((noinline)) void hpl_pipid(int jb, int ia, double *dpiv, int *k, int *ipid) {
    HPL_T_panel panel = {.jb = jb, .ia = ia, .DPIV = dpiv};
    __real_HPL_pipid(&panel, k, ipid);
}

void __wrap_HPL_pipid(HPL_T_panel *panel, int *k, int *ipid) {
    hpl_pipid(panel->jb, panel->ia, panel->DPIV, k, ipid);
}

void __real_HPL_plindx0(HPL_T_panel *panel, int k, int *ipid, int *lindxa, int *lindxau, int *llen);
__attribute__((noinline)) void hpl_plindx0(int jb, int nb, int ia, int ii, int prow, int myrow, int nprow, int k, int *ipid, int *lindxa,
                                           int *lindxau, int *llen) {
    HPL_T_grid grid = {.myrow = myrow, .nprow = nprow};
    HPL_T_panel panel = {.grid = &grid, .jb = jb, .nb = nb, .ia = ia, .ii = ii, .prow = prow};
    __real_HPL_plindx0(&panel, k, ipid, lindxa, lindxau, llen);
}

void __wrap_HPL_plindx0(HPL_T_panel *panel, int k, int *ipid, int *lindxa, int *lindxau, int *llen) {
    HPL_T_grid *grid = panel->grid;
    hpl_plindx0(panel->jb, panel->nb, panel->ia, panel->ii, panel->prow, grid->myrow, grid->nprow, k, ipid, lindxa, lindxau, llen);
}

void __real_HPL_plindx1(HPL_T_panel *panel, int k, const int *ipid, int *ipa, int *lindxa, int *lindxau, int *iplen, int *ipmap,
                        int *ipmapm1, int *permu, int *iwork);
__attribute__((noinline)) void hpl_plindx1(int jb, int nb, int ia, int ii, int prow, int myrow, int nprow, int lengths, int k,
                                           const int *ipid, int *ipa, int *lindxa, int *lindxau, int *iplen, int *ipmap, int *ipmapm1,
                                           int *permu, int *iwork) {
    HPL_T_grid grid = {.myrow = myrow, .nprow = nprow};
    HPL_T_panel panel = {.grid = &grid, .jb = jb, .nb = nb, .ia = ia, .ii = ii, .prow = prow};
    __real_HPL_plindx1(&panel, k, ipid, ipa, lindxa, lindxau, iplen, ipmap, ipmapm1, permu, iwork);
}

void __wrap_HPL_plindx1(HPL_T_panel *panel, int k, const int *ipid, int *ipa, int *lindxa, int *lindxau, int *iplen, int *ipmap,
                        int *ipmapm1, int *permu, int *iwork) {
    HPL_T_grid *grid = panel->grid;
    hpl_plindx1(panel->jb, panel->nb, panel->ia, panel->ii, panel->prow, grid->myrow, grid->nprow, grid->nprow + 1, k, ipid, ipa, lindxa,
                lindxau, iplen, ipmap, ipmapm1, permu, iwork);
}

/* All processes come here with every panel. */
void __real_HPL_pdfact(HPL_T_panel *panel);
void __wrap_HPL_pdfact(HPL_T_panel *panel) {
    if (panel->grid->iam == 0) hpcast_progress((double)panel->ia / panel->pmat->n);
    __real_HPL_pdfact(panel);
}

/*
 * HPL looks for a panel after each step of a swap and each piece of an update, and then does nothing else until it is there: who looks
 * again without having done anything, and not within a swap, polls on.
 */
static int is_swapping;
static double in_vain = -1; /* when the last look has ended that found nothing */

int __real_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int __wrap_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    if (!is_swapping && hpcast_now() == in_vain) hpcast_polls_on();
    int code = __real_MPI_Iprobe(source, tag, comm, flag, status);
    in_vain = *flag || is_swapping ? -1 : hpcast_now();
    return code;
}

#define SWAP(name)                                                                                                             \
    void __real_##name(HPL_T_panel *broadcast, int *flag, HPL_T_panel *panel, const int columns);                              \
    void __wrap_##name(HPL_T_panel *broadcast, int *flag, HPL_T_panel *panel, const int columns) {                             \
        is_swapping = 1;                                                                                                       \
        __real_##name(broadcast, flag, panel, columns);                                                                        \
        is_swapping = 0;                                                                                                       \
    }
SWAP(HPL_pdlaswp00N)
SWAP(HPL_pdlaswp00T)
SWAP(HPL_pdlaswp01N)
SWAP(HPL_pdlaswp01T)

static double max_over(double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 4 + PARAMETER_COUNT) {
        fprintf(stderr, "usage: %s FILE PIVOTS any|equal " PARAMETERS "\n", argv[0]);
        return 2;
    }
    HPL_T_palg algo;
    HPL_T_pmat mat;
    HPL_T_grid grid;
    size_t values = set_up((const char *const *)argv + 4, &grid, &algo, &mat);
    mat.A = hpcast_folded_malloc(values * sizeof(double));
    if (!mat.A) stop("the matrix");
    mat.X = mat.A + (size_t)mat.ld * (size_t)mat.nq;
    pivots_file = atoi(argv[2]);
    are_equal = !strcmp(argv[3], "equal");

    /* All ranks start at the same instant, and one after the other where that makes a difference, as the skeleton's do. */
    double start = max_over(hpcast_now()) + 2;
    hpcast_sleep_until(start - 1 + 1e-9 * grid.iam);
    hpcast_sleep_until(start);
    HPL_pdgesv(&grid, &algo, &mat);
    double seconds = max_over(hpcast_now() - start);

    if (grid.iam == 0) {
        FILE *file = fopen(argv[1], "w");
        if (!file || fprintf(file, "%.17g\n", seconds) < 0 || fclose(file)) stop(argv[1]);
    }
    HPL_grid_exit(&grid);
    MPI_Finalize();
    return 0;
}
