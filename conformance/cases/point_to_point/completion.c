/* ranks: 4 */
/* Waiting and testing: for one, any, some and all of a set of requests. */
#include "case.h"

enum { COUNT = 6 };
static int values[COUNT];
static MPI_Request requests[COUNT];

/* Rank 0 posts six receives, and rank 1 sends when told so. */
static void post(void) {
    for (int i = 0; i < COUNT; i++) {
        values[i] = -1;
        MPI_Irecv(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
}

static void tell(int tag) {
    MPI_Send(&tag, 1, MPI_INT, 1, 100, MPI_COMM_WORLD);
}

/* Sends the message whose tag it is told, until the tag is negative. */
static void serve(void) {
    for (;;) {
        int tag;
        MPI_Recv(&tag, 1, MPI_INT, 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (tag < 0) return;
        int value = 10 * tag;
        MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

CASE(wait_each) {
    if (rank == 0) {
        post();
        for (int i = COUNT - 1; i >= 0; i--) {
            MPI_Status status;
            tell(i);
            MPI_Wait(&requests[i], &status);
            CHECK(values[i] == 10 * i && status.MPI_TAG == i && requests[i] == MPI_REQUEST_NULL);
        }
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(wait_any) {
    if (rank == 0) {
        const int order[COUNT] = {3, 0, 5, 1, 4, 2};
        post();
        for (int i = 0; i < COUNT; i++) {
            MPI_Status status;
            int index = -1;
            tell(order[i]);
            MPI_Waitany(COUNT, requests, &index, &status);
            CHECK(index == order[i] && status.MPI_TAG == index && values[index] == 10 * index);
            CHECK(requests[index] == MPI_REQUEST_NULL);
        }
        int index = 0;
        MPI_Status status;
        MPI_Waitany(COUNT, requests, &index, &status);
        CHECK(index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE);
        MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE);
        CHECK(index == MPI_UNDEFINED);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(test_any) {
    if (rank == 0) {
        int index = 0, flag = 1;
        MPI_Status status;
        post();
        MPI_Testany(COUNT, requests, &index, &flag, &status);
        CHECK(!flag && index == MPI_UNDEFINED);
        for (int i = 0; i < COUNT; i++) {
            tell(i);
            do MPI_Testany(COUNT, requests, &index, &flag, &status);
            while (!flag);
            CHECK(index == i && values[i] == 10 * i && status.MPI_SOURCE == 1);
        }
        MPI_Testany(COUNT, requests, &index, &flag, &status);
        CHECK(flag && index == MPI_UNDEFINED && status.MPI_TAG == MPI_ANY_TAG);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(wait_some) {
    if (rank == 0) {
        int done = 0, count, indices[COUNT];
        MPI_Status statuses[COUNT];
        post();
        for (int i = 0; i < COUNT; i++) tell(i);
        while (done < COUNT) {
            MPI_Waitsome(COUNT, requests, &count, indices, statuses);
            CHECK(count >= 1 && count <= COUNT - done);
            for (int i = 0; i < count; i++) {
                CHECK(statuses[i].MPI_TAG == indices[i] && values[indices[i]] == 10 * indices[i]);
                CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
            }
            done += count;
        }
        MPI_Waitsome(COUNT, requests, &count, indices, statuses);
        CHECK(count == MPI_UNDEFINED);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(test_some) {
    if (rank == 0) {
        int done = 0, count = -1, indices[COUNT];
        MPI_Status statuses[COUNT];
        post();
        MPI_Testsome(COUNT, requests, &count, indices, statuses);
        CHECK(count == 0);
        for (int i = COUNT - 1; i >= 0; i--) tell(i);
        while (done < COUNT) {
            MPI_Testsome(COUNT, requests, &count, indices, statuses);
            for (int i = 0; i < count; i++)
                CHECK(statuses[i].MPI_TAG == indices[i] && values[indices[i]] == 10 * indices[i]);
            done += count;
        }
        MPI_Testsome(COUNT, requests, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == MPI_UNDEFINED);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(wait_all) {
    if (rank == 0) {
        MPI_Status statuses[COUNT];
        post();
        for (int i = COUNT - 1; i >= 0; i--) tell(i);
        MPI_Waitall(COUNT, requests, statuses);
        for (int i = 0; i < COUNT; i++)
            CHECK(values[i] == 10 * i && statuses[i].MPI_TAG == i && requests[i] == MPI_REQUEST_NULL);
        MPI_Waitall(COUNT, requests, statuses);
        CHECK(statuses[2].MPI_SOURCE == MPI_ANY_SOURCE && statuses[2].MPI_TAG == MPI_ANY_TAG);
        MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(test_all) {
    if (rank == 0) {
        int flag = 1;
        post();
        for (int i = 0; i < COUNT - 1; i++) tell(i);
        MPI_Testall(COUNT, requests, &flag, MPI_STATUSES_IGNORE);
        CHECK(!flag);
        for (int i = 0; i < COUNT; i++) CHECK(requests[i] != MPI_REQUEST_NULL);
        tell(COUNT - 1);
        while (!flag) MPI_Testall(COUNT, requests, &flag, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++) CHECK(values[i] == 10 * i && requests[i] == MPI_REQUEST_NULL);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(holes_in_the_list) {
    if (rank == 0) {
        MPI_Status statuses[COUNT];
        int index;
        post();
        for (int i = 0; i < COUNT; i++) tell(i);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
        MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index != 1 && index != 4);
        MPI_Waitall(COUNT, requests, statuses);
        CHECK(statuses[1].MPI_TAG == MPI_ANY_TAG && statuses[4].MPI_TAG == MPI_ANY_TAG);
        for (int i = 0; i < COUNT; i++) CHECK(values[i] == 10 * i);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

CASE(get_status) {
    if (rank == 0) {
        int flag = 1, count;
        MPI_Status status;
        MPI_Request request;
        values[0] = -1;
        MPI_Irecv(values, COUNT, MPI_INT, 1, 4, MPI_COMM_WORLD, &request);
        MPI_Request_get_status(request, &flag, &status);
        CHECK(!flag);
        tell(4);
        while (!flag) MPI_Request_get_status(request, &flag, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 1 && values[0] == 40 && status.MPI_TAG == 4);
        CHECK(request != MPI_REQUEST_NULL);
        MPI_Wait(&request, &status);
        CHECK(status.MPI_SOURCE == 1 && request == MPI_REQUEST_NULL);
        MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
        CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
        tell(-1);
    } else if (rank == 1) {
        serve();
    }
}

/* The send completes though nobody holds its request any more. */
CASE(request_free) {
    int value = 55, in = 0;
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL);
        MPI_Recv(&in, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == 56);
    } else if (rank == 1) {
        MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        in++;
        MPI_Send(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
}

CASE(many_requests) {
    enum { MANY = 500 };
    static int out[MANY], in[MANY];
    static MPI_Request all[2 * MANY];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, good = 1;
    for (int i = 0; i < MANY; i++) {
        out[i] = 1000 * rank + i;
        MPI_Irecv(&in[i], 1, MPI_INT, left, MANY - i, MPI_COMM_WORLD, &all[i]);
    }
    for (int i = 0; i < MANY; i++) MPI_Isend(&out[i], 1, MPI_INT, right, MANY - i, MPI_COMM_WORLD, &all[MANY + i]);
    MPI_Waitall(2 * MANY, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) good &= in[i] == 1000 * left + i;
    CHECK(good);
}
