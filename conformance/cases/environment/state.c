/* ranks: 4 */
/* What the C library remembers for a program belongs to one rank alone: ranks take turns inside these functions. */
#define _GNU_SOURCE
#include "case.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

/* Lets all other ranks run. */
static void turn(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

CASE(tokens) {
    char line[64], *word;
    int count = 0, length = 0;
    sprintf(line, "%d,one,two,%.*s", rank, rank + 1, "abcdefgh");
    for (word = strtok(line, ","); word; word = strtok(NULL, ",")) {
        count++;
        length += (int)strlen(word);
        turn();
    }
    CHECK(count == 4 && length == 1 + 3 + 3 + rank + 1);
}

CASE(random_numbers) {
    int first[5], second[5];
    srand(100 + rank);
    for (int i = 0; i < 5; i++) {
        first[i] = rand();
        turn();
    }
    srand(100 + rank);
    for (int i = 0; i < 5; i++) second[i] = rand();
    CHECK(memcmp(first, second, sizeof first) == 0);
    srand48(rank);
    double before = drand48();
    turn();
    double after = drand48();
    srand48(rank);
    CHECK(drand48() == before && drand48() == after);
}

/* The numbers that a rank draws after its own seed are those that a rank draws alone. */
static long draw(int in_turns) {
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        sum = 7 * sum + random() % 1000 + lrand48() % 1000;
        if (in_turns) turn();
    }
    return sum;
}

CASE(states_of_random_numbers) {
    static char memory[2][64];
    unsigned short seed[3] = {(unsigned short)rank, 2, 3}, all[7] = {1, (unsigned short)rank, 3, 4, 5, 6, 7};
    char *usual = initstate(10 + rank, memory[0], sizeof memory[0]);
    CHECK(usual && usual != memory[0]);
    seed48(seed);
    turn();
    long before = draw(1);
    CHECK(initstate(10 + rank, memory[1], sizeof memory[1]) == memory[0]);
    seed48(seed);
    CHECK(draw(0) == before);
    CHECK(setstate(memory[0]) == memory[1]);
    lcong48(all);
    turn();
    before = draw(1);
    CHECK(memcmp(seed48(seed), all, sizeof seed) != 0);
    initstate(10 + rank, memory[1], sizeof memory[1]);
    draw(0);
    lcong48(all);
    CHECK(draw(0) == before);
    CHECK(setstate(usual) == memory[1]);
    srand48(rank);
}

CASE(error_number) {
    errno = 0;
    CHECK(fopen("no such folder/file", "r") == NULL && errno == ENOENT);
    turn();
    errno = 0;
    CHECK(strtol("99999999999999999999", NULL, 10) > 0 && errno == ERANGE);
}

CASE(environment_variables) {
    char value[20];
    sprintf(value, "of rank %d", rank);
    setenv("CONFORMANCE_RANK", value, 1);
    turn();
    const char *found = getenv("CONFORMANCE_RANK");
    CHECK(found && strcmp(found, value) == 0);
    turn();
    unsetenv("CONFORMANCE_RANK");
    CHECK(getenv("CONFORMANCE_RANK") == NULL);
    turn();
}

CASE(static_buffers) {
    time_t moment = 86400 * (365 * (time_t)rank + 10);
    struct tm *when = gmtime(&moment);
    CHECK(when->tm_year == 70 + rank);
    char text[64];
    strftime(text, sizeof text, "%Y-%m-%d", when);
    turn();
    struct tm again;
    CHECK(gmtime_r(&moment, &again)->tm_year == 70 + rank && atoi(text) == 1970 + rank);
}

CASE(options) {
    char program[] = "p", a[] = "-a", b[] = "-b", three[] = "3", *arguments[] = {program, a, b, three, NULL};
    int found, seen = 0;
    optind = 1;
    while ((found = getopt(4, arguments, "ab:")) != -1) {
        if (found == 'a') seen += 1;
        if (found == 'b') seen += 10 * atoi(optarg);
        turn();
    }
    CHECK(seen == 31 && optind == 4);
}

