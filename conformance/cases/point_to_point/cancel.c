/* ranks: 2 */
/* Receives that are given up, and what the program itself completes. */
#include "case.h"

CASE(receive) {
    int value = 3, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1000, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && value == 3 && request == MPI_REQUEST_NULL);
}

/* The next message goes to the receive that is still there. */
CASE(others_stay) {
    int first = -1, second = -1, flag = 0, value = 8;
    MPI_Request requests[2];
    MPI_Status status;
    if (rank == 0) {
        MPI_Irecv(&first, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&second, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Cancel(&requests[0]);
        MPI_Wait(&requests[0], &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Wait(&requests[1], &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(!flag && first == -1 && second == 8);
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
}

CASE(persistent_receive) {
    int value = -1, flag = 0, out = 4;
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(&value, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request != MPI_REQUEST_NULL);
    MPI_Start(&request);
    MPI_Send(&out, 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag && value == 4);
    MPI_Request_free(&request);
}

/* Either the receive gets its message or it is cancelled, never both; here the message is there already. */
CASE(too_late) {
    int value = 1, in = 0, flag = 1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    flag = 0;
    while (!flag) MPI_Request_get_status(request, &flag, &status);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag && in == 1);
}

static int queried, freed, cancelled;

static int on_query(void *extra, MPI_Status *status) {
    queried++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, cancelled > 0);
    status->MPI_SOURCE = 21;
    status->MPI_TAG = 22;
    return MPI_SUCCESS;
}

static int on_free(void *extra) {
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static int on_cancel(void *extra, int complete) {
    (void)extra;
    if (!complete) cancelled++;
    return MPI_SUCCESS;
}

CASE(generalized_request) {
    int extra = 17, flag = 1, count;
    MPI_Request request;
    MPI_Status status;
    queried = freed = cancelled = 0;
    MPI_Grequest_start(on_query, on_free, on_cancel, &extra, &request);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    CHECK(count == 17 && status.MPI_SOURCE == 21 && status.MPI_TAG == 22);
    CHECK(queried == 1 && freed == 1 && cancelled == 0 && request == MPI_REQUEST_NULL);
}

CASE(generalized_request_cancelled) {
    int extra = 0, flag = 0;
    MPI_Request request;
    MPI_Status status;
    queried = freed = cancelled = 0;
    MPI_Grequest_start(on_query, on_free, on_cancel, &extra, &request);
    MPI_Cancel(&request);
    CHECK(cancelled == 1);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && freed == 1);
}

CASE(generalized_among_others) {
    int extra = 3, in = 0, out = 6, index, seen = 0;
    MPI_Request requests[2];
    MPI_Status status;
    queried = freed = cancelled = 0;
    MPI_Grequest_start(on_query, on_free, on_cancel, &extra, &requests[0]);
    MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Grequest_complete(requests[0]);
    for (int i = 0; i < 2; i++) {
        MPI_Waitany(2, requests, &index, &status);
        seen |= 1 << index;
    }
    CHECK(seen == 3 && in == 6 && freed == 1);
}
