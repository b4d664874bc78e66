/* ranks: 4 */
/* Conway's game of life on a torus of cells, rows shared out, persistent requests; a glider comes round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24, STEPS = 96 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = N / size, up = (rank + size - 1) % size, down = (rank + 1) % size;
    unsigned char (*now)[N] = calloc(rows + 2, N), (*next)[N] = calloc(rows + 2, N), *whole = calloc(N, N);
    static const int glider[5][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}};
    for (int i = 0; i < 5; i++)
        if (glider[i][0] / rows == rank) now[glider[i][0] % rows + 1][glider[i][1]] = 1;
    MPI_Request requests[4];
    MPI_Recv_init(now[0], N, MPI_UNSIGNED_CHAR, up, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(now[rows + 1], N, MPI_UNSIGNED_CHAR, down, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(now[rows], N, MPI_UNSIGNED_CHAR, down, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Send_init(now[1], N, MPI_UNSIGNED_CHAR, up, 1, MPI_COMM_WORLD, &requests[3]);
    for (int step = 0; step <= STEPS; step++) {
        if (step % 32 == 0) {
            int mine = 0, alive;
            for (int i = 1; i <= rows; i++)
                for (int j = 0; j < N; j++) mine += now[i][j];
            MPI_Reduce(&mine, &alive, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
            MPI_Gather(now[1], rows * N, MPI_UNSIGNED_CHAR, whole, rows * N, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
            if (rank == 0) {
                printf("step %d, %d alive:", step, alive);
                for (int i = 0; i < N * N; i++)
                    if (whole[i]) printf(" %d,%d", i / N, i % N);
                printf("\n");
            }
        }
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= rows; i++)
            for (int j = 0; j < N; j++) {
                int around = -now[i][j];
                for (int a = -1; a <= 1; a++)
                    for (int b = N - 1; b <= N + 1; b++) around += now[i + a][(j + b) % N];
                next[i][j] = around == 3 || (around == 2 && now[i][j]);
            }
        memcpy(now[1], next[1], rows * N);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    free(now);
    free(next);
    free(whole);
    MPI_Finalize();
    return 0;
}
