/* ranks: 5 */
/* Tasks are given to whoever asks first; the results do not depend on who did what. */
#include <mpi.h>
#include <stdio.h>

enum { TASKS = 60, WORK = 1, STOP = 2 };

/* Steps of the Collatz sequence. */
static int work(int n) {
    long x = n;
    int steps = 0;
    for (; x != 1; steps++) x = x % 2 ? 3 * x + 1 : x / 2;
    return steps;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        int results[TASKS + 1] = {0}, given = 0, stopped = 0, answers = 0;
        while (stopped < size - 1) {
            int answer[2];
            MPI_Status status;
            MPI_Recv(answer, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (answer[0] > 0) results[answer[0]] = answer[1], answers++;
            int next = given < TASKS ? ++given : 0;
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, next ? WORK : STOP, MPI_COMM_WORLD);
            stopped += next == 0;
        }
        long sum = 0;
        int longest = 1;
        for (int i = 1; i <= TASKS; i++) {
            sum += results[i];
            if (results[i] > results[longest]) longest = i;
        }
        printf("answers %d, sum of steps %ld, longest %d with %d steps\n", answers, sum, longest, results[longest]);
    } else {
        int answer[2] = {0, 0}, task;
        for (;;) {
            MPI_Status status;
            MPI_Send(answer, 2, MPI_INT, 0, WORK, MPI_COMM_WORLD);
            MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == STOP) break;
            answer[0] = task;
            answer[1] = work(task);
        }
    }
    MPI_Finalize();
    return 0;
}
