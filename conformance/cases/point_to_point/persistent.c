/* ranks: 3 */
/* Requests that are made once and started often. */
#include "case.h"

CASE(ring) {
    int out, in, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 10; round++) {
        out = 100 * round + rank;
        in = -1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        CHECK(in == 100 * round + left);
        CHECK(statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 3);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&requests[i]);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
}

CASE(modes) {
    int values[4] = {10, 20, 30, 40}, bytes = 1000 + MPI_BSEND_OVERHEAD, ready;
    char *space = malloc(bytes);
    MPI_Request requests[4];
    MPI_Buffer_attach(space, bytes);
    if (rank == 0) {
        MPI_Send_init(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Ssend_init(&values[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Bsend_init(&values[2], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Rsend_init(&values[3], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[3]);
    } else if (rank == 1) {
        for (int i = 0; i < 4; i++) MPI_Recv_init(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int round = 0; round < 3 && rank < 2; round++) {
        if (rank == 0) {
            for (int i = 0; i < 4; i++) values[i] = 10 * round + i;
            MPI_Recv(&ready, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 4; i++) MPI_Start(&requests[i]);
        } else {
            memset(values, 0, sizeof values);
            MPI_Startall(4, requests);
            MPI_Send(&round, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
        }
        for (int i = 3; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        if (rank == 1) for (int i = 0; i < 4; i++) CHECK(values[i] == 10 * round + i);
    }
    if (rank < 2) for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    MPI_Buffer_detach(&space, &bytes);
    free(space);
}

CASE(inactive) {
    int value = 1, flag = 0, index = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Send_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Test(&request, &flag, &status);
    CHECK(flag && request != MPI_REQUEST_NULL);
    MPI_Waitany(1, &request, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Request_free(&request);
}

CASE(any_of_several) {
    enum { COUNT = 4 };
    int in[COUNT];
    MPI_Request requests[COUNT];
    if (rank == 0) {
        for (int i = 0; i < COUNT; i++) MPI_Recv_init(&in[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        for (int round = 0; round < 3; round++) {
            int seen = 0;
            MPI_Startall(COUNT, requests);
            for (int i = 0; i < COUNT; i++) {
                int index;
                MPI_Status status;
                MPI_Waitany(COUNT, requests, &index, &status);
                CHECK(index == status.MPI_TAG && in[index] == 7 * round + index);
                seen |= 1 << index;
            }
            CHECK(seen == (1 << COUNT) - 1);
        }
        for (int i = 0; i < COUNT; i++) MPI_Request_free(&requests[i]);
    } else if (rank == 1) {
        for (int round = 0; round < 3; round++) {
            for (int i = COUNT - 1; i >= 0; i--) {
                int value = 7 * round + i;
                MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
            }
        }
    }
}

CASE(no_process) {
    int value = 8, count;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[0], MPI_INT, &count);
        CHECK(value == 8 && count == 0 && statuses[0].MPI_SOURCE == MPI_PROC_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

CASE(large) {
    enum { COUNT = 200000 };
    int *out = malloc(COUNT * sizeof *out), *in = calloc(COUNT, sizeof *in);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Send_init(out, COUNT, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, COUNT, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 2; round++) {
        int good = 1;
        for (int i = 0; i < COUNT; i++) out[i] = rank + round + i;
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++) good &= in[i] == left + round + i;
        CHECK(good);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(out);
    free(in);
}
