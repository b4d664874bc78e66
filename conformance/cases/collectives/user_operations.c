/* ranks: 6 */
/* Operations of the program, commutative and not. */
#include "case.h"

/* Affine maps x -> a x + b modulo 97: composing them is associative, but not commutative. */
struct map { int a, b; };

static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
    struct map *first = in, *second = inout;
    (void)type;
    for (int i = 0; i < *length; i++) {
        struct map both = {first[i].a * second[i].a % 97, (second[i].a * first[i].b + second[i].b) % 97};
        second[i] = both;
    }
}

static struct map map_of(int index) {
    return (struct map){(3 * index + 2) % 97, (5 * index + 1) % 97};
}

/* The maps of ranks first ... last in order. */
static struct map in_order(int first, int last, int shift) {
    struct map all = map_of(first + shift);
    for (int i = first + 1; i <= last; i++) {
        struct map next = map_of(i + shift);
        int length = 1;
        MPI_Datatype none = MPI_DATATYPE_NULL;
        compose(&all, &next, &length, &none);
        all = next;
    }
    return all;
}

static int same(struct map one, struct map other) {
    return one.a == other.a && one.b == other.b;
}

static MPI_Op op;
static MPI_Datatype pair;

static void begin(void) {
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
}

static void end(void) {
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Type_free(&pair);
}

CASE(ordered_reduce) {
    begin();
    for (int root = 0; root < size; root++) {
        struct map out = map_of(rank), in = {0, 0};
        MPI_Reduce(&out, &in, 1, pair, op, root, MPI_COMM_WORLD);
        if (rank == root) CHECK(same(in, in_order(0, size - 1, 0)));
    }
    end();
}

CASE(ordered_allreduce) {
    enum { COUNT = 3000 };
    static struct map out[COUNT], in[COUNT];
    int good = 1;
    begin();
    for (int i = 0; i < COUNT; i++) out[i] = map_of(rank + i);
    MPI_Allreduce(out, in, COUNT, pair, op, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) good &= same(in[i], in_order(0, size - 1, i));
    CHECK(good);
    end();
}

CASE(ordered_scan) {
    struct map out = map_of(rank), in = {0, 0};
    begin();
    MPI_Scan(&out, &in, 1, pair, op, MPI_COMM_WORLD);
    CHECK(same(in, in_order(0, rank, 0)));
    MPI_Exscan(&out, &in, 1, pair, op, MPI_COMM_WORLD);
    if (rank > 0) CHECK(same(in, in_order(0, rank - 1, 0)));
    end();
}

CASE(ordered_reduce_scatter) {
    struct map out[16], in[2];
    int counts[8];
    begin();
    for (int i = 0; i < 2 * size; i++) out[i] = map_of(rank + i);
    MPI_Reduce_scatter_block(out, in, 2, pair, op, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) CHECK(same(in[i], in_order(0, size - 1, 2 * rank + i)));
    for (int i = 0; i < size; i++) counts[i] = 2;
    MPI_Reduce_scatter(out, in, counts, pair, op, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) CHECK(same(in[i], in_order(0, size - 1, 2 * rank + i)));
    end();
}

CASE(ordered_nonblocking) {
    struct map out = map_of(rank), all = {0, 0}, before = {0, 0};
    MPI_Request requests[2];
    begin();
    MPI_Iallreduce(&out, &all, 1, pair, op, MPI_COMM_WORLD, &requests[0]);
    MPI_Iscan(&out, &before, 1, pair, op, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(same(all, in_order(0, size - 1, 0)));
    CHECK(same(before, in_order(0, rank, 0)));
    end();
}

CASE(ordered_reduce_local) {
    struct map first = map_of(0), second = map_of(1);
    begin();
    MPI_Reduce_local(&first, &second, 1, pair, op);
    CHECK(same(second, in_order(0, 1, 0)));
    end();
}

static void larger_by_size(void *in, void *inout, int *length, MPI_Datatype *type) {
    double *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++)
        if (a[i] * a[i] > b[i] * b[i]) b[i] = a[i];
}

CASE(commutative) {
    MPI_Op largest;
    int flag = 0;
    double out = rank == 2 ? -100 : rank, in = 0;
    MPI_Op_create(larger_by_size, 1, &largest);
    MPI_Op_commutative(largest, &flag);
    CHECK(flag);
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, largest, MPI_COMM_WORLD);
    CHECK(in == -100);
    MPI_Op_free(&largest);
    begin();
    MPI_Op_commutative(op, &flag);
    CHECK(!flag);
    end();
}

static MPI_Datatype seen_type;
static int seen_length;

static void add_pairs(void *in, void *inout, int *length, MPI_Datatype *type) {
    int *a = in, *b = inout;
    seen_type = *type;
    seen_length = *length;
    for (int i = 0; i < 2 * *length; i++) b[i] += a[i];
}

/* The function is told the type of the call; the length counts items of it. */
CASE(told_the_type) {
    int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8];
    MPI_Op add;
    begin();
    MPI_Op_create(add_pairs, 1, &add);
    memcpy(in, out, sizeof in);
    MPI_Reduce_local(out, in, 4, pair, add);
    CHECK(in[7] == 16 && seen_type == pair && seen_length == 4);
    MPI_Allreduce(out, in, 4, pair, add, MPI_COMM_WORLD);
    CHECK(in[0] == size && in[7] == 8 * size);
    MPI_Op_free(&add);
    end();
}

static void add_spread(void *in, void *inout, int *length, MPI_Datatype *type) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *length; i++) {
        int *a = (int *)((char *)in + i * extent), *b = (int *)((char *)inout + i * extent);
        b[0] += a[0];
        b[2] += a[2];
    }
}

/* A type with a hole: what lies in it is left alone at the receiver. */
CASE(type_with_holes) {
    int out[9], in[9];
    MPI_Datatype hole;
    MPI_Op add;
    for (int i = 0; i < 9; i++) out[i] = i + rank, in[i] = -1;
    MPI_Type_vector(2, 1, 2, MPI_INT, &hole);
    MPI_Type_commit(&hole);
    MPI_Op_create(add_spread, 1, &add);
    MPI_Allreduce(out, in, 3, hole, add, MPI_COMM_WORLD);
    for (int i = 0; i < 9; i++)
        if (i % 3 != 1) CHECK(in[i] == size * i + size * (size - 1) / 2);
        else CHECK(in[i] == -1);
    MPI_Op_free(&add);
    MPI_Type_free(&hole);
}
