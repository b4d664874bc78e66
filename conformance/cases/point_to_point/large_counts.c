/* ranks: 2 */
/* Functions with long counts; new in MPI 4. */
#include "case.h"

#if MPI_VERSION >= 4
static int other(void) { return 1 - rank; }
#endif

CASE(send_modes) {
#if MPI_VERSION >= 4
    double values[3] = {1.5, 2.5, 3.5}, got[3];
    MPI_Count count = 3, found;
    MPI_Status status;
    int bytes = 1000 + MPI_BSEND_OVERHEAD, ready = 1;
    char *space = malloc(bytes), *back;
    MPI_Buffer_attach_c(space, bytes);
    for (int mode = 0; mode < 4; mode++) {
        memset(got, 0, sizeof got);
        if (rank == 0) {
            if (mode == 0) MPI_Send_c(values, count, MPI_DOUBLE, 1, mode, MPI_COMM_WORLD);
            if (mode == 1) MPI_Ssend_c(values, count, MPI_DOUBLE, 1, mode, MPI_COMM_WORLD);
            if (mode == 2) MPI_Bsend_c(values, count, MPI_DOUBLE, 1, mode, MPI_COMM_WORLD);
            if (mode == 3) {
                MPI_Recv_c(&ready, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Rsend_c(values, count, MPI_DOUBLE, 1, mode, MPI_COMM_WORLD);
            }
        } else {
            MPI_Request request;
            MPI_Irecv_c(got, count, MPI_DOUBLE, 0, mode, MPI_COMM_WORLD, &request);
            if (mode == 3) MPI_Send_c(&ready, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
            MPI_Wait(&request, &status);
            CHECK(memcmp(got, values, sizeof got) == 0);
            MPI_Get_count_c(&status, MPI_DOUBLE, &found);
            CHECK(found == 3);
            MPI_Get_elements_c(&status, MPI_DOUBLE, &found);
            CHECK(found == 3);
        }
    }
    MPI_Count size;
    MPI_Buffer_detach_c(&back, &size);
    CHECK(back == space && size == bytes);
    free(space);
#endif
}

CASE(nonblocking) {
#if MPI_VERSION >= 4
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, ready = 1;
    MPI_Request requests[4];
    int bytes = 1000 + MPI_BSEND_OVERHEAD;
    char *space = malloc(bytes);
    MPI_Buffer_attach(space, bytes);
    if (rank == 0) {
        MPI_Recv(&ready, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isend_c(&out[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend_c(&out[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Ibsend_c(&out[2], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Irsend_c(&out[3], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[3]);
    } else {
        for (int i = 0; i < 4; i++) MPI_Irecv_c(&in[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Send(&ready, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (rank == 1) CHECK(memcmp(in, out, sizeof in) == 0);
    MPI_Buffer_detach(&space, &bytes);
    free(space);
#endif
}

CASE(persistent) {
#if MPI_VERSION >= 4
    int values[4] = {5, 6, 7, 8}, ready = 1;
    MPI_Request requests[4];
    int bytes = 1000 + MPI_BSEND_OVERHEAD;
    char *space = malloc(bytes);
    MPI_Buffer_attach(space, bytes);
    if (rank == 0) {
        MPI_Send_init_c(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Ssend_init_c(&values[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Bsend_init_c(&values[2], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Rsend_init_c(&values[3], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[3]);
    } else {
        for (int i = 0; i < 4; i++) MPI_Recv_init_c(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) values[i] = rank == 0 ? 10 * round + i : -1;
        if (rank == 1) {
            MPI_Startall(4, requests);
            MPI_Send(&ready, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&ready, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Startall(4, requests);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++) CHECK(values[i] == 10 * round + i);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    MPI_Buffer_detach(&space, &bytes);
    free(space);
#endif
}

CASE(both_ways) {
#if MPI_VERSION >= 4
    int out[2] = {rank, rank + 10}, in[2] = {-1, -1};
    MPI_Status status;
    MPI_Request request;
    MPI_Sendrecv_c(out, 2, MPI_INT, other(), 1, in, 2, MPI_INT, other(), 1, MPI_COMM_WORLD, &status);
    CHECK(in[0] == other() && in[1] == other() + 10);
    MPI_Sendrecv_replace_c(out, 2, MPI_INT, other(), 2, other(), 2, MPI_COMM_WORLD, &status);
    CHECK(out[0] == other() && out[1] == other() + 10);
    in[0] = in[1] = -1;
    MPI_Isendrecv(out, 2, MPI_INT, other(), 3, in, 2, MPI_INT, other(), 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(in[0] == rank && in[1] == rank + 10 && request == MPI_REQUEST_NULL);
    in[0] = in[1] = -1;
    MPI_Isendrecv_c(out, 2, MPI_INT, other(), 3, in, 2, MPI_INT, other(), 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == rank && in[1] == rank + 10);
    MPI_Isendrecv_replace(out, 2, MPI_INT, other(), 4, other(), 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out[0] == rank && out[1] == rank + 10);
    MPI_Isendrecv_replace_c(out, 1, MPI_INT, other(), 4, other(), 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out[0] == other() && out[1] == rank + 10);
#endif
}

CASE(both_ways_with_nobody) {
#if MPI_VERSION >= 4
    int out = rank, in = -1;
    MPI_Request request;
    int peer = rank == 0 ? 1 : MPI_PROC_NULL, from = rank == 1 ? 0 : MPI_PROC_NULL;
    MPI_Isendrecv(&out, 1, MPI_INT, peer, 5, &in, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == (rank == 1 ? 0 : -1));
#endif
}

CASE(probed) {
#if MPI_VERSION >= 4
    long value = 77;
    MPI_Message message;
    MPI_Request request;
    if (rank == 0) {
        MPI_Send_c(&value, 1, MPI_LONG, 1, 6, MPI_COMM_WORLD);
        MPI_Send_c(&value, 1, MPI_LONG, 1, 6, MPI_COMM_WORLD);
    } else {
        value = 0;
        MPI_Mprobe(0, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv_c(&value, 1, MPI_LONG, &message, MPI_STATUS_IGNORE);
        CHECK(value == 77);
        value = 0;
        MPI_Mprobe(0, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv_c(&value, 1, MPI_LONG, &message, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(value == 77);
    }
#endif
}

CASE(counts_beyond_an_integer) {
#if MPI_VERSION >= 4
    MPI_Status status;
    MPI_Count found;
    int too_small;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_x(&status, MPI_CHAR, 5000000000);
    MPI_Get_count_c(&status, MPI_CHAR, &found);
    CHECK(found == 5000000000);
    MPI_Get_count(&status, MPI_CHAR, &too_small);
    CHECK(too_small == MPI_UNDEFINED);
#endif
}
