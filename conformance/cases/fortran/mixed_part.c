/* The C part of mixed.F90. */
#include <mpi.h>

int c_rank_of(MPI_Fint comm) {
    int rank = -1;
    MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
    return rank;
}

MPI_Fint c_split(MPI_Fint comm, MPI_Fint colour) {
    MPI_Comm part;
    MPI_Comm_split(MPI_Comm_f2c(comm), colour, 0, &part);
    return MPI_Comm_c2f(part);
}

MPI_Fint c_make_pair_type(void) {
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return MPI_Type_c2f(type);
}

static void smaller(void *in, void *inout, int *length, MPI_Datatype *type) {
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++)
        if (a[i] < b[i]) b[i] = a[i];
}

MPI_Fint c_smallest(void) {
    MPI_Op op;
    MPI_Op_create(smaller, 1, &op);
    return MPI_Op_c2f(op);
}

MPI_Fint c_start_receive(int *buffer, MPI_Fint from, MPI_Fint comm) {
    MPI_Request request;
    MPI_Irecv(buffer, 1, MPI_INT, from, 31, MPI_Comm_f2c(comm), &request);
    return MPI_Request_c2f(request);
}

int c_status_tag(const MPI_Fint *foreign) {
    MPI_Status status;
    MPI_Status_f2c(foreign, &status);
    return status.MPI_TAG;
}

int c_attribute(MPI_Fint comm, MPI_Fint key) {
    MPI_Aint *value;
    int found = 0;
    MPI_Comm_get_attr(MPI_Comm_f2c(comm), key, &value, &found);
    return found ? (int)*value : -1;
}
