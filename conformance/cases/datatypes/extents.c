/* ranks: 1 */
/* Sizes, extents and bounds. */
#include "case.h"

static void expect(MPI_Datatype type, MPI_Count bytes, MPI_Aint lower, MPI_Aint extent, MPI_Aint true_lower,
                   MPI_Aint true_extent) {
    int size_found;
    MPI_Aint a, b;
    MPI_Count x, y, z;
    MPI_Type_size(type, &size_found);
    CHECK(size_found == bytes);
    MPI_Type_get_extent(type, &a, &b);
    CHECK(a == lower);
    CHECK(b == extent);
    MPI_Type_get_true_extent(type, &a, &b);
    CHECK(a == true_lower);
    CHECK(b == true_extent);
    MPI_Type_size_x(type, &z);
    CHECK(z == bytes);
    MPI_Type_get_extent_x(type, &x, &y);
    CHECK(x == lower && y == extent);
    MPI_Type_get_true_extent_x(type, &x, &y);
    CHECK(x == true_lower && y == true_extent);
}

CASE(named_c_types) {
#define NAMED(c, mpi) expect(mpi, sizeof(c), 0, sizeof(c), 0, sizeof(c))
    NAMED(char, MPI_CHAR);
    NAMED(signed char, MPI_SIGNED_CHAR);
    NAMED(unsigned char, MPI_UNSIGNED_CHAR);
    NAMED(wchar_t, MPI_WCHAR);
    NAMED(short, MPI_SHORT);
    NAMED(unsigned short, MPI_UNSIGNED_SHORT);
    NAMED(int, MPI_INT);
    NAMED(unsigned, MPI_UNSIGNED);
    NAMED(long, MPI_LONG);
    NAMED(unsigned long, MPI_UNSIGNED_LONG);
    NAMED(long long, MPI_LONG_LONG_INT);
    NAMED(long long, MPI_LONG_LONG);
    NAMED(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    NAMED(float, MPI_FLOAT);
    NAMED(double, MPI_DOUBLE);
    NAMED(long double, MPI_LONG_DOUBLE);
    NAMED(char, MPI_BYTE);
    NAMED(MPI_Aint, MPI_AINT);
    NAMED(MPI_Count, MPI_COUNT);
    NAMED(MPI_Offset, MPI_OFFSET);
}

CASE(fixed_width_types) {
    expect(MPI_INT8_T, 1, 0, 1, 0, 1);
    expect(MPI_INT16_T, 2, 0, 2, 0, 2);
    expect(MPI_INT32_T, 4, 0, 4, 0, 4);
    expect(MPI_INT64_T, 8, 0, 8, 0, 8);
    expect(MPI_UINT8_T, 1, 0, 1, 0, 1);
    expect(MPI_UINT16_T, 2, 0, 2, 0, 2);
    expect(MPI_UINT32_T, 4, 0, 4, 0, 4);
    expect(MPI_UINT64_T, 8, 0, 8, 0, 8);
}

CASE(logical_and_complex_types) {
    NAMED(_Bool, MPI_C_BOOL);
    NAMED(float _Complex, MPI_C_COMPLEX);
    NAMED(float _Complex, MPI_C_FLOAT_COMPLEX);
    NAMED(double _Complex, MPI_C_DOUBLE_COMPLEX);
    NAMED(long double _Complex, MPI_C_LONG_DOUBLE_COMPLEX);
}

CASE(pair_types) {
    struct { float a; int b; } float_int;
    struct { double a; int b; } double_int;
    struct { long a; int b; } long_int;
    struct { short a; int b; } short_int;
    struct { long double a; int b; } long_double_int;
    int bytes;
    MPI_Aint lower, extent;
#define PAIR(c, mpi, first) \
    MPI_Type_size(mpi, &bytes); \
    MPI_Type_get_extent(mpi, &lower, &extent); \
    CHECK(bytes == (int)(sizeof(first) + sizeof(int)) && lower == 0 && extent == (MPI_Aint)sizeof(c))
    PAIR(float_int, MPI_FLOAT_INT, float);
    PAIR(double_int, MPI_DOUBLE_INT, double);
    PAIR(long_int, MPI_LONG_INT, long);
    PAIR(short_int, MPI_SHORT_INT, short);
    PAIR(long_double_int, MPI_LONG_DOUBLE_INT, long double);
    expect(MPI_2INT, 8, 0, 8, 0, 8);
}

CASE(vectors) {
    MPI_Datatype type, big;
    MPI_Type_vector(3, 2, 5, MPI_INT, &type);
    expect(type, 24, 0, 48, 0, 48);
    MPI_Type_contiguous(2, type, &big);
    expect(big, 48, 0, 96, 0, 96);
    MPI_Type_free(&big);
    MPI_Type_free(&type);
    MPI_Type_vector(3, 1, -2, MPI_INT, &type);
    expect(type, 12, -16, 20, -16, 20);
    MPI_Type_free(&type);
}

CASE(resized_ones) {
    MPI_Datatype type, wide, again;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_create_resized(type, -4, 24, &wide);
    expect(wide, 8, -4, 24, 0, 8);
    MPI_Type_contiguous(3, wide, &again);
    expect(again, 24, -4, 72, 0, 56);
    MPI_Type_free(&again);
    MPI_Type_vector(2, 1, 2, wide, &again);
    expect(again, 16, -4, 72, 0, 56);
    MPI_Type_free(&again);
    /* An extent below the true one. */
    MPI_Type_create_resized(type, 0, 4, &again);
    expect(again, 8, 0, 4, 0, 8);
    MPI_Type_free(&again);
    MPI_Type_free(&wide);
    MPI_Type_free(&type);
}

CASE(structure_is_padded) {
    /* The extent is rounded up to the alignment of the largest member, as C does it. */
    MPI_Datatype type;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR}, &type);
    expect(type, 9, 0, 16, 0, 9);
    MPI_Type_free(&type);
}

