/* ranks: 3 */
/* Values that a program hangs on communicators, and those that are there from the start. */
#include "case.h"

static int copied, deleted;
static char *last_deleted;

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key;
    copied++;
    *(char **)out = (char *)in + *(int *)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    deleted++;
    last_deleted = value;
    return MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

CASE(set_and_get) {
    int key, found = 1;
    char text[2], *value;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    CHECK(!found);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, text);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    CHECK(found && value == text);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &value, &found);
    CHECK(!found);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, text + 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    CHECK(found && value == text + 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    CHECK(!found);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
}

CASE(callbacks) {
    int key, extra = 3, found;
    char text[10], *value;
    MPI_Comm first, second;
    copied = deleted = 0;
    MPI_Comm_create_keyval(on_copy, on_delete, &key, &extra);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    CHECK(copied == 0);
    MPI_Comm_set_attr(first, key, text);
    MPI_Comm_dup(first, &second);
    CHECK(copied == 1);
    MPI_Comm_get_attr(second, key, &value, &found);
    CHECK(found && value == text + 3);
    MPI_Comm_set_attr(first, key, text + 1);
    CHECK(deleted == 1 && last_deleted == text);
    MPI_Comm_delete_attr(first, key);
    CHECK(deleted == 2 && last_deleted == text + 1);
    MPI_Comm_free(&second);
    CHECK(deleted == 3 && last_deleted == text + 3);
    MPI_Comm_free(&first);
    CHECK(deleted == 3);
    MPI_Comm_free_keyval(&key);
}

CASE(refused_copy) {
    int key, found = 1;
    char text[1], *value;
    MPI_Comm first, second;
    copied = deleted = 0;
    MPI_Comm_create_keyval(refuse_copy, on_delete, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &first);
    MPI_Comm_set_attr(first, key, text);
    MPI_Comm_dup(first, &second);
    MPI_Comm_get_attr(second, key, &value, &found);
    CHECK(copied == 1 && !found);
    MPI_Comm_free(&second);
    CHECK(deleted == 0);
    MPI_Comm_free(&first);
    CHECK(deleted == 1);
    MPI_Comm_free_keyval(&key);
}

/* Split and create do not copy attributes. */
CASE(not_by_split) {
    int key, found = 1;
    char text[1], *value;
    MPI_Comm first, second;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, key, text);
    MPI_Comm_split(first, 0, 0, &second);
    MPI_Comm_get_attr(second, key, &value, &found);
    CHECK(!found);
    MPI_Comm_free(&second);
    MPI_Comm_dup(first, &second);
    MPI_Comm_get_attr(second, key, &value, &found);
    CHECK(found && value == text);
    MPI_Comm_free(&second);
    MPI_Comm_free(&first);
    MPI_Comm_free_keyval(&key);
}

/* A key that is freed lives on where it is used. */
CASE(key_freed_early) {
    int key, extra = 0;
    char text[1];
    MPI_Comm comm;
    deleted = 0;
    MPI_Comm_create_keyval(on_copy, on_delete, &key, &extra);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, key, text);
    MPI_Comm_free_keyval(&key);
    CHECK(deleted == 0);
    MPI_Comm_free(&comm);
    CHECK(deleted == 1 && last_deleted == text);
}

CASE(several_keys) {
    enum { MANY = 20 };
    int keys[MANY], extra = 0, found;
    char text[MANY], *value;
    MPI_Comm comm, copy;
    copied = deleted = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_create_keyval(on_copy, on_delete, &keys[i], &extra);
        MPI_Comm_set_attr(comm, keys[i], text + i);
    }
    MPI_Comm_dup(comm, &copy);
    CHECK(copied == MANY);
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_get_attr(copy, keys[i], &value, &found);
        CHECK(found && value == text + i);
    }
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
    CHECK(deleted == 2 * MANY);
    for (int i = 0; i < MANY; i++) MPI_Comm_free_keyval(&keys[i]);
}

CASE(predefined) {
    int *value, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    CHECK(found && *value >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &found);
    CHECK(found);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &found);
    CHECK(found);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &found);
    CHECK(found && (*value == 0 || *value == 1));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
    CHECK(!found || *value >= 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found);
    CHECK(!found || *value == 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &found);
    CHECK(found && *value >= MPI_ERR_LASTCODE);
}

static int finalized_by;

/* What hangs on MPI_COMM_SELF is deleted first in MPI_Finalize, last set first: the usual hook at exit. */
static int at_exit_hook(MPI_Comm comm, int key, void *value, void *extra) {
    int done = 1;
    (void)comm, (void)key, (void)extra;
    MPI_Finalized(&done);
    if (rank == 0) printf("hook %d, %s\n", *(int *)value, done ? "finalized" : "still there");
    finalized_by++;
    return MPI_SUCCESS;
}

CASE(hook_at_finalize) {
    static int numbers[2] = {1, 2};
    int keys[2];
    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_exit_hook, &keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], &numbers[i]);
    }
    CHECK(finalized_by == 0);
}
