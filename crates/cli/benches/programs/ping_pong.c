/* Pairs of ranks send each other messages: ping_pong TIMES BYTES. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, times = atoi(argv[1]), bytes = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = calloc(bytes, 1);
    int peer = rank ^ 1;
    for (int i = 0; i < times; i++) {
        if (rank & 1) {
            MPI_Recv(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        } else {
            MPI_Send(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    free(data);
    MPI_Finalize();
    return 0;
}
