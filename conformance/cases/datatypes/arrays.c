/* ranks: 6 */
/* Parts of arrays: subarray and distributed array, against a plain count of indices. */
#include "case.h"

enum { CELLS = 2048 };
static int cells[CELLS], packed[CELLS];

/* Packs one of the type from the array 0, 1, 2 ...; returns the number of elements. */
static int pack(MPI_Datatype type) {
    int bytes;
    for (int i = 0; i < CELLS; i++) cells[i] = i, packed[i] = -1;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    MPI_Sendrecv(cells, 1, type, 0, 0, packed, CELLS, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return bytes / (int)sizeof(int);
}

static void expect_extent(MPI_Datatype type, int elements) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == 0 && extent == elements * (MPI_Aint)sizeof(int));
}

CASE(subarray_2d) {
    MPI_Datatype type;
    MPI_Type_create_subarray(2, (int[]){6, 8}, (int[]){2, 3}, (int[]){1, 4}, MPI_ORDER_C, MPI_INT, &type);
    CHECK(pack(type) == 6);
    for (int i = 0; i < 6; i++) CHECK(packed[i] == (1 + i / 3) * 8 + 4 + i % 3);
    expect_extent(type, 48);
    MPI_Type_free(&type);
}

CASE(subarray_fortran_order) {
    MPI_Datatype type;
    MPI_Type_create_subarray(2, (int[]){6, 8}, (int[]){2, 3}, (int[]){1, 4}, MPI_ORDER_FORTRAN, MPI_INT, &type);
    CHECK(pack(type) == 6);
    for (int i = 0; i < 6; i++) CHECK(packed[i] == (4 + i / 2) * 6 + 1 + i % 2);
    expect_extent(type, 48);
    MPI_Type_free(&type);
}

CASE(subarray_4d) {
    MPI_Datatype type;
    const int sizes[4] = {3, 4, 5, 6}, parts[4] = {2, 2, 3, 4}, starts[4] = {1, 2, 0, 1};
    MPI_Type_create_subarray(4, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    int n = 0, total = pack(type);
    CHECK(total == 48);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 4; d++)
                    CHECK(packed[n++] == (((a + 1) * 4 + b + 2) * 5 + c) * 6 + d + 1);
    MPI_Type_free(&type);
}

CASE(subarray_1d) {
    MPI_Datatype type;
    MPI_Type_create_subarray(1, (int[]){10}, (int[]){4}, (int[]){6}, MPI_ORDER_C, MPI_INT, &type);
    CHECK(pack(type) == 4 && packed[0] == 6 && packed[3] == 9);
    expect_extent(type, 10);
    MPI_Type_free(&type);
}

CASE(subarray_whole) {
    MPI_Datatype type;
    MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){3, 4}, (int[]){0, 0}, MPI_ORDER_FORTRAN, MPI_INT, &type);
    CHECK(pack(type) == 12);
    for (int i = 0; i < 12; i++) CHECK(packed[i] == i);
    MPI_Type_free(&type);
}

CASE(subarray_of_pairs) {
    MPI_Datatype pair, type;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_subarray(2, (int[]){4, 4}, (int[]){2, 2}, (int[]){1, 1}, MPI_ORDER_C, pair, &type);
    CHECK(pack(type) == 8);
    for (int i = 0; i < 8; i++) CHECK(packed[i] == ((1 + i / 4) * 4 + 1 + i / 2 % 2) * 2 + i % 2);
    expect_extent(type, 32);
    MPI_Type_free(&pair);
    MPI_Type_free(&type);
}

CASE(subarray_exchanged) {
    /* A halo of width one: the right column goes to the left halo of the neighbour. */
    int field[5][6], right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Datatype edge, halo;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 6; j++) field[i][j] = 100 * rank + 10 * i + j;
    MPI_Type_create_subarray(2, (int[]){5, 6}, (int[]){3, 1}, (int[]){1, 4}, MPI_ORDER_C, MPI_INT, &edge);
    MPI_Type_create_subarray(2, (int[]){5, 6}, (int[]){3, 1}, (int[]){1, 0}, MPI_ORDER_C, MPI_INT, &halo);
    MPI_Type_commit(&edge);
    MPI_Type_commit(&halo);
    MPI_Sendrecv(field, 1, edge, right, 0, field, 1, halo, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < 4; i++) CHECK(field[i][0] == 100 * left + 10 * i + 4);
    CHECK(field[0][0] == 100 * rank && field[4][0] == 100 * rank + 40);
    MPI_Type_free(&edge);
    MPI_Type_free(&halo);
}

/* Does the process at `coordinate` of `count` hold the index? */
static int holds(int distribution, int argument, int length, int count, int coordinate, int index) {
    if (distribution == MPI_DISTRIBUTE_NONE) return 1;
    if (distribution == MPI_DISTRIBUTE_BLOCK) {
        int block = argument == MPI_DISTRIBUTE_DFLT_DARG ? (length + count - 1) / count : argument;
        return index / block == coordinate;
    }
    int block = argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument;
    return index / block % count == coordinate;
}

