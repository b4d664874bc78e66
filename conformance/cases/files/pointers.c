/* ranks: 4 */
/* The shared pointer, ordered access, non-blocking and split collective operations. */
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

CASE(shared_write) {
    int out = rank + 1, in[8], sum = 0;
    MPI_Offset position;
    begin("shared.dat");
    MPI_File_write_shared(file, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    settle();
    MPI_File_get_position_shared(file, &position);
    CHECK(position == size * (MPI_Offset)sizeof(int));
    /* In some order, but each once. */
    MPI_File_read_at(file, 0, in, size, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) sum += 1 << in[i];
    CHECK(sum == (1 << (size + 1)) - 2);
    MPI_File_close(&file);
}

CASE(shared_read) {
    int in = -1, sum, out[8];
    begin("shared_read.dat");
    for (int i = 0; i < size; i++) out[i] = 10 * (i + 1);
    if (rank == 0) MPI_File_write_at(file, 0, out, size, MPI_INT, MPI_STATUS_IGNORE);
    settle();
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_shared(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 10 * size * (size + 1) / 2);
    MPI_File_close(&file);
}

CASE(ordered) {
    int out[4], in[4], all[64], total = 0, start = 0;
    MPI_Offset position;
    begin("ordered.dat");
    /* Rank r writes r numbers; in the order of the ranks. */
    for (int i = 0; i < rank; i++) out[i] = 10 * rank + i;
    MPI_File_write_ordered(file, out, rank, MPI_INT, MPI_STATUS_IGNORE);
    settle();
    for (int i = 0; i < size; i++) {
        if (i < rank) start += i;
        total += i;
    }
    MPI_File_get_position_shared(file, &position);
    CHECK(position == total * (MPI_Offset)sizeof(int));
    MPI_File_read_at(file, 0, all, total, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < rank; i++) CHECK(all[start + i] == 10 * rank + i);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, in, rank, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < rank; i++) CHECK(in[i] == out[i]);
    MPI_File_close(&file);
}

CASE(nonblocking) {
    int out[3] = {rank, rank + 1, rank + 2}, in[3] = {0}, more[3] = {0}, count;
    MPI_Request requests[2];
    MPI_Status status;
    begin("nonblocking.dat");
    MPI_File_iwrite_at(file, rank * sizeof out, out, 3, MPI_INT, &requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3);
    settle();
    MPI_File_iread_at(file, (rank + 1) % size * sizeof out, in, 3, MPI_INT, &requests[0]);
    MPI_File_iread_at(file, rank * sizeof out, more, 3, MPI_INT, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == (rank + 1) % size && in[2] == (rank + 1) % size + 2 && more[1] == rank + 1);
    MPI_File_close(&file);
}

CASE(nonblocking_pointers) {
    int out = rank + 3, in = -1;
    MPI_Request request;
    MPI_Offset position;
    begin("pointers.dat");
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    MPI_File_iwrite(file, &out, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_get_position(file, &position);
    CHECK(position == (rank + 1) * (MPI_Offset)sizeof(int));
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    MPI_File_iread(file, &in, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == rank + 3);
    MPI_File_close(&file);
}

/* What MPI-2 calls a request was another thing before, with functions of its own. */
CASE(old_requests) {
    int out = rank + 5, in = -1, is_done = 0;
    MPIO_Request request;
    begin("old_requests.dat");
    MPI_File_iwrite_at(file, rank * sizeof out, &out, 1, MPI_INT, &request);
    MPIO_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, rank * sizeof out, &in, 1, MPI_INT, &request);
    while (!is_done) MPIO_Test(&request, &is_done, MPI_STATUS_IGNORE);
    CHECK(in == rank + 5);
    MPI_File_close(&file);
}

CASE(nonblocking_shared) {
    int out = 1 << rank, in = 0, sum;
    MPI_Request request;
    begin("ishared.dat");
    MPI_File_iwrite_shared(file, &out, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    settle();
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_iread_shared(file, &in, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (1 << size) - 1);
    MPI_File_close(&file);
}

CASE(nonblocking_collective) {
    int out[2] = {rank, -rank}, in[2] = {0}, back[2] = {0};
    MPI_Request request;
    begin("icollective.dat");
    MPI_File_iwrite_at_all(file, rank * sizeof out, out, 2, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    settle();
    MPI_File_iread_at_all(file, (rank + 1) % size * sizeof in, in, 2, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == (rank + 1) % size && in[1] == -((rank + 1) % size));
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    MPI_File_iread_all(file, back, 2, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(back[0] == rank && back[1] == -rank);
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    out[0] = 99;
    MPI_File_iwrite_all(file, out, 2, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, rank * sizeof out, back, 2, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(back[0] == 99);
    MPI_File_close(&file);
}

CASE(split_collective) {
    int out[2] = {rank, 10 * rank}, in[2] = {0}, count;
    MPI_Status status;
    begin("split.dat");
    MPI_File_write_at_all_begin(file, rank * sizeof out, out, 2, MPI_INT);
    MPI_File_write_at_all_end(file, out, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 2);
    settle();
    MPI_File_read_at_all_begin(file, (rank + 1) % size * sizeof in, in, 2, MPI_INT);
    MPI_File_read_at_all_end(file, in, &status);
    CHECK(in[1] == 10 * ((rank + 1) % size));
    MPI_File_close(&file);
}

CASE(split_collective_pointers) {
    int out = rank + 1, in = -1;
    begin("split_pointer.dat");
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    MPI_File_write_all_begin(file, &out, 1, MPI_INT);
    MPI_File_write_all_end(file, &out, MPI_STATUS_IGNORE);
    settle();
    MPI_File_seek(file, rank * sizeof out, MPI_SEEK_SET);
    MPI_File_read_all_begin(file, &in, 1, MPI_INT);
    MPI_File_read_all_end(file, &in, MPI_STATUS_IGNORE);
    CHECK(in == rank + 1);
    MPI_File_close(&file);
}

CASE(split_ordered) {
    int out = rank + 50, in = -1;
    begin("split_ordered.dat");
    MPI_File_write_ordered_begin(file, &out, 1, MPI_INT);
    MPI_File_write_ordered_end(file, &out, MPI_STATUS_IGNORE);
    settle();
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered_begin(file, &in, 1, MPI_INT);
    MPI_File_read_ordered_end(file, &in, MPI_STATUS_IGNORE);
    CHECK(in == rank + 50);
    MPI_File_close(&file);
}
