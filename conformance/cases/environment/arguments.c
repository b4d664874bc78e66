/* ranks: 3 */
/* Every rank gets the command line, and its own copy of the globals. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int counter = 5;
static char *owned;
static int zeroed[1000];

static int next(void) {
    static int calls;
    return ++calls;
}

int main(int argc, char **argv) {
    int rank, size, good;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    good = argc == 1 && strstr(argv[0], "arguments") && argv[argc] == NULL;
    counter += rank;
    zeroed[rank] = 1;
    owned = malloc(100);
    sprintf(owned, "rank %d", rank);
    for (int i = 0; i <= rank; i++) next();
    MPI_Barrier(MPI_COMM_WORLD);
    int ones = 0;
    for (int i = 0; i < 1000; i++) ones += zeroed[i];
    int mine[5] = {counter, ones, next(), atoi(owned + 5), good}, all[5 * 8];
    MPI_Gather(mine, 5, MPI_INT, all, 5, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < size; i++) {
            int *row = all + 5 * i;
            printf("rank %d: counter %d, ones %d, calls %d, owned %d, arguments %s\n", i, row[0], row[1], row[2],
                   row[3], row[4] ? "as given" : "wrong");
        }
    free(owned);
    MPI_Finalize();
    return 0;
}
