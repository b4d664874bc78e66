/* ranks: 6 */
/* Pi by throwing darts, with random numbers of our own, and by integrating. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t state;

static double draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / (double)(1ull << 53);
}

int main(int argc, char **argv) {
    int rank, size;
    long hits = 0, total, darts = 20000, most, least;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = 88172645463325252ull + 1000003ull * rank;
    for (long i = 0; i < darts; i++) {
        double x = draw(), y = draw();
        hits += x * x + y * y < 1;
    }
    MPI_Reduce(&hits, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&hits, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&hits, &least, 1, MPI_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
    int n = 100000;
    double sum = 0, pi;
    for (int i = rank; i < n; i += size) {
        double x = (i + 0.5) / n;
        sum += 4 / (1 + x * x) / n;
    }
    MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("darts: %ld of %ld, pi about %.6f, between %ld and %ld a rank\n", total, darts * size,
               4.0 * total / (darts * size), least, most);
        printf("integral: %.9f\n", pi);
    }
    MPI_Finalize();
    return 0;
}
