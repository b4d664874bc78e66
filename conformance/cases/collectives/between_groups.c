/* ranks: 5 */
/* Collectives on inter-communicators: what one group gives, the other gets. */
#include "case.h"

static MPI_Comm local, inter;
static int low, mine, others, place;

/* Ranks below 2 against the rest. */
static void begin(void) {
    low = rank < 2;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? 2 : 0, 5, &inter);
    MPI_Comm_size(inter, &mine);
    MPI_Comm_rank(inter, &place);
    MPI_Comm_remote_size(inter, &others);
    CHECK(mine == (low ? 2 : size - 2) && others == size - mine);
}

static void end(void) {
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

CASE(barrier) {
    begin();
    MPI_Barrier(inter);
    end();
}

CASE(broadcast) {
    begin();
    for (int root = 0; root < 2; root++) {
        int value = low ? 10 + place : -1;
        if (low) MPI_Bcast(&value, 1, MPI_INT, place == root ? MPI_ROOT : MPI_PROC_NULL, inter);
        else MPI_Bcast(&value, 1, MPI_INT, root, inter);
        CHECK(value == (low ? 10 + place : 10 + root));
    }
    end();
}

CASE(gather_and_scatter) {
    begin();
    int out = rank, in[8], back = -1;
    memset(in, -1, sizeof in);
    if (low) MPI_Gather(NULL, 0, MPI_INT, in, 1, MPI_INT, place == 1 ? MPI_ROOT : MPI_PROC_NULL, inter);
    else MPI_Gather(&out, 1, MPI_INT, NULL, 0, MPI_INT, 1, inter);
    for (int i = 0; i < others; i++) CHECK(in[i] == (low && place == 1 ? i + 2 : -1));
    for (int i = 0; i < 8; i++) in[i] = 50 + i;
    if (low) MPI_Scatter(in, 1, MPI_INT, NULL, 0, MPI_INT, place == 1 ? MPI_ROOT : MPI_PROC_NULL, inter);
    else MPI_Scatter(NULL, 0, MPI_INT, &back, 1, MPI_INT, 1, inter);
    CHECK(back == (low ? -1 : 50 + place));
    end();
}

CASE(reduce) {
    begin();
    int out = rank + 1, in = -1;
    if (low) MPI_Reduce(&out, &in, 1, MPI_INT, MPI_SUM, place == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    else MPI_Reduce(&out, &in, 1, MPI_INT, MPI_SUM, 0, inter);
    CHECK(in == (low && place == 0 ? size * (size + 1) / 2 - 3 : -1));
    end();
}

CASE(allreduce) {
    begin();
    int out = rank + 1, in = -1;
    MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, inter);
    CHECK(in == (low ? size * (size + 1) / 2 - 3 : 3));
    end();
}

CASE(allgather) {
    begin();
    int out = rank, in[8];
    memset(in, -1, sizeof in);
    MPI_Allgather(&out, 1, MPI_INT, in, 1, MPI_INT, inter);
    for (int i = 0; i < 8; i++) CHECK(in[i] == (i < others ? (low ? i + 2 : i) : -1));
    end();
}

CASE(allgatherv) {
    begin();
    int out[8], in[32], counts[8], places[8];
    for (int i = 0; i < 8; i++) out[i] = 10 * rank + i;
    for (int i = 0; i < others; i++) counts[i] = i + 1, places[i] = 4 * i;
    memset(in, -1, sizeof in);
    MPI_Allgatherv(out, place + 1, MPI_INT, in, counts, places, MPI_INT, inter);
    for (int i = 0; i < others; i++)
        for (int j = 0; j < 4; j++) CHECK(in[4 * i + j] == (j <= i ? 10 * (low ? i + 2 : i) + j : -1));
    end();
}

CASE(alltoall) {
    begin();
    int out[8], in[8];
    for (int i = 0; i < others; i++) out[i] = 10 * rank + i, in[i] = -1;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter);
    for (int i = 0; i < others; i++) CHECK(in[i] == 10 * (low ? i + 2 : i) + place);
    end();
}

