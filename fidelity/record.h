/* The recorder: what HPL sends, receives and computes between record_start and record_stop. */
#ifndef FIDELITY_RECORD_H
#define FIDELITY_RECORD_H

#include "hpl.h"

/* Starts recording; n is the size of the matrix. */
void record_start(const HPL_T_grid *grid, int n);

/* Stops recording and writes DIRECTORY/rank-NNNNN.txt and, on rank 0, DIRECTORY/pivots.txt. Collective. */
void record_stop(const char *directory);

#endif
