/* ranks: 4 */
/* Cannon's matrix multiplication on a torus of ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 36 };

int main(int argc, char **argv) {
    int size, rank, side, place[2], from, to;
    MPI_Comm torus;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (side = 1; side * side < size; side++);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){side, side}, (int[]){1, 1}, 0, &torus);
    MPI_Comm_rank(torus, &rank);
    MPI_Cart_coords(torus, rank, 2, place);
    int n = N / side;
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), *c = calloc(n * n, sizeof *c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int row = place[0] * n + i, column = place[1] * n + j;
            a[i * n + j] = (row + 2 * column) % 7 - 3;
            b[i * n + j] = (3 * row + column) % 5 - 2;
        }
    MPI_Cart_shift(torus, 1, -place[0], &from, &to);
    MPI_Sendrecv_replace(a, n * n, MPI_DOUBLE, to, 0, from, 0, torus, MPI_STATUS_IGNORE);
    MPI_Cart_shift(torus, 0, -place[1], &from, &to);
    MPI_Sendrecv_replace(b, n * n, MPI_DOUBLE, to, 0, from, 0, torus, MPI_STATUS_IGNORE);
    for (int step = 0; step < side; step++) {
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
        MPI_Cart_shift(torus, 1, -1, &from, &to);
        MPI_Sendrecv_replace(a, n * n, MPI_DOUBLE, to, 0, from, 0, torus, MPI_STATUS_IGNORE);
        MPI_Cart_shift(torus, 0, -1, &from, &to);
        MPI_Sendrecv_replace(b, n * n, MPI_DOUBLE, to, 0, from, 0, torus, MPI_STATUS_IGNORE);
    }
    /* All numbers are whole, so the check is exact. */
    double wrong = 0, trace = 0, sums[2] = {0, 0}, totals[2];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int row = place[0] * n + i, column = place[1] * n + j;
            double expected = 0;
            for (int k = 0; k < N; k++) expected += ((row + 2 * k) % 7 - 3) * ((3 * k + column) % 5 - 2);
            wrong += c[i * n + j] != expected;
            if (row == column) trace += c[i * n + j];
        }
    sums[0] = wrong;
    sums[1] = trace;
    MPI_Reduce(sums, totals, 2, MPI_DOUBLE, MPI_SUM, 0, torus);
    if (rank == 0) printf("wrong elements %.0f, trace %.0f\n", totals[0], totals[1]);
    free(a);
    free(b);
    free(c);
    MPI_Comm_free(&torus);
    MPI_Finalize();
    return 0;
}
