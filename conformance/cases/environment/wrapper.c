/* ranks: 3 */
/* Functions that the program puts in front of the library's, as tools do it. */
#include "case.h"

static int sends, receives, elements;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    sends++;
    elements += count;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    receives++;
    return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return PMPI_Allreduce(out, in, count, type, op, comm);
}

CASE(counts_calls) {
    int values[3] = {1, 2, 3};
    sends = receives = elements = 0;
    if (rank == 0) {
        for (int to = 1; to < size; to++) MPI_Send(values, to, MPI_INT, to, 0, MPI_COMM_WORLD);
        CHECK(sends == size - 1 && elements == size * (size - 1) / 2 && receives == 0);
    } else {
        MPI_Recv(values, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(sends == 0 && receives == 1);
    }
}

/* What the library calls inside itself does not go through the program's functions. */
CASE(library_calls_itself_directly) {
    int value = rank, all[8];
    sends = receives = 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(sends == 0 && receives == 0 && value == 0 && all[size - 1] == size - 1);
}

CASE(calls_below) {
    int value = 4;
    sends = receives = 0;
    if (rank == 0) PMPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) PMPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(sends == 0 && receives == 0);
}
