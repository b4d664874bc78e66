/* ranks: 6 */
/* Collectives where everybody gets something. */
#include "case.h"

CASE(allgather) {
    static const int counts[] = {1, 3, 500, 8000};
    for (int c = 0; c < 4; c++) {
        int count = counts[c], good = 1;
        int *out = malloc(count * sizeof(int)), *in = malloc(size * count * sizeof(int));
        for (int i = 0; i < count; i++) out[i] = rank * count + i;
        MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size * count; i++) good &= in[i] == i;
        CHECK(good);
        free(out);
        free(in);
    }
}

CASE(allgather_in_place) {
    int values[16];
    memset(values, -1, sizeof values);
    values[2 * rank] = rank;
    values[2 * rank + 1] = -rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 2, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(values[2 * i] == i && values[2 * i + 1] == -i);
}

CASE(allgatherv) {
    int out[8], in[64], counts[8], places[8];
    for (int i = 0; i < 8; i++) out[i] = 10 * rank + i;
    for (int i = 0; i < size; i++) counts[i] = i % 3, places[i] = 8 * (size - 1 - i);
    memset(in, -1, sizeof in);
    MPI_Allgatherv(out, rank % 3, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < 8; j++) CHECK(in[places[i] + j] == (j < counts[i] ? 10 * i + j : -1));
}

CASE(allgatherv_in_place) {
    int values[64], counts[8], places[8];
    memset(values, -1, sizeof values);
    for (int i = 0; i < size; i++) counts[i] = 2, places[i] = 3 * i + 1;
    values[places[rank]] = values[places[rank] + 1] = 5 * rank;
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(values[3 * i] == -1 && values[3 * i + 1] == 5 * i && values[3 * i + 2] == 5 * i);
}

CASE(alltoall) {
    static const int counts[] = {1, 4, 300, 5000};
    for (int c = 0; c < 4; c++) {
        int count = counts[c], good = 1;
        int *out = malloc(size * count * sizeof(int)), *in = malloc(size * count * sizeof(int));
        for (int to = 0; to < size; to++)
            for (int i = 0; i < count; i++) out[to * count + i] = (rank * size + to) * 7 + i;
        MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
        for (int from = 0; from < size; from++)
            for (int i = 0; i < count; i++) good &= in[from * count + i] == (from * size + rank) * 7 + i;
        CHECK(good);
        free(out);
        free(in);
    }
}

CASE(alltoall_in_place) {
    int values[16];
    for (int i = 0; i < 2 * size; i++) values[i] = 100 * rank + i;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 2, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * size; i++) CHECK(values[i] == 100 * (i / 2) + 2 * rank + i % 2);
}

/* The transpose of a matrix of blocks, with columns as a type. */
CASE(alltoall_transpose) {
    int rows[2][16], columns[2][16];
    MPI_Datatype column, part;
    int n = 2 * size;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < n; j++) rows[i][j] = (2 * rank + i) * n + j;
    MPI_Type_vector(2, 1, 16, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &part);
    MPI_Type_commit(&part);
    /* Sent column by column, received row by row into the transposed matrix. */
    MPI_Datatype block, blocks;
    MPI_Type_vector(2, 2, 16, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, 2 * sizeof(int), &blocks);
    MPI_Type_commit(&blocks);
    MPI_Alltoall(rows, 2, part, columns, 1, blocks, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < n; j++) CHECK(columns[i][j] == j * n + 2 * rank + i);
    MPI_Type_free(&column);
    MPI_Type_free(&part);
    MPI_Type_free(&block);
    MPI_Type_free(&blocks);
}

CASE(alltoallv) {
    int out[64], in[64], out_counts[8], out_places[8], in_counts[8], in_places[8];
    for (int i = 0; i < 64; i++) out[i] = 1000 * rank + i, in[i] = -1;
    for (int i = 0; i < size; i++) {
        out_counts[i] = (rank + i) % 4;
        in_counts[i] = (rank + i) % 4;
        out_places[i] = 8 * i;
        in_places[i] = 8 * (size - 1 - i);
    }
    MPI_Alltoallv(out, out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < 8; j++)
            CHECK(in[in_places[i] + j] == (j < in_counts[i] ? 1000 * i + 8 * rank + j : -1));
}

CASE(alltoallv_in_place) {
    int values[64], counts[8], places[8];
    for (int i = 0; i < size; i++) counts[i] = 1 + (rank + i) % 3, places[i] = 5 * i;
    for (int i = 0; i < 64; i++) values[i] = 1000 * rank + i;
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, values, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < 5; j++)
            CHECK(values[places[i] + j] == (j < counts[i] ? 1000 * i + 5 * rank : 1000 * rank + 5 * i) + j);
}

CASE(alltoallv_sparse) {
    /* Only the neighbour to the right gets anything. */
    int out = rank, in = -1, out_counts[8] = {0}, in_counts[8] = {0}, places[8] = {0};
    out_counts[(rank + 1) % size] = 1;
    in_counts[(rank + size - 1) % size] = 1;
    MPI_Alltoallv(&out, out_counts, places, MPI_INT, &in, in_counts, places, MPI_INT, MPI_COMM_WORLD);
    CHECK(in == (rank + size - 1) % size);
}

