/* The kernels of HPL, which only take time. */
#ifndef PEERS_HPL_KERNELS_H
#define PEERS_HPL_KERNELS_H

/*
 * Reads how long kernels take. For each kernel there is a line `NAME TERMS ROWS`, a line with the factors of each term, three
 * of 0 (one), 1 (M), 2 (N), 3 (K) and 4 (S), and lines `NODE SECONDS... DEVIATION...` with a coefficient a term; node -1, the
 * first, is for all others. Kernels that are not listed take no time. Only the first call has an effect.
 */
void kernels_read(const char *path, int ranks, int ranks_per_node);

/* How the pivots are chosen: any of the rows that are left, or as in a matrix of zeros. */
extern int pivots_are_equal;

#endif
