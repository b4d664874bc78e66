/*
 * Memory that the ranks of a simulation share, because nobody reads what HPL computes. Included before the files of HPL that
 * allocate panels and the workspace of swaps; all of them call their panel PANEL.
 */
#ifndef PEERS_HPL_MEMORY_H
#define PEERS_HPL_MEMORY_H

#include "hpl.h"

/* Matrices of so many numbers, panels of at most `rows` rows and `columns` columns of U. Only the first call has an effect. */
void memory_set_up(size_t matrix, size_t rows, size_t columns, size_t nb);

/* The one matrix of all ranks. */
double *memory_matrix(void);

void *memory_take(HPL_T_panel *panel, size_t bytes);
void memory_give(HPL_T_panel *panel, void *memory);

void *memory_workspace(size_t bytes);

#endif

/* Which of the two a file of HPL needs is said on the compiler's command line. */
#if defined(MEMORY_OF_PANELS)
#undef malloc
#undef free
#define malloc(bytes) memory_take(PANEL, bytes)
#define free(memory) memory_give(PANEL, memory)
#elif defined(MEMORY_OF_SWAPS)
#undef malloc
#undef free
#define malloc(bytes) memory_workspace(bytes)
#define free(memory) ((void)(memory))
#endif
