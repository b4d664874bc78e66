/* ranks: 6 */
/* Collectives among the neighbours in a topology. */
#include "case.h"

static MPI_Comm ring(int periodic) {
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    return comm;
}

/* Ring with two neighbours: the one below first, then the one above. */
static int below(void) { return (rank + size - 1) % size; }
static int above(void) { return (rank + 1) % size; }

CASE(allgather_on_ring) {
    MPI_Comm comm = ring(1);
    int out = rank * 10, in[2] = {-1, -1};
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == 10 * below() && in[1] == 10 * above());
    MPI_Comm_free(&comm);
}

/* At the open ends nothing comes, and the place stays as it was. */
CASE(allgather_on_line) {
    MPI_Comm comm = ring(0);
    int out = rank * 10, in[2] = {-1, -1};
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == (rank > 0 ? 10 * below() : -1));
    CHECK(in[1] == (rank < size - 1 ? 10 * above() : -1));
    MPI_Comm_free(&comm);
}

CASE(allgatherv_on_ring) {
    MPI_Comm comm = ring(1);
    int out[8], in[20], counts[2] = {below() + 1, above() + 1}, places[2] = {10, 1};
    for (int i = 0; i < 8; i++) out[i] = 10 * rank + i;
    memset(in, -1, sizeof in);
    MPI_Neighbor_allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, comm);
    CHECK(in[0] == -1);
    for (int i = 0; i <= below(); i++) CHECK(in[10 + i] == 10 * below() + i);
    for (int i = 0; i <= above(); i++) CHECK(in[1 + i] == 10 * above() + i);
    MPI_Comm_free(&comm);
}

CASE(alltoall_on_ring) {
    MPI_Comm comm = ring(1);
    int out[2] = {2 * rank, 2 * rank + 1}, in[2] = {-1, -1};
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == 2 * below() + 1 && in[1] == 2 * above());
    MPI_Comm_free(&comm);
}

CASE(alltoall_on_grid) {
    MPI_Comm comm;
    int dims[2] = {2, 3}, periods[2] = {0, 1}, out[8], in[8], neighbours[4];
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Cart_shift(comm, 0, 1, &neighbours[0], &neighbours[1]);
    MPI_Cart_shift(comm, 1, 1, &neighbours[2], &neighbours[3]);
    for (int i = 0; i < 8; i++) out[i] = 100 * rank + i, in[i] = -1;
    MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    for (int i = 0; i < 4; i++) {
        /* What comes from a direction was sent to the opposite one. */
        int opposite = i ^ 1;
        for (int j = 0; j < 2; j++)
            CHECK(in[2 * i + j] == (neighbours[i] == MPI_PROC_NULL ? -1 : 100 * neighbours[i] + 2 * opposite + j));
    }
    MPI_Comm_free(&comm);
}

CASE(alltoallv_on_ring) {
    MPI_Comm comm = ring(1);
    int out[4] = {rank, rank + 10, rank + 20, rank + 30}, in[4] = {-1, -1, -1, -1};
    int out_counts[2] = {1, 2}, out_places[2] = {3, 0}, in_counts[2] = {2, 1}, in_places[2] = {2, 0};
    MPI_Neighbor_alltoallv(out, out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT, comm);
    CHECK(in[2] == below() && in[3] == below() + 10 && in[0] == above() + 30 && in[1] == -1);
    MPI_Comm_free(&comm);
}

CASE(alltoallw_on_ring) {
    MPI_Comm comm = ring(1);
    struct { int a; double b; } out = {rank, rank + 0.5}, in = {-1, -1};
    int counts[2] = {1, 1};
    MPI_Aint out_places[2] = {0, 8}, in_places[2] = {8, 0};
    MPI_Datatype out_types[2] = {MPI_INT, MPI_DOUBLE}, in_types[2] = {MPI_DOUBLE, MPI_INT};
    /* The number goes down, the real goes up. */
    MPI_Neighbor_alltoallw(&out, counts, out_places, out_types, &in, counts, in_places, in_types, comm);
    CHECK(in.a == above() && in.b == below() + 0.5);
    MPI_Comm_free(&comm);
}

CASE(nonblocking_on_ring) {
    MPI_Comm comm = ring(1);
    MPI_Request requests[5];
    int out[2] = {2 * rank, 2 * rank + 1}, in[5][4], counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Ineighbor_allgather(out, 1, MPI_INT, in[0], 1, MPI_INT, comm, &requests[0]);
    MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in[1], counts, places, MPI_INT, comm, &requests[1]);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in[2], 1, MPI_INT, comm, &requests[2]);
    MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in[3], counts, places, MPI_INT, comm, &requests[3]);
    MPI_Ineighbor_alltoallw(out, counts, bytes, types, in[4], counts, bytes, types, comm, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) CHECK(in[i][0] == 2 * below() && in[i][1] == 2 * above());
    for (int i = 2; i < 5; i++) CHECK(in[i][0] == 2 * below() + 1 && in[i][1] == 2 * above());
    MPI_Comm_free(&comm);
}

