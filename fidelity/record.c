/*
 * Records the messages and the kernel calls of the real HPL, see README.md for the format. Messages are seen as the profiling
 * interface of MPI shows them; kernels by the linker's --wrap, so that HPL itself is compiled unchanged.
 */
#include "record.h"

#include <stdarg.h>
#include <stdint.h>

enum { ROW, COL, ALL, COMMS };
static const char *const comm_name[COMMS] = {"row", "col", "all"};

static int recording;
static MPI_Comm comms[COMMS];
static int *world[COMMS]; /* rank in the communicator -> rank in the world */

static char *text;
static size_t text_used, text_size;

static int *pivots, matrix_size;

static int in_mxswp; /* inside HPL_pdmxswp: 1 before its first message, 2 after it */

static void fail(const char *what) {
    fprintf(stderr, "recorder: %s\n", what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void *grow(void *old, size_t bytes) {
    void *new = realloc(old, bytes);
    if (!new) fail("out of memory");
    return new;
}

__attribute__((format(printf, 1, 2))) static void line(const char *format, ...) {
    if (text_used + 128 > text_size) {
        text_size = text_size ? 2 * text_size : 1 << 16;
        text = grow(text, text_size);
    }
    va_list args;
    va_start(args, format);
    text_used += (size_t)vsnprintf(text + text_used, text_size - text_used, format, args);
    va_end(args);
}

static const char *class_of(int tag) {
    if (tag >= MSGID_BEGIN_PFACT && tag <= MSGID_END_PFACT) return "pfact";
    if (tag >= MSGID_BEGIN_FACT && tag <= MSGID_END_FACT) return "fact";
    if (tag >= MSGID_BEGIN_PTRSV && tag <= MSGID_END_PTRSV) return "ptrsv";
    if (tag >= MSGID_BEGIN_COLL && tag <= MSGID_END_COLL) return "coll";
    fail("a tag outside of HPL's ranges");
    return "";
}

static void message(char direction, MPI_Comm comm, int peer, int tag, long long bytes) {
    int which = 0;
    while (which < COMMS && comms[which] != comm) which++;
    if (which == COMMS) fail("a communicator that is none of the grid's");
    line("%c %s %d %s %lld\n", direction, comm_name[which], world[which][peer], class_of(tag), bytes);
    if (in_mxswp) in_mxswp = 2;
}

static void sent(MPI_Comm comm, int peer, int tag, int count, MPI_Datatype type) {
    if (!recording) return;
    int size;
    PMPI_Type_size(type, &size);
    message('S', comm, peer, tag, (long long)count * size);
}

static void received(MPI_Comm comm, const MPI_Status *status) {
    if (!recording) return;
    int bytes;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes == MPI_UNDEFINED) fail("a message of unknown size");
    message('R', comm, status->MPI_SOURCE, status->MPI_TAG, bytes);
}

/* Receives that were started and not yet completed. */
static struct {
    MPI_Request request;
    MPI_Comm comm;
} *pending;
static int pending_count;

static void started(MPI_Request request, MPI_Comm comm) {
    if (!recording) return;
    pending = grow(pending, (size_t)(pending_count + 1) * sizeof *pending);
    pending[pending_count].request = request;
    pending[pending_count++].comm = comm;
}

static void completed(MPI_Request request, const MPI_Status *status) {
    for (int i = 0; i < pending_count; i++) {
        if (pending[i].request == request) {
            MPI_Comm comm = pending[i].comm;
            pending[i] = pending[--pending_count];
            received(comm, status);
            return;
        }
    }
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    sent(comm, dest, tag, count, type);
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Ssend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    sent(comm, dest, tag, count, type);
    return PMPI_Ssend(buf, count, type, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    sent(comm, dest, tag, count, type);
    return PMPI_Isend(buf, count, type, dest, tag, comm, request);
}

int MPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    sent(comm, dest, tag, count, type);
    return PMPI_Issend(buf, count, type, dest, tag, comm, request);
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status mine;
    int error = PMPI_Recv(buf, count, type, source, tag, comm, &mine);
    received(comm, &mine);
    if (status != MPI_STATUS_IGNORE) *status = mine;
    return error;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    int error = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    started(*request, comm);
    return error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Request before = *request;
    MPI_Status mine;
    int error = PMPI_Wait(request, &mine);
    completed(before, &mine);
    if (status != MPI_STATUS_IGNORE) *status = mine;
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    MPI_Request before = *request;
    MPI_Status mine;
    int error = PMPI_Test(request, flag, &mine);
    if (*flag) completed(before, &mine);
    if (status != MPI_STATUS_IGNORE) *status = mine;
    return error;
}

int MPI_Sendrecv(const void *sbuf, int scount, MPI_Datatype stype, int dest, int stag, void *rbuf, int rcount,
                 MPI_Datatype rtype, int source, int rtag, MPI_Comm comm, MPI_Status *status) {
    MPI_Status mine;
    sent(comm, dest, stag, scount, stype);
    int error = PMPI_Sendrecv(sbuf, scount, stype, dest, stag, rbuf, rcount, rtype, source, rtag, comm, &mine);
    received(comm, &mine);
    if (status != MPI_STATUS_IGNORE) *status = mine;
    return error;
}

/* KERNEL(NAME, PARAMETERS, ARGUMENTS, FORMAT, SIZES...): the wrapper of a kernel that returns nothing. */
#define KERNEL(name, parameters, arguments, ...)                                                                               \
    void __real_##name parameters;                                                                                             \
    void __wrap_##name parameters;                                                                                             \
    void __wrap_##name parameters {                                                                                            \
        if (recording) line("K " __VA_ARGS__);                                                                                 \
        __real_##name arguments;                                                                                               \
    }

