! ranks: 4
! Messages, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  implicit none
contains
  subroutine send_and_receive()
    double precision :: values(10)
    integer :: status(MPI_STATUS_SIZE), count, ierror, i
    values = 0
    if (rank == 0) then
      values = [(i * 0.5d0, i = 1, 10)]
      call MPI_Send(values, 7, MPI_DOUBLE_PRECISION, 1, 42, MPI_COMM_WORLD, ierror)
      CHECK(ierror == MPI_SUCCESS)
    else if (rank == 1) then
      call MPI_Recv(values, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
      CHECK(status(MPI_SOURCE) == 0)
      CHECK(status(MPI_TAG) == 42)
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
      CHECK(count == 7)
      CHECK(values(7) == 3.5d0)
      CHECK(values(8) == 0d0)
    end if
  end subroutine

  subroutine types()
    integer :: i
    real :: r
    double precision :: d
    complex :: c
    double complex :: z
    logical :: l
    character(5) :: s
    integer :: ierror
    if (rank == 0) then
      call MPI_Send(-7, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
      call MPI_Send(1.25, 1, MPI_REAL, 1, 2, MPI_COMM_WORLD, ierror)
      call MPI_Send(2.5d0, 1, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, ierror)
      call MPI_Send((1.0, -1.0), 1, MPI_COMPLEX, 1, 4, MPI_COMM_WORLD, ierror)
      call MPI_Send((3.0d0, 4.0d0), 1, MPI_DOUBLE_COMPLEX, 1, 5, MPI_COMM_WORLD, ierror)
      call MPI_Send(.true., 1, MPI_LOGICAL, 1, 6, MPI_COMM_WORLD, ierror)
      call MPI_Send('hello', 5, MPI_CHARACTER, 1, 7, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      l = .false.
      call MPI_Recv(i, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Recv(r, 1, MPI_REAL, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Recv(d, 1, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Recv(c, 1, MPI_COMPLEX, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Recv(z, 1, MPI_DOUBLE_COMPLEX, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Recv(l, 1, MPI_LOGICAL, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Recv(s, 5, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      CHECK(i == -7 .and. r == 1.25 .and. d == 2.5d0)
      CHECK(c == (1.0, -1.0) .and. z == (3.0d0, 4.0d0))
      CHECK(l .and. s == 'hello')
    end if
  end subroutine

  subroutine nonblocking()
    integer, asynchronous :: out, in
    integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), left, right, ierror
    logical :: flag
    right = mod(rank + 1, size)
    left = mod(rank + size - 1, size)
    out = 10 * rank
    in = -1
    call MPI_Irecv(in, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    CHECK(in == 10 * left)
    CHECK(statuses(MPI_SOURCE, 1) == left .and. statuses(MPI_TAG, 1) == 5)
    CHECK(all(requests == MPI_REQUEST_NULL))
    in = -1
    call MPI_Irecv(in, 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(2), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierror)
    end do
    CHECK(in == 10 * left)
  end subroutine

  ! Indices of requests count from one in Fortran.
  subroutine wait_any_and_some()
    integer, asynchronous :: values(3)
    integer :: requests(3), index, i, ierror, status(MPI_STATUS_SIZE), count, indices(3)
    integer :: statuses(MPI_STATUS_SIZE, 3), done
    if (rank == 0) then
      do i = 1, 3
        call MPI_Irecv(values(i), 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, requests(i), ierror)
      end do
      call MPI_Send(0, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror)
      call MPI_Waitany(3, requests, index, status, ierror)
      CHECK(index == 2)
      CHECK(status(MPI_TAG) == 2 .and. values(2) == 20 .and. requests(2) == MPI_REQUEST_NULL)
      call MPI_Send(0, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror)
      done = 0
      do while (done < 2)
        call MPI_Waitsome(3, requests, count, indices, statuses, ierror)
        do i = 1, count
          CHECK(indices(i) == 1 .or. indices(i) == 3)
          CHECK(statuses(MPI_TAG, i) == indices(i) .and. values(indices(i)) == 10 * indices(i))
        end do
        done = done + count
      end do
    else if (rank == 1) then
      call MPI_Recv(i, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(20, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierror)
      call MPI_Recv(i, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(30, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierror)
      call MPI_Send(10, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierror)
    end if
  end subroutine

  subroutine undefined_index()
    integer :: requests(3), index, value, status(MPI_STATUS_SIZE), ierror
    logical :: flag
    requests = MPI_REQUEST_NULL
    call MPI_Waitany(3, requests, index, status, ierror)
    CHECK(index == MPI_UNDEFINED)
    call MPI_Testany(3, requests, index, flag, status, ierror)
    CHECK(flag .and. index == MPI_UNDEFINED)
    call MPI_Irecv(value, 1, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Testany(3, requests, index, flag, status, ierror)
    CHECK(.not. flag .and. index == MPI_UNDEFINED)
    call MPI_Cancel(requests(2), ierror)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierror)
  end subroutine

  subroutine sendrecv()
    real :: out(3), in(3)
    integer :: left, right, status(MPI_STATUS_SIZE), ierror, token
    right = mod(rank + 1, size)
    left = mod(rank + size - 1, size)
    out = rank
    call MPI_Sendrecv(out, 3, MPI_REAL, right, 1, in, 3, MPI_REAL, left, 1, MPI_COMM_WORLD, status, ierror)
    CHECK(all(in == left) .and. status(MPI_SOURCE) == left)
    token = rank
    call MPI_Sendrecv_replace(token, 1, MPI_INTEGER, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(token == left)
  end subroutine

  subroutine probe()
    integer :: status(MPI_STATUS_SIZE), count, ierror, message, request, i
    integer, allocatable, asynchronous :: values(:)
    logical :: flag
    if (rank == 1) then
      call MPI_Send([1, 2, 3, 4, 5, 6], 6, MPI_INTEGER, 0, 9, MPI_COMM_WORLD, ierror)
      call MPI_Send([7, 8], 2, MPI_INTEGER, 0, 10, MPI_COMM_WORLD, ierror)
    else if (rank == 0) then
      call MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
      call MPI_Get_count(status, MPI_INTEGER, count, ierror)
      CHECK(count == 6)
      allocate (values(count))
      call MPI_Recv(values, count, MPI_INTEGER, 1, status(MPI_TAG), MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      CHECK(all(values == [(i, i = 1, 6)]))
      call MPI_Mprobe(1, 10, MPI_COMM_WORLD, message, status, ierror)
      call MPI_Imrecv(values, 2, MPI_INTEGER, message, request, ierror)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      CHECK(values(2) == 8 .and. message == MPI_MESSAGE_NULL)
      call MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
      CHECK(.not. flag)
    end if
  end subroutine

  subroutine persistent()
    integer, asynchronous :: out, in
    integer :: requests(2), round, left, ierror
    left = mod(rank + size - 1, size)
    call MPI_Send_init(out, 1, MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Recv_init(in, 1, MPI_INTEGER, left, 0, MPI_COMM_WORLD, requests(2), ierror)
    do round = 1, 4
      out = 100 * round + rank
      call MPI_Startall(2, requests, ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      CHECK(in == 100 * round + left)
    end do
    call MPI_Request_free(requests(1), ierror)
    call MPI_Request_free(requests(2), ierror)
    CHECK(requests(1) == MPI_REQUEST_NULL)
  end subroutine

  subroutine buffered()
    integer, parameter :: words = 1000
    integer :: space(words), bytes, ierror, value, unused
    bytes = 4 * words
    call MPI_Buffer_attach(space, bytes, ierror)
    if (rank == 0) then
      call MPI_Bsend(17, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror)
      call MPI_Ssend(18, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      call MPI_Recv(value, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      CHECK(value == 17)
      call MPI_Recv(value, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      CHECK(value == 18)
    end if
    call MPI_Buffer_detach(unused, bytes, ierror)
    CHECK(bytes == 4 * words)
  end subroutine

  subroutine no_process()
    integer :: status(MPI_STATUS_SIZE), value, count, ierror
    value = 5
    call MPI_Send(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierror)
    call MPI_Recv(value, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(value == 5 .and. count == 0 .and. status(MPI_SOURCE) == MPI_PROC_NULL)
  end subroutine

  subroutine cancelled()
    integer :: status(MPI_STATUS_SIZE), value, request, ierror
    logical :: flag
    call MPI_Irecv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, request, ierror)
    call MPI_Cancel(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Test_cancelled(status, flag, ierror)
    CHECK(flag)
  end subroutine

  ! A section with gaps is gathered by the compiler, sent and spread again.
  subroutine array_sections()
    integer :: matrix(4, 6), column(4), row(6), ierror, i, j
    matrix = reshape([((10 * i + j, i = 1, 4), j = 1, 6)], [4, 6])
    call MPI_Sendrecv(matrix(:, 3), 4, MPI_INTEGER, rank, 0, column, 4, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierror)
    CHECK(all(column == [13, 23, 33, 43]))
    call MPI_Sendrecv(matrix(2, :), 6, MPI_INTEGER, rank, 0, row, 6, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierror)
    CHECK(all(row == [21, 22, 23, 24, 25, 26]))
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('send_and_receive', send_and_receive)
  call run('types', types)
  call run('nonblocking', nonblocking)
  call run('wait_any_and_some', wait_any_and_some)
  call run('undefined_index', undefined_index)
  call run('sendrecv', sendrecv)
  call run('probe', probe)
  call run('persistent', persistent)
  call run('buffered', buffered)
  call run('no_process', no_process)
  call run('cancelled', cancelled)
  call run('array_sections', array_sections)
  call finish()
end program
