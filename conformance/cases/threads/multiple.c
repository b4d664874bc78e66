/* ranks: 4 */
/* Threads of a rank that wait in MPI at the same time. */
#define CASE_LEVEL MPI_THREAD_MULTIPLE
#include "case.h"

#include <pthread.h>

static pthread_t begin(void *(*work)(void *), void *what) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, what) == 0);
    return thread;
}

static int end(pthread_t thread) {
    void *result = NULL;
    CHECK(pthread_join(thread, &result) == 0);
    return (int)(size_t)result;
}

/* Numbers go around, and each rank adds its own to what comes. */
struct ring {
    MPI_Comm comm;
    int tag, turns, sum;
};

static void *go_around(void *what) {
    struct ring *ring = what;
    int left = (rank + size - 1) % size, right = (rank + 1) % size, number = 0;
    for (int i = 0; i < ring->turns; i++) {
        int sent = number + rank;
        MPI_Request request;
        MPI_Irecv(&number, 1, MPI_INT, left, ring->tag, ring->comm, &request);
        MPI_Send(&sent, 1, MPI_INT, right, ring->tag, ring->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    ring->sum = number;
    return NULL;
}

/* What comes back after so many turns. */
static int around(int turns) {
    int sum = 0;
    for (int i = 1; i <= turns; i++) sum += (rank + size * turns - i) % size;
    return sum;
}

CASE(level) {
    int level, is_main;
    MPI_Query_thread(&level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&is_main);
    CHECK(is_main);
}

static void *is_other(void *unused) {
    int is_main = 1;
    MPI_Is_thread_main(&is_main);
    return (void *)(size_t)(unused == NULL && !is_main);
}

CASE(main_thread) {
    CHECK(end(begin(is_other, NULL)));
}

CASE(two_tags) {
    struct ring first = {MPI_COMM_WORLD, 1, 40, -1}, second = {MPI_COMM_WORLD, 2, 70, -1};
    pthread_t thread = begin(go_around, &first);
    go_around(&second);
    end(thread);
    CHECK(first.sum == around(40) && second.sum == around(70));
}

CASE(many_communicators) {
    enum { MANY = 5 };
    struct ring rings[MANY];
    pthread_t threads[MANY];
    for (int i = 0; i < MANY; i++) {
        rings[i] = (struct ring){MPI_COMM_NULL, 3, 10 + 7 * i, -1};
        MPI_Comm_dup(MPI_COMM_WORLD, &rings[i].comm);
    }
    for (int i = 0; i < MANY; i++) threads[i] = begin(go_around, &rings[i]);
    for (int i = 0; i < MANY; i++) {
        end(threads[i]);
        CHECK(rings[i].sum == around(10 + 7 * i));
        MPI_Comm_free(&rings[i].comm);
    }
}

/* Waits for messages until one says that there are no more. */
static void *serve(void *what) {
    MPI_Comm comm = *(MPI_Comm *)what;
    int sum = 0, number = 0;
    do {
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &status);
        if (number >= 0) sum += number + status.MPI_SOURCE;
    } while (number >= 0);
    return (void *)(size_t)sum;
}

CASE(server) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_t server = begin(serve, &comm);
    int expected = 0;
    for (int i = 0; i < 20; i++) {
        int sum = 0;
        MPI_Send(&i, 1, MPI_INT, (rank + i) % size, 4, comm);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
        expected += i + (rank + size * 20 - i) % size;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int stop = -1;
    MPI_Send(&stop, 1, MPI_INT, rank, 4, comm);
    CHECK(end(server) == expected);
    MPI_Comm_free(&comm);
}

/* Each thread has a communicator for itself, and all sorts of collective calls on it. */
static void *collect(void *what) {
    MPI_Comm comm = *(MPI_Comm *)what;
    int wrong = 0;
    for (int i = 0; i < 15; i++) {
        int all[16], sum, number = rank == i % size ? 100 + i : 0;
        MPI_Bcast(&number, 1, MPI_INT, i % size, comm);
        wrong += number != 100 + i;
        MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int j = 0; j < size; j++) wrong += all[j] != j;
        MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
        wrong += rank == 0 && sum != i * size;
        MPI_Barrier(comm);
    }
    return (void *)(size_t)wrong;
}

CASE(collectives) {
    enum { MANY = 3 };
    MPI_Comm comms[MANY];
    pthread_t threads[MANY];
    for (int i = 0; i < MANY; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < MANY; i++) threads[i] = begin(collect, &comms[i]);
    MPI_Comm mine;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    CHECK(collect(&mine) == NULL);
    MPI_Comm_free(&mine);
    for (int i = 0; i < MANY; i++) {
        CHECK(end(threads[i]) == 0);
        MPI_Comm_free(&comms[i]);
    }
}

