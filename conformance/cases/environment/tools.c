/* ranks: 2 */
/* The tool information interface, as far as a program may look for it. MPICH's is set up once only. */
#include "case.h"

CASE(use) {
    int provided = -1, performance = -1, categories = -1, index = -1;
    MPI_T_pvar_session session;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE);
    CHECK(MPI_T_pvar_get_num(&performance) == MPI_SUCCESS && performance >= 0);
    CHECK(MPI_T_category_get_num(&categories) == MPI_SUCCESS && categories >= 0);
    /* Errors are returned, whatever the handlers of communicators say. */
    CHECK(MPI_T_category_get_index("no such category", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
}
