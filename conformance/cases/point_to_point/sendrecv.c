/* ranks: 5 */
/* Send and receive in one call. */
#include "case.h"

CASE(ring_shift) {
    int out = rank * rank, in = -1, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    CHECK(in == left * left && status.MPI_SOURCE == left && status.MPI_TAG == 1);
}

CASE(different_tags) {
    int out = rank, in = -1, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, right, rank, &in, 1, MPI_INT, left, left, MPI_COMM_WORLD, &status);
    CHECK(in == left && status.MPI_TAG == left);
}

CASE(different_lengths) {
    int out[10], in[20], right = (rank + 1) % size, left = (rank + size - 1) % size, count;
    MPI_Status status;
    for (int i = 0; i < 10; i++) out[i] = rank;
    MPI_Sendrecv(out, rank, MPI_INT, right, 0, in, 20, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == left);
    for (int i = 0; i < count; i++) CHECK(in[i] == left);
}

CASE(replace) {
    double values[1000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, good = 1;
    MPI_Status status;
    for (int i = 0; i < 1000; i++) values[i] = rank + i * 0.25;
    MPI_Sendrecv_replace(values, 1000, MPI_DOUBLE, right, 2, left, 2, MPI_COMM_WORLD, &status);
    for (int i = 0; i < 1000; i++) good &= values[i] == left + i * 0.25;
    CHECK(good && status.MPI_SOURCE == left);
}

CASE(replace_large) {
    enum { COUNT = 150000 };
    int *values = malloc(COUNT * sizeof *values), good = 1, other = rank ^ 1;
    if (other >= size) other = rank;
    for (int i = 0; i < COUNT; i++) values[i] = rank * COUNT + i;
    MPI_Sendrecv_replace(values, COUNT, MPI_INT, other, 0, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++) good &= values[i] == other * COUNT + i;
    CHECK(good);
    free(values);
}

CASE(replace_with_gaps) {
    int values[9];
    MPI_Datatype every_third;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 9; i++) values[i] = 100 * rank + i;
    MPI_Type_vector(3, 1, 3, MPI_INT, &every_third);
    MPI_Type_commit(&every_third);
    MPI_Sendrecv_replace(values, 1, every_third, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 9; i++) CHECK(values[i] == 100 * (i % 3 ? rank : left) + i);
    MPI_Type_free(&every_third);
}

CASE(open_ends) {
    int out = rank + 1, in = -1;
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&out, 1, MPI_INT, right, 0, &in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == (rank > 0 ? rank : -1));
    int value = rank;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == (rank > 0 ? rank - 1 : 0));
}

CASE(with_self) {
    int out = 7 * rank, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, rank, 4, &in, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == 7 * rank);
    in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 4, &in, 1, MPI_INT, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(in == 7 * rank);
}

/* The halves of a sendrecv match plain sends and receives. */
CASE(with_plain_partner) {
    int out = 10 + rank, in = -1;
    if (rank == 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, 1, 0, &in, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == 12);
    } else if (rank == 1) {
        MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == 10);
    } else if (rank == 2) {
        MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

/* Different types of the same signature in the two halves. */
CASE(transpose_types) {
    int out[6] = {0, 1, 2, 3, 4, 5}, in[6] = {0};
    MPI_Datatype columns, column;
    MPI_Type_vector(2, 1, 3, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    MPI_Sendrecv(out, 3, columns, rank, 0, in, 6, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int expected[6] = {0, 3, 1, 4, 2, 5};
    CHECK(memcmp(in, expected, sizeof in) == 0);
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
}
