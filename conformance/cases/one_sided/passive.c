/* ranks: 4 */
/* One-sided operations under locks: the target takes no part. */
#include "case.h"

static int *cells;
static MPI_Win win;

static void begin(void) {
    MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < 64; i++) cells[i] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* What a rank's own part of the window holds. */
static int own(int index) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    int value = cells[index];
    MPI_Win_unlock(rank, win);
    return value;
}

CASE(exclusive_counter) {
    begin();
    for (int i = 0; i < 10; i++) {
        int value;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        value++;
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(own(0) == 10 * size);
    end();
}

CASE(shared_puts) {
    int value = rank + 1;
    begin();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Put(&value, 1, MPI_INT, 1, rank, 1, MPI_INT, win);
    MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) for (int i = 0; i < size; i++) CHECK(own(i) == i + 1);
    end();
}

CASE(lock_all) {
    int value = 10 * rank;
    begin();
    MPI_Win_lock_all(0, win);
    for (int to = 0; to < size; to++) MPI_Put(&value, 1, MPI_INT, to, rank, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(own(i) == 10 * i);
    end();
}

CASE(flushes) {
    int value = rank + 5, in = -1, right = (rank + 1) % size;
    begin();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_flush(right, win);
    MPI_Get(&in, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_flush_local(right, win);
    CHECK(in == rank + 5);
    MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Get(&in, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    MPI_Win_flush_local_all(win);
    CHECK(in == rank + 5);
    MPI_Win_unlock_all(win);
    end();
}

CASE(fetch_and_op) {
    int one = 1, tickets[3], good = 1;
    begin();
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++) {
        MPI_Fetch_and_op(&one, &tickets[i], MPI_INT, 0, 7, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
    /* Every ticket is drawn once. */
    int all[3 * 8], seen[3 * 8] = {0};
    MPI_Allgather(tickets, 3, MPI_INT, all, 3, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 3 * size; i++)
        if (all[i] >= 0 && all[i] < 3 * size) seen[all[i]]++;
    for (int i = 0; i < 3 * size; i++) good &= seen[i] == 1;
    CHECK(good && tickets[0] < tickets[1] && tickets[1] < tickets[2]);
    end();
}

CASE(fetch_without_change) {
    int in = -1, unused = 0;
    begin();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    cells[3] = 40 + rank;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
    MPI_Fetch_and_op(&unused, &in, MPI_INT, (rank + 1) % size, 3, MPI_NO_OP, win);
    MPI_Win_unlock((rank + 1) % size, win);
    CHECK(in == 40 + (rank + 1) % size);
    CHECK(own(3) == 40 + rank);
    end();
}

CASE(compare_and_swap) {
    int mine = rank + 1, zero = 0, before = -1;
    begin();
    MPI_Win_lock_all(0, win);
    MPI_Compare_and_swap(&mine, &zero, &before, MPI_INT, 2, 9, win);
    MPI_Win_unlock_all(win);
    /* Exactly one rank finds the zero. */
    int won = before == 0, winners, winner = won ? mine : 0, name;
    MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&winner, &name, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(winners == 1);
    CHECK(won || before == name);
    if (rank == 2) CHECK(own(9) == name);
    end();
}

CASE(get_accumulate) {
    int out[4] = {1, 2, 3, 4}, before[4];
    begin();
    for (int turn = 0; turn < size; turn++) {
        if (turn == rank) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Get_accumulate(out, 4, MPI_INT, before, 4, MPI_INT, 0, 10, 4, MPI_INT, MPI_SUM, win);
            MPI_Win_unlock(0, win);
            for (int i = 0; i < 4; i++) CHECK(before[i] == turn * (i + 1));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) for (int i = 0; i < 4; i++) CHECK(own(10 + i) == size * (i + 1));
    end();
}

CASE(get_accumulate_replace) {
    int value = 3, before = -1;
    begin();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, win);
    MPI_Get_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_unlock((rank + 1) % size, win);
    CHECK(before == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(own(0) == 3);
    end();
}

CASE(requests) {
    int out[2] = {rank, rank + 1}, in[2] = {-1, -1}, right = (rank + 1) % size, one = 1, before = -1;
    MPI_Request request;
    begin();
    MPI_Win_lock_all(0, win);
    MPI_Rput(out, 2, MPI_INT, right, 0, 2, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget(in, 2, MPI_INT, right, 0, 2, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == rank && in[1] == rank + 1);
    MPI_Raccumulate(&one, 1, MPI_INT, right, 5, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, right, 5, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(before == 1);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(own(5) == 2);
    end();
}

CASE(real_numbers) {
    double *reals, half = 0.5, before;
    MPI_Win_allocate(4 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &reals, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < 4; i++) reals[i] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Fetch_and_op(&half, &before, MPI_DOUBLE, 0, 2, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK(reals[1] == 0.5 * size && reals[2] == 0.5 * size && reals[0] == 0);
        MPI_Win_unlock(0, win);
    }
    end();
}

/* Under lock_all the memory is made consistent by sync. */
CASE(sync) {
    begin();
    MPI_Win_lock_all(0, win);
    cells[20] = rank + 60;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    int in = -1;
    MPI_Get(&in, 1, MPI_INT, (rank + 1) % size, 20, 1, MPI_INT, win);
    MPI_Win_flush((rank + 1) % size, win);
    CHECK(in == (rank + 1) % size + 60);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    end();
}

/* A lock that is waited for by asking again and again, also by the rank in whose memory it is. */
CASE(spin_lock) {
    begin();
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++) {
        int mine = rank + 1, nobody = 0, holder, value;
        do {
            MPI_Compare_and_swap(&mine, &nobody, &holder, MPI_INT, 0, 30, win);
            MPI_Win_flush(0, win);
        } while (holder != nobody);
        MPI_Fetch_and_op(NULL, &value, MPI_INT, 0, 31, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        value++;
        MPI_Accumulate(&value, 1, MPI_INT, 0, 31, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        MPI_Accumulate(&nobody, 1, MPI_INT, 0, 30, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(own(31) == 3 * size);
    end();
}
