/* ranks: 2 */
/* The four send modes, blocking and not, with messages of many sizes. */
#include "case.h"

static int numbers[100000];

static void expect(int count, int first) {
    int good = 1;
    for (int i = 0; i < count; i++) good &= numbers[i] == first + i;
    CHECK(good);
}

static void fill(int count, int first) {
    for (int i = 0; i < count; i++) numbers[i] = first + i;
}

static void receive(int count, int first) {
    memset(numbers, 0, sizeof numbers);
    MPI_Recv(numbers, count, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(count, first);
}

static const int counts[] = {0, 1, 2, 63, 1000, 100000};
#define EACH_COUNT(i) for (int i = 0; i < (int)(sizeof counts / sizeof *counts); i++)

CASE(standard) {
    EACH_COUNT(i) {
        if (rank == 0) {
            fill(counts[i], i);
            MPI_Send(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            receive(counts[i], i);
        }
    }
}

CASE(synchronous) {
    EACH_COUNT(i) {
        if (rank == 0) {
            fill(counts[i], i);
            MPI_Ssend(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            receive(counts[i], i);
        }
    }
}

CASE(buffered) {
    int bytes = 100000 * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
    char *space = malloc(bytes);
    MPI_Buffer_attach(space, bytes);
    EACH_COUNT(i) {
        if (rank == 0) {
            fill(counts[i], i);
            MPI_Bsend(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD);
            fill(counts[i], -5);
            MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            receive(counts[i], i);
            MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
    }
    void *detached;
    int length;
    MPI_Buffer_detach(&detached, &length);
    CHECK(detached == space);
    CHECK(length == bytes);
    free(space);
}

CASE(ready) {
    EACH_COUNT(i) {
        if (rank == 0) {
            fill(counts[i], i);
            MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Rsend(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Request request;
            memset(numbers, 0, sizeof numbers);
            MPI_Irecv(numbers, counts[i], MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
            MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(request == MPI_REQUEST_NULL);
            expect(counts[i], i);
        }
    }
}

CASE(nonblocking_standard) {
    EACH_COUNT(i) {
        if (rank == 0) {
            MPI_Request request;
            fill(counts[i], i);
            MPI_Isend(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(request == MPI_REQUEST_NULL);
        } else if (rank == 1) {
            receive(counts[i], i);
        }
    }
}

CASE(nonblocking_synchronous) {
    EACH_COUNT(i) {
        if (rank == 0) {
            MPI_Request request;
            int done;
            fill(counts[i], i);
            MPI_Issend(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
            /* Nobody receives before the word of rank 0, so the send cannot be complete. */
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            CHECK(!done);
            CHECK(request != MPI_REQUEST_NULL);
            MPI_Send(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            receive(counts[i], i);
        }
    }
}

CASE(nonblocking_buffered) {
    int bytes = 100000 * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
    char *space = malloc(bytes);
    MPI_Buffer_attach(space, bytes);
    EACH_COUNT(i) {
        if (rank == 0) {
            MPI_Request request;
            fill(counts[i], i);
            MPI_Ibsend(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
            /* Completes without a receive, as the message lies in the buffer. */
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            fill(counts[i], -5);
            MPI_Send(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            receive(counts[i], i);
            MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
    }
    MPI_Buffer_detach(&space, &bytes);
    free(space);
}

CASE(nonblocking_ready) {
    EACH_COUNT(i) {
        MPI_Request request;
        if (rank == 0) {
            fill(counts[i], i);
            MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Irsend(numbers, counts[i], MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Irecv(numbers, counts[i], MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
            MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect(counts[i], i);
        }
    }
}

/* Two bsends in the buffer before the first receive is posted, to both directions: no deadlock. */
CASE(buffered_both_ways) {
    int bytes = 2 * (1000 * (int)sizeof(int) + MPI_BSEND_OVERHEAD), other = 1 - rank;
    char *space = malloc(bytes);
    int in[1000];
    if (rank < 2) {
        MPI_Buffer_attach(space, bytes);
        fill(1000, rank);
        MPI_Bsend(numbers, 1000, MPI_INT, other, 1, MPI_COMM_WORLD);
        fill(1000, rank + 10);
        MPI_Bsend(numbers, 1000, MPI_INT, other, 2, MPI_COMM_WORLD);
        MPI_Recv(in, 1000, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[999] == other + 10 + 999);
        MPI_Recv(in, 1000, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[999] == other + 999);
        MPI_Buffer_detach(&space, &bytes);
    }
    free(space);
}

CASE(pack_size_bounds_buffer) {
    int bytes;
    MPI_Pack_size(50, MPI_DOUBLE, MPI_COMM_WORLD, &bytes);
    CHECK(bytes >= 50 * (int)sizeof(double));
    bytes += MPI_BSEND_OVERHEAD;
    char *space = malloc(bytes);
    double out[50], in[50];
    for (int i = 0; i < 50; i++) out[i] = i * 0.5;
    MPI_Buffer_attach(space, bytes);
    if (rank == 0) MPI_Bsend(out, 50, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(in, 50, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(memcmp(in, out, sizeof in) == 0);
    }
    MPI_Buffer_detach(&space, &bytes);
    free(space);
}
