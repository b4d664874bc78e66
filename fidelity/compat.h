/* Names that MPI 3.0 removed and HPL still uses, under their present names. Included before every file of HPL. */
#ifndef FIDELITY_COMPAT_H
#define FIDELITY_COMPAT_H

#include <mpi.h>

#undef MPI_Address
#undef MPI_Type_struct
#define MPI_Address MPI_Get_address
#define MPI_Type_struct MPI_Type_create_struct

#endif
