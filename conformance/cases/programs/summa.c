/* ranks: 6 */
/* SUMMA: matrix multiplication by broadcasts along rows and columns of a 2 x 3 grid. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 30, ROWS = 2, COLUMNS = 3, M = N / ROWS, K = N / COLUMNS };

int main(int argc, char **argv) {
    int rank, row, column;
    MPI_Comm along_row, along_column;
    static double a[M][K], b[M][K], c[M][K], part_a[M], part_b[K];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    row = rank / COLUMNS;
    column = rank % COLUMNS;
    MPI_Comm_split(MPI_COMM_WORLD, row, column, &along_row);
    MPI_Comm_split(MPI_COMM_WORLD, column, row, &along_column);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < K; j++) {
            a[i][j] = (row * M + i) - (column * K + j);
            b[i][j] = (row * M + i) * (column * K + j) % 11;
        }
    for (int k = 0; k < N; k++) {
        /* Column k of A lies in the grid column k / K, row k of B in the grid row k / M. */
        if (column == k / K)
            for (int i = 0; i < M; i++) part_a[i] = a[i][k % K];
        if (row == k / M) memcpy(part_b, b[k % M], sizeof part_b);
        MPI_Bcast(part_a, M, MPI_DOUBLE, k / K, along_row);
        MPI_Bcast(part_b, K, MPI_DOUBLE, k / M, along_column);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < K; j++) c[i][j] += part_a[i] * part_b[j];
    }
    double result[2] = {0, 0}, total[2];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < K; j++) {
            double expected = 0;
            for (int k = 0; k < N; k++) expected += (row * M + i - k) * (k * (column * K + j) % 11);
            result[0] += c[i][j] != expected;
            result[1] += c[i][j];
        }
    MPI_Reduce(result, total, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong elements %.0f, sum %.0f\n", total[0], total[1]);
    MPI_Comm_free(&along_row);
    MPI_Comm_free(&along_column);
    MPI_Finalize();
    return 0;
}
