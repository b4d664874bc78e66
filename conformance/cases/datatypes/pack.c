/* ranks: 2 */
/* Packing into a buffer of the program, also in the portable representation. */
#include "case.h"

CASE(mixed_message) {
    char buffer[200];
    int position = 0, n = 3;
    double values[3] = {1.5, 2.5, 3.5};
    char text[6] = "hello";
    if (rank == 0) {
        MPI_Pack(&n, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
        MPI_Pack(values, n, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
        MPI_Pack(text, 6, MPI_CHAR, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
        MPI_Send(buffer, position, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Status status;
        int length;
        memset(values, 0, sizeof values);
        memset(text, 0, sizeof text);
        n = 0;
        MPI_Recv(buffer, sizeof buffer, MPI_PACKED, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_PACKED, &length);
        MPI_Unpack(buffer, length, &position, &n, 1, MPI_INT, MPI_COMM_WORLD);
        CHECK(n == 3);
        MPI_Unpack(buffer, length, &position, values, n, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Unpack(buffer, length, &position, text, 6, MPI_CHAR, MPI_COMM_WORLD);
        CHECK(values[2] == 3.5 && strcmp(text, "hello") == 0);
        CHECK(position == length);
    }
}

/* Sent packed, received as what it is. */
CASE(packed_to_typed) {
    char buffer[100];
    int position = 0, values[5] = {1, 2, 3, 4, 5};
    if (rank == 0) {
        MPI_Pack(values, 2, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
        MPI_Pack(values + 2, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
        MPI_Send(buffer, position, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int in[5] = {0};
        MPI_Recv(in, 5, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(memcmp(in, values, sizeof in) == 0);
    }
}

CASE(typed_to_packed) {
    char buffer[200];
    double values[4] = {0.25, 0.5, 0.75, 1}, in[4] = {0};
    if (rank == 0) {
        MPI_Send(values, 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int position = 0;
        MPI_Recv(buffer, sizeof buffer, MPI_PACKED, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Unpack(buffer, sizeof buffer, &position, in, 4, MPI_DOUBLE, MPI_COMM_WORLD);
        CHECK(memcmp(in, values, sizeof in) == 0);
    }
}

CASE(in_pieces) {
    /* Packed as a whole, unpacked element by element. */
    MPI_Datatype type;
    int cells[12], position = 0, bytes, back;
    for (int i = 0; i < 12; i++) cells[i] = i;
    MPI_Type_vector(4, 2, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack_size(1, type, MPI_COMM_SELF, &bytes);
    CHECK(bytes >= 8 * (int)sizeof(int));
    char *buffer = malloc(bytes);
    MPI_Pack(cells, 1, type, buffer, bytes, &position, MPI_COMM_SELF);
    CHECK(position <= bytes);
    position = 0;
    for (int i = 0; i < 8; i++) {
        MPI_Unpack(buffer, bytes, &position, &back, 1, MPI_INT, MPI_COMM_SELF);
        CHECK(back == i / 2 * 3 + i % 2);
    }
    free(buffer);
    MPI_Type_free(&type);
}

CASE(external_bytes) {
    /* external32 is big-endian: the bytes themselves are determined. */
    unsigned char buffer[64];
    int value = 0x01020304;
    short small = 0x0506;
    double real = 1.0;
    MPI_Aint position = 0;
    MPI_Pack_external("external32", &value, 1, MPI_INT, buffer, sizeof buffer, &position);
    CHECK(position == 4 && memcmp(buffer, "\1\2\3\4", 4) == 0);
    MPI_Pack_external("external32", &small, 1, MPI_SHORT, buffer, sizeof buffer, &position);
    CHECK(position == 6 && buffer[4] == 5 && buffer[5] == 6);
    MPI_Pack_external("external32", &real, 1, MPI_DOUBLE, buffer, sizeof buffer, &position);
    CHECK(position == 14 && buffer[6] == 0x3f && buffer[7] == 0xf0 && buffer[13] == 0);
}

CASE(external_sizes) {
    MPI_Aint bytes;
    MPI_Pack_external_size("external32", 3, MPI_INT, &bytes);
    CHECK(bytes == 12);
    MPI_Pack_external_size("external32", 5, MPI_DOUBLE, &bytes);
    CHECK(bytes == 40);
    MPI_Pack_external_size("external32", 7, MPI_CHAR, &bytes);
    CHECK(bytes == 7);
    MPI_Pack_external_size("external32", 2, MPI_FLOAT, &bytes);
    CHECK(bytes == 8);
}

CASE(external_round_trip) {
    char buffer[400];
    double values[10], back[10] = {0};
    int numbers[4] = {-1, 0, 1, 1 << 30}, back_numbers[4];
    MPI_Aint position = 0;
    for (int i = 0; i < 10; i++) values[i] = -3.25 * i;
    MPI_Pack_external("external32", values, 10, MPI_DOUBLE, buffer, sizeof buffer, &position);
    MPI_Pack_external("external32", numbers, 4, MPI_INT, buffer, sizeof buffer, &position);
    CHECK(position == 96);
    position = 0;
    MPI_Unpack_external("external32", buffer, sizeof buffer, &position, back, 10, MPI_DOUBLE);
    MPI_Unpack_external("external32", buffer, sizeof buffer, &position, back_numbers, 4, MPI_INT);
    CHECK(memcmp(values, back, sizeof back) == 0 && memcmp(numbers, back_numbers, sizeof numbers) == 0);
}

CASE(external_derived) {
    unsigned char buffer[40];
    int cells[9], back[9];
    MPI_Datatype type;
    MPI_Aint position = 0;
    for (int i = 0; i < 9; i++) cells[i] = i, back[i] = -1;
    MPI_Type_vector(3, 1, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external("external32", cells, 1, type, buffer, sizeof buffer, &position);
    CHECK(position == 12 && buffer[3] == 0 && buffer[7] == 4 && buffer[11] == 8);
    position = 0;
    MPI_Unpack_external("external32", buffer, 12, &position, back, 1, type);
    for (int i = 0; i < 9; i++) CHECK(back[i] == (i % 4 ? -1 : i));
    MPI_Type_free(&type);
}
