/* ranks: 2 */
/* What a program can ask about where it runs. */
#include "case.h"

CASE(initialized) {
    int flag = 0;
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Finalized(&flag);
    CHECK(!flag);
}

CASE(threads) {
    int level = -1, flag = 0;
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED);
    CHECK(MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
}

CASE(version) {
    int version = 0, subversion = -1;
    MPI_Get_version(&version, &subversion);
    CHECK(version >= 3 && subversion >= 0);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
}

CASE(library_version) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = -1;
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING && text[0] != 0);
}

CASE(processor_name) {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = -1;
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME && (int)strlen(name) == length);
}

CASE(clock) {
    double before = MPI_Wtime(), tick = MPI_Wtick();
    CHECK(tick > 0 && tick < 1);
    for (int i = 0; i < 1000; i++) {
        double now = MPI_Wtime();
        CHECK(now >= before);
        before = now;
    }
}

CASE(clock_passes_with_messages) {
    double before = MPI_Wtime();
    for (int i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Wtime() > before);
}

CASE(profiling_level) {
    CHECK(MPI_Pcontrol(0) == MPI_SUCCESS);
    CHECK(MPI_Pcontrol(1) == MPI_SUCCESS);
    CHECK(MPI_Pcontrol(2, "anything") == MPI_SUCCESS);
}

CASE(profiling_names) {
    /* Every function is there under a second name. */
    int found = -1, flag;
    PMPI_Comm_rank(MPI_COMM_WORLD, &found);
    CHECK(found == rank);
    PMPI_Initialized(&flag);
    CHECK(flag && PMPI_Wtime() > 0);
}

CASE(memory) {
    double *values;
    MPI_Alloc_mem(1000 * sizeof(double), MPI_INFO_NULL, &values);
    for (int i = 0; i < 1000; i++) values[i] = i;
    MPI_Allreduce(MPI_IN_PLACE, values, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(values[999] == 999.0 * size);
    MPI_Free_mem(values);
}

CASE(much_memory) {
    /* Of everybody at the same time, between allocations of the program's own. */
    enum { PIECES = 48, LENGTH = 1 << 20 };
    unsigned char *pieces[PIECES], *own[PIECES];
    int others = 0;
    for (int i = 0; i < PIECES; i++) {
        MPI_Alloc_mem(LENGTH, MPI_INFO_NULL, &pieces[i]);
        memset(pieces[i], i + rank, LENGTH);
        own[i] = malloc(5000 + i);
        memset(own[i], 200, 5000 + i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k < LENGTH; k++) others += pieces[i][k] != i + rank;
        for (int k = 0; k < 5000 + i; k++) others += own[i][k] != 200;
        MPI_Free_mem(pieces[i]);
        free(own[i]);
    }
    CHECK(others == 0);
}

CASE(predefined_communicators) {
    int count, place, result;
    MPI_Comm_size(MPI_COMM_SELF, &count);
    MPI_Comm_rank(MPI_COMM_SELF, &place);
    CHECK(count == 1 && place == 0);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

CASE(handles_to_fortran_and_back) {
    MPI_Datatype type;
    MPI_Group group;
    MPI_Request request;
    MPI_Info info;
    int value = 0;
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    MPI_Type_contiguous(3, MPI_INT, &type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    MPI_Type_free(&type);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(request)) == request);
    MPI_Request_free(&request);
    MPI_Info_create(&info);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_free(&info);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
}
