/* ranks: 6 */
/* Inter-communicators: two groups that talk to each other. */
#include "case.h"

static MPI_Comm local, inter;
static int low, place;

static void begin(void) {
    low = rank < 2;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &local);
    MPI_Comm_rank(local, &place);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? 2 : 0, 33, &inter);
}

static void end(void) {
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

CASE(shape) {
    int flag, count;
    MPI_Group group;
    begin();
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    MPI_Comm_size(inter, &count);
    CHECK(count == (low ? 2 : size - 2));
    MPI_Comm_remote_size(inter, &count);
    CHECK(count == (low ? size - 2 : 2));
    MPI_Comm_rank(inter, &count);
    CHECK(count == place);
    MPI_Comm_remote_group(inter, &group);
    MPI_Group_size(group, &count);
    CHECK(count == (low ? size - 2 : 2));
    MPI_Group_rank(group, &count);
    CHECK(count == MPI_UNDEFINED);
    MPI_Group_free(&group);
    MPI_Comm_group(inter, &group);
    MPI_Group_rank(group, &count);
    CHECK(count == place);
    MPI_Group_free(&group);
    end();
}

CASE(messages) {
    /* The rank in a call is one of the other group. */
    int value = 10 * rank, in[8];
    begin();
    if (low) {
        for (int i = 0; i < size - 2; i++) MPI_Send(&value, 1, MPI_INT, i, place, inter);
        MPI_Status status;
        for (int i = place; i < size - 2; i += 2) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, inter, &status);
            CHECK(value == 10 * (status.MPI_SOURCE + 2) && status.MPI_SOURCE % 2 == place);
        }
    } else {
        for (int i = 0; i < 2; i++) {
            MPI_Recv(&in[i], 1, MPI_INT, i, i, inter, MPI_STATUS_IGNORE);
            CHECK(in[i] == 10 * i);
        }
        MPI_Send(&value, 1, MPI_INT, place % 2, 9, inter);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    end();
}

CASE(merge) {
    MPI_Comm all;
    int found, count;
    begin();
    /* The group that says high comes last. */
    MPI_Intercomm_merge(inter, low, &all);
    MPI_Comm_rank(all, &found);
    MPI_Comm_size(all, &count);
    CHECK(count == size);
    CHECK(found == (low ? size - 2 + place : place));
    MPI_Comm_free(&all);
    MPI_Intercomm_merge(inter, !low, &all);
    MPI_Comm_rank(all, &found);
    CHECK(found == rank);
    MPI_Comm_free(&all);
    end();
}

CASE(dup) {
    MPI_Comm copy;
    int result, flag, value = rank;
    begin();
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_test_inter(copy, &flag);
    CHECK(flag);
    MPI_Comm_compare(inter, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    if (place == 0) {
        int in;
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
        CHECK(in == (low ? 2 : 0));
    }
    MPI_Comm_free(&copy);
    end();
}

CASE(split) {
    MPI_Comm part;
    int mine, theirs, total;
    begin();
    /* Even places of both groups form one, odd places the other. */
    MPI_Comm_split(inter, place % 2, 0, &part);
    MPI_Comm_size(part, &mine);
    MPI_Comm_remote_size(part, &theirs);
    total = mine + theirs;
    CHECK(mine == (low ? 1 : 2) && theirs == (low ? 2 : 1) && total == 3);
    MPI_Comm_free(&part);
    end();
}

CASE(create) {
    MPI_Group group, part;
    MPI_Comm comm;
    int mine, theirs;
    begin();
    /* The first of each group only. */
    MPI_Comm_group(inter, &group);
    MPI_Group_incl(group, 1, (int[]){0}, &part);
    MPI_Comm_create(inter, part, &comm);
    if (place == 0) {
        MPI_Comm_size(comm, &mine);
        MPI_Comm_remote_size(comm, &theirs);
        CHECK(mine == 1 && theirs == 1);
        MPI_Comm_free(&comm);
    } else {
        CHECK(comm == MPI_COMM_NULL);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&part);
    end();
}

/* A color that only one group has leads nowhere. */
CASE(split_one_sided) {
    MPI_Comm part;
    begin();
    MPI_Comm_split(inter, low, 0, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Comm_split(inter, place == 0 ? 4 : MPI_UNDEFINED, 0, &part);
    CHECK((part == MPI_COMM_NULL) == (place != 0));
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    end();
}

/* The leaders are the last of their groups, and meet in a communicator of their own. */
CASE(other_leaders) {
    MPI_Comm group, leaders, between;
    int half = rank < 3, count, in, value = rank;
    MPI_Comm_split(MPI_COMM_WORLD, half, rank, &group);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2 || rank == size - 1 ? 0 : MPI_UNDEFINED, rank, &leaders);
    MPI_Intercomm_create(group, half ? 2 : size - 4, leaders, half ? 1 : 0, 7, &between);
    MPI_Comm_remote_size(between, &count);
    CHECK(count == (half ? size - 3 : 3));
    MPI_Sendrecv(&value, 1, MPI_INT, rank % 3, 0, &in, 1, MPI_INT, rank % 3, 0, between, MPI_STATUS_IGNORE);
    CHECK(in == (half ? rank + 3 : rank - 3));
    MPI_Comm_free(&between);
    if (leaders != MPI_COMM_NULL) MPI_Comm_free(&leaders);
    MPI_Comm_free(&group);
}
