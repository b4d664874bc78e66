/* ranks: 6 */
/* Groups and their set operations. */
#include "case.h"

static MPI_Group world;

static MPI_Group group_of(int count, const int *ranks) {
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, ranks, &group);
    MPI_Group_free(&world);
    return group;
}
#define GROUP(...) group_of((int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

/* Does the group hold exactly these ranks of the world, in this order? Frees the group. */
static void expect(MPI_Group group, int count, const int *ranks) {
    int found, places[16], translated[16];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &found);
    CHECK(found == count);
    for (int i = 0; i < found; i++) places[i] = i;
    MPI_Group_translate_ranks(group, found, places, world, translated);
    for (int i = 0; i < found && i < count; i++) CHECK(translated[i] == ranks[i]);
    MPI_Group_free(&world);
    if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
}
#define EXPECT(group, ...) expect(group, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

CASE(of_communicator) {
    int count, place;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &count);
    MPI_Group_rank(world, &place);
    CHECK(count == size && place == rank);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
}

CASE(include) {
    EXPECT(GROUP(3, 0, 5), 3, 0, 5);
    EXPECT(GROUP(1), 1);
}

CASE(rank_outside) {
    MPI_Group group = GROUP(4, 2);
    int place;
    MPI_Group_rank(group, &place);
    CHECK(place == (rank == 4 ? 0 : rank == 2 ? 1 : MPI_UNDEFINED));
    MPI_Group_free(&group);
}

CASE(exclude) {
    MPI_Group all = GROUP(0, 1, 2, 3, 4, 5), group;
    MPI_Group_excl(all, 2, (int[]){4, 1}, &group);
    EXPECT(group, 0, 2, 3, 5);
    MPI_Group_excl(all, 0, NULL, &group);
    EXPECT(group, 0, 1, 2, 3, 4, 5);
    MPI_Group_free(&all);
}

CASE(ranges) {
    MPI_Group all = GROUP(0, 1, 2, 3, 4, 5), group;
    int up[1][3] = {{0, 5, 2}}, down[1][3] = {{5, 1, -2}}, two[2][3] = {{4, 4, 1}, {0, 1, 1}};
    MPI_Group_range_incl(all, 1, up, &group);
    EXPECT(group, 0, 2, 4);
    MPI_Group_range_incl(all, 1, down, &group);
    EXPECT(group, 5, 3, 1);
    MPI_Group_range_incl(all, 2, two, &group);
    EXPECT(group, 4, 0, 1);
    MPI_Group_range_excl(all, 1, up, &group);
    EXPECT(group, 1, 3, 5);
    MPI_Group_range_excl(all, 2, two, &group);
    EXPECT(group, 2, 3, 5);
    MPI_Group_free(&all);
}

CASE(union_keeps_order) {
    MPI_Group a = GROUP(4, 1, 0), b = GROUP(2, 1, 5), group;
    MPI_Group_union(a, b, &group);
    EXPECT(group, 4, 1, 0, 2, 5);
    MPI_Group_union(b, a, &group);
    EXPECT(group, 2, 1, 5, 4, 0);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
}

CASE(intersection) {
    MPI_Group a = GROUP(4, 1, 0, 3), b = GROUP(3, 2, 1, 4), group;
    MPI_Group_intersection(a, b, &group);
    EXPECT(group, 4, 1, 3);
    MPI_Group_intersection(b, a, &group);
    EXPECT(group, 3, 1, 4);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
}

CASE(difference) {
    MPI_Group a = GROUP(4, 1, 0, 3), b = GROUP(3, 2, 1), group;
    MPI_Group_difference(a, b, &group);
    EXPECT(group, 4, 0);
    MPI_Group_difference(b, a, &group);
    EXPECT(group, 2);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
}

CASE(empty) {
    MPI_Group a = GROUP(0, 1), b = GROUP(2, 3), group;
    int count = -1, result;
    MPI_Group_intersection(a, b, &group);
    MPI_Group_size(group, &count);
    CHECK(count == 0);
    MPI_Group_compare(group, MPI_GROUP_EMPTY, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_difference(a, a, &group);
    MPI_Group_size(group, &count);
    CHECK(count == 0);
    MPI_Group_incl(a, 0, NULL, &group);
    MPI_Group_size(group, &count);
    CHECK(count == 0);
    MPI_Group_union(MPI_GROUP_EMPTY, a, &group);
    EXPECT(group, 0, 1);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
}

CASE(compare) {
    MPI_Group a = GROUP(1, 2, 3), same = GROUP(1, 2, 3), turned = GROUP(3, 1, 2), other = GROUP(1, 2, 4),
        less = GROUP(1, 2);
    int result;
    MPI_Group_compare(a, a, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_compare(a, same, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_compare(a, turned, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Group_compare(a, other, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Group_compare(a, less, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Group_free(&a);
    MPI_Group_free(&same);
    MPI_Group_free(&turned);
    MPI_Group_free(&other);
    MPI_Group_free(&less);
}

CASE(translate) {
    MPI_Group a = GROUP(5, 3, 1), b = GROUP(0, 1, 2, 3);
    int out[4];
    MPI_Group_translate_ranks(a, 3, (int[]){0, 1, 2}, b, out);
    CHECK(out[0] == MPI_UNDEFINED && out[1] == 3 && out[2] == 1);
    MPI_Group_translate_ranks(b, 2, (int[]){3, MPI_PROC_NULL}, a, out);
    CHECK(out[0] == 1 && out[1] == MPI_PROC_NULL);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
}
