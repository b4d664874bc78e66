/* ranks: 3 */
/* A buffer may be changed as soon as a function has ended its request, whenever the message is received. */
#include "case.h"

enum { MOST = 5000, MESSAGES = 3 };
static char sent[MESSAGES][MOST], received[MESSAGES][MOST];
static MPI_Request requests[MESSAGES];
static const int lengths[] = {1, 8, 40, 300, MOST};
#define EACH_LENGTH(i) for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++)

static void fill(int seed) {
    for (int m = 0; m < MESSAGES; m++)
        for (int i = 0; i < MOST; i++) sent[m][i] = (char)(seed + 7 * m + i % 13);
}

/* The messages are buffered, so that they end without a receive. */
static void begin(int bytes, int seed) {
    fill(seed);
    for (int m = 0; m < MESSAGES; m++) MPI_Ibsend(sent[m], bytes, MPI_CHAR, 1, m, MPI_COMM_WORLD, &requests[m]);
}

/* Only now the receiver may begin. */
static void overwrite(void) {
    memset(sent, -1, sizeof sent);
    MPI_Send(NULL, 0, MPI_INT, 1, MESSAGES, MPI_COMM_WORLD);
}

static void receive(int bytes, int seed) {
    fill(seed);
    memset(received, 0, sizeof received);
    MPI_Recv(NULL, 0, MPI_INT, 0, MESSAGES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int m = MESSAGES - 1; m >= 0; m--) {
        MPI_Recv(received[m], bytes, MPI_CHAR, 0, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(memcmp(sent[m], received[m], bytes) == 0);
        CHECK(bytes == MOST || received[m][bytes] == 0);
    }
}

static void try_with(void (*end)(void)) {
    int room = MESSAGES * (MOST + MPI_BSEND_OVERHEAD), length;
    void *space = malloc(room);
    MPI_Buffer_attach(space, room);
    EACH_LENGTH(i) {
        if (rank == 0) {
            begin(lengths[i], i);
            end();
            overwrite();
        } else if (rank == 1) {
            receive(lengths[i], i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&space, &length);
    free(space);
}

static void wait(void) {
    for (int m = 0; m < MESSAGES; m++) MPI_Wait(&requests[m], MPI_STATUS_IGNORE);
}
static void wait_all(void) { MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE); }
static void wait_any(void) {
    int index;
    for (int m = 0; m < MESSAGES; m++) MPI_Waitany(MESSAGES, requests, &index, MPI_STATUS_IGNORE);
}
static void wait_some(void) {
    int done = 0, count, indices[MESSAGES];
    while (done < MESSAGES) {
        MPI_Waitsome(MESSAGES, requests, &count, indices, MPI_STATUSES_IGNORE);
        done += count;
    }
}
static void test(void) {
    for (int m = 0, done; m < MESSAGES; m++)
        do MPI_Test(&requests[m], &done, MPI_STATUS_IGNORE);
        while (!done);
}
static void test_all(void) {
    int done;
    do MPI_Testall(MESSAGES, requests, &done, MPI_STATUSES_IGNORE);
    while (!done);
}
static void ask(void) {
    for (int m = 0, done; m < MESSAGES; m++)
        do MPI_Request_get_status(requests[m], &done, MPI_STATUS_IGNORE);
        while (!done);
    /* The messages have left: what is known of them does not depend on the buffer. */
    memset(sent, -1, sizeof sent);
    wait_all();
}

CASE(after_wait) { try_with(wait); }
CASE(after_waitall) { try_with(wait_all); }
CASE(after_waitany) { try_with(wait_any); }
CASE(after_waitsome) { try_with(wait_some); }
CASE(after_test) { try_with(test); }
CASE(after_testall) { try_with(test_all); }
CASE(after_request_get_status) { try_with(ask); }

/* Each rank sends to both others before anybody receives, and waits for all at the end: some messages meet their receives at
 * once, others later. */
CASE(exchanged) {
    static int numbers[2][2][2000];
    for (int round = 0; round < 20; round++) {
        MPI_Request all[4];
        int count = round % 2 ? 2000 : 70;
        for (int way = 0; way < 2; way++)
            for (int i = 0; i < count; i++) numbers[0][way][i] = 100000 * rank + 1000 * round + 10 * way + i;
        for (int way = 0; way < 2; way++) {
            int peer = (rank + 1 + way) % size;
            if (rank == round % 3) MPI_Irecv(numbers[1][way], count, MPI_INT, peer, 0, MPI_COMM_WORLD, &all[2 + way]);
            MPI_Isend(numbers[0][way], count, MPI_INT, peer, 0, MPI_COMM_WORLD, &all[way]);
        }
        for (int way = 0; way < 2; way++) {
            int peer = (rank + 1 + way) % size;
            if (rank != round % 3) MPI_Irecv(numbers[1][way], count, MPI_INT, peer, 0, MPI_COMM_WORLD, &all[2 + way]);
        }
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        for (int way = 0; way < 2; way++) {
            int peer = (rank + 1 + way) % size, good = 1;
            for (int i = 0; i < count; i++)
                good &= numbers[1][way][i] == 100000 * peer + 1000 * round + 10 * (1 - way) + i;
            CHECK(good);
        }
    }
}

/* Waits for one message while the data of others is still on its way. */
CASE(in_another_order) {
    enum { COUNT = 500 };
    static int out[4][COUNT], in[COUNT];
    if (rank == 0) {
        MPI_Request all[4];
        for (int m = 0; m < 4; m++) {
            for (int i = 0; i < COUNT; i++) out[m][i] = 10000 * m + i;
            MPI_Isend(out[m], COUNT, MPI_INT, 1, m, MPI_COMM_WORLD, &all[m]);
        }
        for (int m = 0; m < 4; m++) {
            MPI_Wait(&all[m], MPI_STATUS_IGNORE);
            memset(out[m], 0, sizeof out[m]);
        }
    } else if (rank == 1) {
        for (int m = 3; m >= 0; m--) {
            int good = 1;
            MPI_Request request;
            MPI_Irecv(in, COUNT, MPI_INT, 0, m, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; i < COUNT; i++) good &= in[i] == 10000 * m + i;
            CHECK(good);
        }
    }
}
