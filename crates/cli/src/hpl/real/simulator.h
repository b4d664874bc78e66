/* Functions that are the simulator's; weak, so that programs can be linked without it. Included before every file of HPL. */
#pragma weak cblas_daxpy
#pragma weak cblas_dcopy
#pragma weak cblas_dgemm
#pragma weak cblas_dgemv
#pragma weak cblas_dger
#pragma weak cblas_dscal
#pragma weak cblas_dswap
#pragma weak cblas_dtrsm
#pragma weak cblas_dtrsv
#pragma weak cblas_idamax
#pragma weak hpcast_folded_malloc
#pragma weak hpcast_now
#pragma weak hpcast_polls_on
#pragma weak hpcast_progress
#pragma weak hpcast_sleep_until
#pragma weak hpl_dlocswpN
#pragma weak hpl_dlocswpT
