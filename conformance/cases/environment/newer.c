/* ranks: 2 */
/* What MPI 4.1 and 5.0 have added. */
#include "case.h"

#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
#define IS_NEW
#endif

CASE(buffers_of_communicators) {
#ifdef IS_NEW
    char space[1000 + MPI_BSEND_OVERHEAD], *back;
    int bytes, value = rank, got = -1;
    MPI_Request request;
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, sizeof space);
    MPI_Bsend(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 1 - rank);
    MPI_Comm_flush_buffer(MPI_COMM_WORLD);
    MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &bytes);
    CHECK(back == space && bytes == (int)sizeof space);
    MPI_Count size;
    MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, space, sizeof space);
    MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &back, &size);
    CHECK(back == space && size == (MPI_Count)sizeof space);
#endif
}

CASE(buffer_of_the_process) {
#ifdef IS_NEW
    char space[1000 + MPI_BSEND_OVERHEAD], *back;
    int bytes;
    MPI_Request request;
    MPI_Buffer_attach(space, sizeof space);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &bytes);
    CHECK(back == space && bytes == (int)sizeof space);
#endif
}

CASE(status_of_several) {
#ifdef IS_NEW
    int in[2] = {-1, -1}, out = rank, flag, index, count, places[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Request_get_status_all(2, requests, &flag, statuses);
    CHECK(!flag);
    MPI_Request_get_status_any(2, requests, &index, &flag, statuses);
    CHECK(!flag);
    MPI_Request_get_status_some(2, requests, &count, places, statuses);
    CHECK(count == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    do MPI_Request_get_status_any(2, requests, &index, &flag, statuses);
    while (!flag);
    CHECK(index == 1 && statuses[0].MPI_TAG == 1 && requests[1] != MPI_REQUEST_NULL);
    MPI_Request_get_status_some(2, requests, &count, places, statuses);
    CHECK(count == 1 && places[0] == 1 && statuses[0].MPI_SOURCE == 1 - rank);
    MPI_Request_get_status_all(2, requests, &flag, statuses);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    do MPI_Request_get_status_all(2, requests, &flag, statuses);
    while (!flag);
    CHECK(statuses[0].MPI_TAG == 0 && statuses[1].MPI_TAG == 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 1 - rank && in[1] == 1 - rank);
#endif
}

CASE(errors_that_go_again) {
#ifdef IS_NEW
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "too warm");
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS);
#endif
}

CASE(pairs) {
#ifdef IS_NEW
    MPI_Datatype pair;
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair);
    CHECK(pair == MPI_2INT);
    MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &pair);
    CHECK(pair == MPI_DATATYPE_NULL);
#endif
}

CASE(set_elements) {
#ifdef IS_NEW
    MPI_Status status;
    MPI_Count found;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_c(&status, MPI_CHAR, 5000000000);
    MPI_Get_count_c(&status, MPI_CHAR, &found);
    CHECK(found == 5000000000);
#endif
}

CASE(abi) {
#if MPI_VERSION >= 5
    MPI_Info info;
    char text[8];
    int length = sizeof text, found;
    MPI_Abi_get_info(&info);
    MPI_Info_get_string(info, "mpi_aint_size", &length, text, &found);
    CHECK(found && strcmp(text, "8") == 0);
    MPI_Info_free(&info);
    int yes = -1, no = -1, is_set = 0;
    MPI_Abi_get_fortran_booleans(sizeof(int), &yes, &no, &is_set);
    CHECK(is_set && yes != no);
    MPI_Abi_get_fortran_info(&info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
#endif
}
