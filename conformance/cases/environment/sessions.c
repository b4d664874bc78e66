/* ranks: 3 */
/* Sessions: new in MPI 4, so that the cases are empty under older libraries. */
#include "case.h"

#if MPI_VERSION >= 4
static MPI_Session session;

static void begin(void) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
}

static void end(void) {
    MPI_Session_finalize(&session);
    CHECK(session == MPI_SESSION_NULL);
}
#endif

CASE(process_sets) {
#if MPI_VERSION >= 4
    int count = 0, world = 0, self = 0;
    begin();
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count >= 2);
    for (int i = 0; i < count; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        CHECK((int)strlen(name) == length - 1);
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0;
    }
    CHECK(world == 1 && self == 1);
    end();
#endif
}

CASE(communicator) {
#if MPI_VERSION >= 4
    MPI_Group group;
    MPI_Comm comm;
    int place, count, sum = 0, one = 1;
    begin();
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "a communicator", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &place);
    MPI_Comm_size(comm, &count);
    CHECK(place == rank && count == size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size);
    MPI_Comm_free(&comm);
    end();
#endif
}

CASE(size_of_a_set) {
#if MPI_VERSION >= 4
    MPI_Info info;
    char value[20];
    int found = 0;
    begin();
    MPI_Session_get_pset_info(session, "mpi://SELF", &info);
    MPI_Info_get(info, "mpi_size", 19, value, &found);
    CHECK(found && atoi(value) == 1);
    MPI_Info_free(&info);
    end();
#endif
}