CASE(reduce_scatter) {
    begin();
    /* Both groups reduce six elements, which the other group shares out. */
    int out[6], in[6], counts[8];
    for (int i = 0; i < 6; i++) out[i] = (rank + 1) * i, in[i] = -1;
    for (int i = 0; i < mine; i++) counts[i] = 6 / mine;
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, inter);
    int weight = low ? size * (size + 1) / 2 - 3 : 3;
    for (int i = 0; i < 6; i++)
        CHECK(in[i] == (i < counts[0] ? weight * (place * counts[0] + i) : -1));
    end();
}

CASE(nonblocking) {
    begin();
    MPI_Request requests[3];
    int out = rank + 1, sum = -1, all[8];
    MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, inter, &requests[0]);
    MPI_Iallgather(&out, 1, MPI_INT, all, 1, MPI_INT, inter, &requests[1]);
    MPI_Ibarrier(inter, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == (low ? size * (size + 1) / 2 - 3 : 3));
    for (int i = 0; i < others; i++) CHECK(all[i] == (low ? i + 3 : i + 1));
    end();
}

CASE(gatherv_and_scatterv) {
    begin();
    /* Rank i of the other group gives and gets i + 1 elements. */
    int out[8], in[32], back[8], counts[8], places[8];
    for (int i = 0; i < 8; i++) out[i] = 10 * rank + i, counts[i] = i + 1, places[i] = 4 * i, back[i] = -1;
    memset(in, -1, sizeof in);
    int root = low ? (place == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    MPI_Gatherv(out, place + 1, MPI_INT, in, counts, places, MPI_INT, root, inter);
    for (int i = 0; i < others; i++)
        for (int j = 0; j < 4; j++) CHECK(in[4 * i + j] == (low && place == 0 && j <= i ? 10 * (i + 2) + j : -1));
    MPI_Scatterv(in, counts, places, MPI_INT, back, place + 1, MPI_INT, root, inter);
    for (int i = 0; i < 8; i++) CHECK(back[i] == (!low && i <= place ? out[i] : -1));
    end();
}

CASE(alltoallv_and_w) {
    begin();
    int out[8], in[2][8], counts[8], places[8], bytes[8];
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) {
        out[i] = 10 * rank + i, counts[i] = 1, places[i] = i, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
        in[0][i] = in[1][i] = -1;
    }
    MPI_Alltoallv(out, counts, places, MPI_INT, in[0], counts, places, MPI_INT, inter);
    MPI_Alltoallw(out, counts, bytes, types, in[1], counts, bytes, types, inter);
    for (int i = 0; i < 8; i++) {
        int expected = i < others ? 10 * (low ? i + 2 : i) + place : -1;
        CHECK(in[0][i] == expected && in[1][i] == expected);
    }
    end();
}

CASE(nonblocking_with_root) {
    begin();
    MPI_Request requests[4];
    int root = low ? (place == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    int value = low ? 10 + place : -1, mine = rank, sum = -1, all[8], parts[8], part = -1;
    for (int i = 0; i < 8; i++) all[i] = -1, parts[i] = 70 + i;
    MPI_Ibcast(&value, 1, MPI_INT, root, inter, &requests[0]);
    MPI_Ireduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, inter, &requests[1]);
    MPI_Igather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, inter, &requests[2]);
    MPI_Iscatter(parts, 1, MPI_INT, &part, 1, MPI_INT, root, inter, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(value == (low ? 10 + place : 10));
    CHECK(sum == (low && place == 0 ? size * (size - 1) / 2 - 1 : -1));
    for (int i = 0; i < 8; i++) CHECK(all[i] == (low && place == 0 && i < others ? i + 2 : -1));
    CHECK(part == (low ? -1 : 70 + place));
    end();
}
