/* ranks: 2 */
/* What cannot be done with files, and how that is said. */
#include "case.h"

static MPI_File file;

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static int open_as(int mode) {
    return MPI_File_open(MPI_COMM_WORLD, "errors.dat", mode, MPI_INFO_NULL, &file);
}

static void end(void) {
    MPI_File_close(&file);
}

static const int rw = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

CASE(modes_that_exclude_each_other) {
    CHECK(class_of(open_as(MPI_MODE_RDONLY | MPI_MODE_CREATE)) == MPI_ERR_AMODE);
    CHECK(class_of(open_as(MPI_MODE_RDONLY | MPI_MODE_EXCL)) == MPI_ERR_AMODE);
    CHECK(class_of(open_as(MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL)) == MPI_ERR_AMODE);
    CHECK(class_of(open_as(MPI_MODE_RDONLY | MPI_MODE_WRONLY)) == MPI_ERR_AMODE);
    CHECK(class_of(open_as(MPI_MODE_CREATE)) == MPI_ERR_AMODE);
}

CASE(it_exists) {
    open_as(rw);
    int code = MPI_File_open(MPI_COMM_SELF, "errors.dat", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL,
                             &(MPI_File){MPI_FILE_NULL});
    CHECK(class_of(code) == MPI_ERR_FILE_EXISTS);
    MPI_Barrier(MPI_COMM_WORLD);
    end();
}

CASE(unknown_representation) {
    open_as(rw);
    int code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such thing", MPI_INFO_NULL);
    CHECK(class_of(code) == MPI_ERR_UNSUPPORTED_DATAREP);
    end();
}

CASE(counts) {
    int value = 0;
    open_as(rw);
    CHECK(MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_File_seek(file, -4, MPI_SEEK_SET) != MPI_SUCCESS);
    end();
}

CASE(no_file) {
    MPI_Offset bytes;
    CHECK(MPI_File_get_size(MPI_FILE_NULL, &bytes) != MPI_SUCCESS);
}
