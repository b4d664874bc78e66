/* ranks: 2 */
/* Messages whose parts are ready at different times; new in MPI 4. */
#include "case.h"

CASE(parts) {
#if MPI_VERSION >= 4
    int data[8], flag;
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(data, 4, 2, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, 4, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++) data[i] = rank == 0 ? 10 * round + i : -1;
        MPI_Start(&request);
        if (rank == 0) {
            int list[1] = {3};
            MPI_Pready(1, request);
            MPI_Pready_list(1, list, request);
            MPI_Pready(0, request);
            MPI_Pready_range(2, 2, request);
        } else {
            do MPI_Parrived(request, 2, &flag);
            while (!flag);
            CHECK(data[4] == 10 * round + 4 && data[5] == 10 * round + 5);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < 8; i++) CHECK(data[i] == 10 * round + i);
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
#endif
}

/* Both sides count their own parts. */
CASE(other_parts) {
#if MPI_VERSION >= 4
    double data[6];
    MPI_Request request;
    for (int i = 0; i < 6; i++) data[i] = rank == 0 ? i + 0.5 : 0;
    if (rank == 0)
        MPI_Psend_init(data, 3, 2, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, 2, 3, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 0) MPI_Pready_range(0, 2, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 6; i++) CHECK(data[i] == i + 0.5);
    MPI_Request_free(&request);
#endif
}

/* Other messages with the same tag are not met. */
CASE(apart_from_messages) {
#if MPI_VERSION >= 4
    int part = rank == 0 ? 1 : 0, whole = rank == 0 ? 2 : 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(&part, 1, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Send(&whole, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else {
        MPI_Precv_init(&part, 1, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Recv(&whole, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(whole == 2);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(part == 1);
    MPI_Request_free(&request);
#endif
}
