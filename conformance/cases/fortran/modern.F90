! ranks: 4
! The module mpi_f08: handles and statuses are types, the error code may be left out.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi_f08
  implicit none
contains
  subroutine messages()
    integer :: values(5), count
    type(MPI_Status) :: status
    values = rank
    if (rank == 0) then
      call MPI_Send(values, 3, MPI_INTEGER, 1, 8, MPI_COMM_WORLD)
    else if (rank == 1) then
      call MPI_Recv(values, 5, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
      CHECK(status%MPI_SOURCE == 0 .and. status%MPI_TAG == 8)
      call MPI_Get_count(status, MPI_INTEGER, count)
      CHECK(count == 3 .and. all(values == [0, 0, 0, 1, 1]))
    end if
  end subroutine

  subroutine nonblocking()
    integer, asynchronous :: in, out
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2)
    out = rank * 3
    call MPI_Irecv(in, 1, MPI_INTEGER, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out, 1, MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    CHECK(in == 3 * mod(rank + size - 1, size) .and. statuses(1)%MPI_SOURCE == mod(rank + size - 1, size))
    CHECK(requests(1) == MPI_REQUEST_NULL)
  end subroutine

  ! Sends and receives what an argument without a known size is, and waits.
  subroutine exchange(in, out)
    integer, asynchronous :: in(:), out(:)
    type(MPI_Request) :: requests(2)
    call MPI_Irecv(in, size_of(in), MPI_INTEGER, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out, size_of(out), MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(in)
  end subroutine

  integer function size_of(list)
    integer, intent(in) :: list(:)
    size_of = ubound(list, 1)
  end function

  ! Sections whose elements are side by side are where they are; others only where the library says so.
  subroutine sections()
    integer, asynchronous :: in(4, 3), out(4, 3)
    integer, allocatable, asynchronous :: list(:)
    integer, pointer, asynchronous :: part(:)
    integer, target, asynchronous :: whole(6)
    integer :: from, i, j
    from = mod(rank + size - 1, size)
    out = reshape([((100 * rank + 10 * i + j, i = 1, 4), j = 1, 3)], [4, 3])
    in = 0
    call exchange(in(:, 2), out(:, 3))
    CHECK(all(in(:, 2) == 100 * from + [13, 23, 33, 43]) .and. all(in(:, 1) == 0) .and. all(in(:, 3) == 0))
    call exchange(in(2:3, 1), out(1:2, 1))
    CHECK(all(in(2:3, 1) == 100 * from + [11, 21]) .and. in(1, 1) == 0 .and. in(4, 1) == 0)
    allocate (list(4))
    whole = 0
    part => whole(3:6)
    call exchange(list, out(:, 1))
    call exchange(part, list)
    CHECK(all(part == 100 * mod(from + size - 1, size) + [11, 21, 31, 41]) .and. all(whole(1:2) == 0))
    if (MPI_SUBARRAYS_SUPPORTED) then
      call exchange(in(1, :), out(4, :))
    else
      call MPI_Sendrecv(out(4, :), 3, MPI_INTEGER, mod(rank + 1, size), 0, in(1, :), 3, MPI_INTEGER, from, 0, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end if
    CHECK(all(in(1, :) == 100 * from + [41, 42, 43]))
  end subroutine

  subroutine collectives()
    integer :: sum, ranks(8), i, ierror
    double precision :: values(3)
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(ierror == MPI_SUCCESS .and. sum == size * (size - 1) / 2)
    call MPI_Allgather(rank, 1, MPI_INTEGER, ranks, 1, MPI_INTEGER, MPI_COMM_WORLD)
    CHECK(all(ranks(1:size) == [(i, i = 0, size - 1)]))
    values = rank
    call MPI_Bcast(values, 3, MPI_DOUBLE_PRECISION, 3, MPI_COMM_WORLD)
    CHECK(all(values == 3))
    sum = 1
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CHECK(sum == size)
  end subroutine

  subroutine communicators()
    type(MPI_Comm) :: comm, copy
    type(MPI_Group) :: group
    integer :: place, count, result
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm)
    call MPI_Comm_rank(comm, place)
    call MPI_Comm_size(comm, count)
    CHECK(place == rank / 2 .and. count == 2)
    call MPI_Comm_dup(comm, copy)
    CHECK(copy /= comm)
    call MPI_Comm_compare(comm, copy, result)
    CHECK(result == MPI_CONGRUENT)
    call MPI_Comm_group(copy, group)
    call MPI_Group_size(group, count)
    CHECK(count == 2)
    call MPI_Group_free(group)
    call MPI_Comm_free(copy)
    call MPI_Comm_free(comm)
    CHECK(comm == MPI_COMM_NULL)
  end subroutine

  subroutine datatypes()
    type(MPI_Datatype) :: column
    integer :: out(3, 4), row(4), i, j, bytes
    out = reshape([((10 * i + j, i = 1, 3), j = 1, 4)], [3, 4])
    call MPI_Type_vector(4, 1, 3, MPI_INTEGER, column)
    call MPI_Type_commit(column)
    call MPI_Type_size(column, bytes)
    CHECK(bytes == 16)
    call MPI_Sendrecv(out(2, 1), 1, column, rank, 0, row, 4, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    CHECK(all(row == [21, 22, 23, 24]))
    call MPI_Type_free(column)
    CHECK(column == MPI_DATATYPE_NULL)
  end subroutine

  subroutine names()
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length)
    CHECK(name == 'MPI_COMM_WORLD' .and. length == 14)
  end subroutine

  subroutine info()
    type(MPI_Info) :: list
    character(10) :: value
    logical :: flag
    call MPI_Info_create(list)
    call MPI_Info_set(list, 'key', 'value')
    call MPI_Info_get(list, 'key', 10, value, flag)
    CHECK(flag .and. value == 'value')
    call MPI_Info_free(list)
  end subroutine

  subroutine info_of_the_start()
    type(MPI_Info) :: info
    integer :: count
    logical :: flag
    character(3) :: value
#ifdef MPI_4
    call MPI_Info_create_env(info)
    call MPI_Info_get_nkeys(info, count)
    CHECK(count >= 0)
    call MPI_Info_set(info, 'own', 'one')
    call MPI_Info_get(info, 'own', 3, value, flag)
    CHECK(flag .and. value == 'one')
    call MPI_Info_free(info)
    CHECK(info == MPI_INFO_NULL)
#endif
  end subroutine

  subroutine cartesian()
    type(MPI_Comm) :: comm
    integer :: from, to, dims(2)
    dims = [2, 2]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., comm)
    call MPI_Cart_shift(comm, 0, 1, from, to)
    CHECK(from == mod(rank + 2, 4) .and. to == mod(rank + 2, 4))
    call MPI_Comm_free(comm)
  end subroutine

  subroutine add(a, b, length, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: a, b
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: x(:), y(:)
    call c_f_pointer(a, x, [length])
    call c_f_pointer(b, y, [length])
    y = x + 10 * y
  end subroutine

  subroutine user_operation()
    type(MPI_Op) :: op
    integer :: digits(2), both(2)
    procedure(MPI_User_function), pointer :: function
    function => add
    call MPI_Op_create(function, .false., op)
    digits = [1, 2]
    both = [3, 4]
    call MPI_Reduce_local(digits, both, 2, MPI_INTEGER, op)
    CHECK(all(both == [31, 42]))
    call MPI_Op_free(op)
  end subroutine

  ! Old and new handles are the same number.
  subroutine old_handles()
    type(MPI_Comm) :: comm
    integer :: place
    comm%MPI_VAL = MPI_COMM_WORLD%MPI_VAL
    call MPI_Comm_rank(comm, place)
    CHECK(place == rank .and. comm == MPI_COMM_WORLD)
  end subroutine

  subroutine errors_return()
    type(MPI_Comm) :: comm
    integer :: code, class
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call MPI_Send(rank, 1, MPI_INTEGER, size, 0, comm, code)
    call MPI_Error_class(code, class)
    CHECK(class == MPI_ERR_RANK)
    call MPI_Comm_free(comm)
  end subroutine

  subroutine windows()
    type(MPI_Win) :: win
    integer, asynchronous, save, target :: cells(64)
    integer(MPI_ADDRESS_KIND) :: bytes, place
    cells = -1
    bytes = 256
    place = 2
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + 1, size), place, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    CHECK(cells(3) == mod(rank + size - 1, size) .and. cells(2) == -1)
    call MPI_Win_free(win)
  end subroutine

  subroutine files()
    type(MPI_File) :: file
    integer :: in
    integer(MPI_OFFSET_KIND) :: place
    call MPI_File_open(MPI_COMM_WORLD, 'modern.dat', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file)
    place = 4 * rank
    call MPI_File_write_at(file, place, rank + 60, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_at(file, place, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
    CHECK(in == rank + 60)
    call MPI_File_close(file)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('messages', messages)
  call run('nonblocking', nonblocking)
  call run('sections', sections)
  call run('collectives', collectives)
  call run('communicators', communicators)
  call run('datatypes', datatypes)
  call run('names', names)
  call run('info', info)
  call run('info_of_the_start', info_of_the_start)
  call run('cartesian', cartesian)
  call run('user_operation', user_operation)
  call run('old_handles', old_handles)
  call run('errors_return', errors_return)
  call run('windows', windows)
  call run('files', files)
  call finish()
end program
