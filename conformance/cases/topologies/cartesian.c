/* ranks: 6 */
/* Cartesian grids. */
#include "case.h"

static MPI_Comm grid(int periodic_rows, int periodic_columns) {
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 3}, (int[]){periodic_rows, periodic_columns}, 0, &comm);
    return comm;
}

CASE(create) {
    MPI_Comm comm = grid(0, 1);
    int status, count, dims[2], periods[2], coords[2], found;
    MPI_Topo_test(comm, &status);
    CHECK(status == MPI_CART);
    MPI_Cartdim_get(comm, &count);
    CHECK(count == 2);
    MPI_Cart_get(comm, 2, dims, periods, coords);
    CHECK(dims[0] == 2 && dims[1] == 3 && periods[0] == 0 && periods[1] == 1);
    CHECK(coords[0] == rank / 3 && coords[1] == rank % 3);
    MPI_Comm_rank(comm, &found);
    CHECK(found == rank);
    MPI_Comm_free(&comm);
    MPI_Topo_test(MPI_COMM_WORLD, &status);
    CHECK(status == MPI_UNDEFINED);
}

CASE(coordinates_and_ranks) {
    MPI_Comm comm = grid(0, 1);
    for (int i = 0; i < 6; i++) {
        int coords[2], found;
        MPI_Cart_coords(comm, i, 2, coords);
        CHECK(coords[0] == i / 3 && coords[1] == i % 3);
        MPI_Cart_rank(comm, coords, &found);
        CHECK(found == i);
    }
    /* Out of range wraps where periodic. */
    int found;
    MPI_Cart_rank(comm, (int[]){1, -1}, &found);
    CHECK(found == 5);
    MPI_Cart_rank(comm, (int[]){0, 7}, &found);
    CHECK(found == 1);
    MPI_Comm_free(&comm);
}

CASE(shift) {
    MPI_Comm comm = grid(0, 1);
    int from, to, row = rank / 3, column = rank % 3;
    MPI_Cart_shift(comm, 0, 1, &from, &to);
    CHECK(from == (row > 0 ? rank - 3 : MPI_PROC_NULL) && to == (row < 1 ? rank + 3 : MPI_PROC_NULL));
    MPI_Cart_shift(comm, 1, 1, &from, &to);
    CHECK(from == 3 * row + (column + 2) % 3 && to == 3 * row + (column + 1) % 3);
    MPI_Cart_shift(comm, 1, -2, &from, &to);
    CHECK(from == 3 * row + (column + 2) % 3 && to == 3 * row + (column + 1) % 3);
    MPI_Cart_shift(comm, 0, -1, &from, &to);
    CHECK(from == (row < 1 ? rank + 3 : MPI_PROC_NULL) && to == (row > 0 ? rank - 3 : MPI_PROC_NULL));
    MPI_Comm_free(&comm);
}

CASE(sub_grids) {
    MPI_Comm comm = grid(0, 1), rows, columns;
    int count, dims[2], periods[2], coords[2], found, sum;
    MPI_Cart_sub(comm, (int[]){0, 1}, &rows);
    MPI_Comm_size(rows, &count);
    MPI_Cart_get(rows, 1, dims, periods, coords);
    CHECK(count == 3 && dims[0] == 3 && periods[0] == 1 && coords[0] == rank % 3);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, rows);
    CHECK(sum == 9 * (rank / 3) + 3);
    MPI_Cart_sub(comm, (int[]){1, 0}, &columns);
    MPI_Comm_size(columns, &count);
    MPI_Comm_rank(columns, &found);
    CHECK(count == 2 && found == rank / 3);
    MPI_Comm_free(&rows);
    MPI_Comm_free(&columns);
    MPI_Comm_free(&comm);
}

