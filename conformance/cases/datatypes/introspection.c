/* ranks: 1 */
/* How a type was made can be asked. */
#include "case.h"

static void expect(MPI_Datatype type, int combiner, int integers, int addresses, int types) {
    int i, a, t, c;
    MPI_Type_get_envelope(type, &i, &a, &t, &c);
    CHECK(c == combiner);
    CHECK(i == integers);
    CHECK(a == addresses);
    CHECK(t == types);
}

static int integers[32];
static MPI_Aint addresses[32];
static MPI_Datatype types[32];

static void contents(MPI_Datatype type) {
    int i, a, t, c;
    MPI_Type_get_envelope(type, &i, &a, &t, &c);
    MPI_Type_get_contents(type, i, a, t, integers, addresses, types);
}

CASE(named) {
    expect(MPI_INT, MPI_COMBINER_NAMED, 0, 0, 0);
    expect(MPI_DOUBLE_INT, MPI_COMBINER_NAMED, 0, 0, 0);
    expect(MPI_BYTE, MPI_COMBINER_NAMED, 0, 0, 0);
}

CASE(dup) {
    MPI_Datatype type;
    MPI_Type_dup(MPI_DOUBLE, &type);
    expect(type, MPI_COMBINER_DUP, 0, 0, 1);
    contents(type);
    CHECK(types[0] == MPI_DOUBLE);
    MPI_Type_free(&type);
}

CASE(contiguous) {
    MPI_Datatype type;
    MPI_Type_contiguous(5, MPI_SHORT, &type);
    expect(type, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    contents(type);
    CHECK(integers[0] == 5 && types[0] == MPI_SHORT);
    MPI_Type_free(&type);
}

CASE(vector) {
    MPI_Datatype type;
    MPI_Type_vector(2, 3, -4, MPI_INT, &type);
    expect(type, MPI_COMBINER_VECTOR, 3, 0, 1);
    contents(type);
    CHECK(integers[0] == 2 && integers[1] == 3 && integers[2] == -4 && types[0] == MPI_INT);
    MPI_Type_free(&type);
}

CASE(hvector) {
    MPI_Datatype type;
    MPI_Type_create_hvector(2, 3, 100, MPI_INT, &type);
    expect(type, MPI_COMBINER_HVECTOR, 2, 1, 1);
    contents(type);
    CHECK(integers[0] == 2 && integers[1] == 3 && addresses[0] == 100);
    MPI_Type_free(&type);
}

CASE(indexed) {
    MPI_Datatype type;
    MPI_Type_indexed(2, (int[]){3, 4}, (int[]){5, 60}, MPI_INT, &type);
    expect(type, MPI_COMBINER_INDEXED, 5, 0, 1);
    contents(type);
    CHECK(memcmp(integers, (int[]){2, 3, 4, 5, 60}, 5 * sizeof(int)) == 0);
    MPI_Type_free(&type);
}

CASE(hindexed) {
    MPI_Datatype type;
    MPI_Type_create_hindexed(2, (int[]){3, 4}, (MPI_Aint[]){8, -80}, MPI_INT, &type);
    expect(type, MPI_COMBINER_HINDEXED, 3, 2, 1);
    contents(type);
    CHECK(integers[0] == 2 && integers[2] == 4 && addresses[0] == 8 && addresses[1] == -80);
    MPI_Type_free(&type);
}

CASE(indexed_block) {
    MPI_Datatype type;
    MPI_Type_create_indexed_block(3, 2, (int[]){9, 0, 4}, MPI_INT, &type);
    expect(type, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1);
    contents(type);
    CHECK(memcmp(integers, (int[]){3, 2, 9, 0, 4}, 5 * sizeof(int)) == 0);
    MPI_Type_free(&type);
}

CASE(hindexed_block) {
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(2, 6, (MPI_Aint[]){24, 0}, MPI_INT, &type);
    expect(type, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1);
    contents(type);
    CHECK(integers[0] == 2 && integers[1] == 6 && addresses[0] == 24 && addresses[1] == 0);
    MPI_Type_free(&type);
}

CASE(structure) {
    MPI_Datatype type;
    MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, 16}, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &type);
    expect(type, MPI_COMBINER_STRUCT, 3, 2, 2);
    contents(type);
    CHECK(integers[0] == 2 && integers[2] == 2 && addresses[1] == 16 && types[0] == MPI_CHAR && types[1] == MPI_DOUBLE);
    MPI_Type_free(&type);
}

