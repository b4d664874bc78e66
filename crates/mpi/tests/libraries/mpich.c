/* Says what MPICH's collectives do: the messages of every rank, in order (see perform.h).
 *
 * MPICH hides its inner functions. With the device ch4:ucx (Debian's) its messages pass through UCX, whose functions
 * are caught here; a blocking send looks like a non-blocking one. Every rank must count as a node of its own, and the
 * device's own collectives must be off: see mpich.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <ucp/api/ucp.h>

#include "perform.h"

static void *peers[4096];

static int peer_of(void *endpoint) {
    for (int peer = 0; peer < ranks; peer++)
        if (peers[peer] == endpoint) return peer;
    return -1;
}

static void note_message(char kind, void *endpoint, size_t count, const ucp_request_param_t *param) {
    char text[64];
    int to = peer_of(endpoint);
    /* What a rank sends to itself is a copy to us. */
    if (to < 0) return;
    /* Scattered data has a type of its own, whose size is not told. */
    if (param && param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE && param->datatype != ucp_dt_make_contig(1))
        sprintf(text, "%c%d:?", kind, to);
    else sprintf(text, "%c%d:%zu", kind, to, count);
    note(text);
}

static void *seen;

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void *at, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t *param) {
    static ucs_status_ptr_t (*real)(ucp_ep_h, const void *, size_t, ucp_tag_t, const ucp_request_param_t *);
    if (!real) real = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
    seen = endpoint;
    note_message('s', endpoint, count, param);
    return real(endpoint, at, count, tag, param);
}

ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h endpoint, const void *at, size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t *param) {
    static ucs_status_ptr_t (*real)(ucp_ep_h, const void *, size_t, ucp_tag_t, const ucp_request_param_t *);
    if (!real) real = dlsym(RTLD_NEXT, "ucp_tag_send_sync_nbx");
    note_message('y', endpoint, count, param);
    return real(endpoint, at, count, tag, param);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *at, size_t count, ucp_tag_t tag, ucp_tag_t mask,
                                  const ucp_request_param_t *param) {
    static ucs_status_ptr_t (*real)(ucp_worker_h, void *, size_t, ucp_tag_t, ucp_tag_t, const ucp_request_param_t *);
    if (!real) real = dlsym(RTLD_NEXT, "ucp_tag_recv_nbx");
    /* The tag holds context, source (16 bits) and MPI's tag (32 bits): netmod/ucx/ucx_types.h. */
    char text[64];
    int from = (int)(tag >> 32 & 0xffff);
    sprintf(text, "r%d", from);
    if (from != rank) note(text);
    return real(worker, at, count, tag, mask, param);
}

/* With more ranks than cores a rank that finds nothing to do must let others run. */
unsigned ucp_worker_progress(ucp_worker_h worker) {
    static unsigned (*real)(ucp_worker_h);
    if (!real) real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned progress = real(worker);
    if (!progress) sched_yield();
    return progress;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* Learn which endpoint leads to which rank: one empty message to each. */
    for (int step = 1; step < ranks; step++) {
        int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
        seen = NULL;
        MPI_Sendrecv(NULL, 0, MPI_INT, to, 9, NULL, 0, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        peers[to] = seen;
        if (!seen) {
            fprintf(stderr, "messages do not pass through UCX\n");
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    int result = run_cases(argc > 1 ? argv[1] : NULL);
    MPI_Finalize();
    return result;
}
