/* ranks: 2 */
/* Messages above any eager limit: the receive first, the send first, and both ways at once. */
#include "case.h"

enum { COUNT = 400000 };

static double *make(int first) {
    double *values = malloc(COUNT * sizeof *values);
    for (int i = 0; i < COUNT; i++) values[i] = first + 0.5 * i;
    return values;
}

static void expect(const double *values, int first) {
    int good = 1;
    for (int i = 0; i < COUNT; i++) good &= values[i] == first + 0.5 * i;
    CHECK(good);
}

CASE(receive_posted_first) {
    double *values = make(rank);
    if (rank == 1) {
        MPI_Request request;
        MPI_Irecv(values, COUNT, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(values, 0);
    } else if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(values, COUNT, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    }
    free(values);
}

CASE(send_first) {
    double *values = make(rank);
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(values, COUNT, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(values, COUNT, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(values, 0);
    }
    free(values);
}

CASE(both_ways) {
    double *out = make(rank), *in = make(9);
    int other = 1 - rank;
    MPI_Request requests[2];
    if (rank < 2) {
        MPI_Isend(out, COUNT, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in, COUNT, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(in, other);
    }
    free(out);
    free(in);
}

CASE(to_self) {
    double *out = make(rank), *in = make(9);
    MPI_Request request;
    MPI_Irecv(in, COUNT, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, COUNT, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(in, rank);
    free(out);
    free(in);
}

/* Into a longer buffer: the rest stays as it was. */
CASE(shorter_than_buffer) {
    double *values = make(rank);
    if (rank == 0) MPI_Send(values, COUNT / 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Status status;
        int count;
        MPI_Recv(values, COUNT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == COUNT / 2);
        CHECK(values[COUNT / 2 - 1] == 0.5 * (COUNT / 2 - 1));
        CHECK(values[COUNT / 2] == 1 + 0.5 * (COUNT / 2));
    }
    free(values);
}

CASE(with_gaps) {
    double *values = make(rank);
    MPI_Datatype every_second;
    MPI_Type_vector(COUNT / 2, 1, 2, MPI_DOUBLE, &every_second);
    MPI_Type_commit(&every_second);
    if (rank == 0) MPI_Send(values, 1, every_second, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        int good = 1;
        MPI_Recv(values, 1, every_second, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++) good &= values[i] == i % 2 + 0.5 * i;
        CHECK(good);
    }
    MPI_Type_free(&every_second);
    free(values);
}

CASE(several_at_once) {
    enum { MANY = 4 };
    double *values[MANY];
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) values[i] = make(rank ? -1 : i);
    if (rank < 2) {
        for (int i = 0; i < MANY; i++) {
            int j = rank ? MANY - 1 - i : i;
            if (rank == 0) MPI_Isend(values[j], COUNT, MPI_DOUBLE, 1, j, MPI_COMM_WORLD, &requests[j]);
            else MPI_Irecv(values[j], COUNT, MPI_DOUBLE, 0, j, MPI_COMM_WORLD, &requests[j]);
        }
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MANY; i++) expect(values[i], i);
    }
    for (int i = 0; i < MANY; i++) free(values[i]);
}
