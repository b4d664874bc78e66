/* HPL's parameters, as words of a command line. */
#ifndef FIDELITY_PARAMETERS_H
#define FIDELITY_PARAMETERS_H

#include "hpl.h"

/* The words that set_up reads, in their order; those of cases.txt. */
#define PARAMETERS "N NB P Q PMAP DEPTH PFACT RFACT NBMIN NDIV BCAST SWAP THRESHOLD L1 U EQUIL"
enum { PARAMETER_COUNT = 16 };

/*
 * Makes the grid and everything that HPL_pdgesv is given, but for the memory of the matrix: that is so many numbers, which
 * mat->A and mat->X = mat->A + mat->ld * mat->nq must point to. Collective; exits where a word is wrong.
 */
size_t set_up(const char *const *words, HPL_T_grid *grid, HPL_T_palg *algo, HPL_T_pmat *mat);

#endif
