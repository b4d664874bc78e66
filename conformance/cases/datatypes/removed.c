/* ranks: 2 */
/* Functions of MPI-1 that MPI-3 no longer has, but older programs use and both libraries still hold. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include "case.h"

#if defined(OPEN_MPI) && !defined(MPI_UB)
/* The library has them, and the header only where it was configured so. */
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
#endif

CASE(address_and_structure) {
    struct { int a; double b; } thing = {rank, rank + 0.5}, in;
    MPI_Aint places[2], base;
    int blocks[2] = {1, 1};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
    MPI_Address(&thing, &base);
    MPI_Address(&thing.a, &places[0]);
    MPI_Address(&thing.b, &places[1]);
    places[0] -= base;
    places[1] -= base;
    MPI_Type_struct(2, blocks, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(&thing, 1, type, (rank + 1) % size, 0, &in, 1, type, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(in.a == (rank + size - 1) % size && in.b == in.a + 0.5);
    MPI_Type_free(&type);
}

/* The markers of MPI-1 set where a datatype begins and ends, also inside of others. */
CASE(markers) {
    int blocks[3] = {1, 2, 1}, in[8] = {0}, out[8];
    MPI_Aint places[3] = {-4, 0, 16}, lower, extent;
    MPI_Datatype types[3] = {MPI_LB, MPI_INT, MPI_UB}, type, pair;
    int bytes;
    MPI_Type_struct(3, blocks, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_lb(type, &lower);
    MPI_Type_extent(type, &extent);
    MPI_Type_size(type, &bytes);
    CHECK(lower == -4 && extent == 20 && bytes == 8);
    MPI_Type_contiguous(2, type, &pair);
    MPI_Type_extent(pair, &extent);
    CHECK(extent == 40);
    MPI_Type_free(&pair);
    for (int i = 0; i < 8; i++) out[i] = 10 * rank + i;
    MPI_Sendrecv(out, 2, type, (rank + 1) % size, 0, in, 8, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const int base = 10 * ((rank + size - 1) % size);
    CHECK(in[0] == base && in[1] == base + 1 && in[2] == base + 5 && in[3] == base + 6 && in[4] == 0);
    MPI_Type_free(&type);
}

CASE(byte_strides) {
    MPI_Datatype type;
    MPI_Aint extent, lower, upper;
    int blocks[2] = {1, 2};
    MPI_Aint places[2] = {24, 0};
    MPI_Type_hvector(3, 1, 12, MPI_INT, &type);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lower);
    MPI_Type_ub(type, &upper);
    CHECK(extent == 28 && lower == 0 && upper == 28);
    MPI_Type_free(&type);
    MPI_Type_hindexed(2, blocks, places, MPI_INT, &type);
    MPI_Type_extent(type, &extent);
    CHECK(extent == 28);
    MPI_Type_free(&type);
}

static int called;

static void on_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    called++;
}

CASE(error_handlers) {
    MPI_Errhandler handler, before, now;
    int value = 0;
    MPI_Errhandler_create(on_error, &handler);
    MPI_Errhandler_get(MPI_COMM_WORLD, &before);
    MPI_Errhandler_set(MPI_COMM_WORLD, handler);
    called = 0;
    MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    CHECK(called == 1);
    MPI_Errhandler_get(MPI_COMM_WORLD, &now);
    CHECK(now == handler);
    MPI_Errhandler_set(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&handler);
}

CASE(attributes) {
    int key, found, *bound;
    char text[1], *value;
    MPI_Comm comm;
    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, text);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Attr_get(comm, key, &value, &found);
    CHECK(found && value == text);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Attr_get(MPI_COMM_WORLD, key, &value, &found);
    CHECK(!found);
    MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    CHECK(found && *bound >= 32767);
    MPI_Comm_free(&comm);
    MPI_Keyval_free(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
}
