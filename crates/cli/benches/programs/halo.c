/* Ranks on a periodic grid exchange messages with their four neighbours: halo TIMES BYTES. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int ranks, times = atoi(argv[1]), bytes = atoi(argv[2]), shape[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Comm grid;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periods, 0, &grid);
    int neighbours[4];
    MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
    MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
    char *sent = calloc(bytes, 4), *received = calloc(bytes, 4);
    for (int i = 0; i < times; i++) {
        MPI_Request requests[8];
        for (int way = 0; way < 4; way++)
            MPI_Irecv(received + way * bytes, bytes, MPI_BYTE, neighbours[way ^ 1], way, grid, &requests[way]);
        for (int way = 0; way < 4; way++)
            MPI_Isend(sent + way * bytes, bytes, MPI_BYTE, neighbours[way], way, grid, &requests[4 + way]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
    free(sent);
    free(received);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
