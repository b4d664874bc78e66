/* ranks: 4 */
/* Functions with long counts; new in MPI 4. */
#include "case.h"

#if MPI_VERSION >= 4

/* Each operation three times: at once, begun and waited for, prepared and started. */
#define FORMS(blocking, nonblocking, persistent, ...) \
    for (int form = 0; form < 3; form++) { \
        MPI_Request request; \
        PREPARE(); \
        if (form == 0) { \
            blocking(__VA_ARGS__, MPI_COMM_WORLD); \
        } else if (form == 1) { \
            nonblocking(__VA_ARGS__, MPI_COMM_WORLD, &request); \
            MPI_Wait(&request, MPI_STATUS_IGNORE); \
        } else { \
            persistent(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, &request); \
            MPI_Start(&request); \
            MPI_Wait(&request, MPI_STATUS_IGNORE); \
            MPI_Request_free(&request); \
        } \
        INSPECT(); \
    }

static int out[16], in[16];
static MPI_Count one[4] = {1, 1, 1, 1};
static MPI_Aint gaps[4] = {0, 2, 4, 6}, bytes[4] = {0, 8, 16, 24}, tight[4] = {0, 1, 2, 3};
static MPI_Datatype types[4];

static void prepare(void) {
    for (int i = 0; i < 16; i++) out[i] = 100 * rank + i, in[i] = -1;
    for (int i = 0; i < 4; i++) types[i] = MPI_INT;
}
#define PREPARE() prepare()
#endif

CASE(broadcast) {
#if MPI_VERSION >= 4
#define INSPECT() CHECK(out[0] == 200 && out[3] == 203 && out[4] == 100 * rank + 4)
    FORMS(MPI_Bcast_c, MPI_Ibcast_c, MPI_Bcast_init_c, out, 4, MPI_INT, 2)
#undef INSPECT
#endif
}

CASE(reductions) {
#if MPI_VERSION >= 4
    MPI_Count two[4] = {2, 0, 1, 1};
#define INSPECT() CHECK(rank != 1 || (in[0] == 600 && in[1] == 604))
    FORMS(MPI_Reduce_c, MPI_Ireduce_c, MPI_Reduce_init_c, out, in, 2, MPI_INT, MPI_SUM, 1)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 600 && in[1] == 604)
    FORMS(MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c, out, in, 2, MPI_INT, MPI_SUM)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 50 * rank * (rank + 1))
    FORMS(MPI_Scan_c, MPI_Iscan_c, MPI_Scan_init_c, out, in, 1, MPI_INT, MPI_SUM)
#undef INSPECT
#define INSPECT() CHECK(rank == 0 || in[0] == 50 * rank * (rank - 1))
    FORMS(MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c, out, in, 1, MPI_INT, MPI_SUM)
#undef INSPECT
#define INSPECT() CHECK(in[0] == (rank == 0 ? 600 : rank == 1 ? -1 : 600 + 4 * rank) && in[1] == (rank == 0 ? 604 : -1))
    FORMS(MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init_c, out, in, two, MPI_INT, MPI_SUM)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 600 + 4 * rank)
    FORMS(MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block_c, MPI_Reduce_scatter_block_init_c, out, in, 1, MPI_INT,
          MPI_SUM)
#undef INSPECT
    int a[2] = {1, 2}, b[2] = {10, 20};
    MPI_Reduce_local_c(a, b, 2, MPI_INT, MPI_SUM);
    CHECK(b[0] == 11 && b[1] == 22);
#endif
}

CASE(gathering) {
#if MPI_VERSION >= 4
#define INSPECT() CHECK(rank != 3 || (in[0] == 0 && in[1] == 100 && in[3] == 300))
    FORMS(MPI_Gather_c, MPI_Igather_c, MPI_Gather_init_c, out, 1, MPI_INT, in, 1, MPI_INT, 3)
#undef INSPECT
#define INSPECT() CHECK(rank != 3 || (in[0] == 0 && in[1] == -1 && in[2] == 100 && in[6] == 300))
    FORMS(MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c, out, 1, MPI_INT, in, one, gaps, MPI_INT, 3)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 0 && in[1] == 100 && in[3] == 300)
    FORMS(MPI_Allgather_c, MPI_Iallgather_c, MPI_Allgather_init_c, out, 1, MPI_INT, in, 1, MPI_INT)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 0 && in[1] == -1 && in[2] == 100 && in[6] == 300)
    FORMS(MPI_Allgatherv_c, MPI_Iallgatherv_c, MPI_Allgatherv_init_c, out, 1, MPI_INT, in, one, gaps, MPI_INT)
