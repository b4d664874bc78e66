/* ranks: 6 */
/* Making communicators: dup, split, create, and what they inherit. */
#include "case.h"

/* Do all ranks of it hear each other, and is it apart from the world? */
static void expect(MPI_Comm comm, int place, int count) {
    int found_rank, found_size, sum = -1;
    MPI_Comm_rank(comm, &found_rank);
    MPI_Comm_size(comm, &found_size);
    CHECK(found_rank == place);
    CHECK(found_size == count);
    MPI_Allreduce(&found_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == count * (count - 1) / 2);
}

CASE(dup) {
    MPI_Comm comm;
    int result;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect(comm, rank, size);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(comm, comm, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL);
}

CASE(dup_of_self) {
    MPI_Comm comm;
    int result;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    expect(comm, 0, 1);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    MPI_Comm_free(&comm);
}

CASE(dup_nonblocking) {
    MPI_Comm comms[2];
    MPI_Request requests[2];
    MPI_Comm_idup(MPI_COMM_WORLD, &comms[0], &requests[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &comms[1], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        expect(comms[i], rank, size);
        MPI_Comm_free(&comms[i]);
    }
}

CASE(dup_with_info) {
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "of_our_own", "yes");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    expect(comm, rank, size);
    MPI_Comm_set_info(comm, MPI_INFO_ENV);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

CASE(split_by_parity) {
    MPI_Comm comm;
    int result;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    expect(comm, rank / 2, (size + 1 - rank % 2) / 2);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Comm_free(&comm);
}

CASE(split_reversed) {
    MPI_Comm comm;
    int result;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    expect(comm, size - 1 - rank, size);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Comm_free(&comm);
}

/* Equal keys: the old order decides. */
CASE(split_ties) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 7, rank < 2 ? 1 : 0, &comm);
    expect(comm, rank < 2 ? size - 2 + rank : rank - 2, size);
    MPI_Comm_free(&comm);
}

CASE(split_undefined) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 3, rank, &comm);
    if (rank == 1) {
        CHECK(comm == MPI_COMM_NULL);
    } else {
        expect(comm, rank > 1 ? rank - 1 : 0, size - 1);
        MPI_Comm_free(&comm);
    }
}

CASE(split_again) {
    MPI_Comm half, quarter;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 3, rank, &half);
    int place, count;
    MPI_Comm_rank(half, &place);
    MPI_Comm_split(half, place == 0, 0, &quarter);
    MPI_Comm_size(quarter, &count);
    CHECK(count == (place == 0 ? 1 : 2));
    MPI_Comm_free(&quarter);
    expect(half, rank % 3, 3);
    MPI_Comm_free(&half);
}

CASE(split_shared_memory) {
    MPI_Comm comm, none;
    int count;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_size(comm, &count);
    CHECK(count >= 1 && count <= size);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &none);
    CHECK(none == MPI_COMM_NULL);
}

CASE(create) {
    MPI_Group world, group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, (int[]){4, 0, 2}, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    if (rank % 2 == 0 && rank < 6) {
        expect(comm, rank == 4 ? 0 : rank == 0 ? 1 : 2, 3);
        MPI_Comm_free(&comm);
    } else {
        CHECK(comm == MPI_COMM_NULL);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* Disjoint groups in one call. */
CASE(create_several) {
    MPI_Group world, group;
    MPI_Comm comm;
    int ranges[1][3] = {{rank < 2 ? 0 : 2, rank < 2 ? 1 : size - 1, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, ranges, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    expect(comm, rank < 2 ? rank : rank - 2, rank < 2 ? 2 : size - 2);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* Only members call. */
CASE(create_group) {
    MPI_Group world, group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, (int[]){1, 3}, &group);
    if (rank == 1 || rank == 3) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 11, &comm);
        expect(comm, rank / 2, 2);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

CASE(names) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm comm;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
    CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    MPI_Comm_get_name(comm, name, &length);
    CHECK(length == 0 && name[0] == 0);
    MPI_Comm_set_name(comm, "rows");
    MPI_Comm_get_name(comm, name, &length);
    CHECK(strcmp(name, "rows") == 0 && length == 4);
    MPI_Comm_free(&comm);
}

/* A message under way survives the freeing of its communicator. */
CASE(freed_in_flight) {
    MPI_Comm comm;
    MPI_Request requests[2];
    int out = rank, in = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, comm, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, comm, &requests[1]);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in == (rank + size - 1) % size);
}

/* Waits for what is pending, and frees. */
CASE(disconnect) {
    MPI_Comm comm;
    int out = rank, in = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL && in == (rank + size - 1) % size);
}

CASE(many) {
    for (int i = 0; i < 100; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm comms[40];
    for (int i = 0; i < 40; i++) MPI_Comm_split(MPI_COMM_WORLD, rank % (i + 1), 0, &comms[i]);
    for (int i = 0; i < 40; i++) {
        int sum, one = 1, count;
        MPI_Comm_size(comms[i], &count);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
        CHECK(sum == count);
        MPI_Comm_free(&comms[i]);
    }
}

CASE(test_inter) {
    int flag = 1;
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    CHECK(!flag);
}

/* Without a communicator to begin with; new in MPI 4. */
CASE(from_group) {
#if MPI_VERSION >= 4
    MPI_Group world, group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, (int[]){5, 1, 3}, &group);
    if (rank % 2) {
        MPI_Comm_create_from_group(group, "odd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        expect(comm, rank == 5 ? 0 : (rank + 1) / 2, 3);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
#endif
}

CASE(dup_nonblocking_with_info) {
#if MPI_VERSION >= 4
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(comm, rank, size);
    MPI_Comm_free(&comm);
#endif
}