CASE(sub_grids_without_dimension) {
    MPI_Comm comm = grid(0, 1), points;
    int count = 0, dimensions = -1;
    MPI_Cart_sub(comm, (int[]){0, 0}, &points);
    CHECK(points != MPI_COMM_NULL);
    if (points != MPI_COMM_NULL) {
        MPI_Comm_size(points, &count);
        MPI_Cartdim_get(points, &dimensions);
        CHECK(count == 1 && dimensions == 0);
        MPI_Comm_free(&points);
    }
    MPI_Comm_free(&comm);
}

CASE(smaller_than_the_world) {
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){1, 1}, 0, &comm);
    if (rank >= 4) {
        CHECK(comm == MPI_COMM_NULL);
    } else {
        int count;
        MPI_Comm_size(comm, &count);
        CHECK(count == 4);
        MPI_Comm_free(&comm);
    }
}

CASE(three_dimensions) {
    MPI_Comm comm;
    int coords[3], from, to, found;
    MPI_Cart_create(MPI_COMM_WORLD, 3, (int[]){1, 3, 2}, (int[]){1, 0, 1}, 1, &comm);
    MPI_Comm_rank(comm, &found);
    MPI_Cart_coords(comm, found, 3, coords);
    CHECK(coords[0] == 0 && coords[1] == found / 2 && coords[2] == found % 2);
    MPI_Cart_shift(comm, 0, 1, &from, &to);
    CHECK(from == found && to == found);
    MPI_Cart_shift(comm, 2, 1, &from, &to);
    CHECK(from == (found ^ 1) && to == (found ^ 1));
    MPI_Comm_free(&comm);
}

CASE(dims_create) {
    int dims[3];
#define DIMS(nodes, n, a, b, c, x, y, z) \
    dims[0] = a, dims[1] = b, dims[2] = c; \
    MPI_Dims_create(nodes, n, dims); \
    CHECK(dims[0] == x && dims[1] == y && dims[2] == z)
    /* Those that the standard shows. */
    DIMS(6, 2, 0, 0, 9, 3, 2, 9);
    DIMS(7, 2, 0, 0, 9, 7, 1, 9);
    DIMS(6, 3, 0, 3, 0, 2, 3, 1);
    DIMS(16, 2, 0, 0, 9, 4, 4, 9);
    DIMS(8, 3, 0, 0, 0, 2, 2, 2);
    DIMS(12, 3, 0, 2, 0, 3, 2, 2);
    DIMS(1, 3, 0, 0, 0, 1, 1, 1);
    DIMS(64, 3, 0, 0, 0, 4, 4, 4);
    DIMS(13, 1, 0, 9, 9, 13, 9, 9);
    DIMS(24, 2, 0, 0, 9, 6, 4, 9);
}

CASE(exchange_along_a_ring) {
    MPI_Comm comm;
    int from, to, value, in;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 1, &comm);
    MPI_Comm_rank(comm, &value);
    MPI_Cart_shift(comm, 0, 2, &from, &to);
    int out = value * value;
    MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
    CHECK(in == from * from && from == (value + size - 2) % size);
    MPI_Comm_free(&comm);
}

CASE(duplicate_keeps_topology) {
    MPI_Comm comm = grid(1, 0), copy;
    int status, dims[2], periods[2], coords[2];
    MPI_Comm_dup(comm, &copy);
    MPI_Topo_test(copy, &status);
    CHECK(status == MPI_CART);
    MPI_Cart_get(copy, 2, dims, periods, coords);
    CHECK(dims[1] == 3 && periods[0] == 1 && coords[1] == rank % 3);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

CASE(map) {
    int place = -5;
    MPI_Cart_map(MPI_COMM_WORLD, 1, &size, (int[]){0}, &place);
    CHECK(place >= 0 && place < size);
}

CASE(map_to_a_part) {
    int place = -5, grid_size = 4;
    MPI_Cart_map(MPI_COMM_WORLD, 1, &grid_size, (int[]){0}, &place);
    CHECK(place == MPI_UNDEFINED || (place >= 0 && place < 4));
}