/* Compares the darray of every process of the grid with the indices that the process holds. */
static void expect_darray(int order, int dimensions, const int *lengths, const int *distributions, const int *arguments,
                          const int *grid) {
    int processes = 1, total = 1;
    for (int d = 0; d < dimensions; d++) processes *= grid[d], total *= lengths[d];
    for (int process = 0; process < processes; process++) {
        MPI_Datatype type;
        int coordinates[3], rest = process, n = 0;
        MPI_Type_create_darray(processes, process, dimensions, lengths, distributions, arguments, grid, order, MPI_INT,
                               &type);
        /* The grid of processes is in C order whatever the order of the array. */
        for (int d = dimensions - 1; d >= 0; d--) coordinates[d] = rest % grid[d], rest /= grid[d];
        int found = pack(type), good = 1;
        for (int cell = 0; cell < total; cell++) {
            int place = cell, mine = 1;
            for (int i = 0; i < dimensions; i++) {
                int d = order == MPI_ORDER_C ? dimensions - 1 - i : i;
                mine &= holds(distributions[d], arguments[d], lengths[d], grid[d], coordinates[d], place % lengths[d]);
                place /= lengths[d];
            }
            if (mine) good &= packed[n++] == cell;
        }
        CHECK(found == n);
        CHECK(good);
        expect_extent(type, total);
        MPI_Type_free(&type);
    }
}

#define BLOCK MPI_DISTRIBUTE_BLOCK
#define CYCLIC MPI_DISTRIBUTE_CYCLIC
#define NONE MPI_DISTRIBUTE_NONE
#define DEFAULT MPI_DISTRIBUTE_DFLT_DARG

CASE(darray_block) {
    expect_darray(MPI_ORDER_C, 1, (int[]){12}, (int[]){BLOCK}, (int[]){DEFAULT}, (int[]){4});
    expect_darray(MPI_ORDER_C, 1, (int[]){10}, (int[]){BLOCK}, (int[]){DEFAULT}, (int[]){3});
    expect_darray(MPI_ORDER_C, 1, (int[]){10}, (int[]){BLOCK}, (int[]){5}, (int[]){3});
}

CASE(darray_cyclic) {
    expect_darray(MPI_ORDER_C, 1, (int[]){12}, (int[]){CYCLIC}, (int[]){DEFAULT}, (int[]){4});
    expect_darray(MPI_ORDER_C, 1, (int[]){11}, (int[]){CYCLIC}, (int[]){DEFAULT}, (int[]){3});
    expect_darray(MPI_ORDER_C, 1, (int[]){16}, (int[]){CYCLIC}, (int[]){2}, (int[]){4});
}

CASE(darray_cyclic_ragged) {
    expect_darray(MPI_ORDER_C, 1, (int[]){17}, (int[]){CYCLIC}, (int[]){3}, (int[]){2});
    expect_darray(MPI_ORDER_C, 1, (int[]){19}, (int[]){CYCLIC}, (int[]){4}, (int[]){3});
}

CASE(darray_2d_block) {
    expect_darray(MPI_ORDER_C, 2, (int[]){6, 8}, (int[]){BLOCK, BLOCK}, (int[]){DEFAULT, DEFAULT}, (int[]){2, 2});
    expect_darray(MPI_ORDER_FORTRAN, 2, (int[]){6, 8}, (int[]){BLOCK, BLOCK}, (int[]){DEFAULT, DEFAULT}, (int[]){3, 2});
}

CASE(darray_2d_cyclic) {
    /* What a dense matrix of ScaLAPACK looks like. */
    expect_darray(MPI_ORDER_FORTRAN, 2, (int[]){12, 8}, (int[]){CYCLIC, CYCLIC}, (int[]){2, 2}, (int[]){2, 2});
    expect_darray(MPI_ORDER_C, 2, (int[]){12, 12}, (int[]){CYCLIC, CYCLIC}, (int[]){2, 3}, (int[]){3, 2});
}

CASE(darray_mixed) {
    expect_darray(MPI_ORDER_C, 2, (int[]){6, 8}, (int[]){BLOCK, CYCLIC}, (int[]){DEFAULT, 2}, (int[]){2, 2});
    expect_darray(MPI_ORDER_C, 2, (int[]){6, 8}, (int[]){NONE, BLOCK}, (int[]){DEFAULT, DEFAULT}, (int[]){1, 4});
    expect_darray(MPI_ORDER_FORTRAN, 2, (int[]){6, 8}, (int[]){CYCLIC, NONE}, (int[]){DEFAULT, DEFAULT}, (int[]){3, 1});
}

CASE(darray_3d) {
    expect_darray(MPI_ORDER_C, 3, (int[]){4, 6, 8}, (int[]){BLOCK, CYCLIC, BLOCK}, (int[]){DEFAULT, 1, DEFAULT},
                  (int[]){2, 3, 2});
    expect_darray(MPI_ORDER_FORTRAN, 3, (int[]){4, 6, 8}, (int[]){CYCLIC, BLOCK, NONE},
                  (int[]){2, DEFAULT, DEFAULT}, (int[]){2, 2, 1});
}

/* The parts of all processes together are the whole. */
CASE(darray_covers_all) {
    int mine[24], whole[24], processes[2] = {2, 3};
    MPI_Datatype type;
    MPI_Type_create_darray(6, rank % 6, 2, (int[]){4, 6}, (int[]){BLOCK, CYCLIC}, (int[]){DEFAULT, DEFAULT}, processes,
                           MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    memset(mine, 0, sizeof mine);
    int ones[4] = {1, 1, 1, 1};
    MPI_Sendrecv(ones, rank < 6 ? 4 : 0, MPI_INT, 0, 0, mine, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Allreduce(mine, whole, 24, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 24; i++) CHECK(whole[i] == 1);
    MPI_Type_free(&type);
}
