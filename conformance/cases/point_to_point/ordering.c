/* ranks: 3 */
/* Messages between two ranks do not overtake each other; different tags may be taken in any order. */
#include "case.h"

CASE(same_tag_in_order) {
    enum { COUNT = 200 };
    if (rank == 0) {
        for (int i = 0; i < COUNT; i++) MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int value, good = 1;
        for (int i = 0; i < COUNT; i++) {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            good &= value == i;
        }
        CHECK(good);
    }
}

/* A long message and a short one after it: still in order. */
CASE(long_before_short) {
    enum { COUNT = 100000 };
    int *values = calloc(COUNT, sizeof *values);
    if (rank == 0) {
        MPI_Request requests[2];
        int last = 5;
        values[COUNT - 1] = 1;
        MPI_Isend(values, COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&last, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        MPI_Status status;
        int count;
        MPI_Recv(values, COUNT, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == COUNT && values[COUNT - 1] == 1);
        MPI_Recv(values, COUNT, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 1 && values[0] == 5);
    }
    free(values);
}

CASE(tags_out_of_order) {
    enum { COUNT = 20 };
    int values[COUNT];
    if (rank == 0) {
        MPI_Request requests[COUNT];
        for (int i = 0; i < COUNT; i++) {
            values[i] = i;
            MPI_Isend(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        for (int i = COUNT - 1; i >= 0; i--) {
            int value;
            MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(value == i);
        }
    }
}

CASE(posted_receives_in_order) {
    enum { COUNT = 50 };
    int values[COUNT];
    MPI_Request requests[COUNT];
    if (rank == 1) {
        for (int i = 0; i < COUNT; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[i]);
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
        /* Completed in another order than posted. */
        for (int i = COUNT - 1; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++) CHECK(values[i] == i);
    } else if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++) MPI_Send(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    }
}

CASE(modes_mixed) {
    int bytes = 1000 + MPI_BSEND_OVERHEAD, value;
    char *space = malloc(bytes);
    MPI_Buffer_attach(space, bytes);
    if (rank == 0) {
        MPI_Request requests[2];
        int values[4] = {0, 1, 2, 3};
        MPI_Bsend(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Issend(&values[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&values[2], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Ssend(&values[3], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < 4; i++) {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(value == i);
        }
    }
    MPI_Buffer_detach(&space, &bytes);
    free(space);
}

/* 0 tells 1, 1 tells 2: what 0 sent to 2 before may be received after all the same. */
CASE(three_corners) {
    int value = 1;
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value = 2;
        MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 2);
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 1);
    }
}

/* Unexpected messages from two sources; each source keeps its own order. */
CASE(sources_interleaved) {
    enum { COUNT = 30 };
    if (rank != 0) {
        for (int i = 0; i < COUNT; i++) MPI_Send(&i, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    } else {
        int next[8] = {0};
        for (int i = 0; i < COUNT * (size - 1); i++) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
            CHECK(value == next[status.MPI_SOURCE]++);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
