/* ranks: 5 */
/* Collectives with a root: every rank is the root once. */
#include "case.h"

CASE(barrier) {
    /* Nobody leaves before the last has come: the messages before it are there afterwards. */
    int flag = 0, value = rank;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
    MPI_Ssend(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(value == (rank + size - 1) % size);
}

CASE(broadcast) {
    static const int counts[] = {0, 1, 7, 1000, 50000};
    static int values[50000];
    for (int root = 0; root < size; root++) {
        for (int c = 0; c < 5; c++) {
            int good = 1;
            for (int i = 0; i < counts[c]; i++) values[i] = rank == root ? root + i : -1;
            MPI_Bcast(values, counts[c], MPI_INT, root, MPI_COMM_WORLD);
            for (int i = 0; i < counts[c]; i++) good &= values[i] == root + i;
            CHECK(good);
        }
    }
}

/* Root and others may describe the same elements differently. */
CASE(broadcast_types) {
    int values[20];
    MPI_Datatype every_second;
    MPI_Type_vector(10, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 20; i++) values[i] = rank == 1 ? i : -1;
    if (rank == 1) MPI_Bcast(values, 1, every_second, 1, MPI_COMM_WORLD);
    else MPI_Bcast(values, 10, MPI_INT, 1, MPI_COMM_WORLD);
    if (rank != 1) for (int i = 0; i < 10; i++) CHECK(values[i] == 2 * i);
    MPI_Type_free(&every_second);
}

CASE(gather) {
    for (int root = 0; root < size; root++) {
        int out[2] = {rank, 10 * rank}, in[64];
        memset(in, -1, sizeof in);
        MPI_Gather(out, 2, MPI_INT, rank == root ? in : NULL, 2, MPI_INT, root, MPI_COMM_WORLD);
        if (rank == root) for (int i = 0; i < size; i++) CHECK(in[2 * i] == i && in[2 * i + 1] == 10 * i);
    }
}

CASE(gather_large) {
    enum { COUNT = 20000 };
    int *out = malloc(COUNT * sizeof(int)), *in = rank == 2 ? malloc(size * COUNT * sizeof(int)) : NULL, good = 1;
    for (int i = 0; i < COUNT; i++) out[i] = rank * COUNT + i;
    MPI_Gather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, 2, MPI_COMM_WORLD);
    if (rank == 2) for (int i = 0; i < size * COUNT; i++) good &= in[i] == i;
    CHECK(good);
    free(out);
    free(in);
}

