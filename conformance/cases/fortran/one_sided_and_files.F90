! ranks: 4
! Windows and files, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  ! Windows start at an address that all libraries can handle.
  integer, target, save :: cells(64) = 0
contains
  subroutine fence()
    integer :: win, ierror
    integer(MPI_ADDRESS_KIND) :: bytes, place
    integer, asynchronous :: in, out(2)
    cells = 100 * rank
    out = [rank + 1, rank + 2]
    bytes = 256
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    place = 5
    call MPI_Put(out, 2, MPI_INTEGER, mod(rank + 1, size), place, 2, MPI_INTEGER, win, ierror)
    place = 10
    call MPI_Get(in, 1, MPI_INTEGER, mod(rank + 1, size), place, 1, MPI_INTEGER, win, ierror)
    place = 20
    call MPI_Accumulate(rank, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, MPI_SUM, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    CHECK(cells(6) == mod(rank + size - 1, size) + 1 .and. cells(7) == cells(6) + 1)
    CHECK(in == 100 * mod(rank + 1, size))
    if (rank == 0) then
      CHECK(cells(21) == size * (size - 1) / 2)
    end if
    call MPI_Win_free(win, ierror)
    CHECK(win == MPI_WIN_NULL)
  end subroutine

  subroutine allocated()
    integer :: win, ierror, ticket, one
    integer(MPI_ADDRESS_KIND) :: bytes, place
    type(c_ptr) :: base
    integer, pointer, asynchronous :: mine(:)
    integer :: sum
    bytes = 40
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call c_f_pointer(base, mine, [10])
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
    mine = 0
    call MPI_Win_unlock(rank, win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    one = 1
    place = 3
    call MPI_Win_lock_all(0, win, ierror)
    call MPI_Fetch_and_op(one, ticket, MPI_INTEGER, 0, place, MPI_SUM, win, ierror)
    call MPI_Win_unlock_all(win, ierror)
    call MPI_Allreduce(ticket, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(sum == size * (size - 1) / 2)
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine window_attributes()
    integer :: win, ierror
    integer(MPI_ADDRESS_KIND) :: bytes, value, address
    logical :: found
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    bytes = 256
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, found, ierror)
    CHECK(found .and. value == 256)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, found, ierror)
    CHECK(found .and. value == 4)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, found, ierror)
    call MPI_Get_address(cells, address, ierror)
    CHECK(found .and. value == address)
    call MPI_Win_set_name(win, 'cells', ierror)
    call MPI_Win_get_name(win, name, length, ierror)
    CHECK(name == 'cells' .and. length == 5)
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine file_at()
    integer :: file, ierror, out(3), in(3), status(MPI_STATUS_SIZE), count
    integer(MPI_OFFSET_KIND) :: offset, bytes
    call MPI_File_open(MPI_COMM_WORLD, 'fortran.dat  ', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file, ierror)
    CHECK(ierror == MPI_SUCCESS)
    out = [rank, rank + 1, rank + 2]
    offset = rank * 12
    call MPI_File_write_at_all(file, offset, out, 3, MPI_INTEGER, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(count == 3)
    call MPI_File_sync(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_sync(file, ierror)
    offset = mod(rank + 1, size) * 12
    call MPI_File_read_at(file, offset, in, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    CHECK(in(3) == mod(rank + 1, size) + 2)
    call MPI_File_get_size(file, bytes, ierror)
    CHECK(bytes == 12 * size)
    call MPI_File_close(file, ierror)
    CHECK(file == MPI_FILE_NULL)
  end subroutine

  subroutine file_view()
    integer :: file, type, ierror
    integer(MPI_OFFSET_KIND) :: start, position
    double precision :: out(2), in(2)
    call MPI_File_open(MPI_COMM_WORLD, 'view.dat', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file, ierror)
    call MPI_Type_create_subarray(1, [2 * size], [2], [2 * rank], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, type, ierror)
    call MPI_Type_commit(type, ierror)
    start = 0
    call MPI_File_set_view(file, start, MPI_DOUBLE_PRECISION, type, 'native', MPI_INFO_NULL, ierror)
    out = [rank * 1d0, rank + 0.5d0]
    call MPI_File_write_all(file, out, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierror)
    call MPI_File_get_position(file, position, ierror)
    CHECK(position == 2)
    call MPI_File_sync(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_sync(file, ierror)
    call MPI_File_set_view(file, start, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 'native', MPI_INFO_NULL, ierror)
    start = 2 * mod(rank + 1, size)
    call MPI_File_seek(file, start, MPI_SEEK_SET, ierror)
    call MPI_File_read(file, in, 2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierror)
    CHECK(in(1) == mod(rank + 1, size) .and. in(2) == mod(rank + 1, size) + 0.5d0)
    call MPI_File_close(file, ierror)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine missing_file()
    integer :: file, code, class, ierror
    call MPI_File_open(MPI_COMM_WORLD, 'not there', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call MPI_Error_class(code, class, ierror)
    CHECK(class == MPI_ERR_NO_SUCH_FILE)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('fence', fence)
  call run('allocated', allocated)
  call run('window_attributes', window_attributes)
  call run('file_at', file_at)
  call run('file_view', file_view)
  call run('missing_file', missing_file)
  call finish()
end program
