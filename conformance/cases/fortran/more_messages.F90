! ranks: 3
! The rest of messages and of collectives, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  implicit none
  integer :: queried = 0, freed = 0
contains
  integer function left()
    left = mod(rank + size - 1, size)
  end function

  integer function right()
    right = mod(rank + 1, size)
  end function

  subroutine modes()
    integer, asynchronous :: in(4), out(4)
    integer :: requests(4), receives(4), space(2000), bytes, unused, i, ierror
    bytes = 8000
    call MPI_Buffer_attach(space, bytes, ierror)
    in = -1
    do i = 1, 4
      out(i) = 10 * rank + i
      call MPI_Irecv(in(i), 1, MPI_INTEGER, left(), i, MPI_COMM_WORLD, receives(i), ierror)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Isend(out(1), 1, MPI_INTEGER, right(), 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Issend(out(2), 1, MPI_INTEGER, right(), 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Ibsend(out(3), 1, MPI_INTEGER, right(), 3, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Irsend(out(4), 1, MPI_INTEGER, right(), 4, MPI_COMM_WORLD, requests(4), ierror)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_Waitall(4, receives, MPI_STATUSES_IGNORE, ierror)
    CHECK(all(in == [(10 * left() + i, i = 1, 4)]))
    call MPI_Buffer_detach(unused, bytes, ierror)
  end subroutine

  subroutine persistent_modes()
    integer, asynchronous :: in(3), out(3)
    integer :: requests(3), receives(3), space(2000), bytes, unused, i, round, ierror
    bytes = 8000
    call MPI_Buffer_attach(space, bytes, ierror)
    call MPI_Ssend_init(out(1), 1, MPI_INTEGER, right(), 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Bsend_init(out(2), 1, MPI_INTEGER, right(), 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Rsend_init(out(3), 1, MPI_INTEGER, right(), 3, MPI_COMM_WORLD, requests(3), ierror)
    do i = 1, 3
      call MPI_Recv_init(in(i), 1, MPI_INTEGER, left(), i, MPI_COMM_WORLD, receives(i), ierror)
    end do
    do round = 1, 2
      out = [1, 2, 3] + 100 * round + 10 * rank
      do i = 1, 3
        call MPI_Start(receives(i), ierror)
      end do
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call MPI_Startall(3, requests, ierror)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierror)
      call MPI_Waitall(3, receives, MPI_STATUSES_IGNORE, ierror)
      CHECK(all(in == [1, 2, 3] + 100 * round + 10 * left()))
    end do
    do i = 1, 3
      call MPI_Request_free(requests(i), ierror)
      call MPI_Request_free(receives(i), ierror)
    end do
    call MPI_Buffer_detach(unused, bytes, ierror)
  end subroutine

  subroutine ready()
    integer, asynchronous :: in
    integer :: request, ierror
    call MPI_Irecv(in, 1, MPI_INTEGER, left(), 0, MPI_COMM_WORLD, request, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Rsend(rank + 4, 1, MPI_INTEGER, right(), 0, MPI_COMM_WORLD, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(in == left() + 4)
  end subroutine

  subroutine tests()
    integer, asynchronous :: in(2)
    integer :: requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), count, indices(2), done, i, ierror
    logical :: flag
    call MPI_Irecv(in(1), 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(in(2), 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Test(requests(1), flag, status, ierror)
    CHECK(.not. flag)
    call MPI_Testsome(2, requests, count, indices, statuses, ierror)
    CHECK(count == 0)
    call MPI_Send(5, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(requests(1), flag, status, ierror)
    end do
    CHECK(status(MPI_TAG) == 1)
    call MPI_Send(6, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, ierror)
    done = 0
    do while (done < 2)
      call MPI_Testsome(2, requests, count, indices, statuses, ierror)
      do i = 1, count
        CHECK(statuses(MPI_TAG, i) == indices(i))
      end do
      done = done + count
    end do
    CHECK(in(1) == 5 .and. in(2) == 6)
  end subroutine

  subroutine matched()
    integer :: message, status(MPI_STATUS_SIZE), value, ierror
    logical :: flag
    call MPI_Send(rank, 1, MPI_INTEGER, right(), 9, MPI_COMM_WORLD, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(left(), 9, MPI_COMM_WORLD, flag, message, status, ierror)
    end do
    call MPI_Mrecv(value, 1, MPI_INTEGER, message, status, ierror)
    CHECK(value == left() .and. status(MPI_SOURCE) == left() .and. message == MPI_MESSAGE_NULL)
  end subroutine

  subroutine elements()
    integer :: pair, status(MPI_STATUS_SIZE), values(8), count, ierror
    integer(MPI_COUNT_KIND) :: wide
    logical :: flag
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, rank, 0, values, 4, pair, rank, 0, MPI_COMM_WORLD, status, ierror)
    call MPI_Get_count(status, pair, count, ierror)
    CHECK(count == MPI_UNDEFINED)
    call MPI_Get_elements(status, pair, count, ierror)
    call MPI_Get_elements_x(status, pair, wide, ierror)
    CHECK(count == 3 .and. wide == 3)
    call MPI_Status_set_elements(status, MPI_INTEGER, 7, ierror)
    call MPI_Get_elements(status, MPI_INTEGER, count, ierror)
    CHECK(count == 7)
    wide = 9
    call MPI_Status_set_elements_x(status, MPI_INTEGER, wide, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(count == 9)
    call MPI_Status_set_cancelled(status, .true., ierror)
    call MPI_Test_cancelled(status, flag, ierror)
    CHECK(flag)
    call MPI_Type_free(pair, ierror)
  end subroutine

  subroutine on_query(extra, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror, number
    queried = queried + 1
    number = int(extra)
    call MPI_Status_set_elements(status, MPI_INTEGER, number, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status(MPI_SOURCE) = 5
    status(MPI_TAG) = 6
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_free(extra, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_cancel(extra, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine

  subroutine generalized_request()
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: request, status(MPI_STATUS_SIZE), count, ierror
    extra = 23
    call MPI_Grequest_start(on_query, on_free, on_cancel, extra, request, ierror)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Get_elements(status, MPI_INTEGER, count, ierror)
    CHECK(count == 23 .and. status(MPI_TAG) == 6 .and. queried == 1 .and. freed == 1)
  end subroutine

  subroutine counted_collectives()
    integer :: out(8), in(24), counts(3), places(3), types(3), bytes(3), part, i, ierror
    counts = 1
    places = [0, 2, 4]
    in = -1
    call MPI_Allgatherv(rank + 1, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    CHECK(all(in(1:5:2) == [1, 2, 3]) .and. in(2) == -1)
    types = MPI_INTEGER
    bytes = [0, 4, 8]
    out(1:3) = [(10 * rank + i, i = 0, 2)]
    call MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, ierror)
    CHECK(all(in(1:3) == [(10 * i + rank, i = 0, 2)]))
    call MPI_Reduce_scatter([1, 2, 3], part, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(part == 3 * (rank + 1))
  end subroutine

  subroutine nonblocking_collectives()
    integer, asynchronous :: in(3, 13), out(3), back
    integer :: requests(13), counts(3), places(3), types(3), bytes(3), i, ierror
    counts = 1
    places = [0, 1, 2]
    bytes = [0, 4, 8]
    types = MPI_INTEGER
    in = -1
    back = -1
    out = [(10 * rank + i, i = 0, 2)]
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Igather(out, 1, MPI_INTEGER, in(:, 1), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Igatherv(out, 1, MPI_INTEGER, in(:, 2), counts, places, MPI_INTEGER, 1, MPI_COMM_WORLD, requests(3), &
                      ierror)
    call MPI_Iscatter(out, 1, MPI_INTEGER, in(1, 3), 1, MPI_INTEGER, 2, MPI_COMM_WORLD, requests(4), ierror)
    call MPI_Iscatterv(out, counts, places, MPI_INTEGER, in(1, 4), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(5), &
                       ierror)
    call MPI_Ialltoall(out, 1, MPI_INTEGER, in(:, 5), 1, MPI_INTEGER, MPI_COMM_WORLD, requests(6), ierror)
    call MPI_Ialltoallv(out, counts, places, MPI_INTEGER, in(:, 6), counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                        requests(7), ierror)
    call MPI_Ialltoallw(out, counts, bytes, types, in(:, 7), counts, bytes, types, MPI_COMM_WORLD, requests(8), ierror)
    call MPI_Ireduce(out, in(:, 8), 3, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, requests(9), ierror)
    call MPI_Ireduce_scatter(out, in(1, 9), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(10), ierror)
    call MPI_Ireduce_scatter_block(out, in(1, 10), 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(11), ierror)
    call MPI_Iscan(out, in(1, 11), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(12), ierror)
    call MPI_Iallgatherv(out, 1, MPI_INTEGER, in(:, 12), counts, places, MPI_INTEGER, MPI_COMM_WORLD, requests(13), &
                         ierror)
    call MPI_Waitall(13, requests, MPI_STATUSES_IGNORE, ierror)
    if (rank == 0) then
      CHECK(all(in(:, 1) == [0, 10, 20]) .and. all(in(:, 8) == [30, 33, 36]))
    end if
    if (rank == 1) then
      CHECK(all(in(:, 2) == [0, 10, 20]))
    end if
    CHECK(in(1, 3) == 20 + rank .and. in(1, 4) == rank)
    do i = 5, 7
      CHECK(all(in(:, i) == [rank, 10 + rank, 20 + rank]))
    end do
    CHECK(in(1, 9) == 30 + 3 * rank .and. in(1, 10) == 20 + rank)
    CHECK(in(1, 11) == 5 * rank * (rank + 1) .and. all(in(:, 12) == [0, 10, 20]))
    call MPI_Iexscan(out, back, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    if (rank > 0) then
      CHECK(back == 5 * rank * (rank - 1))
    end if
  end subroutine

  subroutine neighbourhood()
    integer :: comm, in(2), counts(2), places(2), types(2), requests(5), ierror
    integer, asynchronous :: later(2, 5), out(2)
    integer(MPI_ADDRESS_KIND) :: bytes(2)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., comm, ierror)
    counts = 1
    places = [0, 1]
    bytes = [0, 4]
    types = MPI_INTEGER
    out = [2 * rank, 2 * rank + 1]
    call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, ierror)
    CHECK(all(in == [2 * left() + 1, 2 * right()]))
    in = -1
    call MPI_Neighbor_alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, comm, ierror)
    CHECK(all(in == [2 * left() + 1, 2 * right()]))
    in = -1
    call MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm, ierror)
    CHECK(all(in == [2 * left() + 1, 2 * right()]))
    in = -1
    call MPI_Neighbor_allgatherv(out, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, comm, ierror)
    CHECK(all(in == [2 * left(), 2 * right()]))
    call MPI_Ineighbor_alltoall(out, 1, MPI_INTEGER, later(:, 1), 1, MPI_INTEGER, comm, requests(1), ierror)
    call MPI_Ineighbor_alltoallv(out, counts, places, MPI_INTEGER, later(:, 2), counts, places, MPI_INTEGER, comm, &
                                 requests(2), ierror)
    call MPI_Ineighbor_alltoallw(out, counts, bytes, types, later(:, 3), counts, bytes, types, comm, requests(3), &
                                 ierror)
    call MPI_Ineighbor_allgather(out, 1, MPI_INTEGER, later(:, 4), 1, MPI_INTEGER, comm, requests(4), ierror)
    call MPI_Ineighbor_allgatherv(out, 1, MPI_INTEGER, later(:, 5), counts, places, MPI_INTEGER, comm, requests(5), &
                                  ierror)
    call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE, ierror)
    CHECK(all(later(1, 1:3) == 2 * left() + 1) .and. all(later(1, 4:5) == 2 * left()))
    CHECK(all(later(2, :) == 2 * right()))
    call MPI_Comm_free(comm, ierror)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('modes', modes)
  call run('persistent_modes', persistent_modes)
  call run('ready', ready)
  call run('tests', tests)
  call run('matched', matched)
  call run('elements', elements)
  call run('generalized_request', generalized_request)
  call run('counted_collectives', counted_collectives)
  call run('nonblocking_collectives', nonblocking_collectives)
  call run('neighbourhood', neighbourhood)
  call finish()
end program