CASE(files_of_each_rank) {
    char name[20], line[64];
    sprintf(name, "own%d.txt", rank);
    FILE *file = fopen(name, "w");
    CHECK(file != NULL);
    if (!file) return;
    for (int i = 0; i < 3; i++) {
        fprintf(file, "line %d of rank %d\n", i, rank);
        turn();
    }
    fclose(file);
    file = fopen(name, "r");
    int lines = 0, place, of;
    while (fgets(line, sizeof line, file)) {
        CHECK(sscanf(line, "line %d of rank %d", &place, &of) == 2 && place == lines && of == rank);
        lines++;
    }
    fclose(file);
    remove(name);
    CHECK(lines == 3);
}

static jmp_buf home;
static volatile int jumps;

static void fall(int depth) {
    turn();
    if (depth > 0) fall(depth - 1);
    else if (rank >= 0) longjmp(home, rank + 1);
}

CASE(long_jumps) {
    volatile int value = rank;
    jumps = 0;
    int came = setjmp(home);
    if (came == 0) {
        value += 10;
        fall(3);
    }
    jumps++;
    CHECK(came == rank + 1 && value == rank + 10 && jumps == 1);
    turn();
}

CASE(heap) {
    enum { MANY = 200 };
    int *blocks[MANY];
    for (int i = 0; i < MANY; i++) {
        blocks[i] = malloc((i + 1) * sizeof(int));
        for (int j = 0; j <= i; j++) blocks[i][j] = rank * 1000 + i;
        if (i % 50 == 0) turn();
    }
    for (int i = 0; i < MANY; i += 2) blocks[i] = realloc(blocks[i], 4000);
    void *aligned = NULL;
    CHECK(posix_memalign(&aligned, 256, 1000) == 0 && (size_t)aligned % 256 == 0);
    char *copy = strdup("a copy");
    turn();
    int good = 1;
    for (int i = 0; i < MANY; i++) {
        for (int j = 0; j <= i; j++) good &= blocks[i][j] == rank * 1000 + i;
        free(blocks[i]);
    }
    CHECK(good && strcmp(copy, "a copy") == 0);
    free(copy);
    free(aligned);
    double *zeros = calloc(1000, sizeof *zeros);
    for (int i = 0; i < 1000; i++) good &= zeros[i] == 0;
    CHECK(good);
    free(zeros);
}

static int sum_of(int count, ...) {
    va_list list;
    int sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++) sum += i % 2 ? (int)va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return sum;
}

CASE(variable_arguments) {
    CHECK(sum_of(6, rank, 1.5, 2, 3.5, 4, 5.5) == rank + 1 + 2 + 3 + 4 + 5);
}

CASE(deep_stack) {
    /* Half a mebibyte of local variables, and an array whose length is known only now. */
    volatile char large[512 * 1024];
    int length = 1000 * (rank + 1), local[length];
    for (int i = 0; i < length; i++) local[i] = i + rank;
    for (size_t i = 0; i < sizeof large; i += 4096) large[i] = (char)(rank + 1);
    turn();
    int good = 1;
    for (int i = 0; i < length; i++) good &= local[i] == i + rank;
    for (size_t i = 0; i < sizeof large; i += 4096) good &= large[i] == rank + 1;
    CHECK(good);
}

static int compared;

static int with_message(const void *a, const void *b) {
    compared++;
    MPI_Barrier(MPI_COMM_SELF);
    return *(const int *)a - *(const int *)b;
}

/* MPI is called from inside a function of the C library. */
CASE(called_back) {
    int values[8] = {5, 3, 8, 1, 9, 2, 7, 4}, key = 7;
    qsort(values, 8, sizeof *values, with_message);
    int *found = bsearch(&key, values, 8, sizeof *values, with_message);
    CHECK(values[0] == 1 && values[7] == 9 && found && *found == 7 && compared > 8);
}

/* Registers that calls must keep, also where a call hands over to another rank. */
CASE(floating_point_state) {
    double sum = 0, terms[16];
    for (int i = 0; i < 16; i++) terms[i] = (rank + 1) / (i + 1.0);
    for (int i = 0; i < 16; i++) {
        sum += terms[i];
        if (i % 4 == 0) turn();
    }
    double expected = 0;
    for (int i = 0; i < 16; i++) expected += (rank + 1) / (i + 1.0);
    CHECK(sum == expected);
}

CASE(locale) {
    CHECK(strcmp(setlocale(LC_ALL, NULL), "C") == 0);
    CHECK(toupper('a') == 'A' && isalpha('z') && strtod("1.5", NULL) == 1.5);
}
