! ranks: 4
! Grids and graphs in Fortran: logical arrays, and constants that are variables.
#include "case_fortran.h"

subroutine grid()
  use cases
  implicit none
  include 'mpif.h'
  integer :: comm, part, ierror, lengths(2), places(2), from, to, other, dimensions, in(4), type
  logical :: periods(2)
  lengths = 0
  call MPI_Dims_create(4, 2, lengths, ierror)
  CHECK(all(lengths == 2))
  call MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, [.true., .false.], .false., comm, ierror)
  call MPI_Topo_test(comm, type, ierror)
  CHECK(type == MPI_CART)
  call MPI_Cartdim_get(comm, dimensions, ierror)
  call MPI_Cart_get(comm, 2, lengths, periods, places, ierror)
  CHECK(dimensions == 2 .and. periods(1) .and. .not. periods(2))
  CHECK(all(places == [rank / 2, modulo(rank, 2)]))
  call MPI_Cart_shift(comm, 0, 1, from, to, ierror)
  CHECK(from == modulo(rank + 2, 4) .and. to == from)
  call MPI_Cart_shift(comm, 1, 1, from, to, ierror)
  CHECK((from == MPI_PROC_NULL) .eqv. (places(2) == 0))
  CHECK((to == MPI_PROC_NULL) .eqv. (places(2) == 1))
  call MPI_Cart_rank(comm, [places(1) + 2, places(2)], other, ierror)
  CHECK(other == rank)
  call MPI_Cart_sub(comm, [.false., .true.], part, ierror)
  call MPI_Comm_size(part, other, ierror)
  CHECK(other == 2)
  in = -1
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, ierror)
  CHECK(in(1) == modulo(rank + 2, 4) .and. in(2) == in(1))
  call MPI_Comm_free(part, ierror)
  call MPI_Comm_free(comm, ierror)
end subroutine

subroutine graph_without_weights()
  use cases
  implicit none
  include 'mpif.h'
  integer :: comm, ierror, in, out, from(1), to(1)
  logical :: weighted
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [modulo(rank + 3, 4)], MPI_UNWEIGHTED, 1, &
                                      [modulo(rank + 1, 4)], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm, ierror)
  call MPI_Dist_graph_neighbors_count(comm, in, out, weighted, ierror)
  CHECK(in == 1 .and. out == 1 .and. .not. weighted)
  call MPI_Dist_graph_neighbors(comm, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, ierror)
  CHECK(from(1) == modulo(rank + 3, 4) .and. to(1) == modulo(rank + 1, 4))
  call MPI_Comm_free(comm, ierror)
end subroutine

subroutine graph_with_weights()
  use cases
  implicit none
  include 'mpif.h'
  integer :: comm, ierror, in, out, from(1), to(1), from_weight(1), to_weight(1)
  logical :: weighted
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [modulo(rank + 1, 4)], [7 * rank], MPI_INFO_NULL, &
                             .false., comm, ierror)
  call MPI_Dist_graph_neighbors_count(comm, in, out, weighted, ierror)
  CHECK(in == 1 .and. out == 1 .and. weighted)
  call MPI_Dist_graph_neighbors(comm, 1, from, from_weight, 1, to, to_weight, ierror)
  CHECK(from_weight(1) == 7 * modulo(rank + 3, 4) .and. to_weight(1) == 7 * rank)
  call MPI_Comm_free(comm, ierror)
end subroutine

program main
  use cases
  implicit none
  external :: grid, graph_without_weights, graph_with_weights
  call start()
  call run('grid', grid)
  call run('graph_without_weights', graph_without_weights)
  call run('graph_with_weights', graph_with_weights)
  call finish()
end program
