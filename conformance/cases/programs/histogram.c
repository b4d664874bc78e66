/* ranks: 4 */
/* Words of a text are counted in a table that lies in the memory of all ranks: one-sided updates. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 8 };

int main(int argc, char **argv) {
    static const char *text[4] = {"the quick brown fox jumps over the lazy dog", "the dog sleeps and the fox runs away",
                                  "a quick brown dog and a lazy fox", "over and over the fox jumps"};
    int rank, size, *table;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(SLOTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(table, 0, SLOTS * sizeof(int));
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    char line[100], *word;
    strcpy(line, text[rank % 4]);
    MPI_Win_lock_all(0, win);
    for (word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        unsigned hash = 5381;
        int one = 1;
        for (char *c = word; *c; c++) hash = hash * 33 + *c;
        MPI_Accumulate(&one, 1, MPI_INT, hash % size, hash / size % SLOTS, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush_all(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    int all[8 * SLOTS], mine[SLOTS];
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    memcpy(mine, table, sizeof mine);
    MPI_Win_unlock(rank, win);
    MPI_Gather(mine, SLOTS, MPI_INT, all, SLOTS, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < size; i++) {
            printf("rank %d:", i);
            for (int j = 0; j < SLOTS; j++) printf(" %d", all[i * SLOTS + j]);
            printf("\n");
        }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