CASE(alltoallw) {
    /* Ints to even ranks, doubles to odd ones. */
    struct { int a[8]; double b[8]; } out, in;
    int out_counts[8], in_counts[8], out_places[8], in_places[8];
    MPI_Datatype out_types[8], in_types[8];
    for (int i = 0; i < 8; i++) out.a[i] = 10 * rank + i, out.b[i] = 10 * rank + i + 0.5, in.a[i] = -1, in.b[i] = -1;
    for (int i = 0; i < size; i++) {
        out_counts[i] = in_counts[i] = 1;
        out_types[i] = i % 2 ? MPI_DOUBLE : MPI_INT;
        out_places[i] = i % 2 ? (char *)&out.b[i] - (char *)&out : (char *)&out.a[i] - (char *)&out;
        in_types[i] = rank % 2 ? MPI_DOUBLE : MPI_INT;
        in_places[i] = rank % 2 ? (char *)&in.b[i] - (char *)&in : (char *)&in.a[i] - (char *)&in;
    }
    MPI_Alltoallw(&out, out_counts, out_places, out_types, &in, in_counts, in_places, in_types, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        CHECK(in.a[i] == (rank % 2 ? -1 : 10 * i + rank));
        CHECK(in.b[i] == (rank % 2 ? 10 * i + rank + 0.5 : -1));
    }
}

CASE(allreduce) {
    static const int counts[] = {0, 1, 6, 7, 1000, 30000};
    static double out[30000], in[30000];
    for (int c = 0; c < 6; c++) {
        int good = 1;
        for (int i = 0; i < counts[c]; i++) out[i] = rank * 0.5 + i, in[i] = -1;
        MPI_Allreduce(out, in, counts[c], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < counts[c]; i++) good &= in[i] == size * (size - 1) * 0.25 + (double)size * i;
        CHECK(good);
    }
}

CASE(allreduce_in_place) {
    int values[3] = {rank, -rank, 1};
    MPI_Allreduce(MPI_IN_PLACE, values, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(values[0] == size - 1 && values[1] == 0 && values[2] == 1);
}

CASE(reduce_scatter) {
    int out[64], in[8], counts[8], total = 0, start = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3;
        if (i < rank) start += counts[i];
        total += counts[i];
    }
    for (int i = 0; i < total; i++) out[i] = rank + i;
    memset(in, -1, sizeof in);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 8; i++)
        CHECK(in[i] == (i < counts[rank] ? size * (size - 1) / 2 + size * (start + i) : -1));
}

CASE(reduce_scatter_in_place) {
    int values[32], counts[8];
    for (int i = 0; i < size; i++) counts[i] = 2;
    for (int i = 0; i < 2 * size; i++) values[i] = i * (rank + 1);
    MPI_Reduce_scatter(MPI_IN_PLACE, values, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) CHECK(values[i] == (2 * rank + i) * size * (size + 1) / 2);
}

CASE(reduce_scatter_block) {
    static const int counts[] = {1, 3, 2000};
    for (int c = 0; c < 3; c++) {
        int count = counts[c], good = 1;
        int *out = malloc(size * count * sizeof(int)), *in = malloc(count * sizeof(int));
        for (int i = 0; i < size * count; i++) out[i] = rank * i;
        MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++) good &= in[i] == size * (size - 1) / 2 * (rank * count + i);
        CHECK(good);
        free(out);
        free(in);
    }
}

CASE(reduce_scatter_block_in_place) {
    int values[16];
    for (int i = 0; i < 2 * size; i++) values[i] = i - rank;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, values, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) CHECK(values[i] == 2 * rank + i - (size - 1));
}

CASE(scan) {
    int out[2] = {rank + 1, 1}, in[2];
    MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(in[0] == (rank + 1) * (rank + 2) / 2 && in[1] == rank + 1);
    MPI_Scan(MPI_IN_PLACE, out, 2, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    int factorial = 1;
    for (int i = 2; i <= rank + 1; i++) factorial *= i;
    CHECK(out[0] == factorial && out[1] == 1);
}

CASE(exscan) {
    int out = rank + 1, in = -5;
    MPI_Exscan(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0) CHECK(in == rank * (rank + 1) / 2);
    MPI_Exscan(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank > 0) CHECK(out == rank);
}

CASE(scan_large) {
    enum { COUNT = 10000 };
    static long out[COUNT], in[COUNT];
    int good = 1;
    for (int i = 0; i < COUNT; i++) out[i] = rank + i;
    MPI_Scan(out, in, COUNT, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) good &= in[i] == rank * (rank + 1) / 2 + (long)(rank + 1) * i;
    CHECK(good);
}

CASE(reduce_local) {
    int in[3] = {1, 2, 3}, inout[3] = {10, 20, 30};
    MPI_Reduce_local(in, inout, 3, MPI_INT, MPI_SUM);
    CHECK(inout[0] == 11 && inout[2] == 33 && in[0] == 1);
    MPI_Reduce_local(in, inout, 3, MPI_INT, MPI_MIN);
    CHECK(inout[0] == 1 && inout[2] == 3);
}

CASE(alone) {
    int out[2] = {rank, 7}, in[2] = {0}, one = 2, zero = 0;
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_SELF);
    CHECK(in[0] == rank && in[1] == 7);
    memset(in, 0, sizeof in);
    MPI_Alltoallv(out, &one, &zero, MPI_INT, in, &one, &zero, MPI_INT, MPI_COMM_SELF);
    CHECK(in[0] == rank && in[1] == 7);
    memset(in, 0, sizeof in);
    MPI_Allreduce(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK(in[0] == rank && in[1] == 7);
    memset(in, 0, sizeof in);
    MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK(in[0] == rank && in[1] == 7);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK(in[1] == 7);
}