static void *probe(void *what) {
    int tag = *(int *)what, count = 0, *numbers;
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    numbers = calloc(count, sizeof *numbers);
    MPI_Recv(numbers, count, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int is_right = count == tag && numbers[count - 1] == tag + status.MPI_SOURCE;
    free(numbers);
    return (void *)(size_t)is_right;
}

static void *probe_and_take(void *what) {
    int tag = *(int *)what, numbers[64], count = 0;
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Mrecv(numbers, count, MPI_INT, &message, &status);
    return (void *)(size_t)(count == tag && numbers[count - 1] == tag + status.MPI_SOURCE);
}

CASE(probes) {
    int tags[] = {10, 20, 30, 40}, numbers[64], right = (rank + 1) % size;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = begin(i % 2 ? probe_and_take : probe, &tags[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 3; i >= 0; i--) {
        for (int j = 0; j < tags[i]; j++) numbers[j] = tags[i] + rank;
        MPI_Send(numbers, tags[i], MPI_INT, right, tags[i], MPI_COMM_WORLD);
    }
    for (int i = 0; i < 4; i++) CHECK(end(threads[i]) == 1);
}

/* One thread posts a receive, another one waits for it. */
static void *wait_for(void *what) {
    MPI_Request *request = what;
    MPI_Status status;
    MPI_Wait(request, &status);
    return (void *)(size_t)(*request == MPI_REQUEST_NULL && status.MPI_TAG == 5);
}

CASE(requests_of_others) {
    int number = -1, sent = 7 * rank, left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &request);
    pthread_t thread = begin(wait_for, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&sent, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    CHECK(end(thread) == 1 && number == 7 * left);
}

static void *wait_for_some(void *what) {
    int numbers[6], tag = *(int *)what, left = (rank + size - 1) % size, right = (rank + 1) % size, done = 0;
    MPI_Request requests[6];
    for (int i = 0; i < 6; i++) MPI_Irecv(&numbers[i], 1, MPI_INT, left, tag + i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 5; i >= 0; i--) MPI_Send(&tag, 1, MPI_INT, right, tag + i, MPI_COMM_WORLD);
    int index, many, places[6];
    MPI_Waitany(6, requests, &index, MPI_STATUS_IGNORE);
    for (done = 1; done < 5; done += many) MPI_Waitsome(6, requests, &many, places, MPI_STATUSES_IGNORE);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 6; i++) done += numbers[i] == tag;
    return (void *)(size_t)(done >= 11);
}

CASE(completions) {
    int tags[] = {100, 200, 300};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = begin(wait_for_some, &tags[i]);
    for (int i = 0; i < 3; i++) CHECK(end(threads[i]) == 1);
}

/* Tests again and again, while the other thread waits. */
static void *test_until_done(void *what) {
    int number = 0, done = 0, left = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, left, 6, *(MPI_Comm *)what, &request);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return (void *)(size_t)(number == 11);
}

CASE(test_beside_wait) {
    int number = 11, right = (rank + 1) % size;
    MPI_Comm comm = MPI_COMM_WORLD;
    pthread_t thread = begin(test_until_done, &comm);
    MPI_Barrier(comm);
    MPI_Send(&number, 1, MPI_INT, right, 6, comm);
    MPI_Barrier(comm);
    CHECK(end(thread) == 1);
}

/* The program's own locks: what one thread has received, another one passes on. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int mailbox;

static void *receive_for_other(void *unused) {
    int left = (rank + size - 1) % size;
    for (int i = 0; i < 25; i++) {
        int number;
        MPI_Recv(&number, 1, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_mutex_lock(&lock);
        while (mailbox) pthread_cond_wait(&change, &lock);
        mailbox = number;
        pthread_cond_broadcast(&change);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static int take(void) {
    pthread_mutex_lock(&lock);
    while (!mailbox) pthread_cond_wait(&change, &lock);
    int number = mailbox;
    mailbox = 0;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    return number;
}

CASE(hand_over) {
    int number = 1, right = (rank + 1) % size;
    pthread_t thread = begin(receive_for_other, NULL);
    for (int i = 0; i < 25; i++) {
        if (rank > 0) number = take();
        CHECK(number == 1 + i);
        number += rank == size - 1;
        MPI_Send(&number, 1, MPI_INT, right, 8, MPI_COMM_WORLD);
        if (rank == 0) number = take();
    }
    end(thread);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Long messages, which need both sides. */
