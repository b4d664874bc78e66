/*
 * HPL in SMPI. Arguments: MODELS RANKS_PER_NODE PIVOTS (any or equal) SEED FILE, to which the pivots' rows are written, and the
 * words of fidelity/cases.txt. Prints the simulated seconds of HPL_pdgesv, the messages, and the memory of the simulation in bytes.
 * SMPI must not separate the variables of the ranks: what is static here belongs to the whole simulation.
 */
#include "kernels.h"
#include "memory.h"
#include "parameters.h"

static long messages;
static int *pivots;

#define COUNTED(name, parameters, arguments)                                                                                   \
    int __real_##name parameters;                                                                                              \
    int __wrap_##name parameters;                                                                                              \
    int __wrap_##name parameters {                                                                                             \
        messages++;                                                                                                            \
        return __real_##name arguments;                                                                                        \
    }
#define TO const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm
COUNTED(MPI_Send, (TO), (buf, count, type, dest, tag, comm))
COUNTED(MPI_Ssend, (TO), (buf, count, type, dest, tag, comm))
COUNTED(MPI_Isend, (TO, MPI_Request *request), (buf, count, type, dest, tag, comm, request))
COUNTED(MPI_Issend, (TO, MPI_Request *request), (buf, count, type, dest, tag, comm, request))

void __real_HPL_pdfact(HPL_T_panel *panel);
void __wrap_HPL_pdfact(HPL_T_panel *panel);
void __wrap_HPL_pdfact(HPL_T_panel *panel) {
    __real_HPL_pdfact(panel);
    if (panel->grid->mycol != panel->pcol) return;
    for (int i = 0; i < panel->jb; i++) pivots[panel->ia + i] = (int)panel->DPIV[i];
}

/* A page that several addresses share counts once. */
static long memory_used(void) {
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Pss: %ld kB", &kilobytes) == 1) break;
    }
    if (file) fclose(file);
    return 1024 * kilobytes;
}

static double max_over(double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 6 + PARAMETER_COUNT) {
        fprintf(stderr, "usage: %s MODELS RANKS_PER_NODE PIVOTS SEED FILE " PARAMETERS "\n", argv[0]);
        return 2;
    }
    HPL_T_palg algo;
    HPL_T_pmat mat;
    HPL_T_grid grid;
    set_up((const char *const *)argv + 6, &grid, &algo, &mat);

    /* The first process row and column have the most of a matrix; leading dimensions are rounded up. */
    size_t rows = (size_t)HPL_numroc(mat.n, mat.nb, mat.nb, 0, 0, grid.nprow);
    size_t columns = (size_t)HPL_numroc(mat.n, mat.nb, mat.nb, 0, 0, grid.npcol) + 1;
    memory_set_up((rows + 32) * columns, rows, columns, (size_t)mat.nb);
    mat.A = memory_matrix();
    mat.X = mat.A + (size_t)mat.ld * (size_t)mat.nq;

    kernels_read(argv[1], grid.nprocs, atoi(argv[2]));
    pivots_are_equal = !strcmp(argv[3], "equal");
    srand48(atol(argv[4]));
    if (!pivots && !(pivots = calloc((size_t)mat.n, sizeof *pivots))) abort();

    /* All ranks start at the same instant, whenever they leave the reduction. */
    double start = max_over(MPI_Wtime()) + 1;
    smpi_execute_benched(start - MPI_Wtime());
    HPL_pdgesv(&grid, &algo, &mat);
    double seconds = max_over(MPI_Wtime() - start);

    if (grid.iam == 0) {
        FILE *file = fopen(argv[5], "w");
        if (!file) abort();
        for (int i = 0; i < mat.n; i++) fprintf(file, "%d\n", pivots[i]);
        if (fclose(file)) abort();
        printf("simulated_seconds %.12g messages %ld memory %ld\n", seconds, messages, memory_used());
    }
    HPL_grid_exit(&grid);
    MPI_Finalize();
    return 0;
}
