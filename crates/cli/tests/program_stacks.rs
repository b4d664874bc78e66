//! Ranks that run on one stack do what they do on stacks of their own.

mod common;

use common::{Folder, Ran, compile, compile_with, run_program};

/// What others read and write lies on the stacks of ranks that wait.
const DATA: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int rank, size;
static long sum(const int *numbers, int count) {
    long sum = 0;
    for (int i = 0; i < count; i++) sum = 31 * sum + numbers[i];
    return sum;
}
/* Ranks have other numbers of calls between here and the end of the stack. */
static long deeper(int levels, long (*what)(void)) {
    volatile char room[700];
    room[levels] = levels;
    long found = levels > 0 ? deeper(levels - 1, what) : what();
    return found + room[levels] - levels;
}
static void fill(int *numbers, int count) {
    for (int i = 0; i < count; i++) numbers[i] = 1000 * rank + i;
}
static long early_and_late(void) {
    int sent[300], received[300] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    fill(sent, 300);
    for (int late = 0; late < 2; late++) {
        if ((rank + late) % 2) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(received, 300, MPI_INT, (rank + size - 1) % size, late, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, 300, MPI_INT, (rank + 1) % size, late, MPI_COMM_WORLD, &requests[1]);
        if (!((rank + late) % 2)) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(2, requests, statuses);
        sent[0] += received[299] + statuses[0].MPI_SOURCE;
    }
    return sum(sent, 300) + sum(received, 300);
}
static long few(void) {
    char sent[24], received[24];
    for (int bytes = 1; bytes <= 24; bytes++) {
        memset(sent, 'a' + rank + bytes, sizeof sent);
        MPI_Sendrecv(sent, bytes, MPI_CHAR, (rank + 1) % size, 0, received, bytes, MPI_CHAR, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return received[0] * 256 + received[23];
}
static long with_gaps(void) {
    int sent[64], received[64] = {0};
    MPI_Datatype every_second;
    fill(sent, 64);
    MPI_Type_vector(32, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Request request;
    MPI_Irecv(received, 1, every_second, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ssend(sent + 1, 1, every_second, (rank + size - 1) % size, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&every_second);
    return sum(received, 64);
}
static void larger(void *in, void *inout, int *count, MPI_Datatype *type) {
    for (int i = 0; i < *count; i++)
        if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i];
}
static long together(void) {
    int mine[5], most[5] = {0}, all[64] = {0};
    MPI_Request requests[2];
    MPI_Op op;
    fill(mine, 5);
    MPI_Op_create(larger, 1, &op);
    MPI_Iallreduce(mine, most, 5, MPI_INT, op, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallgather(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Op_free(&op);
    return sum(most, 5) + sum(all, size);
}
static long window(void) {
    int memory[40], got[40] = {0}, put = rank + 1, one = 1, before = -1;
    MPI_Win win;
    fill(memory, 40);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get(got, 40, MPI_INT, (rank + 1) % size, 0, 40, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Put(&put, 1, MPI_INT, (rank + 2) % size, 3, 1, MPI_INT, win);
    MPI_Accumulate(&put, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 1, 9, MPI_SUM, win);
    MPI_Win_unlock(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    long found = sum(memory, 40) + sum(got, 40);
    MPI_Win_free(&win);
    return found;
}
/* The address is in the datatype, and that of the call is on no stack. */
static long window_anywhere(void) {
    int memory[40], put[2] = {rank, -rank}, got[2] = {0};
    MPI_Aint here, all[64];
    MPI_Datatype there;
    MPI_Win win;
    fill(memory, 40);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory + 5, &here);
    MPI_Allgather(&here, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Type_create_hindexed_block(1, 2, &all[(rank + 1) % size], MPI_INT, &there);
    MPI_Type_commit(&there);
    MPI_Win_fence(0, win);
    MPI_Put(put, 2, MPI_INT, (rank + 1) % size, 0, 1, there, win);
    MPI_Win_fence(0, win);
    MPI_Get(got, 2, MPI_INT, (rank + 1) % size, 0, 1, there, win);
    MPI_Win_fence(0, win);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    MPI_Type_free(&there);
    return sum(memory, 40) + sum(got, 2);
}
/* The sender is ahead of time, and less comes than the receiver says that there is room for. */
static long less(void) {
    char sent[24], received[24] = {0};
    long found = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4 * (size - 1); i++) {
        if (rank == 0) {
            memset(sent, 'a' + i, sizeof sent);
            usleep(1000);
            for (int wait = 0; wait < 50; wait++) MPI_Wtime();
            MPI_Send(sent, 24, MPI_CHAR, 1 + i % (size - 1), 0, MPI_COMM_WORLD);
        } else if (i % (size - 1) == rank - 1) {
            MPI_Recv(received, 1 << 20, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            found = 31 * found + received[0] + received[23];
        }
    }
    return found;
}
int main(int argc, char **argv) {
    long (*all[])(void) = {early_and_late, few, with_gaps, together, window, window_anywhere, less};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 7; i++) {
        long found = deeper(rank * (i + 1) % 4, all[i]);
        printf("%d %ld %.9f\n", i, found, MPI_Wtime());
    }
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn messages_find_what_lies_on_stacks() {
    let folder = Folder::new("stacks-data");
    let program = compile(&folder, "data", DATA);
    let [own, shared] = on_both(5, &[&program]);
    assert_eq!(own.lines().count(), 35);
    assert_eq!(own, shared);
}

/// What a program prints on stacks of their own, and on one.
fn on_both(ranks: u32, program: &[&str]) -> [String; 2] {
    on_both_with(ranks, &[], program)
}

fn on_both_with(ranks: u32, options: &[&str], program: &[&str]) -> [String; 2] {
    ["own", "shared"].map(|which| {
        let options = [&["--stacks", which, "--prefix"], options].concat();
        let Ran { out, err, code } = run_program(ranks, &options, program);
        assert_eq!(code, Some(0), "{which}: {err}");
        out
    })
}

/// What is folded, or was never written, goes with gaps to the stacks of ranks that wait.
const FOLDED: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, size;
    double received[2][100];
    MPI_Datatype every_second;
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *sent[] = {malloc(1L << 30), malloc(20L << 20)};
    for (int i = 0; i < 100; i++) received[0][i] = received[1][i] = 7;
    if (rank == 0) sent[1][5] = 3;
    MPI_Type_vector(50, 1, 2, MPI_DOUBLE, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(received[i], 1, every_second, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Issend(sent[i], 50, MPI_DOUBLE, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[2 + i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) printf("%g %g %g\n", received[i][0], received[i][1], received[i][10]);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn what_nobody_wrote_is_left_out() {
    let folder = Folder::new("stacks-folded");
    let program = compile(&folder, "folded", FOLDED);
    let [own, shared] = on_both_with(4, &["--fold", "1"], &[&program]);
    assert!(own.contains("0 7 3") && own.contains("7 7 7"), "{own}");
    assert_eq!(own, shared);
}

/// One rank flushes the streams of all, whose buffers are on the stacks of those that wait.
const STREAMS: &str = r#"
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank;
    char name[4096], buffer[3][BUFSIZ], *text = NULL;
    size_t length = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *streams[3];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s.%d.%d", argv[1], rank, i);
        streams[i] = fopen(name, "w+");
    }
    setvbuf(streams[0], buffer[0], _IOFBF, BUFSIZ);
    setbuf(streams[1], buffer[1]);
    setbuffer(streams[2], buffer[2], 100);
    for (int i = 0; i < 3; i++) fprintf(streams[i], "%d of rank %d", i, rank);
#ifdef IN_MEMORY
    FILE *memory = open_memstream(&text, &length);
    fprintf(memory, "memory of rank %d", rank);
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) fflush(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
#ifdef IN_MEMORY
    /* What rank 1 has flushed is told where the rank's own variables are. */
    printf("%zu %s\n", length, text);
    fclose(memory);
#endif
    for (int i = 0; i < 3; i++) {
        char line[100] = "";
        rewind(streams[i]);
        fgets(line, sizeof line, streams[i]);
        printf("%s\n", line);
        fclose(streams[i]);
    }
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn streams_of_others_are_flushed() {
    let folder = Folder::new("stacks-streams");
    for (flags, lines) in [(&[][..], 12), (&["-DIN_MEMORY"], 16)] {
        let program = compile_with(&folder, "streams", STREAMS, flags);
        let [own, shared] = on_both(4, &[&program, &folder.path("file")]);
        assert_eq!(own.lines().count(), lines);
        assert_eq!(own, shared);
        assert!((0..4).all(|rank| own.contains(&format!("2 of rank {rank}"))), "{own}");
    }
}

/// Coroutines wait in turn; their stacks are local arrays of the function that makes them.
const COROUTINES: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <ucontext.h>
static int rank, size, found[2];
static ucontext_t caller, contexts[2];
static void run(int which) {
    volatile int kept[50];
    for (int i = 0; i < 50; i++) {
        kept[i] = 1000 * rank + i;
        int received, tag = which;
        MPI_Sendrecv((int *)&kept[i], 1, MPI_INT, (rank + 1) % size, tag, &received, 1, MPI_INT,
                     (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        found[which] += received * (i + which);
        swapcontext(&contexts[which], &contexts[!which]);
    }
    for (int i = 0; i < 50; i++)
        if (kept[i] != 1000 * rank + i) MPI_Abort(MPI_COMM_WORLD, 3);
}
int main(int argc, char **argv) {
    char stacks[2][65536];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = sizeof stacks[i];
        contexts[i].uc_link = &caller;
        makecontext(&contexts[i], (void (*)(void))run, 1, i);
    }
    swapcontext(&caller, &contexts[0]);
    swapcontext(&caller, &contexts[1]);
    printf("%d %d\n", found[0], found[1]);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn coroutines_may_have_local_arrays_as_stacks() {
    let folder = Folder::new("stacks-coroutines");
    let program = compile(&folder, "coroutines", COROUTINES);
    let [own, shared] = on_both(4, &[&program]);
    assert_eq!(own.lines().count(), 4);
    assert_eq!(own, shared);
}

/// A thread of the C library writes to a file meanwhile, and says in the rank's own variable that it has.
const BACKGROUND: &str = r#"
#include <aio.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank;
    char name[4096], data[1000], found[1000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    memset(data, 'a' + rank, sizeof data);
    struct aiocb block = {.aio_fildes = open(name, O_RDWR | O_CREAT, 0600), .aio_buf = data, .aio_nbytes = sizeof data};
    const struct aiocb *blocks[] = {&block};
    block.aio_sigevent.sigev_notify = SIGEV_NONE;
    aio_write(&block);
    MPI_Barrier(MPI_COMM_WORLD);
    aio_suspend(blocks, 1, NULL);
    long written = aio_return(&block);
    pread(block.aio_fildes, found, sizeof found, 0);
    printf("%ld %d\n", written, memcmp(data, found, sizeof data));
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn files_are_written_in_the_background() {
    let folder = Folder::new("stacks-background");
    let program = compile(&folder, "background", BACKGROUND);
    let [own, shared] = on_both(4, &[&program, &folder.path("file")]);
    assert_eq!(own.matches("1000 0").count(), 4, "{own}");
    assert_eq!(own, shared);
}

/// The data comes from nowhere, and goes with gaps to the stack of a rank that waits.
const NOWHERE: &str = r#"
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, received[20];
    MPI_Datatype every_second;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(10, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    if (rank == 1) usleep(10);
    if (rank == 1) MPI_Send((void *)0x5000, 10, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(received, 1, every_second, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn it_is_told_whose_buffer_is_not_there() {
    let folder = Folder::new("stacks-nowhere");
    let program = compile_with(&folder, "nowhere", NOWHERE, &["-w"]);
    for which in ["own", "shared"] {
        let Ran { err, code, .. } = run_program(2, &["--stacks", which], &[&program]);
        assert_eq!(code, Some(139), "{which}: {err}");
        assert!(
            err.starts_with("error: rank 1 got SIGSEGV (there is no memory of its own at 0x5000"),
            "{which}: {err}"
        );
    }
}

/// Waits with so many numbers on the stack, or with an array whose size the compiler knows.
const DEEP: &str = r#"
#include <mpi.h>
#include <stdlib.h>
static void wait(double *room, int count) {
    for (int i = 0; i < count; i++) room[i] = i;
    for (int i = 0; i < 20; i++) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        if (room[i] != i) MPI_Abort(MPI_COMM_WORLD, 3);
}
int main(int argc, char **argv) {
    int count = atoi(argv[1]);
    MPI_Init(&argc, &argv);
#ifdef KNOWN
    double room[KNOWN];
    count = KNOWN;
#else
    double room[count];
#endif
    wait(room, count);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn much_on_the_stack_is_told() {
    let folder = Folder::new("stacks-deep");
    let program = compile(&folder, "deep", DEEP);
    let told = |ranks, options: &[&str], program: &[&str]| {
        let ran = run_program(ranks, options, program);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.err.contains("stacks = shared, where ranks that waited had")
    };
    assert!(told(16, &["--stacks", "shared"], &[&program, "10000"]));
    assert!(!told(16, &["--stacks", "shared"], &[&program, "100"]));
    assert!(!told(16, &["--stacks", "own"], &[&program, "10000"]));
    // Many share one unless it is known before that they put much on it.
    let many = ["--oversubscribe"];
    assert!(told(2048, &many, &[&program, "10000"]));
    let known = compile_with(&folder, "known", DEEP, &["-DKNOWN=10000"]);
    assert!(!told(2048, &many, &[&known, "0"]));
}