CASE(structure_with_gap_in_front) {
    MPI_Datatype type;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){16, 8}, (MPI_Datatype[]){MPI_INT, MPI_INT}, &type);
    expect(type, 8, 8, 12, 8, 12);
    MPI_Type_free(&type);
}

CASE(indexed_with_bounds) {
    MPI_Datatype type;
    MPI_Type_indexed(2, (int[]){1, 1}, (int[]){4, -2}, MPI_DOUBLE, &type);
    expect(type, 16, -16, 56, -16, 56);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(1, (int[]){2}, (MPI_Aint[]){3}, MPI_CHAR, &type);
    expect(type, 2, 3, 2, 3, 2);
    MPI_Type_free(&type);
}

CASE(empty_types) {
    MPI_Datatype type;
    MPI_Type_contiguous(0, MPI_INT, &type);
    expect(type, 0, 0, 0, 0, 0);
    MPI_Type_free(&type);
}

/* More bytes than an int can tell. */
CASE(beyond_int) {
    MPI_Datatype type, huge;
    MPI_Count bytes, lower, extent;
    int narrow;
    MPI_Type_contiguous(1 << 30, MPI_INT, &type);
    MPI_Type_contiguous(4, type, &huge);
    MPI_Type_size_x(huge, &bytes);
    CHECK(bytes == (MPI_Count)16 << 30);
    MPI_Type_get_extent_x(huge, &lower, &extent);
    CHECK(extent == (MPI_Count)16 << 30);
    MPI_Type_size(huge, &narrow);
    CHECK(narrow == MPI_UNDEFINED);
    MPI_Type_free(&type);
    MPI_Type_free(&huge);
}

CASE(addresses) {
    struct { int a; double b[4]; } thing;
    MPI_Aint base, end;
    MPI_Get_address(&thing, &base);
    MPI_Get_address(&thing.b[3], &end);
    CHECK(MPI_Aint_diff(end, base) == (char *)&thing.b[3] - (char *)&thing);
    CHECK(MPI_Aint_add(base, MPI_Aint_diff(end, base)) == end);
}

/* Scattered variables in one message, by their absolute addresses. */
CASE(bottom) {
    int a = 4, c[3] = {7, 8, 9}, in[4] = {0};
    double b = 2.5, in_b = 0;
    MPI_Aint places[3];
    MPI_Datatype type, into;
    MPI_Get_address(&a, &places[0]);
    MPI_Get_address(&b, &places[1]);
    MPI_Get_address(&c[1], &places[2]);
    MPI_Type_create_struct(3, (int[]){1, 1, 2}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_INT}, &type);
    MPI_Get_address(&in[3], &places[0]);
    MPI_Get_address(&in_b, &places[1]);
    MPI_Get_address(&in[0], &places[2]);
    MPI_Type_create_struct(3, (int[]){1, 1, 2}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_INT}, &into);
    MPI_Type_commit(&type);
    MPI_Type_commit(&into);
    MPI_Sendrecv(MPI_BOTTOM, 1, type, 0, 0, MPI_BOTTOM, 1, into, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(in[3] == 4 && in_b == 2.5 && in[0] == 8 && in[1] == 9 && in[2] == 0);
    MPI_Type_free(&type);
    MPI_Type_free(&into);
}

CASE(match_size) {
    MPI_Datatype type;
    int bytes;
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 8);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 4);
    MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 16);
}
