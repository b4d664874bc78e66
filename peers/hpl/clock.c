/*
 * Loaded before SMPI, which reads the thread's CPU clock at every call of MPI and every kernel, even where it is told not to use
 * what it reads. That is a system call, and a fifth of the CPU time or more.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_THREAD_CPUTIME_ID) return (int)syscall(SYS_clock_gettime, clock, time);
    *time = (struct timespec){0};
    return 0;
}
