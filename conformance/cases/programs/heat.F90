! ranks: 5
! Heat in a rod, Fortran: blocks of points, halo values by non-blocking messages, results gathered with counts.
program heat
  use mpi
  implicit none
  integer, parameter :: n = 103, steps = 500
  double precision, allocatable, asynchronous :: now(:), next(:)
  double precision :: whole(n), total, mine
  integer, allocatable :: counts(:), places(:)
  integer :: rank, size, first, count, left, right, step, i, requests(4), ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate (counts(size), places(size))
  do i = 1, size
    places(i) = (i - 1) * n / size
    counts(i) = i * n / size - places(i)
  end do
  first = places(rank + 1)
  count = counts(rank + 1)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < size - 1)
  allocate (now(0:count + 1), next(0:count + 1))
  now = 0
  next = 0
  do i = 1, count
    if (first + i > n / 3 .and. first + i <= 2 * n / 3) now(i) = 100
  end do
  do step = 1, steps
    call MPI_Irecv(now(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(now(count + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Isend(now(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Isend(now(count), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(4), ierror)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    next(1:count) = now(1:count) + 0.25d0 * (now(0:count - 1) - 2 * now(1:count) + now(2:count + 1))
    now(1:count) = next(1:count)
  end do
  mine = sum(now(1:count))
  call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  call MPI_Gatherv(now(1), count, MPI_DOUBLE_PRECISION, whole, counts, places, MPI_DOUBLE_PRECISION, 0, &
                   MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    write (*, '(a, f12.6)') 'heat left ', total
    write (*, '(a, 5f10.5)') 'at five points ', whole(10), whole(30), whole(52), whole(70), whole(95)
  end if
  call MPI_Finalize(ierror)
end program
