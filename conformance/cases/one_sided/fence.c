/* ranks: 4 */
/* One-sided operations between fences. */
#include "case.h"

enum { CELLS = 100 };
/* Windows start at multiples of 64 bytes, but in the case that is about it: not every library gets others right. */
static _Alignas(64) int cells[CELLS];
static MPI_Win win;

static void begin(void) {
    for (int i = 0; i < CELLS; i++) cells[i] = 1000 * rank + i;
    MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

static void end(void) {
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

CASE(put) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out[3] = {rank, rank + 1, rank + 2};
    begin();
    MPI_Win_fence(0, win);
    MPI_Put(out, 3, MPI_INT, right, 10, 3, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++) CHECK(cells[10 + i] == left + i);
    CHECK(cells[9] == 1000 * rank + 9 && cells[13] == 1000 * rank + 13);
    end();
}

CASE(get) {
    int right = (rank + 1) % size, in[5] = {0};
    begin();
    MPI_Win_fence(0, win);
    MPI_Get(in, 5, MPI_INT, right, 20, 5, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 5; i++) CHECK(in[i] == 1000 * right + 20 + i);
    end();
}

CASE(accumulate) {
    int one = 1;
    begin();
    for (int i = 0; i < CELLS; i++) cells[i] = 0;
    MPI_Win_fence(0, win);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < 10; i++) MPI_Accumulate(&one, 1, MPI_INT, to, i, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < CELLS; i++) CHECK(cells[i] == (i < 10 ? size : 0));
    end();
}

CASE(accumulate_operations) {
    int value = rank + 1;
    begin();
    for (int i = 0; i < CELLS; i++) cells[i] = 2;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MAX, win);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_MIN, win);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_PROD, win);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_BOR, win);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_BXOR, win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        int product = 2, or = 2, xor = 2;
        for (int i = 1; i <= size; i++) product *= i, or |= i, xor ^= i;
        CHECK(cells[0] == size && cells[1] == 1 && cells[2] == product && cells[3] == or && cells[4] == xor);
    }
    end();
}

CASE(replace) {
    int value = 77 + rank;
    begin();
    MPI_Win_fence(0, win);
    MPI_Accumulate(&value, 1, MPI_INT, (rank + 1) % size, 5, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    CHECK(cells[5] == 77 + (rank + size - 1) % size);
    end();
}

CASE(several_epochs) {
    int value, in = -1;
    begin();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int round = 0; round < 5; round++) {
        value = 100 * round + rank;
        MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, round, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        CHECK(cells[round] == 100 * round + (rank + size - 1) % size);
        MPI_Get(&in, 1, MPI_INT, (rank + 1) % size, round, 1, MPI_INT, win);
        MPI_Win_fence(round == 4 ? MPI_MODE_NOSUCCEED : 0, win);
        CHECK(in == 100 * round + rank);
    }
    end();
}

CASE(to_self) {
    int value = 5, in = 0;
    begin();
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, rank, 50, 1, MPI_INT, win);
    MPI_Get(&in, 1, MPI_INT, rank, 51, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(cells[50] == 5 && in == 1000 * rank + 51);
    end();
}

CASE(no_process) {
    int value = 5;
    begin();
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(value == 5 && cells[0] == 1000 * rank);
    end();
}

CASE(strided_target) {
    int out[5] = {1, 2, 3, 4, 5};
    MPI_Datatype every_third;
    MPI_Type_vector(5, 1, 3, MPI_INT, &every_third);
    MPI_Type_commit(&every_third);
    begin();
    MPI_Win_fence(0, win);
    MPI_Put(out, 5, MPI_INT, (rank + 1) % size, 30, 1, every_third, win);
    MPI_Type_free(&every_third);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 15; i++) CHECK(cells[30 + i] == (i % 3 ? 1000 * rank + 30 + i : i / 3 + 1));
    end();
}

CASE(strided_origin) {
    int in[12];
    MPI_Datatype pairs;
    memset(in, -1, sizeof in);
    MPI_Type_vector(3, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    begin();
    MPI_Win_fence(0, win);
    MPI_Get(in, 1, pairs, (rank + 1) % size, 0, 6, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 12; i++)
        CHECK(in[i] == (i % 4 < 2 && i < 10 ? 1000 * ((rank + 1) % size) + i / 4 * 2 + i % 4 : -1));
    MPI_Type_free(&pairs);
    end();
}

CASE(accumulate_derived) {
    /* Adds a column into a matrix on rank 0. */
    int out[5] = {1, 1, 1, 1, 1};
    MPI_Datatype column;
    MPI_Type_vector(5, 1, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    begin();
    for (int i = 0; i < CELLS; i++) cells[i] = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(out, 5, MPI_INT, 0, rank, 1, column, MPI_SUM, win);
    MPI_Accumulate(out, 5, MPI_INT, 0, 0, 1, column, MPI_SUM, win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        for (int i = 0; i < CELLS; i++) {
            int column_of = i % 10, row = i / 10, expected = 0;
            if (row < 5 && column_of < size) expected = 1 + (column_of == 0 ? size : 0);
            CHECK(cells[i] == expected);
        }
    MPI_Type_free(&column);
    end();
}

CASE(displacement_units) {
    /* The unit of the target counts: bytes on even ranks, ints on odd ones. */
    _Alignas(64) int memory[10] = {0};
    int value = rank + 1, right = (rank + 1) % size;
    MPI_Win_create(memory, sizeof memory, rank % 2 ? (int)sizeof(int) : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, right, right % 2 ? 4 : 4 * sizeof(int), 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory[4] == (rank + size - 1) % size + 1 && memory[3] == 0 && memory[5] == 0);
    MPI_Win_free(&win);
}

CASE(unaligned_base) {
    _Alignas(64) int memory[8] = {0};
    MPI_Win_create(memory + 3, 3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8; i++) CHECK(memory[i] == (i == 4 ? (rank + size - 1) % size : 0));
    MPI_Win_free(&win);
}

CASE(empty_windows) {
    _Alignas(64) int memory = 5;
    int value = 9;
    MPI_Win_create(rank == 0 ? &memory : NULL, rank == 0 ? sizeof memory : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 1) MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory == (rank == 0 ? 9 : 5));
    MPI_Win_free(&win);
}

CASE(large) {
    enum { COUNT = 200000 };
    double *memory = calloc(COUNT, sizeof *memory), *out = malloc(COUNT * sizeof *out);
    int good = 1, left = (rank + size - 1) % size;
    for (int i = 0; i < COUNT; i++) out[i] = rank + 0.25 * i;
    MPI_Win_create(memory, COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, COUNT, MPI_DOUBLE, (rank + 1) % size, 0, COUNT, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < COUNT; i++) good &= memory[i] == left + 0.25 * i;
    CHECK(good);
    MPI_Win_free(&win);
    free(memory);
    free(out);
}
