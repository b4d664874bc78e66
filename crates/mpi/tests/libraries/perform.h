/* Does the collectives that openmpi.c and mpich.c watch, and prints what they saw.
 *
 * Cases come from a file, one a line: operation, count, bytes of an element, root. For each case and rank a line is
 * printed: "operation count element root rank |" and the calls:
 *   S3:40 blocking send of 40 bytes to rank 3     s3:40 non-blocking     Y3:40, y3:40 synchronous
 *   R3    blocking receive from rank 3             r3    non-blocking
 *   w2    wait for two messages
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Blocks that differ, one of them empty: the same as `uneven` in the tests of the collectives. */
static int uneven(int which) {
    static const int counts[] = {7, 0, 90, 1, 33};
    return counts[which % 5];
}

static MPI_Datatype type_of(int element) {
    return element == 1 ? MPI_UNSIGNED_CHAR : element == 4 ? MPI_INT : MPI_DOUBLE;
}

/* An operator of the program's own; what it does is of no account. */
static void combine(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

/* The operator of a reduction: the program's own where the operation's name ends with -own (commutative) or -ordered
 * (not commutative), which is then cut off, otherwise MPI_SUM. */
static MPI_Op operator_of(char *operation) {
    MPI_Op op = MPI_SUM;
    char *own = strstr(operation, "-own"), *ordered = strstr(operation, "-ordered");
    if (own || ordered) {
        MPI_Op_create(combine, own != NULL, &op);
        *(own ? own : ordered) = 0;
    }
    return op;
}

/* Performs one collective; the data is whatever the buffers hold. */
static void perform(const char *name, int count, int element, int root, char *from, char *to) {
    char operation[64];
    strcpy(operation, name);
    MPI_Op op = operator_of(operation);
    MPI_Datatype type = type_of(element);
    MPI_Comm comm = MPI_COMM_WORLD;
    int *counts = malloc(sizeof(int) * 4 * ranks);
    int *offsets = counts + ranks, *incoming = counts + 2 * ranks, *incoming_offsets = counts + 3 * ranks;
    for (int other = 0, sum = 0; other < ranks; other++) {
        counts[other] = count * uneven(other);
        offsets[other] = sum;
        sum += counts[other];
    }
    if (!strcmp(operation, "alltoallv") || !strcmp(operation, "ialltoallv")) {
        for (int other = 0, out = 0, in = 0; other < ranks; other++) {
            counts[other] = count * uneven(rank + 2 * other);
            incoming[other] = count * uneven(other + 2 * rank);
            offsets[other] = out;
            incoming_offsets[other] = in;
            out += counts[other];
            in += incoming[other];
        }
    }
    MPI_Request request = MPI_REQUEST_NULL;
#define IS(name) (!strcmp(operation, name))
    if (IS("barrier")) MPI_Barrier(comm);
    else if (IS("bcast")) MPI_Bcast(from, count, type, root, comm);
    else if (IS("reduce")) MPI_Reduce(from, to, count, type, op, root, comm);
    else if (IS("allreduce")) MPI_Allreduce(from, to, count, type, op, comm);
    else if (IS("gather")) MPI_Gather(from, count, type, to, count, type, root, comm);
    else if (IS("gatherv")) MPI_Gatherv(from, counts[rank], type, to, counts, offsets, type, root, comm);
    else if (IS("scatter")) MPI_Scatter(from, count, type, to, count, type, root, comm);
    else if (IS("scatterv")) MPI_Scatterv(from, counts, offsets, type, to, counts[rank], type, root, comm);
    else if (IS("allgather")) MPI_Allgather(from, count, type, to, count, type, comm);
    else if (IS("allgatherv")) MPI_Allgatherv(from, counts[rank], type, to, counts, offsets, type, comm);
    else if (IS("alltoall")) MPI_Alltoall(from, count, type, to, count, type, comm);
    else if (IS("alltoallv")) MPI_Alltoallv(from, counts, offsets, type, to, incoming, incoming_offsets, type, comm);
    else if (IS("reduce-scatter")) MPI_Reduce_scatter(from, to, counts, type, op, comm);
    else if (IS("reduce-scatter-block")) MPI_Reduce_scatter_block(from, to, count, type, op, comm);
    else if (IS("scan")) MPI_Scan(from, to, count, type, op, comm);
    else if (IS("exscan")) MPI_Exscan(from, to, count, type, op, comm);
    else if (IS("ibarrier")) MPI_Ibarrier(comm, &request);
    else if (IS("ibcast")) MPI_Ibcast(from, count, type, root, comm, &request);
    else if (IS("ireduce")) MPI_Ireduce(from, to, count, type, op, root, comm, &request);
    else if (IS("iallreduce")) MPI_Iallreduce(from, to, count, type, op, comm, &request);
    else if (IS("igather")) MPI_Igather(from, count, type, to, count, type, root, comm, &request);
    else if (IS("igatherv")) MPI_Igatherv(from, counts[rank], type, to, counts, offsets, type, root, comm, &request);
    else if (IS("iscatter")) MPI_Iscatter(from, count, type, to, count, type, root, comm, &request);
    else if (IS("iscatterv"))
        MPI_Iscatterv(from, counts, offsets, type, to, counts[rank], type, root, comm, &request);
    else if (IS("iallgather")) MPI_Iallgather(from, count, type, to, count, type, comm, &request);
    else if (IS("iallgatherv"))
        MPI_Iallgatherv(from, counts[rank], type, to, counts, offsets, type, comm, &request);
    else if (IS("ialltoall")) MPI_Ialltoall(from, count, type, to, count, type, comm, &request);
    else if (IS("ialltoallv"))
        MPI_Ialltoallv(from, counts, offsets, type, to, incoming, incoming_offsets, type, comm, &request);
    else if (IS("ireduce-scatter")) MPI_Ireduce_scatter(from, to, counts, type, op, comm, &request);
    else if (IS("ireduce-scatter-block")) MPI_Ireduce_scatter_block(from, to, count, type, op, comm, &request);
    else if (IS("iscan")) MPI_Iscan(from, to, count, type, op, comm, &request);
    else if (IS("iexscan")) MPI_Iexscan(from, to, count, type, op, comm, &request);
    else {
        fprintf(stderr, "unknown operation %s\n", operation);
        MPI_Abort(comm, 2);
    }
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (op != MPI_SUM) MPI_Op_free(&op);
    free(counts);
}

/* What was seen so far in the case at hand. */
static int recording;
static char *calls;
static size_t used, room;

static void note(const char *text) {
    if (!recording) return;
    size_t length = strlen(text);
    if (used + length + 2 > room) {
        room = 2 * room + length + 64;
        calls = realloc(calls, room);
    }
    used += sprintf(calls + used, " %s", text);
}

/* Does every case of the file and prints the calls of each rank. */
static int run_cases(const char *file) {
    char operation[64];
    int count, element, root;
    FILE *cases = file ? fopen(file, "r") : NULL;
    if (!cases) {
        fprintf(stderr, "give the file of cases\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    while (fscanf(cases, "%63s %d %d %d", operation, &count, &element, &root) == 4) {
        root %= ranks;
        size_t size = ((size_t)count * 91 * ranks + 64) * element;
        char *from = calloc(size, 1), *to = calloc(size, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        used = 0;
        recording = 1;
        perform(operation, count, element, root, from, to);
        recording = 0;
        for (int speaker = 0; speaker < ranks; speaker++) {
            int length = (int)used;
            if (rank != 0 && speaker == rank) {
                MPI_Send(&length, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
                MPI_Send(calls, length, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            }
            if (rank == 0) {
                char *text = calls;
                if (speaker != 0) {
                    MPI_Recv(&length, 1, MPI_INT, speaker, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    text = malloc(length + 1);
                    MPI_Recv(text, length, MPI_CHAR, speaker, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }
                printf("%s %d %d %d %d |%.*s\n", operation, count, element, root, speaker, length, length ? text : "");
                if (speaker != 0) free(text);
            }
        }
        free(from);
        free(to);
    }
    return 0;
}
