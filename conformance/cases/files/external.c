/* ranks: 2 */
/* The representation external32: big-endian, whatever the machine. */
#include "case.h"

CASE(integers) {
    MPI_File file;
    int out = 0x01020304 + rank, in = -1;
    unsigned char bytes[4] = {0};
    MPI_File_open(MPI_COMM_WORLD, "external.dat", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    MPI_File_write_at(file, rank, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(in == out);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 4 * rank, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(bytes[0] == 1 && bytes[1] == 2 && bytes[2] == 3 && bytes[3] == 4 + rank);
    MPI_File_close(&file);
}

CASE(reals) {
    MPI_File file;
    double out[3] = {1, -2.5, 1e300}, in[3] = {0};
    unsigned char bytes[2] = {0};
    MPI_File_open(MPI_COMM_SELF, rank ? "reals1.dat" : "reals0.dat",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL);
    MPI_File_write(file, out, 3, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, in, 3, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CHECK(memcmp(in, out, sizeof in) == 0);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, bytes, 2, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(bytes[0] == 0x3f && bytes[1] == 0xf0);
    MPI_File_close(&file);
}
