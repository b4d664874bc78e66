/* Says what Open MPI's collectives do: every point-to-point call of every rank, in order (see perform.h).
 *
 * The calls are caught where Open MPI's collectives hand them to its point-to-point layer: the tables of functions
 * `mca_pml` and `ompi_request_functions` (Open MPI 4.1, ompi/mca/pml/pml.h and ompi/request/request.h).
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "perform.h"

/* The beginnings of the two tables, in the order of Open MPI's headers. */
typedef int receive_fn(void *, size_t, MPI_Datatype, int, int, MPI_Comm, void *);
typedef int isend_fn(const void *, size_t, MPI_Datatype, int, int, int, MPI_Comm, MPI_Request *);
typedef int send_fn(const void *, size_t, MPI_Datatype, int, int, int, MPI_Comm);
typedef int wait_fn(MPI_Request *, MPI_Status *);
typedef int wait_all_fn(size_t, MPI_Request *, MPI_Status *);
struct messages {
    void *management[6];
    receive_fn *irecv_init, *irecv, *recv;
    isend_fn *isend_init, *isend;
    send_fn *send;
};
struct requests {
    void *tests[4];
    wait_fn *wait;
    void *wait_any;
    wait_all_fn *wait_all;
};
enum { SYNCHRONOUS = 0 };

static struct messages *messages, real_messages;
static struct requests *requests, real_requests;
static void note_receive(char kind, int from) {
    char text[64];
    /* The linear barrier receives from anybody. */
    if (from == MPI_ANY_SOURCE) sprintf(text, "%c*", kind);
    else sprintf(text, "%c%d", kind, from);
    note(text);
}

static void note_send(char kind, int to, size_t count, MPI_Datatype type) {
    char text[64];
    int size;
    MPI_Type_size(type, &size);
    sprintf(text, "%c%d:%zu", kind, to, count * size);
    note(text);
}

static int irecv_init(void *at, size_t count, MPI_Datatype type, int from, int tag, MPI_Comm comm, void *request) {
    note_receive('r', from);
    return real_messages.irecv_init(at, count, type, from, tag, comm, request);
}
static int irecv(void *at, size_t count, MPI_Datatype type, int from, int tag, MPI_Comm comm, void *request) {
    note_receive('r', from);
    return real_messages.irecv(at, count, type, from, tag, comm, request);
}
static int receive(void *at, size_t count, MPI_Datatype type, int from, int tag, MPI_Comm comm, void *status) {
    note_receive('R', from);
    return real_messages.recv(at, count, type, from, tag, comm, status);
}
static int isend_init(const void *at, size_t count, MPI_Datatype type, int to, int tag, int mode, MPI_Comm comm,
                      MPI_Request *request) {
    note_send('s', to, count, type);
    return real_messages.isend_init(at, count, type, to, tag, mode, comm, request);
}
static int isend(const void *at, size_t count, MPI_Datatype type, int to, int tag, int mode, MPI_Comm comm,
                 MPI_Request *request) {
    note_send(mode == SYNCHRONOUS ? 'y' : 's', to, count, type);
    return real_messages.isend(at, count, type, to, tag, mode, comm, request);
}
static int send_blocking(const void *at, size_t count, MPI_Datatype type, int to, int tag, int mode, MPI_Comm comm) {
    note_send(mode == SYNCHRONOUS ? 'Y' : 'S', to, count, type);
    return real_messages.send(at, count, type, to, tag, mode, comm);
}
static int wait_all(size_t number, MPI_Request *list, MPI_Status *statuses) {
    char text[64];
    size_t real = 0;
    for (size_t k = 0; k < number; k++) real += list[k] != MPI_REQUEST_NULL;
    sprintf(text, "w%zu", real);
    if (real) note(text);
    return real_requests.wait_all(number, list, statuses);
}
static int wait_one(MPI_Request *request, MPI_Status *status) {
    if (*request != MPI_REQUEST_NULL) note("w1");
    return real_requests.wait(request, status);
}

static void hook(void) {
    messages = dlsym(RTLD_DEFAULT, "mca_pml");
    requests = dlsym(RTLD_DEFAULT, "ompi_request_functions");
    if (!messages || !requests) {
        fprintf(stderr, "this is not Open MPI\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    real_messages = *messages;
    real_requests = *requests;
    messages->irecv_init = irecv_init;
    messages->irecv = irecv;
    messages->recv = receive;
    messages->isend_init = isend_init;
    messages->isend = isend;
    messages->send = send_blocking;
    requests->wait = wait_one;
    requests->wait_all = wait_all;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hook();
    int result = run_cases(argc > 1 ? argv[1] : NULL);
    MPI_Finalize();
    return result;
}
