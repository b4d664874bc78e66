/* ranks: 1 */
/* Functions with long counts; new in MPI 4. */
#include "case.h"

#if MPI_VERSION >= 4
/* How long the type is, how many short integers it was made of, and all its long counts. */
static void expect(MPI_Datatype type, int bytes, int few, int many, const MPI_Count *wanted) {
    MPI_Count integers, addresses, counts, types, size, lb, extent, large[16];
    int combiner, values[16];
    MPI_Aint places[16];
    MPI_Datatype members[16];
    MPI_Type_commit(&type);
    MPI_Type_size_c(type, &size);
    MPI_Type_get_extent_c(type, &lb, &extent);
    CHECK(size == bytes && lb == 0 && extent >= size);
    MPI_Type_get_true_extent_c(type, &lb, &extent);
    CHECK(lb >= 0 && extent >= size);
    MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
    CHECK(integers == few && addresses == 0 && counts == many && types >= 1);
    MPI_Type_get_contents_c(type, integers, addresses, counts, types, values, places, large, members);
    for (int i = 0; i < many; i++) CHECK(large[i] == wanted[i]);
    MPI_Type_free(&type);
}
#define EXPECT(type, bytes, few, many, ...) expect(type, bytes, few, many, (MPI_Count[]){__VA_ARGS__})
#endif

CASE(constructors) {
#if MPI_VERSION >= 4
    MPI_Datatype type, types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Count lengths[2] = {2, 1}, places[2] = {0, 4}, bytes[2] = {0, 16}, sizes[2] = {4, 6}, part[2] = {2, 3}, starts[2] = {1, 2};
    int blocks[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, usual[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    int grid[2] = {2, 2};
    MPI_Type_contiguous_c(3, MPI_INT, &type);
    EXPECT(type, 12, 0, 1, 3);
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &type);
    EXPECT(type, 8, 0, 3, 2, 1, 3);
    MPI_Type_create_hvector_c(2, 1, 12, MPI_INT, &type);
    EXPECT(type, 8, 0, 3, 2, 1, 12);
    MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type);
    EXPECT(type, 12, 0, 5, 2, 2, 1, 0, 4);
    MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_INT, &type);
    EXPECT(type, 12, 0, 5, 2, 2, 1, 0, 16);
    MPI_Type_create_indexed_block_c(2, 2, places, MPI_INT, &type);
    EXPECT(type, 16, 0, 4, 2, 2, 0, 4);
    MPI_Type_create_hindexed_block_c(2, 2, bytes, MPI_INT, &type);
    EXPECT(type, 16, 0, 4, 2, 2, 0, 16);
    MPI_Type_create_struct_c(2, lengths, bytes, types, &type);
    EXPECT(type, 16, 0, 5, 2, 2, 1, 0, 16);
    MPI_Type_create_subarray_c(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &type);
    EXPECT(type, 24, 2, 6, 4, 6, 2, 3, 1, 2);
    MPI_Type_create_darray_c(4, 1, 2, sizes, blocks, usual, grid, MPI_ORDER_C, MPI_INT, &type);
    EXPECT(type, 24, 10, 2, 4, 6);
    MPI_Type_create_resized_c(MPI_INT, 0, 16, &type);
    EXPECT(type, 4, 0, 2, 0, 16);
#endif
}

/* A datatype that was made with short counts has no long ones. */
CASE(short_contents) {
#if MPI_VERSION >= 4
    MPI_Datatype type;
    MPI_Count integers, addresses, counts, types;
    int combiner;
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
    CHECK(integers == 3 && addresses == 0 && counts == 0 && types == 1 && combiner == MPI_COMBINER_VECTOR);
    MPI_Type_free(&type);
#endif
}

CASE(beyond_an_integer) {
#if MPI_VERSION >= 4
    MPI_Datatype type;
    MPI_Count size;
    int too_small;
    MPI_Type_contiguous_c(3000000000, MPI_INT, &type);
    MPI_Type_size_c(type, &size);
    CHECK(size == 12000000000);
    MPI_Type_size(type, &too_small);
    CHECK(too_small == MPI_UNDEFINED);
    MPI_Type_free(&type);
#endif
}

CASE(packing) {
#if MPI_VERSION >= 4
    int values[3] = {1, 2, 3}, back[3] = {0};
    char packed[64];
    MPI_Count position = 0, size;
    MPI_Pack_size_c(3, MPI_INT, MPI_COMM_WORLD, &size);
    CHECK(size >= 12 && size <= 64);
    MPI_Pack_c(values, 3, MPI_INT, packed, 64, &position, MPI_COMM_WORLD);
    size = position;
    position = 0;
    MPI_Unpack_c(packed, size, &position, back, 3, MPI_INT, MPI_COMM_WORLD);
    CHECK(memcmp(values, back, sizeof back) == 0 && position == size);
    memset(back, 0, sizeof back);
    MPI_Pack_external_size_c("external32", 3, MPI_INT, &size);
    CHECK(size == 12);
    position = 0;
    MPI_Pack_external_c("external32", values, 3, MPI_INT, packed, 64, &position);
    CHECK(position == 12 && packed[3] == 1 && packed[7] == 2);
    position = 0;
    MPI_Unpack_external_c("external32", packed, 12, &position, back, 3, MPI_INT);
    CHECK(memcmp(values, back, sizeof back) == 0);
#endif
}
