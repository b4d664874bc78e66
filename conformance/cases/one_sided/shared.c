/* ranks: 4 */
/* Windows of memory that the ranks of a node share. Cases hold whatever ranks lie on a node together. */
#include <stdlib.h>
#include <unistd.h>
#include "case.h"

static MPI_Comm node;
static int place, count;

static void begin(void) {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_size(node, &count);
}

CASE(contiguous) {
    MPI_Win win;
    int *mine, unit, *first;
    MPI_Aint bytes;
    begin();
    MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_fence(0, win);
    mine[0] = 10 * place;
    mine[1] = 10 * place + 1;
    MPI_Win_fence(0, win);
    /* One after the other, in the order of the ranks. */
    MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
    CHECK(bytes == 2 * sizeof(int) && unit == sizeof(int) && mine == first + 2 * place);
    for (int i = 0; i < 2 * count; i++) CHECK(first[i] == 10 * (i / 2) + i % 2);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

CASE(one_owner) {
    MPI_Win win;
    double *memory;
    MPI_Aint bytes;
    int unit;
    begin();
    MPI_Win_allocate_shared(place == 0 ? 100 * sizeof(double) : 0, sizeof(double), MPI_INFO_NULL, node, &memory, &win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &memory);
    CHECK(bytes == 100 * sizeof(double));
    MPI_Win_lock_all(0, win);
    if (place == 0) for (int i = 0; i < 100; i++) memory[i] = i * 0.5;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    CHECK(memory[99] == 49.5);
    MPI_Barrier(node);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

CASE(written_by_others) {
    MPI_Win win;
    int *mine, *theirs, unit, next;
    MPI_Aint bytes;
    begin();
    next = (place + 1) % count;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, next, &bytes, &unit, &theirs);
    MPI_Win_fence(0, win);
    *theirs = place + 200;
    MPI_Win_fence(0, win);
    CHECK(*mine == (place + count - 1) % count + 200);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

CASE(with_operations) {
    MPI_Win win;
    int *mine, value;
    begin();
    value = place + 1;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    *mine = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    if (place == 0) CHECK(*mine == count * (count + 1) / 2);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

CASE(not_contiguous) {
    MPI_Win win;
    MPI_Info info;
    int *mine, *other, unit;
    MPI_Aint bytes;
    begin();
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(3 * sizeof(int), sizeof(int), info, node, &mine, &win);
    MPI_Info_free(&info);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++) mine[i] = place;
    MPI_Win_fence(0, win);
    for (int i = 0; i < count; i++) {
        MPI_Win_shared_query(win, i, &bytes, &unit, &other);
        CHECK(other[2] == i);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

/* Ranks wait for what others write, one after the other, and let them go on in all ways that there are. */
CASE(waiting_for_memory) {
    MPI_Win win;
    int *mine, unit;
    int volatile *turn;
    MPI_Aint bytes;
    begin();
    MPI_Win_allocate_shared(place == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &mine);
    turn = mine;
    MPI_Win_lock_all(0, win);
    if (place == 0) *turn = 0;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    const double begun = MPI_Wtime();
    int flag;
    for (int round = 0; round < 4; round++) {
        /* The first rank waits longest, the last one writes first. */
        while (*turn != count * round + count - 1 - place) {
            switch (round) {
            case 0: usleep(10); break;
            case 1: MPI_Iprobe(MPI_ANY_SOURCE, 0, node, &flag, MPI_STATUS_IGNORE); break;
            case 2: MPI_Win_sync(win); break;
            default: if (MPI_Wtime() - begun > 60) abort();
            }
        }
        ++*turn;
        MPI_Win_sync(win);
    }
    MPI_Barrier(node);
    CHECK(*turn == 4 * count);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}
