/* ranks: 2, aborts */
/* An error ends the run, unless the program says otherwise. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send(&value, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
