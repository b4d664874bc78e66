/* ranks: 4 */
/* Laplace's equation on a square, rows shared out, halo rows exchanged by blocking calls. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, STEPS = 200 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = rank * N / size, rows = (rank + 1) * N / size - first;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double (*now)[N] = calloc(rows + 2, sizeof *now), (*next)[N] = calloc(rows + 2, sizeof *next);
    /* The upper edge is hot. */
    if (rank == 0)
        for (int j = 0; j < N; j++) now[0][j] = next[0][j] = 1.0;
    double change = 0;
    for (int step = 1; step <= STEPS; step++) {
        MPI_Sendrecv(now[1], N, MPI_DOUBLE, up, 0, now[rows + 1], N, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(now[rows], N, MPI_DOUBLE, down, 1, now[0], N, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        double mine = 0;
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j < N - 1; j++) {
                next[i][j] = 0.25 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
                mine = fmax(mine, fabs(next[i][j] - now[i][j]));
            }
        double (*other)[N] = now;
        now = next;
        next = other;
        MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0 && step % 50 == 0) printf("step %d: change %.10f\n", step, change);
    }
    double sum = 0, total;
    for (int i = 1; i <= rows; i++)
        for (int j = 0; j < N; j++) sum += now[i][j];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %.6f\n", total);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
