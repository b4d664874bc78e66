/* ranks: 2 */
/* Mistakes that the standard lets a program see: the call returns the class of the error. */
#include "case.h"

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* Which communicator an error in a wait belongs to was long unclear, so the world returns errors as well. */
static MPI_Comm careful(void) {
    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

CASE(truncated) {
    MPI_Comm comm = careful();
    int values[4] = {1, 2, 3, 4};
    if (rank == 0) MPI_Send(values, 4, MPI_INT, 1, 0, comm);
    if (rank == 1) {
        int code = MPI_Recv(values, 2, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        CHECK(class_of(code) == MPI_ERR_TRUNCATE);
    }
    MPI_Comm_free(&comm);
}

CASE(truncated_nonblocking) {
    MPI_Comm comm = careful();
    int values[4] = {1, 2, 3, 4};
    if (rank == 0) MPI_Send(values, 4, MPI_INT, 1, 0, comm);
    if (rank == 1) {
        MPI_Request request;
        MPI_Irecv(values, 2, MPI_INT, 0, 0, comm, &request);
        CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
        CHECK(request == MPI_REQUEST_NULL);
    }
    MPI_Comm_free(&comm);
}

CASE(truncated_among_several) {
    MPI_Comm comm = careful();
    int values[4] = {1, 2, 3, 4};
    if (rank == 0) {
        MPI_Send(values, 1, MPI_INT, 1, 0, comm);
        MPI_Send(values, 4, MPI_INT, 1, 1, comm);
    } else if (rank == 1) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int one = 0, two[2];
        MPI_Irecv(&one, 1, MPI_INT, 0, 0, comm, &requests[0]);
        MPI_Irecv(two, 2, MPI_INT, 0, 1, comm, &requests[1]);
        CHECK(class_of(MPI_Waitall(2, requests, statuses)) == MPI_ERR_IN_STATUS);
        CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
        if (statuses[0].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK(one == 1);
    }
    MPI_Comm_free(&comm);
}

CASE(bad_rank) {
    MPI_Comm comm = careful();
    int value = 0;
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, size, 0, comm)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, size + 3, 0, comm, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, -77, 0, comm)) == MPI_ERR_RANK);
    MPI_Comm_free(&comm);
}

CASE(bad_tag) {
    MPI_Comm comm = careful();
    int value = 0;
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, 0, -5, comm)) == MPI_ERR_TAG);
    MPI_Comm_free(&comm);
}

CASE(bad_count) {
    MPI_Comm comm = careful();
    int value = 0;
    CHECK(class_of(MPI_Send(&value, -1, MPI_INT, 0, 0, comm)) == MPI_ERR_COUNT);
    MPI_Comm_free(&comm);
}

CASE(bad_type) {
    MPI_Comm comm = careful();
    int value = 0;
    CHECK(class_of(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm)) == MPI_ERR_TYPE);
    MPI_Comm_free(&comm);
}

CASE(bad_communicator) {
    int value = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_size(MPI_COMM_NULL, &value)) == MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

CASE(bad_root) {
    MPI_Comm comm = careful();
    int value = 0;
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, size + 1, comm)) == MPI_ERR_ROOT);
    MPI_Comm_free(&comm);
}

/* An error on one communicator leaves the others usable. */
CASE(goes_on) {
    MPI_Comm comm = careful();
    int value = rank, sum = 0;
    CHECK(MPI_Send(&value, 1, MPI_INT, size, 0, comm) != MPI_SUCCESS);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Comm_free(&comm);
}
