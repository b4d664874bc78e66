/* ranks: 6 */
/* Sums of all numbers before each, over ranks, in three ways. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { EACH = 100 };

static int rank, size;

static long value(int index) {
    return (index * 37 + 11) % 101;
}

/* Doubling: after step k a rank knows the sum of 2^k ranks. */
static long by_doubling(long mine) {
    long before = 0, all = mine;
    for (int step = 1; step < size; step *= 2) {
        long in = 0;
        int to = rank + step < size ? rank + step : MPI_PROC_NULL, from = rank >= step ? rank - step : MPI_PROC_NULL;
        MPI_Sendrecv(&all, 1, MPI_LONG, to, step, &in, 1, MPI_LONG, from, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        before += in;
        all += in;
    }
    return before;
}

static long by_chain(long mine) {
    long before = 0;
    if (rank > 0) MPI_Recv(&before, 1, MPI_LONG, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    long after = before + mine;
    if (rank < size - 1) MPI_Send(&after, 1, MPI_LONG, rank + 1, 0, MPI_COMM_WORLD);
    return before;
}

int main(int argc, char **argv) {
    long mine = 0, sums[EACH], before[3] = {0, 0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < EACH; i++) {
        mine += value(rank * EACH + i);
        sums[i] = mine;
    }
    MPI_Exscan(&mine, &before[0], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) before[0] = 0;
    before[1] = by_doubling(mine);
    before[2] = by_chain(mine);
    int agree = before[0] == before[1] && before[1] == before[2], all_agree;
    long expected = 0, last = before[0] + sums[EACH - 1], lasts[8];
    for (int i = 0; i < (rank + 1) * EACH; i++) expected += value(i);
    agree = agree && expected == last;
    MPI_Reduce(&agree, &all_agree, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
    MPI_Gather(&last, 1, MPI_LONG, lasts, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s:", all_agree ? "agree" : "differ");
        for (int i = 0; i < size; i++) printf(" %ld", lasts[i]);
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
