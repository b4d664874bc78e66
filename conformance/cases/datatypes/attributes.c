/* ranks: 1 */
/* Values that a program hangs on types. */
#include "case.h"

static int copied, deleted;

static int on_copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
    (void)type, (void)key;
    copied += *(int *)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

CASE(set_and_get) {
    int key, found = 1;
    char text[] = "value", *value = NULL;
    MPI_Datatype type;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_get_attr(type, key, &value, &found);
    CHECK(!found);
    MPI_Type_set_attr(type, key, text);
    MPI_Type_get_attr(type, key, &value, &found);
    CHECK(found && value == text);
    MPI_Type_delete_attr(type, key);
    MPI_Type_get_attr(type, key, &value, &found);
    CHECK(!found);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
}

CASE(callbacks) {
    int key, extra = 10, found;
    char text[4], *value;
    MPI_Datatype type, copy;
    copied = deleted = 0;
    MPI_Type_create_keyval(on_copy, on_delete, &key, &extra);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, text);
    MPI_Type_dup(type, &copy);
    CHECK(copied == 10);
    MPI_Type_get_attr(copy, key, &value, &found);
    CHECK(found && value == text + 1);
    /* Setting anew deletes the old value. */
    MPI_Type_set_attr(type, key, text + 2);
    CHECK(deleted == 1);
    MPI_Type_free(&type);
    MPI_Type_free(&copy);
    CHECK(deleted == 3);
    MPI_Type_free_keyval(&key);
}

CASE(ready_made_functions) {
    int never, always, found;
    char text[1], *value;
    MPI_Datatype type, copy;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &never, NULL);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &always, NULL);
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_set_attr(type, never, text);
    MPI_Type_set_attr(type, always, text);
    MPI_Type_dup(type, &copy);
    MPI_Type_get_attr(copy, never, &value, &found);
    CHECK(!found);
    MPI_Type_get_attr(copy, always, &value, &found);
    CHECK(found && value == text);
    MPI_Type_free(&type);
    MPI_Type_free(&copy);
    MPI_Type_free_keyval(&never);
    MPI_Type_free_keyval(&always);
}

CASE(on_named_type) {
    int key, found;
    char text[1], *value;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(MPI_DOUBLE, key, text);
    MPI_Type_get_attr(MPI_DOUBLE, key, &value, &found);
    CHECK(found && value == text);
    MPI_Type_get_attr(MPI_INT, key, &value, &found);
    CHECK(!found);
    MPI_Type_delete_attr(MPI_DOUBLE, key);
    MPI_Type_free_keyval(&key);
}
