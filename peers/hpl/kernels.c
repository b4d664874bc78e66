/*
 * The BLAS and HPL's own copies, replaced by the time that they take (T. Cornebize's thesis, section 4.1), and the choice of
 * pivots. These names come before those in the library of HPL.
 */
#include "kernels.h"

#include "hpl.h"

#include <math.h>

typedef const int in;
typedef const double real;

/* The kernels in which a model may be given: as hpcast names them. */
#define NAMES(X)                                                                                                               \
    X(dgemm) X(dtrsm) X(dger) X(dgemv) X(dtrsv) X(idamax) X(dcopy) X(dscal) X(daxpy) X(dlacpy) X(dlatcpy) X(dlocswpN)          \
    X(dlocswpT) X(dlaswp00N) X(dlaswp01N) X(dlaswp01T) X(dlaswp02N) X(dlaswp03N) X(dlaswp03T) X(dlaswp04N) X(dlaswp04T)        \
    X(dlaswp05N) X(dlaswp05T) X(dlaswp06N) X(dlaswp06T) X(dlaswp10N)
#define ENUMERATED(name) KERNEL_##name,
#define QUOTED(name) #name,
enum kernel { NAMES(ENUMERATED) KERNELS };
static const char *const names[KERNELS] = {NAMES(QUOTED)};

static struct {
    int terms;
    int (*factors)[3];
    double *rows; /* the coefficients of the expectation and of the deviation, row by row */
    int *row_of;  /* each rank's; none if there is one row */
} models[KERNELS];

int pivots_are_equal;

static void *allocated(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory) abort();
    return memory;
}

static void wrong(const char *path) {
    fprintf(stderr, "error: %s is no file of kernel models\n", path);
    exit(2);
}

void kernels_read(const char *path, int ranks, int ranks_per_node) {
    static int done;
    if (done++) return;
    FILE *file = fopen(path, "r");
    char name[32];
    int terms, rows;
    if (!file) wrong(path);
    while (fscanf(file, "%31s %d %d", name, &terms, &rows) == 3) {
        int kernel = 0, node;
        while (kernel < KERNELS && strcmp(names[kernel], name)) kernel++;
        if (kernel == KERNELS) wrong(path);
        models[kernel].terms = terms;
        models[kernel].factors = allocated((size_t)terms, sizeof *models[kernel].factors);
        models[kernel].rows = allocated((size_t)(2 * terms * rows), sizeof(double));
        if (rows > 1) models[kernel].row_of = allocated((size_t)ranks, sizeof(int));
        for (int i = 0; i < 3 * terms; i++) {
            if (fscanf(file, "%d", &models[kernel].factors[i / 3][i % 3]) != 1) wrong(path);
        }
        for (int row = 0; row < rows; row++) {
            if (fscanf(file, "%d", &node) != 1) wrong(path);
            for (int rank = 0; node >= 0 && rank < ranks; rank++) {
                if (rank / ranks_per_node == node) models[kernel].row_of[rank] = row;
            }
            for (int i = 0; i < 2 * terms; i++) {
                if (fscanf(file, "%lf", &models[kernel].rows[2 * terms * row + i]) != 1) wrong(path);
            }
        }
    }
    if (!feof(file)) wrong(path);
    fclose(file);
}

/* Takes the time of a call. */
static void take(enum kernel kernel, int m, int n, int k, int s) {
    int terms = models[kernel].terms, rank;
    if (!terms) return;
    const double *row = models[kernel].rows;
    if (models[kernel].row_of) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        row += 2 * terms * models[kernel].row_of[rank];
    }
    const double sizes[5] = {1, m, n, k, s};
    double expectation = 0, deviation = 0;
    for (int i = 0; i < terms; i++) {
        const int *factors = models[kernel].factors[i];
        double term = sizes[factors[0]] * sizes[factors[1]] * sizes[factors[2]];
        expectation += row[i] * term;
        deviation += row[terms + i] * term;
    }
    if (deviation != 0) { /* half-normal, with this expectation and this deviation */
        double wide = deviation / sqrt(1 - 2 / M_PI);
        double normal = sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());
        expectation += wide * (fabs(normal) - sqrt(2 / M_PI));
    }
    if (expectation > 0) smpi_execute_benched(expectation);
}

