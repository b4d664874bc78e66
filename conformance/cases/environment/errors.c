/* ranks: 2 */
/* Error handlers, classes, codes and texts. */
#include "case.h"

static int called, last_class;
static MPI_Comm last_comm;

static void on_error(MPI_Comm *comm, int *code, ...) {
    called++;
    last_comm = *comm;
    MPI_Error_class(*code, &last_class);
}

CASE(of_the_program) {
    MPI_Errhandler handler, now;
    MPI_Comm comm;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &now);
    CHECK(now == handler);
    MPI_Errhandler_free(&now);
    called = 0;
    int code = MPI_Send(&value, 1, MPI_INT, size, 0, comm);
    CHECK(called == 1 && last_comm == comm && last_class == MPI_ERR_RANK && code != MPI_SUCCESS);
    /* The handler lives as long as a communicator uses it. */
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    MPI_Send(&value, 1, MPI_INT, size, 0, comm);
    CHECK(called == 2);
    MPI_Comm_free(&comm);
}

CASE(inherited_by_dup) {
    MPI_Errhandler handler;
    MPI_Comm comm, copy;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_dup(comm, &copy);
    called = 0;
    MPI_Send(&value, 1, MPI_INT, size, 0, copy);
    CHECK(called == 1 && last_comm == copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

CASE(called_by_the_program) {
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    called = 0;
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    CHECK(called == 1 && last_class == MPI_ERR_OTHER);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

CASE(return_code) {
    MPI_Comm comm;
    MPI_Errhandler handler;
    int value, class;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = MPI_Bcast(&value, -1, MPI_INT, 0, comm);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Comm_free(&comm);
}

CASE(texts) {
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    const int classes[] = {MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM,
                           MPI_ERR_RANK, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS,
                           MPI_ERR_ARG, MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN,
                           MPI_ERR_PENDING, MPI_ERR_IN_STATUS, MPI_ERR_NO_SUCH_FILE, MPI_ERR_WIN, MPI_ERR_INFO};
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++) {
        length = -1;
        MPI_Error_string(classes[i], text, &length);
        CHECK(length > 0 && length < MPI_MAX_ERROR_STRING && (int)strlen(text) == length);
        /* A class is a code as well, and its own class. */
        MPI_Error_class(classes[i], &class);
        CHECK(class == classes[i]);
        CHECK(classes[i] <= MPI_ERR_LASTCODE);
    }
}

CASE(new_classes_and_codes) {
    int class, code, found, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    CHECK(class > MPI_ERR_LASTCODE);
    MPI_Add_error_code(class, &code);
    MPI_Error_class(code, &found);
    CHECK(found == class);
    MPI_Add_error_string(class, "an error of our own");
    MPI_Add_error_string(code, "more of the same");
    MPI_Error_string(class, text, &length);
    CHECK(strcmp(text, "an error of our own") == 0 && length == 19);
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "more of the same") == 0);
}

CASE(last_used_code) {
    int class, code, found, *last;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
    CHECK(found && *last >= class && *last >= code);
}

static int window_called, file_called;

static void on_window_error(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    window_called++;
}

static void on_file_error(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    file_called++;
}

CASE(of_windows) {
    MPI_Errhandler handler, now;
    MPI_Win win;
    int cell = 0;
    MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_window_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &now);
    CHECK(now == handler);
    MPI_Errhandler_free(&now);
    window_called = 0;
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(window_called == 1);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);
}

CASE(of_files) {
    MPI_Errhandler handler, now;
    MPI_File file;
    MPI_File_get_errhandler(MPI_FILE_NULL, &now);
    CHECK(now == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&now);
    MPI_File_open(MPI_COMM_WORLD, "errors.dat", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_create_errhandler(on_file_error, &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_File_get_errhandler(file, &now);
    CHECK(now == handler);
    MPI_Errhandler_free(&now);
    file_called = 0;
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(file_called == 1);
    MPI_Errhandler_free(&handler);
    MPI_File_close(&file);
}
