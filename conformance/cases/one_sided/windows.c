/* ranks: 4 */
/* The kinds of windows, and what can be asked of them. */
#include "case.h"

CASE(attributes_of_created) {
    MPI_Win win;
    int memory[10], found, *unit, *flavour, *model;
    void *base;
    MPI_Aint *bytes;
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
    CHECK(found && base == memory);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &found);
    CHECK(found && *bytes == sizeof memory);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &found);
    CHECK(found && *unit == 4);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavour, &found);
    CHECK(found && *flavour == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found);
    CHECK(found && (*model == MPI_WIN_SEPARATE || *model == MPI_WIN_UNIFIED));
    MPI_Win_free(&win);
}

CASE(flavours) {
    MPI_Win win;
    MPI_Comm node;
    int found, *flavour, *memory;
    MPI_Win_allocate(40, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavour, &found);
    CHECK(found && *flavour == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavour, &found);
    CHECK(found && *flavour == MPI_WIN_FLAVOR_DYNAMIC);
    MPI_Win_free(&win);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(40, 1, MPI_INFO_NULL, node, &memory, &win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavour, &found);
    CHECK(found && *flavour == MPI_WIN_FLAVOR_SHARED);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

CASE(group) {
    MPI_Win win;
    MPI_Group group, world;
    int memory, result;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

CASE(names) {
    MPI_Win win;
    char name[MPI_MAX_OBJECT_NAME];
    int memory, length;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "my window");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 9 && strcmp(name, "my window") == 0);
    MPI_Win_free(&win);
}

static int deleted;

static int on_delete(MPI_Win win, int key, void *value, void *extra) {
    (void)win, (void)key, (void)value;
    deleted += *(int *)extra;
    return MPI_SUCCESS;
}

CASE(attributes_of_the_program) {
    MPI_Win win;
    int memory, key, found, extra = 4;
    char text[1], *value;
    deleted = 0;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &extra);
    MPI_Win_get_attr(win, key, &value, &found);
    CHECK(!found);
    MPI_Win_set_attr(win, key, text);
    MPI_Win_get_attr(win, key, &value, &found);
    CHECK(found && value == text);
    MPI_Win_delete_attr(win, key);
    CHECK(deleted == 4);
    MPI_Win_set_attr(win, key, text);
    MPI_Win_free(&win);
    CHECK(deleted == 8);
    MPI_Win_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
}

CASE(info) {
    MPI_Win win;
    MPI_Info info;
    int memory;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_create(&memory, sizeof memory, 1, info, MPI_COMM_WORLD, &win);
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

CASE(allocated) {
    MPI_Win win;
    double *memory;
    MPI_Win_allocate(10 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < 10; i++) memory[i] = -1;
    MPI_Win_fence(0, win);
    double value = rank * 1.5;
    MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % size, 9, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    CHECK(memory[9] == (rank + size - 1) % size * 1.5 && memory[8] == -1);
    MPI_Win_free(&win);
}

CASE(dynamic) {
    MPI_Win win;
    int memory[4] = {rank, rank + 1, rank + 2, rank + 3}, more[2] = {0, 0}, right = (rank + 1) % size;
    MPI_Aint places[2], theirs[2];
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Win_attach(win, more, sizeof more);
    MPI_Get_address(memory, &places[0]);
    MPI_Get_address(more, &places[1]);
    MPI_Sendrecv(places, 2, MPI_AINT, (rank + size - 1) % size, 0, theirs, 2, MPI_AINT, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int in = -1, out = 100 + rank;
    MPI_Win_fence(0, win);
    MPI_Get(&in, 1, MPI_INT, right, MPI_Aint_add(theirs[0], 2 * sizeof(int)), 1, MPI_INT, win);
    MPI_Put(&out, 1, MPI_INT, right, theirs[1], 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(in == right + 2 && more[0] == 100 + (rank + size - 1) % size && more[1] == 0);
    MPI_Win_detach(win, memory);
    MPI_Win_detach(win, more);
    MPI_Win_free(&win);
}

CASE(on_part_of_the_world) {
    MPI_Comm half;
    MPI_Win win;
    _Alignas(64) int memory = -1;
    int place, count;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &place);
    MPI_Comm_size(half, &count);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, half, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (place + 1) % count, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory == (rank + 2) % size);
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
}

CASE(several_windows) {
    MPI_Win wins[5];
    _Alignas(64) int memory[5][16];
    int values[5];
    for (int i = 0; i < 5; i++) {
        memory[i][0] = 0;
        MPI_Win_create(memory[i], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]);
        MPI_Win_fence(0, wins[i]);
    }
    for (int i = 0; i < 5; i++) {
        values[i] = 10 * i + rank;
        MPI_Put(&values[i], 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, wins[i]);
    }
    for (int i = 4; i >= 0; i--) MPI_Win_fence(0, wins[i]);
    for (int i = 0; i < 5; i++) {
        CHECK(memory[i][0] == 10 * i + (rank + size - 1) % size);
        MPI_Win_free(&wins[i]);
    }
}
