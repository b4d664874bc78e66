/* ranks: 4 */
/* Persistent collectives: which one of a rank belongs to which one of another is decided by the order of initialisation, not by
 * that of starting (MPI 4.0, 6.12). */
#include "case.h"

/* Even ranks start the first one first, odd ranks the last one. */
#define TURNED(I, N) (rank % 2 == 0 ? (I) : (N) - 1 - (I))

CASE(started_in_another_order) {
#if MPI_VERSION >= 4
    enum { N = 5 };
    int out[N], in[N];
    MPI_Request requests[N];
    for (int i = 0; i < N; i++)
        MPI_Allreduce_init(&out[i], &in[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) out[i] = 100 * round + 10 * i + rank, in[i] = -1;
        for (int i = 0; i < N; i++) MPI_Start(&requests[TURNED(i, N)]);
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) CHECK(in[i] == 4 * (100 * round + 10 * i) + 6);
    }
    for (int i = 0; i < N; i++) MPI_Request_free(&requests[i]);
#endif
}

/* Of different kinds, and so many bytes that data cannot be mixed up in silence. None is MPI_Allgather_init: MPICH 4.0.2 looks at what
 * is gathered only at the first start. */
CASE(of_different_kinds) {
#if MPI_VERSION >= 4
    enum { COUNT = 3000 };
    static int seen[COUNT], all[4 * COUNT], given[4 * COUNT], own[COUNT], sum[COUNT], prefix[COUNT];
    MPI_Request requests[4];
    MPI_Bcast_init(seen, COUNT, MPI_INT, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Alltoall_init(given, COUNT, MPI_INT, all, COUNT, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Reduce_init(own, sum, COUNT, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Scan_init(own, prefix, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    for (int round = 0; round < 2; round++) {
        int good = 1;
        for (int i = 0; i < COUNT; i++) {
            seen[i] = rank == 2 ? 7 * i + round : -1;
            own[i] = rank + i + round;
            sum[i] = prefix[i] = -1;
        }
        for (int i = 0; i < 4 * COUNT; i++) all[i] = -1, given[i] = 4 * i + rank + round;
        for (int i = 0; i < 4; i++) MPI_Start(&requests[(i + rank) % 4]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++) {
            good &= seen[i] == 7 * i + round && prefix[i] == rank + i + round;
            good &= rank != 1 || sum[i] == 6 + 4 * (i + round);
            for (int from = 0; from < 4; from++)
                good &= all[from * COUNT + i] == 4 * (rank * COUNT + i) + from + round;
        }
        CHECK(good);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
#endif
}

/* Blocking and non-blocking collectives in between, which are matched in the order of their calls. */
CASE(among_others) {
#if MPI_VERSION >= 4
    int out = rank, first = -1, second = -1, third = -1, fourth = -1;
    MPI_Request persistent[2], request;
    MPI_Allreduce_init(&out, &first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent[0]);
    MPI_Iallreduce(&out, &second, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Allreduce_init(&out, &third, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent[1]);
    if (rank < 2) MPI_Start(&persistent[1]);
    MPI_Allreduce(&out, &fourth, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    if (rank >= 2) MPI_Start(&persistent[1]);
    MPI_Start(&persistent[0]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    CHECK(first == 6 && second == 3 && third == 0 && fourth == 0);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
#endif
}

/* One is started twice before the other is started at all. */
CASE(started_more_often) {
#if MPI_VERSION >= 4
    int out = 0, often = -1, seldom = -1;
    MPI_Request requests[2];
    MPI_Allreduce_init(&out, &seldom, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&out, &often, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 6; round++) {
        out = rank + round;
        MPI_Start(&requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        CHECK(often == 6 + 4 * round);
        if (round % 3 == 2) {
            MPI_Start(&requests[0]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            CHECK(seldom == 3 + round);
        }
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

CASE(all_started_at_once) {
#if MPI_VERSION >= 4
    int out[3], in[3][4];
    MPI_Request requests[3], turned[3];
    for (int i = 0; i < 3; i++)
        MPI_Allgather_init(&out[i], 1, MPI_INT, in[i], 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int i = 0; i < 3; i++) out[i] = 10 * i + rank, turned[TURNED(i, 3)] = requests[i];
    MPI_Startall(3, turned);
    MPI_Waitall(3, turned, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        for (int from = 0; from < 4; from++) CHECK(in[i][from] == 10 * i + from);
    for (int i = 0; i < 3; i++) MPI_Request_free(&turned[i]);
#endif
}

CASE(of_neighbours) {
#if MPI_VERSION >= 4
    int dims[1] = {4}, periods[1] = {1}, out[3], in[3][2];
    MPI_Comm ring;
    MPI_Request requests[3];
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    for (int i = 0; i < 3; i++)
        MPI_Neighbor_allgather_init(&out[i], 1, MPI_INT, in[i], 1, MPI_INT, ring, MPI_INFO_NULL, &requests[i]);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) out[i] = 100 * round + 10 * i + rank;
        for (int i = 0; i < 3; i++) MPI_Start(&requests[TURNED(i, 3)]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 3; i++) {
            CHECK(in[i][0] == 100 * round + 10 * i + (rank + 3) % 4);
            CHECK(in[i][1] == 100 * round + 10 * i + (rank + 1) % 4);
        }
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
    MPI_Comm_free(&ring);
#endif
}

CASE(between_groups) {
#if MPI_VERSION >= 4
    int out[3], in[3];
    MPI_Comm half, inter;
    MPI_Request requests[3];
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 9, &inter);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce_init(&out[i], &in[i], 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &requests[i]);
    for (int i = 0; i < 3; i++) out[i] = 10 * i + rank;
    for (int i = 0; i < 3; i++) MPI_Start(&requests[TURNED(i, 3)]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) CHECK(in[i] == 20 * i + (rank < 2 ? 5 : 1));
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
#endif
}
