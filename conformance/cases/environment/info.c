/* ranks: 1 */
/* Lists of keys and values. */
#include "case.h"

CASE(set_and_get) {
    MPI_Info info;
    char value[100];
    int found = 0, length = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "blue");
    MPI_Info_get(info, "colour", sizeof value - 1, value, &found);
    CHECK(found && strcmp(value, "blue") == 0);
    MPI_Info_get_valuelen(info, "colour", &length, &found);
    CHECK(found && length == 4);
    MPI_Info_get(info, "size", sizeof value - 1, value, &found);
    CHECK(!found);
    MPI_Info_get_valuelen(info, "size", &length, &found);
    CHECK(!found);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
}

CASE(overwrite) {
    MPI_Info info;
    char value[100];
    int found, count;
    MPI_Info_create(&info);
    MPI_Info_set(info, "a", "1");
    MPI_Info_set(info, "a", "a longer value");
    MPI_Info_get_nkeys(info, &count);
    MPI_Info_get(info, "a", 99, value, &found);
    CHECK(count == 1 && found && strcmp(value, "a longer value") == 0);
    MPI_Info_free(&info);
}

CASE(keys) {
    MPI_Info info;
    char key[MPI_MAX_INFO_KEY + 1], name[20], value[20];
    int count, found;
    MPI_Info_create(&info);
    MPI_Info_get_nkeys(info, &count);
    CHECK(count == 0);
    for (int i = 0; i < 10; i++) {
        sprintf(name, "key %d", i);
        sprintf(value, "%d", i * i);
        MPI_Info_set(info, name, value);
    }
    MPI_Info_get_nkeys(info, &count);
    CHECK(count == 10);
    int seen = 0;
    for (int i = 0; i < count; i++) {
        int n = -1;
        MPI_Info_get_nthkey(info, i, key);
        CHECK(sscanf(key, "key %d", &n) == 1);
        seen |= 1 << n;
        MPI_Info_get(info, key, 19, value, &found);
        CHECK(found && atoi(value) == n * n);
    }
    CHECK(seen == 1023);
    MPI_Info_free(&info);
}

CASE(delete) {
    MPI_Info info;
    int count, length, found;
    MPI_Info_create(&info);
    MPI_Info_set(info, "a", "1");
    MPI_Info_set(info, "b", "2");
    MPI_Info_delete(info, "a");
    MPI_Info_get_nkeys(info, &count);
    MPI_Info_get_valuelen(info, "a", &length, &found);
    CHECK(count == 1 && !found);
    MPI_Info_get_valuelen(info, "b", &length, &found);
    CHECK(found && length == 1);
    MPI_Info_free(&info);
}

CASE(dup) {
    MPI_Info info, copy;
    char value[10];
    int found;
    MPI_Info_create(&info);
    MPI_Info_set(info, "a", "1");
    MPI_Info_dup(info, &copy);
    MPI_Info_set(info, "a", "2");
    MPI_Info_get(copy, "a", 9, value, &found);
    CHECK(found && strcmp(value, "1") == 0);
    MPI_Info_free(&info);
    MPI_Info_get(copy, "a", 9, value, &found);
    CHECK(found && strcmp(value, "1") == 0);
    MPI_Info_free(&copy);
}

CASE(truncated_value) {
    MPI_Info info;
    char value[10];
    int found;
    memset(value, 'x', sizeof value);
    MPI_Info_create(&info);
    MPI_Info_set(info, "a", "abcdefgh");
    MPI_Info_get(info, "a", 3, value, &found);
    CHECK(found && strcmp(value, "abc") == 0 && value[4] == 'x');
    MPI_Info_free(&info);
}

CASE(environment) {
    int count = -1;
    MPI_Info_get_nkeys(MPI_INFO_ENV, &count);
    CHECK(count >= 0);
}

CASE(errors) {
    MPI_Info info;
    int class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Error_class(MPI_Info_delete(info, "nothing"), &class);
    CHECK(class == MPI_ERR_INFO_NOKEY);
    MPI_Info_free(&info);
}