CASE(resized) {
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, -4, 20, &type);
    expect(type, MPI_COMBINER_RESIZED, 0, 2, 1);
    contents(type);
    CHECK(addresses[0] == -4 && addresses[1] == 20 && types[0] == MPI_INT);
    MPI_Type_free(&type);
}

CASE(subarray) {
    MPI_Datatype type;
    MPI_Type_create_subarray(2, (int[]){8, 9}, (int[]){3, 4}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &type);
    expect(type, MPI_COMBINER_SUBARRAY, 8, 0, 1);
    contents(type);
    CHECK(memcmp(integers, (int[]){2, 8, 9, 3, 4, 1, 2, MPI_ORDER_C}, 8 * sizeof(int)) == 0);
    MPI_Type_free(&type);
}

CASE(darray) {
    MPI_Datatype type;
    MPI_Type_create_darray(4, 2, 2, (int[]){8, 9}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                           (int[]){MPI_DISTRIBUTE_DFLT_DARG, 3}, (int[]){2, 2}, MPI_ORDER_FORTRAN, MPI_INT, &type);
    expect(type, MPI_COMBINER_DARRAY, 12, 0, 1);
    contents(type);
    CHECK(integers[0] == 4 && integers[1] == 2 && integers[2] == 2 && integers[3] == 8 && integers[4] == 9);
    CHECK(integers[5] == MPI_DISTRIBUTE_BLOCK && integers[6] == MPI_DISTRIBUTE_CYCLIC);
    CHECK(integers[7] == MPI_DISTRIBUTE_DFLT_DARG && integers[8] == 3);
    CHECK(integers[9] == 2 && integers[10] == 2 && integers[11] == MPI_ORDER_FORTRAN);
    MPI_Type_free(&type);
}

/* What contents returns for a derived member is a new handle that works like the old. */
CASE(derived_member) {
    MPI_Datatype inner, type;
    int bytes;
    MPI_Type_vector(2, 1, 3, MPI_INT, &inner);
    MPI_Type_contiguous(4, inner, &type);
    MPI_Type_free(&inner);
    contents(type);
    MPI_Type_size(types[0], &bytes);
    CHECK(bytes == 8);
    expect(types[0], MPI_COMBINER_VECTOR, 3, 0, 1);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&type);
}

CASE(fortran_parametrized) {
    MPI_Datatype type;
    int bytes;
    MPI_Type_create_f90_real(15, 300, &type);
    expect(type, MPI_COMBINER_F90_REAL, 2, 0, 0);
    contents(type);
    CHECK(integers[0] == 15 && integers[1] == 300);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 8);
    MPI_Type_create_f90_integer(9, &type);
    expect(type, MPI_COMBINER_F90_INTEGER, 1, 0, 0);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 4);
    MPI_Type_create_f90_complex(6, 30, &type);
    expect(type, MPI_COMBINER_F90_COMPLEX, 2, 0, 0);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 8);
}

CASE(names) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Datatype type;
    MPI_Type_get_name(MPI_INT, name, &length);
    CHECK(strcmp(name, "MPI_INT") == 0 && length == 7);
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(strcmp(name, "MPI_DOUBLE") == 0);
    MPI_Type_get_name(MPI_UNSIGNED_CHAR, name, &length);
    CHECK(strcmp(name, "MPI_UNSIGNED_CHAR") == 0);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    CHECK(length == 0 && name[0] == 0);
    MPI_Type_set_name(type, "pair of numbers");
    MPI_Type_get_name(type, name, &length);
    CHECK(strcmp(name, "pair of numbers") == 0 && length == 15);
    MPI_Type_free(&type);
}
