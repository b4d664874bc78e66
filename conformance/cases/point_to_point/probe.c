/* ranks: 3 */
/* Looking at a message before it is received. */
#include "case.h"

CASE(probe) {
    int values[5] = {1, 2, 3, 4, 5};
    if (rank == 1) MPI_Send(values, 5, MPI_INT, 0, 12, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Status status;
        int count;
        MPI_Probe(1, 12, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 5 && status.MPI_SOURCE == 1 && status.MPI_TAG == 12);
        /* Twice: a probe leaves the message where it is. */
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 12);
        memset(values, 0, sizeof values);
        MPI_Recv(values, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
        CHECK(values[4] == 5);
    }
}

CASE(iprobe) {
    int value = 9, flag;
    MPI_Status status;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
    if (rank == 0) {
        do MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, &status);
        while (!flag);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 99);
        MPI_Recv(&value, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
}

CASE(unknown_length) {
    int values[300];
    if (rank != 0) {
        for (int i = 0; i < 100 * rank; i++) values[i] = rank * i;
        MPI_Send(values, 100 * rank, MPI_INT, 0, rank, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < size; i++) {
            MPI_Status status;
            int count;
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK(count == 100 * status.MPI_SOURCE);
            int *taken = malloc(count * sizeof *taken);
            MPI_Recv(taken, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
            CHECK(taken[count - 1] == status.MPI_SOURCE * (count - 1));
            free(taken);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

CASE(large_message) {
    enum { COUNT = 300000 };
    double *values = calloc(COUNT, sizeof *values);
    if (rank == 1) {
        values[COUNT - 1] = 2.5;
        MPI_Send(values, COUNT, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Status status;
        int count;
        MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == COUNT);
        MPI_Recv(values, count, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(values[COUNT - 1] == 2.5);
    }
    free(values);
}

CASE(matched) {
    int value = 31;
    if (rank == 1) {
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        value = 32;
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Message first, second;
        MPI_Status status;
        MPI_Mprobe(1, 1, MPI_COMM_WORLD, &first, &status);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 1);
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &second, &status);
        /* Matched messages may be received in any order. */
        MPI_Mrecv(&value, 1, MPI_INT, &second, &status);
        CHECK(value == 32 && second == MPI_MESSAGE_NULL);
        MPI_Mrecv(&value, 1, MPI_INT, &first, &status);
        CHECK(value == 31 && first == MPI_MESSAGE_NULL);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 1);
    }
}

/* A matched message is out of reach of receives. */
CASE(matched_is_taken) {
    int value;
    if (rank == 1) {
        for (value = 1; value <= 2; value++) MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Message message;
        MPI_Mprobe(1, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 2);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK(value == 1);
    }
}

CASE(matched_nonblocking) {
    int values[4] = {3, 1, 4, 1};
    if (rank == 2) MPI_Send(values, 4, MPI_INT, 0, 8, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Request request;
        MPI_Status status;
        int flag = 0, count, taken[4] = {0};
        while (!flag) MPI_Improbe(2, 8, MPI_COMM_WORLD, &flag, &message, &status);
        CHECK(message != MPI_MESSAGE_NULL);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 4);
        MPI_Imrecv(taken, 4, MPI_INT, &message, &request);
        CHECK(message == MPI_MESSAGE_NULL);
        MPI_Wait(&request, &status);
        CHECK(memcmp(taken, values, sizeof taken) == 0);
        CHECK(status.MPI_SOURCE == 2 && status.MPI_TAG == 8);
        MPI_Improbe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, &message, &status);
        CHECK(!flag);
    }
}

CASE(matched_no_process) {
    MPI_Message message;
    MPI_Status status;
    int flag = 0, value = 6, count;
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0 && value == 6 && message == MPI_MESSAGE_NULL);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag && message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

CASE(probe_self) {
    int value = rank, got = -1, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &status);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3);
    MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == rank);
}
