/* ranks: 5 */
/* Sorting by samples: splitters, counts, alltoallv, and a check that nothing was lost. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EACH = 2000 };

static int compare(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned *mine = malloc(EACH * sizeof *mine), state = 12345u + 777u * rank;
    unsigned long before = 0, after = 0, totals[2];
    for (int i = 0; i < EACH; i++) {
        state = state * 1664525u + 1013904223u;
        mine[i] = state >> 8;
        before += mine[i];
    }
    qsort(mine, EACH, sizeof *mine, compare);
    unsigned *samples = malloc(size * sizeof *samples), *all = malloc(size * size * sizeof *all);
    for (int i = 0; i < size; i++) samples[i] = mine[i * EACH / size];
    MPI_Allgather(samples, size, MPI_UNSIGNED, all, size, MPI_UNSIGNED, MPI_COMM_WORLD);
    qsort(all, size * size, sizeof *all, compare);
    int *counts = calloc(size, sizeof(int)), *places = calloc(size, sizeof(int));
    int *in_counts = calloc(size, sizeof(int)), *in_places = calloc(size, sizeof(int)), bucket = 0;
    for (int i = 0; i < EACH; i++) {
        while (bucket < size - 1 && mine[i] >= all[(bucket + 1) * size]) bucket++;
        counts[bucket]++;
    }
    for (int i = 1; i < size; i++) places[i] = places[i - 1] + counts[i - 1];
    MPI_Alltoall(counts, 1, MPI_INT, in_counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 1; i < size; i++) in_places[i] = in_places[i - 1] + in_counts[i - 1];
    int count = in_places[size - 1] + in_counts[size - 1];
    unsigned *sorted = malloc((count + 1) * sizeof *sorted);
    MPI_Alltoallv(mine, counts, places, MPI_UNSIGNED, sorted, in_counts, in_places, MPI_UNSIGNED, MPI_COMM_WORLD);
    qsort(sorted, count, sizeof *sorted, compare);
    int good = 1;
    for (int i = 0; i < count; i++) {
        good &= i == 0 || sorted[i - 1] <= sorted[i];
        after += sorted[i];
    }
    /* The end of one rank is not above the start of the next. */
    unsigned edge = 0, last = count ? sorted[count - 1] : 0;
    MPI_Sendrecv(&last, 1, MPI_UNSIGNED, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 0, &edge, 1, MPI_UNSIGNED,
                 rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    good &= count == 0 || edge <= sorted[0];
    unsigned long sums[2] = {before, after};
    int all_good, *all_counts = malloc(size * sizeof(int));
    MPI_Reduce(sums, totals, 2, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&good, &all_good, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
    MPI_Gather(&count, 1, MPI_INT, all_counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s, sum %lu %s\n", all_good ? "sorted" : "not sorted", totals[0],
               totals[0] == totals[1] ? "kept" : "lost");
        for (int i = 0; i < size; i++) printf("rank %d holds %d\n", i, all_counts[i]);
    }
    MPI_Finalize();
    return 0;
}