/* The root takes each contribution as a column. */
CASE(gather_into_columns) {
    int out[3] = {rank, rank + 100, rank + 200}, in[3][8];
    MPI_Datatype column, columns;
    MPI_Type_vector(3, 1, 8, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    memset(in, -1, sizeof in);
    MPI_Gather(out, 3, MPI_INT, in, 1, columns, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 8; j++) CHECK(in[i][j] == (j < size ? 100 * i + j : -1));
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
}

CASE(gatherv) {
    for (int root = 0; root < size; root++) {
        int out[8], in[128], counts[8], places[8];
        for (int i = 0; i < 8; i++) out[i] = 10 * rank + i;
        /* Rank i sends i numbers; in reverse order with gaps. */
        for (int i = 0; i < size; i++) counts[i] = i, places[i] = 10 * (size - 1 - i);
        memset(in, -1, sizeof in);
        MPI_Gatherv(out, rank, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD);
        if (rank == root)
            for (int i = 0; i < size; i++) {
                for (int j = 0; j < i; j++) CHECK(in[places[i] + j] == 10 * i + j);
                CHECK(in[places[i] + i] == -1);
            }
    }
}

CASE(scatter) {
    for (int root = 0; root < size; root++) {
        int out[64], in[3] = {-1, -1, -1};
        for (int i = 0; i < 3 * size; i++) out[i] = 100 * root + i;
        MPI_Scatter(rank == root ? out : NULL, 3, MPI_INT, in, 3, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < 3; i++) CHECK(in[i] == 100 * root + 3 * rank + i);
    }
}

CASE(scatter_from_columns) {
    int out[4][8], in[4];
    MPI_Datatype column, columns;
    for (int i = 0; i < 32; i++) out[i / 8][i % 8] = i;
    MPI_Type_vector(4, 1, 8, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    MPI_Scatter(out, 1, columns, in, 4, MPI_INT, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) CHECK(in[i] == 8 * i + rank);
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
}

CASE(scatterv) {
    for (int root = 0; root < size; root++) {
        int out[64], in[10], counts[8], places[8];
        for (int i = 0; i < 64; i++) out[i] = i + root;
        for (int i = 0; i < size; i++) counts[i] = size - 1 - i, places[i] = 7 * i;
        memset(in, -1, sizeof in);
        MPI_Scatterv(out, counts, places, MPI_INT, in, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < 10; i++) CHECK(in[i] == (i < counts[rank] ? 7 * rank + i + root : -1));
    }
}

/* The same place may be sent to several. */
CASE(scatterv_overlapping) {
    int out[4] = {5, 6, 7, 8}, in[2] = {0}, counts[8], places[8];
    for (int i = 0; i < size; i++) counts[i] = 2, places[i] = i % 3;
    MPI_Scatterv(out, counts, places, MPI_INT, in, 2, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(in[0] == 5 + rank % 3 && in[1] == 6 + rank % 3);
}

CASE(reduce) {
    static const int counts[] = {1, 5, 2000, 40000};
    static long out[40000], in[40000];
    for (int c = 0; c < 4; c++) {
        int root = c % size, good = 1;
        for (int i = 0; i < counts[c]; i++) out[i] = rank + i, in[i] = -1;
        MPI_Reduce(out, in, counts[c], MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
        for (int i = 0; i < counts[c]; i++)
            good &= in[i] == (rank == root ? size * (size - 1) / 2 + (long)size * i : -1);
        CHECK(good);
    }
}

CASE(in_place) {
    int values[64];
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < size; i++) values[i] = rank == root && i == root ? root * 7 : -1;
        int out = rank * 7;
        if (rank == root) MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INT, root, MPI_COMM_WORLD);
        else MPI_Gather(&out, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        if (rank == root) for (int i = 0; i < size; i++) CHECK(values[i] == 7 * i);

        for (int i = 0; i < size; i++) values[i] = 3 * i;
        int in = 3 * rank;
        if (rank == root) MPI_Scatter(values, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root, MPI_COMM_WORLD);
        else MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &in, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(in == 3 * rank && values[root] == 3 * root);

        int sum = rank + 1;
        MPI_Reduce(rank == root ? MPI_IN_PLACE : &sum, rank == root ? &sum : NULL, 1, MPI_INT, MPI_SUM, root,
                   MPI_COMM_WORLD);
        CHECK(sum == (rank == root ? size * (size + 1) / 2 : rank + 1));
    }
}

CASE(in_place_with_counts) {
    int values[128], counts[8], places[8], out[8];
    for (int i = 0; i < size; i++) counts[i] = i + 1, places[i] = 9 * i;
    memset(values, -1, sizeof values);
    for (int i = 0; i < 8; i++) out[i] = 100 * rank + i;
    if (rank == 1) {
        memcpy(values + places[1], out, 2 * sizeof(int));
        MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, counts, places, MPI_INT, 1, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            for (int j = 0; j <= i; j++) CHECK(values[places[i] + j] == 100 * i + j);
        MPI_Scatterv(values, counts, places, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
        CHECK(values[places[1]] == 100);
    } else {
        MPI_Gatherv(out, counts[rank], MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
        memset(out, 0, sizeof out);
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, out, counts[rank], MPI_INT, 1, MPI_COMM_WORLD);
        for (int j = 0; j <= rank; j++) CHECK(out[j] == 100 * rank + j);
    }
}

/* A communicator of one rank: everything is a copy. */
CASE(alone) {
    int out[3] = {1, 2, 3}, in[3] = {0};
    MPI_Bcast(out, 3, MPI_INT, 0, MPI_COMM_SELF);
    MPI_Gather(out, 3, MPI_INT, in, 3, MPI_INT, 0, MPI_COMM_SELF);
    CHECK(in[2] == 3);
    memset(in, 0, sizeof in);
    MPI_Scatter(out, 3, MPI_INT, in, 3, MPI_INT, 0, MPI_COMM_SELF);
    CHECK(in[2] == 3);
    memset(in, 0, sizeof in);
    MPI_Reduce(out, in, 3, MPI_INT, MPI_PROD, 0, MPI_COMM_SELF);
    CHECK(in[0] == 1 && in[2] == 3);
    MPI_Barrier(MPI_COMM_SELF);
}
