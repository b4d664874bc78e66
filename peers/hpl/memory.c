/*
 * The memory of HPL in SMPI, as in T. Cornebize's thesis, section 4.2: the matrix is folded onto one block of physical memory,
 * and so is a panel, but for its pivots, which decide what is sent; and panels are used again instead of being allocated anew.
 * What may be anything is also shared by all ranks: one matrix and one workspace are enough, so that page tables stay small.
 */
#include "memory.h"

#include <stdint.h>

enum { PAGE = 4096, LINE = 64 };

static double *matrix;
static void *workspace;
static size_t workspace_size;

/*
 * A panel's buffer: L2 and L1, the private zone for the pivots and the word on success, and U. The zone begins a page. A panel
 * is put where its pivots fall into the zone, whatever its size.
 */
static size_t zone_start, zone_size, buffer_size;
/* Zones of buffers that no panel uses; each begins with the address of the next. */
static char *spare;

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

void memory_set_up(size_t values, size_t rows, size_t columns, size_t nb) {
    if (matrix) return;
    matrix = SMPI_SHARED_MALLOC(values * sizeof *matrix);
    workspace_size = (nb * (columns + 1) + LINE) * sizeof *matrix;
    workspace = SMPI_SHARED_MALLOC(workspace_size);
    zone_start = round_up((rows + nb) * nb * sizeof *matrix + PAGE, PAGE);
    zone_size = LINE + (nb + 1) * sizeof *matrix;
    buffer_size = round_up(zone_start + zone_size + nb * columns * sizeof *matrix + PAGE, PAGE);
}

double *memory_matrix(void) {
    return matrix;
}

void *memory_workspace(size_t bytes) {
    if (bytes > workspace_size) abort();
    return workspace;
}

void *memory_take(HPL_T_panel *panel, size_t bytes) {
    if (panel->WORK) return malloc(bytes); /* the second allocation of a panel: its index arrays */
    char *zone = spare;
    if (zone) {
        spare = *(char **)zone;
    } else {
        const size_t shared[] = {0, zone_start, zone_start + zone_size, buffer_size};
        zone = (char *)SMPI_PARTIAL_SHARED_MALLOC(buffer_size, shared, 2) + zone_start;
    }
    /* len counts L2, L1, the pivots and the word on success. */
    size_t before = (size_t)(panel->len - panel->jb - 1) * sizeof(double);
    char *start = (char *)round_up((uintptr_t)zone - before, LINE);
    if (before > zone_start || start + bytes > zone - zone_start + buffer_size) abort();
    return start;
}

void memory_give(HPL_T_panel *panel, void *memory) {
    if (memory != panel->WORK) {
        free(memory);
        return;
    }
    char *zone = (char *)((uintptr_t)panel->DPIV / PAGE * PAGE);
    *(char **)zone = spare;
    spare = zone;
}
