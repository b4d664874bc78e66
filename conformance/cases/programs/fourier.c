/* ranks: 4 */
/* A Fourier transform of n = n1 n2 points in four steps: columns, twiddles, a transpose by alltoall, rows. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 16, N = SIDE * SIDE };
static const double turn = 6.283185307179586476925286766559;

static void transform(double complex *x, double complex *work) {
    for (int k = 0; k < SIDE; k++) {
        work[k] = 0;
        for (int j = 0; j < SIDE; j++) work[k] += x[j] * cexp(-I * turn * (j * k % SIDE) / SIDE);
    }
    for (int k = 0; k < SIDE; k++) x[k] = work[k];
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int own = SIDE / size, first = rank * own;
    double complex *x = malloc(own * SIDE * sizeof *x), *y = malloc(own * SIDE * sizeof *y), work[SIDE];
    /* Row r of mine is column first + r of the matrix x[SIDE * i + column]: three waves and a constant. */
    for (int r = 0; r < own; r++)
        for (int i = 0; i < SIDE; i++) {
            int n = SIDE * i + first + r;
            x[r * SIDE + i] = 1 + cos(turn * 5 * n / N) + 0.5 * sin(turn * 40 * n / N) + 0.25 * cos(turn * 100 * n / N);
        }
    for (int r = 0; r < own; r++) {
        transform(x + r * SIDE, work);
        for (int k = 0; k < SIDE; k++) x[r * SIDE + k] *= cexp(-I * turn * ((first + r) * k) / N);
    }
    /* Blocks of own x own, each transposed by its receiver. */
    MPI_Datatype block, blocks;
    MPI_Type_vector(own, own, SIDE, MPI_C_DOUBLE_COMPLEX, &block);
    MPI_Type_create_resized(block, 0, own * sizeof(double complex), &blocks);
    MPI_Type_commit(&blocks);
    MPI_Alltoall(x, 1, blocks, y, 1, blocks, MPI_COMM_WORLD);
    for (int b = 0; b < size; b++)
        for (int i = 0; i < own; i++)
            for (int j = 0; j < own; j++) x[i * SIDE + b * own + j] = y[j * SIDE + b * own + i];
    for (int r = 0; r < own; r++) transform(x + r * SIDE, work);
    /* Row r of mine holds the frequencies first + r + SIDE k. */
    double *sizes = malloc(own * SIDE * sizeof *sizes), *all = malloc(N * sizeof *all), energy = 0, total;
    for (int i = 0; i < own * SIDE; i++) sizes[i] = cabs(x[i]), energy += sizes[i] * sizes[i];
    MPI_Gather(sizes, own * SIDE, MPI_DOUBLE, all, own * SIDE, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(&energy, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int f = 0; f <= N / 2; f++) {
            double found = all[f % SIDE * SIDE + f / SIDE];
            if (found > 1e-6) printf("frequency %d: %.4f\n", f, found / N);
        }
        printf("energy %.3f\n", total / N / N);
    }
    MPI_Type_free(&block);
    MPI_Type_free(&blocks);
    MPI_Finalize();
    return 0;
}