typedef const int in;
typedef const double real;

KERNEL(cblas_dgemm,
       (const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const enum CBLAS_TRANSPOSE tb, in m, in n, in k, real alpha,
        real *a, in lda, real *b, in ldb, real beta, double *c, in ldc),
       (order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), "dgemm %d %d %d\n", m, n, k)
KERNEL(cblas_dtrsm,
       (const enum CBLAS_ORDER order, const enum CBLAS_SIDE side, const enum CBLAS_UPLO uplo, const enum CBLAS_TRANSPOSE ta,
        const enum CBLAS_DIAG diag, in m, in n, real alpha, real *a, in lda, double *b, in ldb),
       (order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb), "dtrsm %c %d %d\n", side == CblasLeft ? 'L' : 'R', m, n)
KERNEL(cblas_dger,
       (const enum CBLAS_ORDER order, in m, in n, real alpha, real *x, in incx, real *y, in incy, double *a, in lda),
       (order, m, n, alpha, x, incx, y, incy, a, lda), "dger %d %d\n", m, n)
KERNEL(cblas_dgemv,
       (const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, in m, in n, real alpha, real *a, in lda, real *x, in incx,
        real beta, double *y, in incy),
       (order, ta, m, n, alpha, a, lda, x, incx, beta, y, incy), "dgemv %d %d\n", m, n)
KERNEL(cblas_dtrsv,
       (const enum CBLAS_ORDER order, const enum CBLAS_UPLO uplo, const enum CBLAS_TRANSPOSE ta, const enum CBLAS_DIAG diag, in n,
        real *a, in lda, double *x, in incx),
       (order, uplo, ta, diag, n, a, lda, x, incx), "dtrsv %d\n", n)
KERNEL(cblas_dswap, (in n, double *x, in incx, double *y, in incy), (n, x, incx, y, incy), "dswap %d\n", n)
KERNEL(cblas_dcopy, (in n, real *x, in incx, double *y, in incy), (n, x, incx, y, incy), "%s %d\n",
       in_mxswp == 2 ? "mxcopy" : "dcopy", n)
KERNEL(cblas_dscal, (in n, real alpha, double *x, in incx), (n, alpha, x, incx), "dscal %d\n", n)
KERNEL(cblas_daxpy, (in n, real alpha, real *x, in incx, double *y, in incy), (n, alpha, x, incx, y, incy), "daxpy %d\n", n)

/* OpenBLAS returns a size_t, HPL expects an int: the same register. */
size_t __real_cblas_idamax(in n, real *x, in incx);
size_t __wrap_cblas_idamax(in n, real *x, in incx);
size_t __wrap_cblas_idamax(in n, real *x, in incx) {
    if (recording) line("K idamax %d\n", n);
    return __real_cblas_idamax(n, x, incx);
}

#define TWO_SIZES(name, parameters, arguments) KERNEL(name, parameters, arguments, #name " %d %d\n", m, n)

TWO_SIZES(HPL_dlacpy, (in m, in n, real *a, in lda, double *b, in ldb), (m, n, a, lda, b, ldb))
TWO_SIZES(HPL_dlatcpy, (in m, in n, real *a, in lda, double *b, in ldb), (m, n, a, lda, b, ldb))
TWO_SIZES(HPL_dlaswp00N, (in m, in n, double *a, in lda, in *ipiv), (m, n, a, lda, ipiv))
TWO_SIZES(HPL_dlaswp10N, (in m, in n, double *a, in lda, in *ipiv), (m, n, a, lda, ipiv))
#define LASWP01(name)                                                                                                          \
    TWO_SIZES(name, (in m, in n, double *a, in lda, double *u, in ldu, in *ia, in *iau), (m, n, a, lda, u, ldu, ia, iau))
