/* ranks: 2 */
/* Before MPI_Init, and after MPI_Finalize: a program of its own. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int before = -1, between = -1, after = -1, finalized_before = -1, finalized_after = -1, provided = -1, level = -1;
    int version = 0, subversion, length = 0, rank;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&before);
    MPI_Finalized(&finalized_before);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    /* No arguments are needed. */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Query_thread(&level);
    MPI_Initialized(&between);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    MPI_Initialized(&after);
    MPI_Finalized(&finalized_after);
    if (rank == 0) {
        printf("initialized: %d %d %d\n", before, between, after);
        printf("finalized: %d %d\n", finalized_before, finalized_after);
        printf("thread level %s, asked and given %s\n", provided >= MPI_THREAD_SINGLE ? "known" : "unknown",
               level == provided ? "agree" : "differ");
        printf("version before start: %s\n", version >= 3 && length > 0 ? "known" : "unknown");
    }
    return 0;
}
