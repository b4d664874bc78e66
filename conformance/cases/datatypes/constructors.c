/* ranks: 2 */
/* Every constructor of datatypes: which elements it names, in which order, seen by sending an array 0, 1, 2 ... */
#include "case.h"
#include <stddef.h>

enum { CELLS = 64 };

/* Sends `count` of the type, starting at cell `origin` of the array 0 ... 63, and compares with the list. */
static void expect(MPI_Datatype type, int count, int origin, int length, const int *list) {
    int cells[CELLS], back[CELLS], packed[2 * CELLS], bytes;
    for (int i = 0; i < CELLS; i++) cells[i] = i, back[i] = -1;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    CHECK(count * bytes == length * (int)sizeof(int));
    MPI_Sendrecv(cells + origin, count, type, 0, 0, packed, 2 * CELLS, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(memcmp(packed, list, length * sizeof(int)) == 0);
    /* The way back puts every element where it came from, and nothing elsewhere. */
    MPI_Sendrecv(packed, length, MPI_INT, 0, 0, back + origin, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < CELLS; i++) {
        int named = 0;
        for (int j = 0; j < length; j++) named |= list[j] == i;
        CHECK(back[i] == (named ? i : -1));
    }
}
#define EXPECT(type, count, origin, ...) \
    expect(type, count, origin, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

CASE(contiguous) {
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    EXPECT(type, 1, 0, 0, 1, 2);
    EXPECT(type, 2, 1, 1, 2, 3, 4, 5, 6);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
}

CASE(vector) {
    MPI_Datatype type;
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    EXPECT(type, 1, 0, 0, 1, 4, 5, 8, 9);
    EXPECT(type, 2, 0, 0, 1, 4, 5, 8, 9, 10, 11, 14, 15, 18, 19);
    MPI_Type_free(&type);
}

CASE(vector_backwards) {
    MPI_Datatype type;
    MPI_Type_vector(3, 1, -2, MPI_INT, &type);
    EXPECT(type, 1, 10, 10, 8, 6);
    MPI_Type_free(&type);
}

CASE(vector_zero_blocks) {
    MPI_Datatype type;
    int bytes;
    MPI_Aint lower, extent;
    MPI_Type_vector(0, 2, 4, MPI_INT, &type);
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(bytes == 0 && extent == 0);
    MPI_Type_free(&type);
}

CASE(hvector) {
    MPI_Datatype type;
    MPI_Type_create_hvector(3, 2, 5 * sizeof(int), MPI_INT, &type);
    EXPECT(type, 1, 2, 2, 3, 7, 8, 12, 13);
    MPI_Type_free(&type);
}

CASE(hvector_unaligned) {
    /* Blocks of one byte, five bytes apart. */
    char cells[20], found[5] = "";
    MPI_Datatype type;
    for (int i = 0; i < 20; i++) cells[i] = 'a' + i;
    MPI_Type_create_hvector(4, 1, 5, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(cells, 1, type, 0, 0, found, 4, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(strcmp(found, "afkp") == 0);
    MPI_Type_free(&type);
}

CASE(indexed) {
    MPI_Datatype type;
    MPI_Type_indexed(3, (int[]){2, 0, 3}, (int[]){5, 9, 1}, MPI_INT, &type);
    EXPECT(type, 1, 0, 5, 6, 1, 2, 3);
    EXPECT(type, 2, 0, 5, 6, 1, 2, 3, 11, 12, 7, 8, 9);
    MPI_Type_free(&type);
}

CASE(hindexed) {
    MPI_Datatype type;
    MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){6 * sizeof(int), 3 * sizeof(int)}, MPI_INT, &type);
    EXPECT(type, 1, 0, 6, 3, 4);
    MPI_Type_free(&type);
}

CASE(indexed_block) {
    MPI_Datatype type;
    MPI_Type_create_indexed_block(3, 2, (int[]){0, 10, 4}, MPI_INT, &type);
    EXPECT(type, 1, 1, 1, 2, 11, 12, 5, 6);
    MPI_Type_free(&type);
}

CASE(hindexed_block) {
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(3, 1, (MPI_Aint[]){32, 0, 16}, MPI_INT, &type);
    EXPECT(type, 1, 0, 8, 0, 4);
    MPI_Type_free(&type);
}

CASE(negative_displacements) {
    MPI_Datatype type;
    MPI_Aint lower, extent;
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){-3, 2}, MPI_INT, &type);
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == -12 && extent == 28);
    EXPECT(type, 1, 5, 2, 7, 8);
    EXPECT(type, 2, 5, 2, 7, 8, 9, 14, 15);
    MPI_Type_free(&type);
}

struct particle {
    char kind;
    double place[3];
    int id;
    short flags[2];
};

static MPI_Datatype particle_type(void) {
    MPI_Datatype plain, type;
    MPI_Aint places[4] = {offsetof(struct particle, kind), offsetof(struct particle, place),
                          offsetof(struct particle, id), offsetof(struct particle, flags)};
    MPI_Type_create_struct(4, (int[]){1, 3, 1, 2}, places, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT},
                           &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct particle), &type);
    MPI_Type_free(&plain);
    MPI_Type_commit(&type);
    return type;
}