#undef INSPECT
#endif
}

CASE(scattering) {
#if MPI_VERSION >= 4
#define INSPECT() CHECK(in[0] == 100 + rank && in[1] == -1)
    FORMS(MPI_Scatter_c, MPI_Iscatter_c, MPI_Scatter_init_c, out, 1, MPI_INT, in, 1, MPI_INT, 1)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 100 + 2 * rank && in[1] == -1)
    FORMS(MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c, out, one, gaps, MPI_INT, in, 1, MPI_INT, 1)
#undef INSPECT
#endif
}

CASE(all_to_all) {
#if MPI_VERSION >= 4
#define INSPECT() for (int i = 0; i < 4; i++) CHECK(in[i] == 100 * i + rank)
    FORMS(MPI_Alltoall_c, MPI_Ialltoall_c, MPI_Alltoall_init_c, out, 1, MPI_INT, in, 1, MPI_INT)
#undef INSPECT
#define INSPECT() for (int i = 0; i < 4; i++) CHECK(in[2 * i] == 100 * i + rank && in[2 * i + 1] == -1)
    FORMS(MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c, out, one, tight, MPI_INT, in, one, gaps, MPI_INT)
#undef INSPECT
#define INSPECT() for (int i = 0; i < 4; i++) CHECK(in[2 * i] == 100 * i + 2 * rank && in[2 * i + 1] == -1)
    FORMS(MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c, out, one, bytes, types, in, one, bytes, types)
#undef INSPECT
#endif
}

#if MPI_VERSION >= 4
#define NEIGHBOURS(blocking, nonblocking, persistent, ...) \
    for (int form = 0; form < 3; form++) { \
        MPI_Request request; \
        prepare(); \
        if (form == 0) { \
            blocking(__VA_ARGS__, comm); \
        } else if (form == 1) { \
            nonblocking(__VA_ARGS__, comm, &request); \
            MPI_Wait(&request, MPI_STATUS_IGNORE); \
        } else { \
            persistent(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
            MPI_Start(&request); \
            MPI_Wait(&request, MPI_STATUS_IGNORE); \
            MPI_Request_free(&request); \
        } \
        INSPECT(); \
    }
#endif

CASE(neighbours) {
#if MPI_VERSION >= 4
    int dims = 4, periods = 1, below = (rank + 3) % 4, above = (rank + 1) % 4;
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &comm);
#define INSPECT() CHECK(in[0] == 100 * below && in[1] == 100 * above)
    NEIGHBOURS(MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather_c, MPI_Neighbor_allgather_init_c, out, 1, MPI_INT, in, 1,
               MPI_INT)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 100 * below && in[1] == -1 && in[2] == 100 * above)
    NEIGHBOURS(MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c, MPI_Neighbor_allgatherv_init_c, out, 1, MPI_INT, in,
               one, gaps, MPI_INT)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 100 * below + 1 && in[1] == 100 * above)
    NEIGHBOURS(MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c, MPI_Neighbor_alltoall_init_c, out, 1, MPI_INT, in, 1,
               MPI_INT)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 100 * below + 1 && in[1] == -1 && in[2] == 100 * above)
    NEIGHBOURS(MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c, MPI_Neighbor_alltoallv_init_c, out, one, tight, MPI_INT,
               in, one, gaps, MPI_INT)
#undef INSPECT
#define INSPECT() CHECK(in[0] == 100 * below + 2 && in[1] == -1 && in[2] == 100 * above)
    NEIGHBOURS(MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c, MPI_Neighbor_alltoallw_init_c, out, one, bytes, types,
               in, one, bytes, types)
#undef INSPECT
    MPI_Comm_free(&comm);
#endif
}

#if MPI_VERSION >= 4
static void largest(void *in, void *inout, MPI_Count *count, MPI_Datatype *datatype) {
    (void)datatype;
    for (MPI_Count i = 0; i < *count; i++)
        if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i];
}
#endif

CASE(own_operation) {
#if MPI_VERSION >= 4
    MPI_Op op;
    prepare();
    MPI_Op_create_c(largest, 1, &op);
    MPI_Allreduce_c(out, in, 2, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(in[0] == 300 && in[1] == 301 && in[2] == -1);
    MPI_Allreduce(out, in, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(in[0] == 300);
    MPI_Op_free(&op);
#endif
}
