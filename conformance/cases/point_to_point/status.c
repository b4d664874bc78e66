/* ranks: 3 */
/* What a status says: source, tag, count, elements, cancelled; also of empty messages and of no process. */
#include "case.h"

static void expect_empty(MPI_Status *status) {
    int count = -1, cancelled = 1;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    CHECK(count == 0);
    CHECK(!cancelled);
    CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK(status->MPI_TAG == MPI_ANY_TAG);
}

CASE(shorter_message) {
    int values[10] = {0};
    if (rank == 0) {
        for (int i = 0; i < 10; i++) values[i] = i + 1;
        MPI_Send(values, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Status status;
        int count;
        MPI_Recv(values, 10, MPI_INT, 0, 3, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 4);
        CHECK(values[3] == 4 && values[4] == 0 && values[9] == 0);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3);
    }
}

CASE(empty_message) {
    int value = 42;
    if (rank == 0) MPI_Send(NULL, 0, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Status status;
        int count = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 0 && value == 42);
        MPI_Get_elements(&status, MPI_INT, &count);
        CHECK(count == 0);
    }
}

CASE(no_process) {
    int value = 42, count = -1, flag = 0;
    MPI_Status status;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    CHECK(value == 42);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0);
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL);
}

CASE(no_process_nonblocking) {
    int value = 42, count = -1;
    MPI_Status status;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(value == 42);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0);
}

CASE(null_request) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0;
    status.MPI_SOURCE = status.MPI_TAG = 1234;
    MPI_Wait(&request, &status);
    expect_empty(&status);
    status.MPI_SOURCE = status.MPI_TAG = 1234;
    MPI_Test(&request, &flag, &status);
    CHECK(flag);
    expect_empty(&status);
}

CASE(partial_elements) {
    MPI_Datatype pair;
    int values[8];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (rank == 0) {
        for (int i = 0; i < 8; i++) values[i] = i;
        MPI_Send(values, 3, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Status status;
        int count, elements;
        MPI_Count wide;
        MPI_Recv(values, 4, pair, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, pair, &count);
        MPI_Get_elements(&status, pair, &elements);
        MPI_Get_elements_x(&status, pair, &wide);
        CHECK(count == MPI_UNDEFINED);
        CHECK(elements == 3 && wide == 3);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 3);
    }
    MPI_Type_free(&pair);
}

CASE(set_by_program) {
    MPI_Status status;
    int count, flag;
    MPI_Count wide;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_DOUBLE, 12);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Get_elements(&status, MPI_DOUBLE, &count);
    CHECK(count == 12);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    MPI_Status_set_elements_x(&status, MPI_DOUBLE, 5000);
    MPI_Get_elements_x(&status, MPI_DOUBLE, &wide);
    CHECK(wide == 5000);
}

CASE(error_field_kept) {
    /* A call that completes one request does not touch MPI_ERROR. */
    int value = 5;
    MPI_Status status;
    status.MPI_ERROR = 4711;
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_ERROR == 4711);
    }
}

CASE(fortran_status) {
    MPI_Fint foreign[64];
    MPI_Status status, back;
    int value = rank, count;
    MPI_Sendrecv(&value, 1, MPI_INT, rank, 6, &count, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &status);
    MPI_Status_c2f(&status, foreign);
    MPI_Status_f2c(foreign, &back);
    CHECK(back.MPI_SOURCE == rank && back.MPI_TAG == 6);
    MPI_Get_count(&back, MPI_INT, &count);
    CHECK(count == 1);
}
