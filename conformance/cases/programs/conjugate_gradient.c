/* ranks: 4 */
/* Conjugate gradients for the one-dimensional Poisson equation, unknowns shared out. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { N = 400, MOST = 200 };

static int rank, size, count;
static double p[MOST + 2];

static double dot(const double *x, const double *y) {
    double mine = 0, all;
    for (int i = 0; i < count; i++) mine += x[i] * y[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv) {
    static double x[MOST], r[MOST], q[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count = (rank + 1) * N / size - rank * N / size;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < count; i++) r[i] = p[i + 1] = 1.0;
    double rr = dot(r, r);
    int steps = 0;
    while (sqrt(rr) > 1e-6 && steps < 2 * N) {
        MPI_Request requests[4];
        MPI_Irecv(&p[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&p[count + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(&p[count], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&p[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++) q[i] = 2 * p[i + 1] - p[i] - p[i + 2];
        double alpha = rr / dot(p + 1, q), before = rr;
        for (int i = 0; i < count; i++) x[i] += alpha * p[i + 1], r[i] -= alpha * q[i];
        rr = dot(r, r);
        for (int i = 0; i < count; i++) p[i + 1] = r[i] + rr / before * p[i + 1];
        steps++;
    }
    double sum = 0, total, largest = 0, top;
    for (int i = 0; i < count; i++) sum += x[i], largest = fmax(largest, x[i]);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&largest, &top, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    /* The solution is i (N + 1 - i) / 2, reached after N / 2 steps, as the right side is even. */
    if (rank == 0) printf("steps %d, largest %.3f, sum %.3f\n", steps, top, total);
    MPI_Finalize();
    return 0;
}
