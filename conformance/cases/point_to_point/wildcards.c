/* ranks: 4 */
/* Receives from any source and with any tag, and the status that tells what came. */
#include "case.h"

CASE(any_source) {
    if (rank == 0) {
        int seen = 0;
        for (int i = 1; i < size; i++) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
            CHECK(value == 100 * status.MPI_SOURCE);
            CHECK(status.MPI_TAG == 5);
            seen |= 1 << status.MPI_SOURCE;
        }
        CHECK(seen == (1 << size) - 2);
    } else {
        int value = 100 * rank;
        MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

CASE(any_tag) {
    if (rank == 0) {
        for (int tag = 0; tag < 20; tag++) MPI_Send(&tag, 1, MPI_INT, 1, tag * 3, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int i = 0; i < 20; i++) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK(value == i);
            CHECK(status.MPI_TAG == 3 * i);
            CHECK(status.MPI_SOURCE == 0);
        }
    }
}

CASE(any_source_and_tag) {
    if (rank == 0) {
        int next[64] = {0};
        for (int i = 0; i < 5 * (size - 1); i++) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK(status.MPI_TAG == next[status.MPI_SOURCE]);
            CHECK(value == 1000 * status.MPI_SOURCE + status.MPI_TAG);
            next[status.MPI_SOURCE]++;
        }
    } else {
        for (int tag = 0; tag < 5; tag++) {
            int value = 1000 * rank + tag;
            MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Receives posted before anything comes: the tag chooses among them. */
CASE(tag_chooses_receive) {
    if (rank == 0) {
        int values[3] = {-1, -1, -1}, ready = 0;
        MPI_Request requests[3];
        MPI_Status statuses[3];
        MPI_Irecv(&values[0], 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(&values[2], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
        MPI_Send(&ready, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Waitall(3, requests, statuses);
        CHECK(values[0] == 30 && values[1] == 20 && values[2] == 10);
        CHECK(statuses[0].MPI_TAG == 30 && statuses[1].MPI_TAG == 20 && statuses[2].MPI_TAG == 10);
        CHECK(statuses[1].MPI_SOURCE == 1);
    } else if (rank == 1) {
        int ready;
        MPI_Recv(&ready, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int tag = 10; tag <= 30; tag += 10) MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

/* A wildcard receive posted first takes the first message, though a later one names the tag. */
CASE(first_posted_wins) {
    if (rank == 0) {
        int values[2] = {-1, -1}, ready = 0;
        MPI_Request requests[2];
        MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(&ready, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(values[0] == 1 && values[1] == 2);
    } else if (rank == 1) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (value = 1; value <= 2; value++) MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
}

/* A message is matched in its own communicator only. */
CASE(communicators_apart) {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (rank == 0) {
        int a = 1, b = 2;
        MPI_Request requests[2];
        MPI_Isend(&a, 1, MPI_INT, 1, 9, other, &requests[0]);
        MPI_Isend(&b, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 2);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE);
        CHECK(value == 1);
    }
    MPI_Comm_free(&other);
}

CASE(largest_tag) {
    int *bound, found, value = 77;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    CHECK(found && *bound >= 32767);
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, *bound, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_TAG == *bound);
    }
}
