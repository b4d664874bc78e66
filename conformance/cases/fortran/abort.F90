! ranks: 3, aborts
! One rank aborts while the others wait for a message.
program main
  use mpi
  implicit none
  integer :: rank, provided, ierror
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank == 2) call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
  call MPI_Recv(rank, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Finalize(ierror)
end program
