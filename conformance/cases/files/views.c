/* ranks: 4 */
/* Views: which parts of the file a rank sees. */
#include "case.h"

static MPI_File file;

static void begin(const char *name) {
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
}

static void settle(void) {
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
}

/* The file as a whole, seen without a view. */
static void whole(int *all, int count) {
    settle();
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, all, count * (int)sizeof(int), MPI_BYTE, MPI_STATUS_IGNORE);
}

CASE(displacement) {
    int out = rank, all[8];
    MPI_Offset displacement;
    MPI_Datatype element, type;
    char name[MPI_MAX_DATAREP_STRING];
    begin("displacement.dat");
    MPI_File_set_view(file, rank * sizeof(int), MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_get_view(file, &displacement, &element, &type, name);
    CHECK(displacement == rank * (MPI_Offset)sizeof(int) && strcmp(name, "native") == 0);
    MPI_File_write_at(file, 0, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    whole(all, size);
    for (int i = 0; i < size; i++) CHECK(all[i] == i);
    MPI_File_close(&file);
}

/* Positions count elements of the view, not bytes. */
CASE(units) {
    double out[4] = {1, 2, 3, 4}, in = 0;
    MPI_Offset position, bytes;
    begin("units.dat");
    MPI_File_set_view(file, 8, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    if (rank == 0) MPI_File_write_at(file, 0, out, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    settle();
    MPI_File_seek(file, 2, MPI_SEEK_SET);
    MPI_File_read(file, &in, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_get_position(file, &position);
    CHECK(in == 3 && position == 3);
    MPI_File_get_byte_offset(file, 3, &bytes);
    CHECK(bytes == 32);
    MPI_File_close(&file);
}

/* Every rank sees every fourth number. */
CASE(round_robin) {
    int out[5], all[20], in[5];
    MPI_Datatype one, type;
    MPI_Offset bytes;
    for (int i = 0; i < 5; i++) out[i] = i * size + rank;
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, size * sizeof(int), &type);
    MPI_Type_commit(&type);
    begin("robin.dat");
    MPI_File_set_view(file, rank * sizeof(int), MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, out, 5, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_byte_offset(file, 2, &bytes);
    CHECK(bytes == (rank + 2 * size) * (MPI_Offset)sizeof(int));
    settle();
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all(file, in, 5, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(memcmp(in, out, sizeof in) == 0);
    whole(all, 5 * size);
    for (int i = 0; i < 5 * size; i++) CHECK(all[i] == i);
    MPI_File_close(&file);
    MPI_Type_free(&one);
    MPI_Type_free(&type);
}

/* A matrix of 4 x 8 in blocks of 2 x 4. */
CASE(subarray) {
    int out[2][4], all[32], corner[2] = {rank / 2 * 2, rank % 2 * 4};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, (int[]){4, 8}, (int[]){2, 4}, corner, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) out[i][j] = (corner[0] + i) * 8 + corner[1] + j;
    begin("subarray.dat");
    MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, out, 8, MPI_INT, MPI_STATUS_IGNORE);
    whole(all, 32);
    for (int i = 0; i < 32; i++) CHECK(all[i] == i);
    MPI_File_close(&file);
    MPI_Type_free(&type);
}

CASE(darray) {
    int out[8], all[32], n = 0;
    MPI_Datatype type;
    MPI_Type_create_darray(4, rank, 2, (int[]){4, 8}, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                           (int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 2}, MPI_ORDER_C,
                           MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            if (i % 2 == rank / 2 && j / 4 == rank % 2) out[n++] = 8 * i + j;
    begin("darray.dat");
    MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, 0, out, 8, MPI_INT, MPI_STATUS_IGNORE);
    whole(all, 32);
    for (int i = 0; i < 32; i++) CHECK(all[i] == i);
    MPI_File_close(&file);
    MPI_Type_free(&type);
}

/* Holes in memory and holes in the file. */
CASE(gaps_on_both_sides) {
    int memory[12], all[32], back[12];
    MPI_Datatype pairs, one, spread;
    for (int i = 0; i < 12; i++) memory[i] = 100 * rank + i, back[i] = -1;
    MPI_Type_vector(3, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, size * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    begin("gaps.dat");
    MPI_File_set_view(file, rank * sizeof(int), MPI_INT, spread, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, 0, memory, 1, pairs, MPI_STATUS_IGNORE);
    settle();
    MPI_File_read_at_all(file, 0, back, 1, pairs, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10; i++) CHECK(back[i] == (i % 4 < 2 ? memory[i] : -1));
    whole(all, 6 * size);
    for (int i = 0; i < 6 * size; i++) CHECK(all[i] == 100 * (i % size) + i / size / 2 * 4 + i / size % 2);
    MPI_File_close(&file);
    MPI_Type_free(&pairs);
    MPI_Type_free(&one);
    MPI_Type_free(&spread);
}

CASE(extent_of_type) {
    MPI_Aint bytes = 0;
    begin("extent.dat");
    MPI_File_get_type_extent(file, MPI_DOUBLE, &bytes);
    CHECK(bytes == 8);
    MPI_File_close(&file);
}

/* A new view sets the pointer back. */
CASE(pointer_is_reset) {
    int out[3] = {1, 2, 3};
    MPI_Offset position = -1;
    begin("reset.dat");
    MPI_File_write(file, out, 3, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_get_position(file, &position);
    CHECK(position == 0);
    MPI_File_close(&file);
}

CASE(large) {
    enum { COUNT = 50000 };
    int *out = malloc(COUNT * sizeof(int)), *in = calloc(COUNT, sizeof(int)), good = 1;
    MPI_Datatype block, type;
    MPI_Type_contiguous(100, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, 100 * size * sizeof(int), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < COUNT; i++) out[i] = rank * COUNT + i;
    begin("large.dat");
    MPI_File_set_view(file, 100 * rank * sizeof(int), MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, out, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    settle();
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all(file, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++) good &= in[i] == out[i];
    CHECK(good);
    MPI_File_close(&file);
    MPI_Type_free(&block);
    MPI_Type_free(&type);
    free(out);
    free(in);
}
