/* ranks: 2 */
/* Functions with long counts; new in MPI 4. */
#include "case.h"

#if MPI_VERSION >= 4
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

static void wait(MPI_Request request) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif

CASE(at_a_place) {
#if MPI_VERSION >= 4
    int out[2] = {rank, rank + 10}, in[2];
    MPI_Offset mine = 16 * rank, other = 16 * (1 - rank);
    MPI_Status status;
    MPI_Count count, extent;
    MPI_Request request;
    begin("at.dat");
    MPI_File_get_type_extent_c(file, MPI_INT, &extent);
    CHECK(extent == sizeof(int));
    for (int form = 0; form < 5; form++) {
        out[1] = rank + 10 * form;
        if (form == 0) MPI_File_write_at_c(file, mine, out, 2, MPI_INT, &status);
        if (form == 1) MPI_File_write_at_all_c(file, mine, out, 2, MPI_INT, &status);
        if (form == 2) MPI_File_iwrite_at_c(file, mine, out, 2, MPI_INT, &request), MPI_Wait(&request, &status);
        if (form == 3) MPI_File_iwrite_at_all_c(file, mine, out, 2, MPI_INT, &request), MPI_Wait(&request, &status);
        if (form == 4) {
            MPI_File_write_at_all_begin_c(file, mine, out, 2, MPI_INT);
            MPI_File_write_at_all_end(file, out, &status);
        }
        MPI_Get_count_c(&status, MPI_INT, &count);
        CHECK(count == 2);
        settle();
        in[0] = in[1] = -1;
        if (form == 0) MPI_File_read_at_c(file, other, in, 2, MPI_INT, &status);
        if (form == 1) MPI_File_read_at_all_c(file, other, in, 2, MPI_INT, &status);
        if (form == 2) MPI_File_iread_at_c(file, other, in, 2, MPI_INT, &request), MPI_Wait(&request, &status);
        if (form == 3) MPI_File_iread_at_all_c(file, other, in, 2, MPI_INT, &request), MPI_Wait(&request, &status);
        if (form == 4) {
            MPI_File_read_at_all_begin_c(file, other, in, 2, MPI_INT);
            MPI_File_read_at_all_end(file, in, &status);
        }
        CHECK(in[0] == 1 - rank && in[1] == 1 - rank + 10 * form);
        settle();
    }
    MPI_File_close(&file);
#endif
}

CASE(own_pointer) {
#if MPI_VERSION >= 4
    int out = rank, in;
    MPI_Request request;
    begin("own.dat");
    for (int form = 0; form < 5; form++) {
        out = rank + 10 * form;
        MPI_File_seek(file, 4 * rank, MPI_SEEK_SET);
        if (form == 0) MPI_File_write_c(file, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 1) MPI_File_write_all_c(file, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 2) MPI_File_iwrite_c(file, &out, 1, MPI_INT, &request), wait(request);
        if (form == 3) MPI_File_iwrite_all_c(file, &out, 1, MPI_INT, &request), wait(request);
        if (form == 4) {
            MPI_File_write_all_begin_c(file, &out, 1, MPI_INT);
            MPI_File_write_all_end(file, &out, MPI_STATUS_IGNORE);
        }
        settle();
        MPI_File_seek(file, 4 * (1 - rank), MPI_SEEK_SET);
        if (form == 0) MPI_File_read_c(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 1) MPI_File_read_all_c(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 2) MPI_File_iread_c(file, &in, 1, MPI_INT, &request), wait(request);
        if (form == 3) MPI_File_iread_all_c(file, &in, 1, MPI_INT, &request), wait(request);
        if (form == 4) {
            MPI_File_read_all_begin_c(file, &in, 1, MPI_INT);
            MPI_File_read_all_end(file, &in, MPI_STATUS_IGNORE);
        }
        CHECK(in == 1 - rank + 10 * form);
        settle();
    }
    MPI_File_close(&file);
#endif
}

CASE(shared_pointer) {
#if MPI_VERSION >= 4
    int out, in, sum;
    MPI_Request request;
    begin("shared.dat");
    for (int form = 0; form < 4; form++) {
        out = rank + 10 * form;
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        if (form == 0) MPI_File_write_shared_c(file, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 1) MPI_File_iwrite_shared_c(file, &out, 1, MPI_INT, &request), wait(request);
        if (form == 2) MPI_File_write_ordered_c(file, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 3) {
            MPI_File_write_ordered_begin_c(file, &out, 1, MPI_INT);
            MPI_File_write_ordered_end(file, &out, MPI_STATUS_IGNORE);
        }
        settle();
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
        in = -100;
        if (form == 0) MPI_File_read_shared_c(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 1) MPI_File_iread_shared_c(file, &in, 1, MPI_INT, &request), wait(request);
        if (form == 2) MPI_File_read_ordered_c(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (form == 3) {
            MPI_File_read_ordered_begin_c(file, &in, 1, MPI_INT);
            MPI_File_read_ordered_end(file, &in, MPI_STATUS_IGNORE);
        }
        MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == 1 + 20 * form);
        if (form >= 2) CHECK(in == out);
        settle();
    }
    MPI_File_close(&file);
#endif
}
