/* What every C and C++ file of cases shares: CASE, CHECK, and a main that runs the cases of the file in their order.
 *
 * A file that defines CASE_LEVEL before asks for that level of threads.
 *
 * Arguments choose among the cases: NAME runs only those named, -NAME leaves one out. Rank 0 prints one line for each
 * case: "ok NAME", or "FAILED NAME" where a check failed on any rank. What failed, and where, goes to stderr. */
#ifndef CASE_H
#define CASE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

struct case_entry {
    const char *name;
    void (*run)(void);
    struct case_entry *next;
};
static struct case_entry *case_first;
static struct case_entry **case_last = &case_first;
static struct case_entry *case_now;
static int case_failures;

#define CASE(NAME) \
    static void case_##NAME(void); \
    static struct case_entry case_entry_##NAME = {#NAME, case_##NAME, NULL}; \
    __attribute__((constructor)) static void case_register_##NAME(void) { \
        *case_last = &case_entry_##NAME; \
        case_last = &case_entry_##NAME.next; \
    } \
    static void case_##NAME(void)

/* Notes a failure and goes on, so that the other ranks are not left waiting. */
#define CHECK(...) ((__VA_ARGS__) ? (void)0 : case_fail(__FILE__, __LINE__, #__VA_ARGS__))

/* Prints on rank 0. Only values that the standard determines: the outputs of all implementations are compared. */
#define SHOW(...) (rank == 0 ? (void)printf(__VA_ARGS__) : (void)0)

static inline void case_fail(const char *file, int line, const char *condition) {
    if (case_failures++ < 10)
        fprintf(stderr, "%s:%d: rank %d: %s: %s\n", file, line, rank, case_now ? case_now->name : "outside", condition);
}

static int case_wanted(const char *name, int argc, char **argv) {
    int chosen = 0, named = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (strcmp(argv[i] + 1, name) == 0) return 0;
        } else {
            named = 1;
            chosen |= strcmp(argv[i], name) == 0;
        }
    }
    return chosen || !named;
}

int main(int argc, char **argv) {
    int any = 0;
#ifdef CASE_LEVEL
    int level;
    MPI_Init_thread(&argc, &argv, CASE_LEVEL, &level);
#else
    MPI_Init(&argc, &argv);
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (case_now = case_first; case_now; case_now = case_now->next) {
        int failures;
        if (!case_wanted(case_now->name, argc, argv)) continue;
        case_failures = 0;
        case_now->run();
        MPI_Allreduce(&case_failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        SHOW("%s %s\n", failures ? "FAILED" : "ok", case_now->name);
        fflush(stdout);
        any |= failures;
    }
    MPI_Finalize();
    return any != 0;
}

#endif
