/* ranks: 3 */
/* Functions registered with atexit run once on every rank, last registered first, also after a call of exit. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;

static void first(void) {
    if (rank == 0) printf("registered first, called last\n");
}

static void second(void) {
    if (rank == 0) printf("registered second, called first\n");
}

static void leave(void) {
    int finalized;
    MPI_Finalized(&finalized);
    if (rank == 0) printf("finalized: %d\n", finalized);
    exit(0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    atexit(first);
    atexit(second);
    MPI_Finalize();
    leave();
    return 1;
}