CASE(structure) {
    MPI_Datatype type = particle_type();
    struct particle all[5];
    int bytes;
    memset(all, 0, sizeof all);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == 1 + 24 + 4 + 4);
    if (rank == 0) {
        for (int i = 0; i < 5; i++) all[i] = (struct particle){'a' + i, {i, 2 * i, 3 * i}, 100 + i, {i, -i}};
        MPI_Send(all, 5, type, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Status status;
        int count, elements;
        MPI_Recv(all, 5, type, 0, 0, MPI_COMM_WORLD, &status);
        for (int i = 0; i < 5; i++)
            CHECK(all[i].kind == 'a' + i && all[i].place[2] == 3 * i && all[i].id == 100 + i && all[i].flags[1] == -i);
        MPI_Get_count(&status, type, &count);
        MPI_Get_elements(&status, type, &elements);
        CHECK(count == 5 && elements == 35);
    }
    MPI_Type_free(&type);
}

CASE(structure_of_derived) {
    MPI_Datatype pair, row, type;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(2, 1, 3, MPI_INT, &row);
    MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){40, 0}, (MPI_Datatype[]){pair, row}, &type);
    MPI_Type_free(&pair);
    MPI_Type_free(&row);
    EXPECT(type, 1, 0, 10, 11, 0, 3, 4, 7);
    MPI_Type_free(&type);
}

CASE(resized) {
    MPI_Datatype column, type;
    MPI_Type_vector(4, 1, 8, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &type);
    EXPECT(type, 3, 0, 0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26);
    MPI_Type_free(&type);
    MPI_Type_create_resized(column, -8, 40 * sizeof(int), &type);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == -8 && extent == 160);
    MPI_Type_get_true_extent(type, &lower, &extent);
    CHECK(lower == 0 && extent == 100);
    MPI_Type_free(&type);
    MPI_Type_free(&column);
}

CASE(overlapping_elements_sent) {
    /* Elements may be named twice in what is sent. */
    int cells[4] = {5, 6, 7, 8}, packed[6];
    MPI_Datatype type;
    MPI_Type_create_indexed_block(3, 2, (int[]){0, 1, 0}, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(cells, 1, type, 0, 0, packed, 6, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(memcmp(packed, (int[]){5, 6, 6, 7, 5, 6}, sizeof packed) == 0);
    MPI_Type_free(&type);
}

CASE(nested_vectors) {
    /* A face of a cube of 4 x 4 x 4: the plane j = 1. */
    MPI_Datatype line, plane;
    MPI_Type_vector(1, 4, 4, MPI_INT, &line);
    MPI_Type_create_hvector(4, 1, 16 * sizeof(int), line, &plane);
    EXPECT(plane, 1, 4, 4, 5, 6, 7, 20, 21, 22, 23, 36, 37, 38, 39, 52, 53, 54, 55);
    MPI_Type_free(&line);
    MPI_Type_free(&plane);
    /* And k = 2. */
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_create_hvector(4, 1, 16 * sizeof(int), column, &plane);
    EXPECT(plane, 1, 2, 2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 54, 58, 62);
    MPI_Type_free(&column);
    MPI_Type_free(&plane);
}

CASE(vector_of_indexed) {
    MPI_Datatype inner, type;
    MPI_Type_indexed(2, (int[]){1, 1}, (int[]){2, 0}, MPI_INT, &inner);
    MPI_Type_vector(2, 2, 3, inner, &type);
    EXPECT(type, 1, 0, 2, 0, 5, 3, 11, 9, 14, 12);
    MPI_Type_free(&inner);
    MPI_Type_free(&type);
}

CASE(duplicate) {
    MPI_Datatype first, type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &first);
    MPI_Type_commit(&first);
    MPI_Type_dup(first, &type);
    MPI_Type_free(&first);
    EXPECT(type, 1, 0, 0, 2);
    MPI_Type_free(&type);
    MPI_Type_dup(MPI_INT, &type);
    EXPECT(type, 3, 0, 0, 1, 2);
    MPI_Type_free(&type);
}

/* A type may be freed while a message of it is under way. */
CASE(freed_in_flight) {
    int cells[6] = {1, 2, 3, 4, 5, 6}, in[3] = {0};
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Isend(cells, 1, type, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    MPI_Recv(in, 3, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == 1 && in[1] == 3 && in[2] == 5);
}

CASE(deep_nesting) {
    MPI_Datatype type = MPI_INT, next;
    for (int depth = 0; depth < 5; depth++) {
        MPI_Type_vector(2, 1, 2, type, &next);
        if (type != MPI_INT) MPI_Type_free(&type);
        type = next;
    }
    /* Each step doubles the elements and triples the extent. */
    MPI_Aint lower, extent;
    int bytes;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_size(type, &bytes);
    CHECK(lower == 0 && extent == 243 * (int)sizeof(int) && bytes == 32 * (int)sizeof(int));
    MPI_Type_commit(&type);
    int cells[243], packed[32];
    for (int i = 0; i < 243; i++) cells[i] = i;
    MPI_Sendrecv(cells, 1, type, 0, 0, packed, 32, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < 32; i++) {
        int place = 0, weight = 2;
        for (int bit = 0; bit < 5; bit++, weight *= 3) place += (i >> bit & 1) * weight;
        CHECK(packed[i] == place);
    }
    MPI_Type_free(&type);
}
