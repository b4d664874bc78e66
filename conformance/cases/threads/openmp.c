/* ranks: 4, openmp */
/* Parallel regions whose threads all call MPI. */
#define CASE_LEVEL MPI_THREAD_MULTIPLE
#include "case.h"

#include <omp.h>

enum { THREADS = 3 };

CASE(everybody_sends) {
    int left = (rank + size - 1) % size, right = (rank + 1) % size, wrong = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        int me = omp_get_thread_num(), got = -1;
        for (int i = 0; i < 20; i++) {
            int number = 100 * rank + me + i;
            MPI_Sendrecv(&number, 1, MPI_INT, right, me, &got, 1, MPI_INT, left, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += got != 100 * left + me + i;
        }
    }
    CHECK(wrong == 0);
}

CASE(regions_and_collectives) {
    for (int i = 0; i < 10; i++) {
        int sum = 0, all = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
        sum += omp_get_thread_num() + 1;
        MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all == size * THREADS * (THREADS + 1) / 2);
    }
}

CASE(one_communicator_each) {
    MPI_Comm comms[THREADS];
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        int me = omp_get_thread_num(), sum = 0, mine = rank * (me + 1);
        for (int i = 0; i < 10; i++) {
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
            wrong += sum != (me + 1) * size * (size - 1) / 2;
#pragma omp barrier
        }
    }
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    CHECK(wrong == 0);
}

/* Rank 0 gives out work, its threads ask for it one at a time. */
CASE(critical_sections) {
    int next = 0, sum = 0, all = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
        int piece;
        do {
#pragma omp critical
            piece = next++;
            if (piece < 30) {
                int got = -1;
                MPI_Sendrecv(&piece, 1, MPI_INT, rank, 50 + piece, &got, 1, MPI_INT, rank, 50 + piece, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
                sum += got;
            }
        } while (piece < 30);
    }
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size * 435);
}
