/* ranks: 2 */
/* Functions with long counts; new in MPI 4. */
#include "case.h"

CASE(windows) {
#if MPI_VERSION >= 4
    int memory[4] = {0}, *own, *base, value = rank + 1;
    MPI_Win win;
    MPI_Aint bytes, unit;
    MPI_Win_create_c(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put_c(&value, 1, MPI_INT, 1 - rank, 2, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory[2] == 2 - rank && memory[1] == 0);
    MPI_Win_free(&win);
    MPI_Win_allocate_c(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    own[3] = 30 + rank;
    MPI_Win_fence(0, win);
    MPI_Get_c(&value, 1, MPI_INT, 1 - rank, 3, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(value == 31 - rank);
    MPI_Win_free(&win);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared_c(16, sizeof(int), MPI_INFO_NULL, node, &own, &win);
    int me;
    MPI_Comm_rank(node, &me);
    MPI_Win_shared_query_c(win, me, &bytes, &unit, &base);
    CHECK(bytes == 16 && unit == sizeof(int) && base == own);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
#endif
}

CASE(operations) {
#if MPI_VERSION >= 4
    int memory[4] = {10, 20, 30, 40}, value, result = -1;
    MPI_Win win;
    MPI_Request request;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    value = 1;
    MPI_Accumulate_c(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Raccumulate_c(&value, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get_accumulate_c(&value, 1, MPI_INT, &result, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_all(win);
    CHECK(result == 12);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget_accumulate_c(&value, 1, MPI_INT, &result, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(result == 13);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget_c(&result, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(result == 14);
    value = 99;
    MPI_Rput_c(&value, 1, MPI_INT, 1 - rank, 1, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(memory[1] == 99 && memory[0] == 14);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
#endif
}