/* A star: rank 0 in the middle. */
CASE(graph) {
    MPI_Comm comm;
    int index[8], edges[16], count = 0;
    for (int i = 1; i < size; i++) edges[count++] = i;
    index[0] = count;
    for (int i = 1; i < size; i++) edges[count++] = 0, index[i] = count;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    int out = rank + 1, in[8];
    memset(in, -1, sizeof in);
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, comm);
    if (rank == 0) for (int i = 1; i < size; i++) CHECK(in[i - 1] == i + 1);
    else CHECK(in[0] == 1 && in[1] == -1);
    MPI_Comm_free(&comm);
}

/* Directed: everybody sends to the next two, so hears from the two before. */
CASE(distributed_graph) {
    MPI_Comm comm;
    int from[2] = {(rank + size - 1) % size, (rank + size - 2) % size}, to[2] = {(rank + 1) % size, (rank + 2) % size};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    int out[2] = {10 * rank, 10 * rank + 1}, in[2] = {-1, -1};
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == 10 * from[0] && in[1] == 10 * from[1] + 1);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == 10 * from[0] && in[1] == 10 * from[1]);
    MPI_Comm_free(&comm);
}

/* Different numbers of neighbours in and out: a tree towards its root. */
CASE(distributed_graph_tree) {
    MPI_Comm comm;
    int children[2], sources = 0, parent = (rank - 1) / 2;
    for (int c = 2 * rank + 1; c <= 2 * rank + 2; c++)
        if (c < size) children[sources++] = c;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, children, MPI_UNWEIGHTED, rank > 0, &parent, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    int out = rank * rank, in[2] = {-1, -1};
    MPI_Request request;
    MPI_Ineighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) CHECK(in[i] == (i < sources ? children[i] * children[i] : -1));
    MPI_Comm_free(&comm);
}

CASE(halo_with_types) {
    /* Columns are exchanged along a ring without a copy of the program. */
    MPI_Comm comm = ring(1);
    int field[4][6], counts[2] = {1, 1};
    MPI_Datatype column, types[2];
    MPI_Type_vector(4, 1, 6, MPI_INT, &column);
    MPI_Type_commit(&column);
    types[0] = types[1] = column;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) field[i][j] = 100 * rank + 10 * i + j;
    MPI_Aint send[2] = {1 * sizeof(int), 4 * sizeof(int)}, receive[2] = {0, 5 * sizeof(int)};
    MPI_Neighbor_alltoallw(field, counts, send, types, field, counts, receive, types, comm);
    for (int i = 0; i < 4; i++) {
        CHECK(field[i][0] == 100 * below() + 10 * i + 4);
        CHECK(field[i][5] == 100 * above() + 10 * i + 1);
        CHECK(field[i][2] == 100 * rank + 10 * i + 2);
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&comm);
}

/* Of a ring of two both neighbours are the same: what it sends up comes from below. */
CASE(ring_of_two) {
    MPI_Comm pair, comm;
    int place, out[2], in[2] = {-1, -1};
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Cart_create(pair, 1, (int[]){2}, (int[]){1}, 0, &comm);
    MPI_Comm_rank(comm, &place);
    out[0] = 10 * place, out[1] = 10 * place + 1;
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    CHECK(in[0] == 10 * (1 - place) + 1 && in[1] == 10 * (1 - place));
    MPI_Comm_free(&comm);
    MPI_Comm_free(&pair);
}

/* Prepared once, started twice; new in MPI 4. */
CASE(persistent) {
#if MPI_VERSION >= 4
    MPI_Comm comm = ring(1);
    int out[2], in[4][2], counts[2] = {1, 1}, places[2] = {0, 1};
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request requests[4];
    MPI_Neighbor_allgather_init(out, 1, MPI_INT, in[0], 1, MPI_INT, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in[1], 1, MPI_INT, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Neighbor_alltoallv_init(out, counts, places, MPI_INT, in[2], counts, places, MPI_INT, comm, MPI_INFO_NULL,
                                &requests[2]);
    MPI_Neighbor_alltoallw_init(out, counts, bytes, types, in[3], counts, bytes, types, comm, MPI_INFO_NULL,
                                &requests[3]);
    for (int turn = 0; turn < 2; turn++) {
        out[0] = 100 * turn + 2 * rank, out[1] = out[0] + 1;
        memset(in, -1, sizeof in);
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        CHECK(in[0][0] == 100 * turn + 2 * below() && in[0][1] == 100 * turn + 2 * above());
        for (int i = 1; i < 4; i++)
            CHECK(in[i][0] == 100 * turn + 2 * below() + 1 && in[i][1] == 100 * turn + 2 * above());
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    MPI_Comm_free(&comm);
#endif
}
