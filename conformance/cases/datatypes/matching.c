/* ranks: 2 */
/* Only the sequence of basic types must agree between sender and receiver, not the layout. */
#include "case.h"

/* Sends `from` on rank 0 and receives `to` on rank 1; both arrays hold 60 numbers. */
static void move(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                 MPI_Datatype to_type) {
    if (rank == 0) MPI_Send(from, from_count, from_type, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(to, to_count, to_type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int cells[60], in[60];

static void reset(void) {
    for (int i = 0; i < 60; i++) cells[i] = i, in[i] = -1;
}

CASE(vector_to_contiguous) {
    MPI_Datatype type;
    reset();
    MPI_Type_vector(10, 2, 5, MPI_INT, &type);
    MPI_Type_commit(&type);
    move(cells, 1, type, in, 20, MPI_INT);
    if (rank == 1) for (int i = 0; i < 20; i++) CHECK(in[i] == i / 2 * 5 + i % 2);
    MPI_Type_free(&type);
}

CASE(contiguous_to_indexed) {
    MPI_Datatype type;
    reset();
    MPI_Type_create_indexed_block(4, 1, (int[]){9, 3, 6, 0}, MPI_INT, &type);
    MPI_Type_commit(&type);
    move(cells, 4, MPI_INT, in, 1, type);
    if (rank == 1) CHECK(in[9] == 0 && in[3] == 1 && in[6] == 2 && in[0] == 3 && in[1] == -1);
    MPI_Type_free(&type);
}

CASE(rows_to_columns) {
    MPI_Datatype column, columns;
    reset();
    MPI_Type_vector(6, 1, 10, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    move(cells, 60, MPI_INT, in, 10, columns);
    if (rank == 1) for (int i = 0; i < 60; i++) CHECK(in[i % 6 * 10 + i / 6] == i);
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
}

CASE(structures_of_different_order) {
    struct first { int a; double b; } one = {3, 4.5};
    struct second { double pad; double b; int pad2; int a; } two = {0, 0, 0, 0};
    MPI_Datatype from, to;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &from);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){20, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &to);
    MPI_Type_commit(&from);
    MPI_Type_commit(&to);
    move(&one, 1, from, &two, 1, to);
    if (rank == 1) CHECK(two.a == 3 && two.b == 4.5 && two.pad == 0 && two.pad2 == 0);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

CASE(more_of_a_smaller_type) {
    MPI_Datatype five, three;
    reset();
    MPI_Type_contiguous(5, MPI_INT, &five);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&five);
    MPI_Type_commit(&three);
    move(cells, 3, five, in, 5, three);
    if (rank == 1) for (int i = 0; i < 15; i++) CHECK(in[i] == i);
    MPI_Type_free(&five);
    MPI_Type_free(&three);
}

CASE(bytes) {
    reset();
    move(cells, 60 * sizeof(int), MPI_BYTE, in, 60 * sizeof(int), MPI_BYTE);
    if (rank == 1) for (int i = 0; i < 60; i++) CHECK(in[i] == i);
}

CASE(backwards) {
    MPI_Datatype reverse;
    reset();
    MPI_Type_create_hvector(60, 1, -(MPI_Aint)sizeof(int), MPI_INT, &reverse);
    MPI_Type_commit(&reverse);
    move(cells, 60, MPI_INT, in + 59, 1, reverse);
    if (rank == 1) for (int i = 0; i < 60; i++) CHECK(in[i] == 59 - i);
    MPI_Type_free(&reverse);
}

CASE(partial_last_item) {
    /* The message ends in the middle of the receiving type. */
    MPI_Datatype type;
    reset();
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0) MPI_Send(cells, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Status status;
        int count, elements;
        MPI_Recv(in, 5, type, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, type, &count);
        MPI_Get_elements(&status, type, &elements);
        CHECK(count == MPI_UNDEFINED && elements == 4);
        CHECK(in[0] == 0 && in[1] == -1 && in[2] == 1 && in[4] == 2 && in[5] == 3 && in[6] == -1 && in[7] == -1);
    }
    MPI_Type_free(&type);
}

CASE(every_basic_type) {
#define ONE(c, mpi, value) { \
        c out = value, back = 0; \
        if (rank == 0) MPI_Send(&out, 1, mpi, 1, 0, MPI_COMM_WORLD); \
        if (rank == 1) { \
            MPI_Recv(&back, 1, mpi, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
            CHECK(back == out); \
        } \
    }
    ONE(char, MPI_CHAR, 'x');
    ONE(signed char, MPI_SIGNED_CHAR, -7);
    ONE(unsigned char, MPI_UNSIGNED_CHAR, 200);
    ONE(short, MPI_SHORT, -30000);
    ONE(unsigned short, MPI_UNSIGNED_SHORT, 60000);
    ONE(unsigned, MPI_UNSIGNED, 4000000000u);
    ONE(long, MPI_LONG, -5000000000l);
    ONE(unsigned long, MPI_UNSIGNED_LONG, 1ul << 63);
    ONE(long long, MPI_LONG_LONG, -6000000000ll);
    ONE(unsigned long long, MPI_UNSIGNED_LONG_LONG, ~0ull);
    ONE(float, MPI_FLOAT, 1.25f);
    ONE(double, MPI_DOUBLE, -1e300);
    ONE(long double, MPI_LONG_DOUBLE, 1e4000L);
    ONE(_Bool, MPI_C_BOOL, 1);
    ONE(double _Complex, MPI_C_DOUBLE_COMPLEX, 2.0 + 3.0i);
    ONE(wchar_t, MPI_WCHAR, L'w');
    ONE(MPI_Aint, MPI_AINT, 12345678901l);
    ONE(MPI_Offset, MPI_OFFSET, 98765432109l);
    ONE(MPI_Count, MPI_COUNT, 55555555555l);
}
