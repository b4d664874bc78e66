//! What programs find in their buffers, and when, where messages are copied late.

mod common;

use common::{Folder, compile, run_program};

/// Thread-local data of the program itself is in one place for all ranks, which take turns there.
const THREAD_LOCAL: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static _Thread_local char mine[1000], theirs[1000];
static int rank, size;
static void check(const char *what) {
    for (int i = 0; i < 1000; i++)
        if (mine[i] != 'a' + rank || theirs[i] != 'a' + (rank + size - 1) % size) {
            printf("%s: rank %d has %c and %c\n", what, rank, mine[i], theirs[i]);
            break;
        }
    memset(theirs, 0, sizeof theirs);
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    memset(mine, 'a' + rank, sizeof mine);
    MPI_Request requests[2];
    MPI_Isend(mine, 1000, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(theirs, 1000, MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check("isend");
    MPI_Irecv(theirs, 1000, MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(mine, 1000, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check("issend");
    MPI_Sendrecv(mine, 1000, MPI_CHAR, to, 0, theirs, 1000, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check("sendrecv");
    MPI_Datatype pairs;
    MPI_Type_vector(500, 1, 2, MPI_CHAR, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Irecv(theirs, 1, pairs, from, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(theirs + 1, 1, pairs, from, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Ssend(mine, 1, pairs, to, 0, MPI_COMM_WORLD);
    MPI_Ssend(mine + 1, 1, pairs, to, 1, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check("pairs");
    MPI_Finalize();
    return 0;
}
"#;

/// A handler of errors looks at what has come with the message that was too long, and never comes back.
const HANDLER: &str = r#"
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf out;
static char right[500], small[300];
static void leave(MPI_Comm *comm, int *code, ...) {
    printf("handler: %d\n", right[499]);
    longjmp(out, 1);
}
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = calloc(500, 1);
    data[499] = 7;
    if (rank == 0) {
        MPI_Send(data, 500, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Send(data, 500, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Errhandler handler;
        MPI_Comm_create_errhandler(leave, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Request requests[2];
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Irecv(right, 500, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(small, 300, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[1]);
        if (!setjmp(out)) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        printf("after: %d\n", right[499]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"#;

/// The same buffer for both: wrong, but nobody notices where a message leaves at once.
const SAME: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static char data[1000];
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(data, 'a' + rank, sizeof data);
    MPI_Sendrecv(data, 1000, MPI_CHAR, (rank + 1) % size, 0, data, 1000, MPI_CHAR, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (data[0] != 'a' + (rank + size - 1) % size) printf("rank %d has %c\n", rank, data[0]);
    MPI_Finalize();
    return 0;
}
"#;

/// A receive whose buffer is not there meets its message; then nobody goes on.
const NOT_THERE: &str = r#"
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = calloc(500, 1);
    MPI_Request request;
    if (rank == 0) MPI_Send(data, 500, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else MPI_Irecv((char *)0x123000, 500, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(data, 500, MPI_CHAR, !rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"#;

/// What a program prints on so many ranks, whose stacks are their own, and on one stack.
fn printed(ranks: u32, name: &str, source: &str) -> [(Option<i32>, String, String); 2] {
    let folder = Folder::new(&format!("buffers-{name}"));
    let program = compile(&folder, name, source);
    ["own", "shared"].map(|stacks| {
        let ran = run_program(ranks, &["--stacks", stacks], &[&program]);
        (ran.code, ran.out, ran.err)
    })
}

#[test]
fn thread_local_buffers_are_each_rank_s_own() {
    for (code, out, err) in printed(4, "thread-local", THREAD_LOCAL) {
        assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    }
}

#[test]
fn handlers_of_errors_see_what_has_come() {
    for (code, out, err) in printed(2, "handler", HANDLER) {
        assert_eq!((code, out.as_str()), (Some(0), "handler: 7\nafter: 7\n"), "{err}");
    }
}

#[test]
fn a_buffer_for_both_ways_is_sent_before_it_is_received_into() {
    for (code, out, err) in printed(4, "same", SAME) {
        assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    }
}

#[test]
fn a_buffer_that_is_not_there_is_told_though_all_wait() {
    for (code, _, err) in printed(2, "not-there", NOT_THERE) {
        assert!(code != Some(0) && err.contains("rank 1 got SIGSEGV") && err.contains("0x123000"), "{code:?} {err}");
    }
}
