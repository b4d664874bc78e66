#include "parameters.h"

static int number(const char *const **word, const char *what) {
    char *end;
    long value = strtol(**word, &end, 10);
    if (end == **word || *end || value < 0) {
        fprintf(stderr, "error: %s: '%s' is not a number\n", what, **word);
        exit(2);
    }
    ++*word;
    return (int)value;
}

/* The place of the word in the list of words, which ends with NULL. */
static int choice(const char *const **word, const char *what, const char *const *list) {
    for (int i = 0; list[i]; i++) {
        if (!strcmp(list[i], **word)) {
            ++*word;
            return i;
        }
    }
    fprintf(stderr, "error: %s: '%s' is none of its words\n", what, **word);
    exit(2);
}

#define NUMBER(what) number(&word, what)
#define CHOICE(what, ...) choice(&word, what, (const char *const[]){__VA_ARGS__, NULL})

size_t set_up(const char *const *word, HPL_T_grid *grid, HPL_T_palg *algo, HPL_T_pmat *mat) {
    mat->n = NUMBER("N");
    mat->nb = NUMBER("NB");
    int p = NUMBER("P"), q = NUMBER("Q");
    HPL_T_ORDER order = CHOICE("PMAP", "row", "column") ? HPL_COLUMN_MAJOR : HPL_ROW_MAJOR;
    algo->depth = NUMBER("DEPTH");
    int pfact = CHOICE("PFACT", "left", "crout", "right");
    int rfact = CHOICE("RFACT", "left", "crout", "right");
    algo->nbmin = NUMBER("NBMIN");
    algo->nbdiv = NUMBER("NDIV");
    algo->btopo = HPL_1RING + CHOICE("BCAST", "1ring", "1ringM", "2ring", "2ringM", "long", "longM");
    algo->fswap = HPL_SWAP00 + CHOICE("SWAP", "binary", "long", "mix");
    algo->fsthr = NUMBER("THRESHOLD");
    int l1_transposed = CHOICE("L1", "plain", "transposed");
    int u_transposed = CHOICE("U", "plain", "transposed");
    algo->equil = CHOICE("EQUIL", "no", "yes");
    algo->align = 8;

    const HPL_T_FACT variant[3] = {HPL_LEFT_LOOKING, HPL_CROUT, HPL_RIGHT_LOOKING};
    const HPL_T_PFA_FUN panel[2][3] = {{HPL_pdpanllN, HPL_pdpancrN, HPL_pdpanrlN}, {HPL_pdpanllT, HPL_pdpancrT, HPL_pdpanrlT}};
    const HPL_T_RFA_FUN recursive[2][3] = {{HPL_pdrpanllN, HPL_pdrpancrN, HPL_pdrpanrlN},
                                           {HPL_pdrpanllT, HPL_pdrpancrT, HPL_pdrpanrlT}};
    const HPL_T_UPD_FUN update[2][2] = {{HPL_pdupdateNN, HPL_pdupdateNT}, {HPL_pdupdateTN, HPL_pdupdateTT}};
    algo->pfact = variant[pfact];
    algo->rfact = variant[rfact];
    algo->pffun = panel[l1_transposed][pfact];
    algo->rffun = recursive[l1_transposed][rfact];
    algo->upfun = update[l1_transposed][u_transposed];

    HPL_grid_init(MPI_COMM_WORLD, order, p, q, grid);

    /* As the benchmark: a leading dimension that is a multiple of the alignment and no power of two. */
    mat->info = 0;
    mat->mp = HPL_numroc(mat->n, mat->nb, mat->nb, grid->myrow, 0, p);
    mat->nq = HPL_numroc(mat->n, mat->nb, mat->nb, grid->mycol, 0, q) + 1;
    mat->ld = (Mmax(1, mat->mp) - 1) / algo->align * algo->align + algo->align;
    while (!(mat->ld & (mat->ld - 1))) mat->ld += algo->align;
    return (size_t)(mat->ld + 1) * (size_t)mat->nq + (size_t)algo->align;
}
