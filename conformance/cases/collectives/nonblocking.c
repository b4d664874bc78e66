/* ranks: 5 */
/* Every collective in its non-blocking form, several at a time, on several communicators. */
#include "case.h"

static void finish(MPI_Request *request) {
    int flag = 0;
    while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    CHECK(*request == MPI_REQUEST_NULL);
}

CASE(barrier) {
    MPI_Request request;
    int flag = 1;
    /* Rank 0 comes last: nobody else can be through before. */
    if (rank != 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < size; i++) MPI_Recv(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
}

CASE(broadcast) {
    MPI_Request request;
    static int values[20000];
    for (int root = 0; root < size; root++) {
        int good = 1;
        for (int i = 0; i < 20000; i++) values[i] = rank == root ? i + root : 0;
        MPI_Ibcast(values, 20000, MPI_INT, root, MPI_COMM_WORLD, &request);
        finish(&request);
        for (int i = 0; i < 20000; i++) good &= values[i] == i + root;
        CHECK(good);
    }
}

CASE(gather_and_scatter) {
    MPI_Request request;
    int out = rank * 3, in[8], back = -1;
    MPI_Igather(&out, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
    finish(&request);
    if (rank == 1) for (int i = 0; i < size; i++) CHECK(in[i] == 3 * i);
    MPI_Iscatter(in, 1, MPI_INT, &back, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
    finish(&request);
    CHECK(back == 3 * rank);
}

CASE(gatherv_and_scatterv) {
    MPI_Request request;
    int out[8], in[80], counts[8], places[8], back[8];
    for (int i = 0; i < size; i++) counts[i] = i, places[i] = 9 * i + 1;
    for (int i = 0; i < 8; i++) out[i] = 10 * rank + i, back[i] = -1;
    MPI_Igatherv(out, rank, MPI_INT, in, counts, places, MPI_INT, 2, MPI_COMM_WORLD, &request);
    finish(&request);
    if (rank == 2)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < i; j++) CHECK(in[places[i] + j] == 10 * i + j);
    MPI_Iscatterv(in, counts, places, MPI_INT, back, rank, MPI_INT, 2, MPI_COMM_WORLD, &request);
    finish(&request);
    for (int j = 0; j < 8; j++) CHECK(back[j] == (j < rank ? 10 * rank + j : -1));
}

CASE(allgather_both) {
    MPI_Request requests[2];
    int out = rank + 100, in[8], spread[32], counts[8], places[8];
    memset(spread, -1, sizeof spread);
    for (int i = 0; i < size; i++) counts[i] = 1, places[i] = 2 * i;
    MPI_Iallgather(&out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgatherv(&out, 1, MPI_INT, spread, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++) CHECK(in[i] == i + 100 && spread[2 * i] == i + 100 && spread[2 * i + 1] == -1);
}

CASE(alltoall_all_three) {
    MPI_Request requests[3];
    int out[8], in[3][8], counts[8], places[8], bytes[8];
    MPI_Datatype types[8];
    for (int i = 0; i < size; i++) {
        out[i] = 10 * rank + i;
        counts[i] = 1;
        places[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Ialltoall(out, 1, MPI_INT, in[0], 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoallv(out, counts, places, MPI_INT, in[1], counts, places, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Ialltoallw(out, counts, bytes, types, in[2], counts, bytes, types, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < size; i++) CHECK(in[k][i] == 10 * i + rank);
}

CASE(reductions) {
    MPI_Request requests[6];
    int out[8], sum = -1, all = -1, part = -1, block = -1, scan = -1, before = -1, counts[8];
    for (int i = 0; i < size; i++) out[i] = rank + i, counts[i] = 1;
    MPI_Ireduce(out, &sum, 1, MPI_INT, MPI_SUM, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(out, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[1]);
    MPI_Ireduce_scatter(out, &part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Ireduce_scatter_block(out, &block, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &requests[3]);
    MPI_Iscan(out, &scan, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[4]);
    MPI_Iexscan(out, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[5]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    int total = size * (size - 1) / 2;
    CHECK(sum == (rank == 3 ? total : -1));
    CHECK(all == size - 1);
    CHECK(part == total + size * rank);
    CHECK(block == rank);
    CHECK(scan == rank * (rank + 1) / 2);
    if (rank > 0) CHECK(before == rank * (rank - 1) / 2);
}

CASE(in_place) {
    MPI_Request requests[3];
    int sum = rank, all[8], scan = 1;
    memset(all, -1, sizeof all);
    all[rank] = rank * rank;
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Iscan(MPI_IN_PLACE, &scan, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == size * (size - 1) / 2 && scan == rank + 1);
    for (int i = 0; i < size; i++) CHECK(all[i] == i * i);
}

/* Many of the same kind at once keep to the order in which they were started. */
CASE(many_outstanding) {
    enum { MANY = 30 };
    MPI_Request requests[MANY];
    int out[MANY], in[MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = rank * MANY + i;
        MPI_Iallreduce(&out[i], &in[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = MANY - 1; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) CHECK(in[i] == MANY * size * (size - 1) / 2 + size * i);
}

CASE(several_communicators) {
    enum { MANY = 5 };
    MPI_Comm comms[MANY];
    MPI_Request requests[MANY];
    int in[MANY], out = rank + 1;
    for (int i = 0; i < MANY; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    /* Ranks start them in different orders, as they belong to different communicators. */
    for (int i = 0; i < MANY; i++) {
        int k = (i + rank) % MANY;
        in[k] = 0;
        MPI_Iallreduce(&out, &in[k], 1, MPI_INT, k % 2 ? MPI_SUM : MPI_MAX, comms[k], &requests[k]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        CHECK(in[i] == (i % 2 ? size * (size + 1) / 2 : size));
        MPI_Comm_free(&comms[i]);
    }
}

/* Messages and a blocking collective on another communicator go on while one is under way. */
CASE(with_other_traffic) {
    MPI_Request request;
    MPI_Comm other;
    int value = rank == 0 ? 42 : 0, out = rank, in, sum;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (rank != 0) MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, other);
    CHECK(sum == size * (size - 1) / 2);
    if (rank == 0) MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(value == 42);
    MPI_Comm_free(&other);
}

CASE(mixed_with_messages) {
    MPI_Request requests[3];
    int in = -1, out = rank, sum = 0, index, seen = 0;
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
        seen |= 1 << index;
    }
    CHECK(seen == 7 && in == (rank + size - 1) % size && sum == size * (size - 1) / 2);
}

CASE(alone) {
    MPI_Request requests[3];
    int out = rank, in[3] = {-1, -1, -1};
    MPI_Iallreduce(&out, &in[0], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &requests[0]);
    MPI_Ialltoall(&out, 1, MPI_INT, &in[1], 1, MPI_INT, MPI_COMM_SELF, &requests[1]);
    MPI_Igather(&out, 1, MPI_INT, &in[2], 1, MPI_INT, 0, MPI_COMM_SELF, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) CHECK(in[i] == rank);
}