static void *exchange(void *what) {
    enum { LONG = 200000 };
    int tag = *(int *)what, peer = rank ^ 1;
    int *sent = malloc(LONG * sizeof *sent), *got = calloc(LONG, sizeof *got);
    for (int i = 0; i < LONG; i++) sent[i] = tag + rank + i;
    if (rank & 1) {
        MPI_Recv(got, LONG, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend(sent, LONG, MPI_INT, peer, tag, MPI_COMM_WORLD);
    } else {
        MPI_Ssend(sent, LONG, MPI_INT, peer, tag, MPI_COMM_WORLD);
        MPI_Recv(got, LONG, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    int is_right = 1;
    for (int i = 0; i < LONG; i++) is_right &= got[i] == tag + peer + i;
    free(sent);
    free(got);
    return (void *)(size_t)is_right;
}

CASE(long_messages) {
    int tags[] = {1000, 2000, 3000};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = begin(exchange, &tags[i]);
    for (int i = 0; i < 3; i++) CHECK(end(threads[i]) == 1);
}

/* Communicators that are made at the same time, each from one that its thread has for itself. */
static void *make_communicators(void *what) {
    MPI_Comm comm = *(MPI_Comm *)what;
    int is_right = 1;
    for (int i = 0; i < 5; i++) {
        MPI_Comm half, copy;
        int number, count, sum, evens = (size + 1) / 2;
        MPI_Comm_split(comm, rank % 2, -rank, &half);
        MPI_Comm_size(half, &count);
        MPI_Comm_rank(half, &number);
        is_right &= count == (rank % 2 ? size - evens : evens) && number == count - 1 - rank / 2;
        MPI_Comm_dup(half, &copy);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, copy);
        is_right &= sum == rank % 2 + 2 * (count - 1);
        MPI_Comm_free(&half);
        MPI_Comm_free(&copy);
    }
    return (void *)(size_t)is_right;
}

CASE(making_communicators) {
    MPI_Comm comms[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 3; i++) threads[i] = begin(make_communicators, &comms[i]);
    for (int i = 0; i < 3; i++) {
        CHECK(end(threads[i]) == 1);
        MPI_Comm_free(&comms[i]);
    }
}

/* Threads that come and go, each with a message. */
static void *send_one(void *what) {
    int number = *(int *)what;
    MPI_Send(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    return NULL;
}

CASE(short_lives) {
    int numbers[30], sum = 0;
    for (int i = 0; i < 30; i++) {
        numbers[i] = i;
        pthread_t thread = begin(send_one, &numbers[i]);
        if (rank == 0) {
            for (int j = 0; j < size; j++) {
                int number;
                MPI_Recv(&number, 1, MPI_INT, j, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += number;
            }
        }
        end(thread);
    }
    CHECK(rank > 0 || sum == size * 435);
}

/* Time goes on for all threads alike. */
static void *receive_and_read_clock(void *what) {
    int number;
    MPI_Recv(&number, 1, MPI_INT, (rank + size - 1) % size, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *(double *)what = MPI_Wtime();
    return NULL;
}

CASE(clocks) {
    double received = 0, before = MPI_Wtime();
    pthread_t thread = begin(receive_and_read_clock, &received);
    MPI_Barrier(MPI_COMM_WORLD);
    double sent = MPI_Wtime();
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 12, MPI_COMM_WORLD);
    end(thread);
    double after = MPI_Wtime();
    CHECK(before <= sent && sent <= after && before < received && received <= after);
}

/* An operation of the program's own, that another thread completes. */
static int query(void *extra, MPI_Status *status) {
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 3;
    return MPI_SUCCESS;
}

static int release(void *extra) {
    *(int *)extra = -1;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
    return extra && complete ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void *complete(void *what) {
    int number;
    MPI_Recv(&number, 1, MPI_INT, (rank + 1) % size, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Grequest_complete(*(MPI_Request *)what);
    return NULL;
}

CASE(own_requests) {
    int count = 17, found = 0;
    MPI_Request request, handle;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &count, &request);
    handle = request;
    pthread_t thread = begin(complete, &handle);
    MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 14, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &found);
    CHECK(found == 17 && status.MPI_TAG == 3 && count == -1 && request == MPI_REQUEST_NULL);
    end(thread);
}

#if MPI_VERSION >= 4
/* Parts of a message, each made ready by a thread. */
struct part {
    MPI_Request request;
    int number;
};

static void *make_ready(void *what) {
    struct part *part = what;
    int number;
    MPI_Recv(&number, 1, MPI_INT, rank, 15 + part->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pready(part->number, part->request);
    return NULL;
}

#endif

CASE(parts) {
#if MPI_VERSION >= 4
    enum { PARTS = 3 };
    int sent[PARTS], got[PARTS] = {0}, left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request send, receive;
    pthread_t threads[PARTS];
    struct part parts[PARTS];
    MPI_Psend_init(sent, PARTS, 1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(got, PARTS, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&receive);
    MPI_Start(&send);
    for (int i = 0; i < PARTS; i++) {
        sent[i] = 10 * rank + i;
        parts[i] = (struct part){send, i};
        threads[i] = begin(make_ready, &parts[i]);
    }
    for (int i = PARTS - 1; i >= 0; i--) MPI_Send(&i, 1, MPI_INT, rank, 15 + i, MPI_COMM_WORLD);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    for (int i = 0; i < PARTS; i++) {
        end(threads[i]);
        CHECK(got[i] == 10 * left + i);
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
#endif
}
