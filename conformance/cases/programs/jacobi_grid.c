/* ranks: 6 */
/* The same equation on a Cartesian grid of ranks: non-blocking halo exchange, columns as a datatype. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 48, STEPS = 120 };

int main(int argc, char **argv) {
    int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, place[2], up, down, left, right;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, place);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    int rows = N / dims[0], columns = N / dims[1], width = columns + 2;
    double *now = calloc((rows + 2) * width, sizeof *now), *next = calloc((rows + 2) * width, sizeof *next);
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
#define AT(field, i, j) field[(i) * width + (j)]
    if (place[0] == 0)
        for (int j = 0; j < width; j++) AT(now, 0, j) = AT(next, 0, j) = 1.0;
    for (int step = 1; step <= STEPS; step++) {
        MPI_Request requests[8];
        MPI_Irecv(&AT(now, 0, 1), columns, MPI_DOUBLE, up, 0, grid, &requests[0]);
        MPI_Irecv(&AT(now, rows + 1, 1), columns, MPI_DOUBLE, down, 1, grid, &requests[1]);
        MPI_Irecv(&AT(now, 1, 0), 1, column, left, 2, grid, &requests[2]);
        MPI_Irecv(&AT(now, 1, columns + 1), 1, column, right, 3, grid, &requests[3]);
        MPI_Isend(&AT(now, rows, 1), columns, MPI_DOUBLE, down, 0, grid, &requests[4]);
        MPI_Isend(&AT(now, 1, 1), columns, MPI_DOUBLE, up, 1, grid, &requests[5]);
        MPI_Isend(&AT(now, 1, columns), 1, column, right, 2, grid, &requests[6]);
        MPI_Isend(&AT(now, 1, 1), 1, column, left, 3, grid, &requests[7]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        double mine = 0, change;
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j <= columns; j++) {
                AT(next, i, j) = 0.25 * (AT(now, i - 1, j) + AT(now, i + 1, j) + AT(now, i, j - 1) + AT(now, i, j + 1));
                mine = fmax(mine, fabs(AT(next, i, j) - AT(now, i, j)));
            }
        double *other = now;
        now = next;
        next = other;
        MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, grid);
        if (rank == 0 && step % 40 == 0) printf("step %d: change %.10f\n", step, change);
    }
    double sum = 0, total;
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j <= columns; j++) sum += AT(now, i, j);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0) printf("sum %.6f\n", total);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