void cblas_dgemm(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const enum CBLAS_TRANSPOSE tb, in m, in n, in k,
                 real alpha, real *a, in lda, real *b, in ldb, real beta, double *c, in ldc) {
    take(KERNEL_dgemm, m, n, k, 0);
}
void cblas_dtrsm(const enum CBLAS_ORDER order, const enum CBLAS_SIDE side, const enum CBLAS_UPLO uplo,
                 const enum CBLAS_TRANSPOSE ta, const enum CBLAS_DIAG diag, in m, in n, real alpha, real *a, in lda, double *b,
                 in ldb) {
    take(KERNEL_dtrsm, m, n, 0, side == CblasLeft ? m : n);
}
void cblas_dger(const enum CBLAS_ORDER order, in m, in n, real alpha, real *x, in incx, real *y, in incy, double *a, in lda) {
    take(KERNEL_dger, m, n, 0, 0);
}
void cblas_dgemv(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, in m, in n, real alpha, real *a, in lda, real *x,
                 in incx, real beta, double *y, in incy) {
    take(KERNEL_dgemv, m, n, 0, 0);
}
void cblas_dtrsv(const enum CBLAS_ORDER order, const enum CBLAS_UPLO uplo, const enum CBLAS_TRANSPOSE ta,
                 const enum CBLAS_DIAG diag, in n, real *a, in lda, double *x, in incx) {
    take(KERNEL_dtrsv, 0, n, 0, 0);
}
void cblas_dswap(in n, double *x, in incx, double *y, in incy) {
}
void cblas_dscal(in n, real alpha, double *x, in incx) {
    take(KERNEL_dscal, 0, n, 0, 0);
}
void cblas_daxpy(in n, real alpha, real *x, in incx, double *y, in incy) {
    take(KERNEL_daxpy, 0, n, 0, 0);
}

/* The exchange of pivots copies what it was sent: numbers next to each other. Rows of the matrix may be anything. */
void cblas_dcopy(in n, real *x, in incx, double *y, in incy) {
    if (incx == 1 && incy == 1) memcpy(y, x, (size_t)n * sizeof *y);
    take(KERNEL_dcopy, 0, n, 0, 0);
}

int cblas_idamax(in n, real *x, in incx) {
    take(KERNEL_idamax, 0, n, 0, 0);
    return (int)(drand48() * n);
}

/* The largest of `count` numbers drawn from 0 to 1, so that any row of all processes may be the pivot. */
void __real_HPL_dlocmax(HPL_T_panel *panel, in count, in ii, in jj, double *work);
void __wrap_HPL_dlocmax(HPL_T_panel *panel, in count, in ii, in jj, double *work);
void __wrap_HPL_dlocmax(HPL_T_panel *panel, in count, in ii, in jj, double *work) {
    __real_HPL_dlocmax(panel, count, ii, jj, work);
    if (count > 0) work[0] = pivots_are_equal ? 0 : pow(1 - drand48(), 1.0 / count);
}

#define COPY(name, m, n, k, ...)                                                                                               \
    void HPL_##name(__VA_ARGS__) {                                                                                             \
        take(KERNEL_##name, m, n, k, 0);                                                                                       \
    }
COPY(dlacpy, m, n, 0, in m, in n, real *a, in lda, double *b, in ldb)
COPY(dlatcpy, m, n, 0, in m, in n, real *a, in lda, double *b, in ldb)
COPY(dlaswp00N, m, n, 0, in m, in n, double *a, in lda, in *ipiv)
COPY(dlaswp10N, m, n, 0, in m, in n, double *a, in lda, in *ipiv)
COPY(dlaswp01N, m, n, 0, in m, in n, double *a, in lda, double *u, in ldu, in *ia, in *iau)
COPY(dlaswp01T, m, n, 0, in m, in n, double *a, in lda, double *u, in ldu, in *ia, in *iau)
COPY(dlaswp02N, m, n, 0, in m, in n, real *a, in lda, double *w0, double *w, in ldw, in *ia, in *iau)
COPY(dlaswp03N, m, n, 0, in m, in n, double *u, in ldu, real *w0, real *w, in ldw)
COPY(dlaswp03T, m, n, 0, in m, in n, double *u, in ldu, real *w0, real *w, in ldw)
#define FOUR in m0, in m1, in n, double *u, in ldu, double *a, in lda, real *w0, real *w, in ldw, in *ia, in *iau
COPY(dlaswp04N, m1, n, m0, FOUR)
COPY(dlaswp04T, m1, n, m0, FOUR)
COPY(dlaswp05N, m, n, 0, in m, in n, double *a, in lda, real *u, in ldu, in *ia, in *iau)
COPY(dlaswp05T, m, n, 0, in m, in n, double *a, in lda, real *u, in ldu, in *ia, in *iau)
COPY(dlaswp06N, m, n, 0, in m, in n, double *a, in lda, double *u, in ldu, in *ia)
COPY(dlaswp06T, m, n, 0, in m, in n, double *a, in lda, double *u, in ldu, in *ia)
COPY(dlocswpN, 0, panel->jb, 0, HPL_T_panel *panel, in ii, in jj, double *work)
COPY(dlocswpT, 0, panel->jb, 0, HPL_T_panel *panel, in ii, in jj, double *work)
