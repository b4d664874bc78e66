/* ranks: 2 */
/* Messages whose parts are ready at different times; new in MPI 4. */
#include "case.h"

CASE(parts) {
#if MPI_VERSION >= 4
    int data[8], flag;
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(data, 4, 2, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, 4, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++) data[i] = rank == 0 ? 10 * round + i : -1;
        MPI_Start(&request);
        if (rank == 0) {
            int list[1] = {3};
            MPI_Pready(1, request);
            MPI_Pready_list(1, list, request);
            MPI_Pready(0, request);
            MPI_Pready_range(2, 2, request);
        } else {
            do MPI_Parrived(request, 2, &flag);
            while (!flag);
            CHECK(data[4] == 10 * round + 4 && data[5] == 10 * round + 5);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < 8; i++) CHECK(data[i] == 10 * round + i);
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
#endif
}

/* Both sides count their own parts. */
CASE(other_parts) {
#if MPI_VERSION >= 4
    double data[6];
    MPI_Request request;
    for (int i = 0; i < 6; i++) data[i] = rank == 0 ? i + 0.5 : 0;
    if (rank == 0)
        MPI_Psend_init(data, 3, 2, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, 2, 3, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 0) MPI_Pready_range(0, 2, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 6; i++) CHECK(data[i] == i + 0.5);
    MPI_Request_free(&request);
#endif
}

/* Other messages with the same tag are not met. */
CASE(apart_from_messages) {
#if MPI_VERSION >= 4
    int part = rank == 0 ? 1 : 0, whole = rank == 0 ? 2 : 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(&part, 1, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Send(&whole, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else {
        MPI_Precv_init(&part, 1, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Recv(&whole, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(whole == 2);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(part == 1);
    MPI_Request_free(&request);
#endif
}

/* Which send belongs to which receive is decided when they are initialised, whatever is started or complete first. */
CASE(in_the_order_of_initialisation) {
#if MPI_VERSION >= 4
    int data[3][2];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            MPI_Psend_init(data[i], 2, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
        else
            MPI_Precv_init(data[i], 2, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) data[i][j] = rank == 0 ? 100 * round + 10 * i + j : -1;
        for (int i = 0; i < 3; i++) MPI_Start(&requests[(i + round) % 3]);
        if (rank == 0) {
            /* The last one is complete first. */
            for (int j = 0; j < 2; j++)
                for (int i = 2; i >= 0; i--) MPI_Pready(j, requests[i]);
        }
        MPI_Waitall(3, requests, statuses);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) CHECK(data[i][j] == 100 * round + 10 * i + j);
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
#endif
}

/* Tag 0 is a tag like any other, and so is the largest. */
CASE(first_and_last_tag) {
#if MPI_VERSION >= 4
    int data[2], *largest, flag;
    MPI_Request requests[2];
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &flag);
    for (int i = 0; i < 2; i++) {
        int tag = i == 0 ? *largest : 0;
        data[i] = rank == 0 ? tag : -1;
        if (rank == 0)
            MPI_Psend_init(&data[i], 1, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
        else
            MPI_Precv_init(&data[i], 1, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    }
    for (int i = 0; i < 2; i++) MPI_Start(&requests[rank == 0 ? i : 1 - i]);
    if (rank == 0)
        for (int i = 0; i < 2; i++) MPI_Pready(0, requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(data[0] == *largest && data[1] == 0);
    for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
#endif
}

/* A receive that is initialised before its send, and one after. */
CASE(receives_first) {
#if MPI_VERSION >= 4
    int data[2] = {-1, -1};
    MPI_Request requests[2];
    if (rank == 1)
        for (int i = 0; i < 2; i++)
            MPI_Precv_init(&data[i], 1, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < 2; i++) {
            data[i] = 5 + i;
            MPI_Psend_init(&data[i], 1, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
        }
    for (int i = 0; i < 2; i++) MPI_Start(&requests[1 - i]);
    if (rank == 0)
        for (int i = 0; i < 2; i++) MPI_Pready(0, requests[1 - i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(data[0] == 5 && data[1] == 6);
    for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
#endif
}
