/* ranks: 4 */
/* Opening, writing, reading, sizes and positions. */
#include "case.h"

static MPI_File file;
static const int rw = MPI_MODE_CREATE | MPI_MODE_RDWR;

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void begin(const char *name, int mode) {
    MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
}

/* Closes and removes. */
static void end(const char *name) {
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    if (rank == 0) CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

CASE(write_and_read_at) {
    int out[10], in[10] = {0}, other = (rank + 1) % size, count;
    MPI_Status status;
    for (int i = 0; i < 10; i++) out[i] = 100 * rank + i;
    begin("at.dat", rw);
    MPI_File_write_at(file, rank * 10 * sizeof(int), out, 10, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 10);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at(file, other * 10 * sizeof(int), in, 10, MPI_INT, &status);
    for (int i = 0; i < 10; i++) CHECK(in[i] == 100 * other + i);
    end("at.dat");
}

CASE(collective_at) {
    int out[5], in[5] = {0}, other = (rank + 1) % size;
    for (int i = 0; i < 5; i++) out[i] = 10 * rank + i;
    begin("at_all.dat", rw);
    MPI_File_write_at_all(file, rank * sizeof out, out, 5, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at_all(file, other * sizeof in, in, 5, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++) CHECK(in[i] == 10 * other + i);
    end("at_all.dat");
}

CASE(own_pointers) {
    int value = rank + 1, in = -1;
    MPI_Offset position;
    begin("pointer.dat", rw);
    MPI_File_seek(file, rank * 3 * sizeof(int), MPI_SEEK_SET);
    for (int i = 0; i < 3; i++) MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_position(file, &position);
    CHECK(position == (rank + 1) * 3 * (MPI_Offset)sizeof(int));
    MPI_File_seek(file, -2 * (MPI_Offset)sizeof(int), MPI_SEEK_CUR);
    MPI_File_read(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(in == rank + 1);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_seek(file, -(MPI_Offset)sizeof(int), MPI_SEEK_END);
    MPI_File_read(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(in == size);
    end("pointer.dat");
}

CASE(collective_pointers) {
    double out[4] = {rank, rank + 0.25, rank + 0.5, rank + 0.75}, in[4] = {0};
    begin("all.dat", rw);
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    MPI_File_write_all(file, out, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    MPI_File_read_all(file, in, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CHECK(memcmp(in, out, sizeof in) == 0);
    end("all.dat");
}

CASE(sizes) {
    MPI_Offset bytes = -1;
    begin("size.dat", rw);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_size(file, 1000);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_size(file, 10);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 10);
    end("size.dat");
}

CASE(preallocate) {
    MPI_Offset bytes = -1;
    begin("preallocate.dat", rw);
    MPI_File_preallocate(file, 2000);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 2000);
    end("preallocate.dat");
}

/* A file that is longer already stays as it is. */
CASE(preallocate_less) {
    MPI_Offset bytes = -1;
    begin("preallocate_less.dat", rw);
    MPI_File_set_size(file, 2000);
    MPI_File_preallocate(file, 500);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 2000);
    end("preallocate_less.dat");
}

CASE(end_of_file) {
    int in[10], count = -1;
    MPI_Status status;
    begin("end.dat", rw);
    if (rank == 0) {
        int out[3] = {7, 8, 9};
        MPI_File_write_at(file, 0, out, 3, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    memset(in, -1, sizeof in);
    MPI_File_read_at(file, 4, in, 10, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 2 && in[0] == 8 && in[1] == 9 && in[2] == -1);
    MPI_File_read_at(file, 1000, in, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 0);
    end("end.dat");
}

CASE(modes) {
    int mode = 0;
    begin("mode.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI_File_get_amode(file, &mode);
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_WRONLY));
    MPI_File_close(&file);
    begin("mode.dat", MPI_MODE_RDONLY);
    MPI_File_get_amode(file, &mode);
    CHECK(mode == MPI_MODE_RDONLY);
    end("mode.dat");
}

CASE(read_only) {
    int value = 5;
    begin("only.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI_File_write_at(file, rank * sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    begin("only.dat", MPI_MODE_RDONLY);
    CHECK(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    value = 0;
    MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(value == 5);
    end("only.dat");
}

CASE(missing) {
    int code = MPI_File_open(MPI_COMM_WORLD, "not there.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK(class_of(code) == MPI_ERR_NO_SUCH_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of(MPI_File_delete("not there.dat", MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
}

CASE(exclusive) {
    begin("exclusive.dat", rw | MPI_MODE_EXCL);
    MPI_File_close(&file);
    int code = MPI_File_open(MPI_COMM_WORLD, "exclusive.dat", rw | MPI_MODE_EXCL, MPI_INFO_NULL, &file);
    CHECK(code != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete("exclusive.dat", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

CASE(delete_on_close) {
    begin("deleted.dat", rw | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_write_at(file, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    int code = MPI_File_open(MPI_COMM_WORLD, "deleted.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK(class_of(code) == MPI_ERR_NO_SUCH_FILE);
}

CASE(append) {
    MPI_Offset position = -1;
    int value = 1;
    begin("append.dat", rw);
    if (rank == 0) MPI_File_write_at(file, 96, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    begin("append.dat", MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_File_get_position(file, &position);
    CHECK(position == 100);
    end("append.dat");
}

CASE(one_rank_alone) {
    char name[20];
    int value = rank * 5, in = -1;
    sprintf(name, "self%d.dat", rank);
    MPI_File_open(MPI_COMM_SELF, name, rw | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(in == 5 * rank);
    MPI_File_close(&file);
}

CASE(atomicity) {
    int flag = 1, value = rank + 10, in = -1;
    begin("atomic.dat", rw);
    MPI_File_get_atomicity(file, &flag);
    CHECK(!flag);
    MPI_File_set_atomicity(file, 1);
    MPI_File_get_atomicity(file, &flag);
    CHECK(flag);
    MPI_File_write_at(file, rank * sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (rank + 1) % size * sizeof value, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(in == (rank + 1) % size + 10);
    end("atomic.dat");
}

CASE(group_and_info) {
    MPI_Group group, world;
    MPI_Info info;
    int result;
    begin("group.dat", rw);
    MPI_File_get_group(file, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "write_once");
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    MPI_File_get_info(file, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    end("group.dat");
}

/* What MPI wrote is a plain file. */
CASE(plain_bytes) {
    char out[4] = {'a' + rank, 'b' + rank, 'c' + rank, '\n'}, in[64] = {0};
    begin("plain.txt", rw);
    MPI_File_write_at_all(file, 4 * rank, out, 4, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *plain = fopen("plain.txt", "r");
    CHECK(plain != NULL);
    if (plain) {
        CHECK((int)fread(in, 1, 64, plain) == 4 * size);
        CHECK(strncmp(in, "abc\nbcd\ncde\n", 12) == 0);
        fclose(plain);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    begin("plain.txt", MPI_MODE_RDONLY);
    end("plain.txt");
}
