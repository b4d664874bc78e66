/* ranks: 4 */
/* Graphs, known to all ranks or to their neighbours only. */
#include "case.h"

/* The example of the standard: 0: 1 3, 1: 0, 2: 3, 3: 0 2. */
static const int graph_index[4] = {2, 3, 4, 6}, graph_edges[6] = {1, 3, 0, 3, 0, 2};

CASE(graph) {
    MPI_Comm comm;
    int status, nodes, edges, index[4], list[6], count, neighbours[3];
    MPI_Graph_create(MPI_COMM_WORLD, 4, graph_index, graph_edges, 0, &comm);
    MPI_Topo_test(comm, &status);
    CHECK(status == MPI_GRAPH);
    MPI_Graphdims_get(comm, &nodes, &edges);
    CHECK(nodes == 4 && edges == 6);
    MPI_Graph_get(comm, 4, 6, index, list);
    CHECK(memcmp(index, graph_index, sizeof index) == 0 && memcmp(list, graph_edges, sizeof list) == 0);
    for (int i = 0; i < 4; i++) {
        int first = i ? graph_index[i - 1] : 0;
        MPI_Graph_neighbors_count(comm, i, &count);
        CHECK(count == graph_index[i] - first);
        MPI_Graph_neighbors(comm, i, count, neighbours);
        CHECK(memcmp(neighbours, graph_edges + first, count * sizeof(int)) == 0);
    }
    MPI_Comm_free(&comm);
}

CASE(graph_smaller_than_the_world) {
    MPI_Comm comm;
    MPI_Graph_create(MPI_COMM_WORLD, 2, (int[]){1, 2}, (int[]){1, 0}, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank >= 2));
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

CASE(graph_map) {
    int place = -5;
    MPI_Graph_map(MPI_COMM_WORLD, 4, graph_index, graph_edges, &place);
    CHECK(place >= 0 && place < 4);
}

CASE(adjacent) {
    MPI_Comm comm;
    int status, in, out, weighted = 1;
    int from[2] = {(rank + 3) % 4, (rank + 1) % 4}, to[2] = {(rank + 1) % 4, (rank + 3) % 4};
    int sources[2], destinations[2];
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &comm);
    MPI_Topo_test(comm, &status);
    CHECK(status == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 2 && out == 2 && !weighted);
    MPI_Dist_graph_neighbors(comm, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED);
    CHECK(memcmp(sources, from, sizeof from) == 0 && memcmp(destinations, to, sizeof to) == 0);
    MPI_Comm_free(&comm);
}

CASE(adjacent_weighted) {
    MPI_Comm comm;
    int from = (rank + 3) % 4, to = (rank + 1) % 4, in, out, weighted = 0, source, destination;
    int from_weight = 10 * from, to_weight = 10 * rank, source_weight, destination_weight;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &from_weight, 1, &to, &to_weight, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Dist_graph_neighbors(comm, 1, &source, &source_weight, 1, &destination, &destination_weight);
    CHECK(source == from && source_weight == 10 * from && destination == to && destination_weight == 10 * rank);
    MPI_Comm_free(&comm);
}

/* One rank describes all edges. */
CASE(described_by_one) {
    MPI_Comm comm;
    int in, out, weighted, sources[3], destinations[3];
    if (rank == 2)
        MPI_Dist_graph_create(MPI_COMM_WORLD, 4, (int[]){0, 1, 2, 3}, (int[]){1, 1, 1, 1}, (int[]){1, 2, 3, 0},
                              MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    else
        MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 1 && out == 1);
    MPI_Dist_graph_neighbors(comm, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED);
    CHECK(sources[0] == (rank + 3) % 4 && destinations[0] == (rank + 1) % 4);
    MPI_Comm_free(&comm);
}

/* Every rank describes an edge between two others. */
CASE(described_by_others) {
    MPI_Comm comm;
    int source = (rank + 1) % 4, one = 1, destination = (rank + 3) % 4, weight = rank, in, out, weighted;
    int from, to, from_weight, to_weight;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &one, &destination, &weight, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Dist_graph_neighbors(comm, 1, &from, &from_weight, 1, &to, &to_weight);
    CHECK(from == (rank + 2) % 4 && to == (rank + 2) % 4);
    CHECK(from_weight == (rank + 1) % 4 && to_weight == (rank + 3) % 4);
    MPI_Comm_free(&comm);
}

CASE(no_neighbours) {
    MPI_Comm comm;
    int in, out, weighted, value = 1, none = 7;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 0 && out == 0);
    MPI_Neighbor_allgather(&value, 1, MPI_INT, &none, 1, MPI_INT, comm);
    CHECK(none == 7);
    MPI_Comm_free(&comm);
}

/* A graph without edges has weights unless it was made without. */
CASE(no_edges) {
    int none[1] = {0}, in, out, weighted;
    for (int given = 0; given < 2; given++) {
        MPI_Comm graph;
        MPI_Dist_graph_create(MPI_COMM_WORLD, 0, none, none, none, given ? none : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
        MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
        CHECK(in == 0 && out == 0 && !weighted == !given);
        MPI_Comm_free(&graph);
    }
}