LASWP01(HPL_dlaswp01N)
LASWP01(HPL_dlaswp01T)
TWO_SIZES(HPL_dlaswp02N, (in m, in n, real *a, in lda, double *w0, double *w, in ldw, in *ia, in *iau),
          (m, n, a, lda, w0, w, ldw, ia, iau))
#define LASWP03(name) TWO_SIZES(name, (in m, in n, double *u, in ldu, real *w0, real *w, in ldw), (m, n, u, ldu, w0, w, ldw))
LASWP03(HPL_dlaswp03N)
LASWP03(HPL_dlaswp03T)
#define LASWP04(name)                                                                                                          \
    KERNEL(name,                                                                                                               \
           (in m0, in m1, in n, double *u, in ldu, double *a, in lda, real *w0, real *w, in ldw, in *ia, in *iau),             \
           (m0, m1, n, u, ldu, a, lda, w0, w, ldw, ia, iau), #name " %d %d %d\n", m0, m1, n)
LASWP04(HPL_dlaswp04N)
LASWP04(HPL_dlaswp04T)
#define LASWP05(name)                                                                                                          \
    TWO_SIZES(name, (in m, in n, double *a, in lda, real *u, in ldu, in *ia, in *iau), (m, n, a, lda, u, ldu, ia, iau))
LASWP05(HPL_dlaswp05N)
LASWP05(HPL_dlaswp05T)
#define LASWP06(name) TWO_SIZES(name, (in m, in n, double *a, in lda, double *u, in ldu, in *ia), (m, n, a, lda, u, ldu, ia))
LASWP06(HPL_dlaswp06N)
LASWP06(HPL_dlaswp06T)
#define LOCSWP(name)                                                                                                           \
    KERNEL(name, (HPL_T_panel *panel, in ii, in jj, double *work), (panel, ii, jj, work), #name " %d\n", panel->jb)
LOCSWP(HPL_dlocswpN)
LOCSWP(HPL_dlocswpT)

void __real_HPL_pdmxswp(HPL_T_panel *panel, in m, in ii, in jj, double *work);
void __wrap_HPL_pdmxswp(HPL_T_panel *panel, in m, in ii, in jj, double *work);
void __wrap_HPL_pdmxswp(HPL_T_panel *panel, in m, in ii, in jj, double *work) {
    in_mxswp = 1;
    __real_HPL_pdmxswp(panel, m, ii, jj, work);
    in_mxswp = 0;
}

void __real_HPL_pdfact(HPL_T_panel *panel);
void __wrap_HPL_pdfact(HPL_T_panel *panel);
void __wrap_HPL_pdfact(HPL_T_panel *panel) {
    __real_HPL_pdfact(panel);
    if (!recording || panel->grid->mycol != panel->pcol) return;
    for (int i = 0; i < panel->jb; i++) pivots[panel->ia + i] = (int)panel->DPIV[i];
}

void record_start(const HPL_T_grid *grid, int n) {
    MPI_Group all_ranks, group;
    comms[ROW] = grid->row_comm;
    comms[COL] = grid->col_comm;
    comms[ALL] = grid->all_comm;
    PMPI_Comm_group(MPI_COMM_WORLD, &all_ranks);
    for (int which = 0; which < COMMS; which++) {
        int size;
        PMPI_Comm_group(comms[which], &group);
        PMPI_Group_size(group, &size);
        int *ranks = grow(NULL, (size_t)size * sizeof *ranks);
        for (int i = 0; i < size; i++) ranks[i] = i;
        world[which] = grow(NULL, (size_t)size * sizeof *ranks);
        PMPI_Group_translate_ranks(group, size, ranks, all_ranks, world[which]);
        PMPI_Group_free(&group);
        free(ranks);
    }
    PMPI_Group_free(&all_ranks);

    matrix_size = n;
    pivots = grow(NULL, (size_t)n * sizeof *pivots);
    for (int i = 0; i < n; i++) pivots[i] = -1;
    recording = 1;
}

static FILE *create(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (!file) fail("cannot write its files");
    return file;
}

void record_stop(const char *directory) {
    recording = 0;
    if (pending_count) fail("a receive was never completed");

    int rank;
    char name[32];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "rank-%05d.txt", rank);
    FILE *file = create(directory, name);
    if (fwrite(text, 1, text_used, file) != text_used || fclose(file)) fail("cannot write its files");

    PMPI_Allreduce(MPI_IN_PLACE, pivots, matrix_size, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        file = create(directory, "pivots.txt");
        for (int i = 0; i < matrix_size; i++) fprintf(file, "%d\n", pivots[i]);
        if (fclose(file)) fail("cannot write its files");
    }
}
