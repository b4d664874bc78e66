/* ranks: 4 */
/* Post, start, complete, wait: epochs between some ranks only. */
#include "case.h"

static _Alignas(64) int cells[16];
static MPI_Win win;
static MPI_Group before, after;

/* The groups of the left and of the right neighbour on a ring. */
static void begin(void) {
    MPI_Group world;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < 16; i++) cells[i] = -1;
    MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &before);
    MPI_Group_incl(world, 1, &right, &after);
    MPI_Group_free(&world);
}

static void end(void) {
    MPI_Group_free(&before);
    MPI_Group_free(&after);
    MPI_Win_free(&win);
}

CASE(ring) {
    int value = rank * 11, right = (rank + 1) % size;
    begin();
    for (int round = 0; round < 3; round++) {
        value += round;
        MPI_Win_post(before, 0, win);
        MPI_Win_start(after, 0, win);
        MPI_Put(&value, 1, MPI_INT, right, round, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    int left = (rank + size - 1) % size;
    CHECK(cells[0] == 11 * left && cells[1] == 11 * left + 1 && cells[2] == 11 * left + 3);
    end();
}

CASE(test_instead_of_wait) {
    int value = rank, right = (rank + 1) % size, flag = 0;
    begin();
    MPI_Win_post(before, 0, win);
    MPI_Win_start(after, 0, win);
    MPI_Put(&value, 1, MPI_INT, right, 4, 1, MPI_INT, win);
    MPI_Win_complete(win);
    while (!flag) MPI_Win_test(win, &flag);
    CHECK(cells[4] == (rank + size - 1) % size);
    end();
}

CASE(get_from_neighbour) {
    int in = -5, right = (rank + 1) % size;
    begin();
    cells[0] = rank + 70;
    MPI_Win_post(before, MPI_MODE_NOPUT, win);
    MPI_Win_start(after, 0, win);
    MPI_Get(&in, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK(in == right + 70);
    end();
}

/* Rank 0 exposes its window to all others at once. */
CASE(many_origins) {
    MPI_Group world, others, first;
    int one = 1;
    begin();
    if (rank == 0) cells[0] = cells[1] = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, (int[]){0}, &others);
    MPI_Group_incl(world, 1, (int[]){0}, &first);
    if (rank == 0) {
        MPI_Win_post(others, 0, win);
        MPI_Win_wait(win);
        CHECK(cells[0] == size - 1);
    } else {
        MPI_Win_start(first, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&others);
    MPI_Group_free(&first);
    end();
}

/* One rank writes to all others. */
CASE(many_targets) {
    MPI_Group world, others, first;
    begin();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, (int[]){0}, &others);
    MPI_Group_incl(world, 1, (int[]){0}, &first);
    if (rank == 0) {
        int values[8];
        MPI_Win_start(others, 0, win);
        for (int to = 1; to < size; to++) {
            values[to] = to * to;
            MPI_Put(&values[to], 1, MPI_INT, to, 2, 1, MPI_INT, win);
        }
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(first, 0, win);
        MPI_Win_wait(win);
        CHECK(cells[2] == rank * rank);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&others);
    MPI_Group_free(&first);
    end();
}
