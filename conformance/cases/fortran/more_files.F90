! ranks: 4
! The rest of files, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  implicit none
  integer :: file, errors = 0
contains
  subroutine begin(name)
    character(*), intent(in) :: name
    integer :: ierror
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file, ierror)
  end subroutine

  subroutine settle()
    integer :: ierror
    call MPI_File_sync(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_sync(file, ierror)
  end subroutine

  subroutine properties()
    integer :: mode, group, count, info, ierror
    integer(MPI_OFFSET_KIND) :: bytes
    integer(MPI_ADDRESS_KIND) :: extent
    logical :: flag
    call begin('properties.dat')
    call MPI_File_get_amode(file, mode, ierror)
    CHECK(mode == MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE)
    call MPI_File_get_group(file, group, ierror)
    call MPI_Group_size(group, count, ierror)
    CHECK(count == size)
    call MPI_Group_free(group, ierror)
    call MPI_File_get_atomicity(file, flag, ierror)
    CHECK(.not. flag)
    call MPI_File_set_atomicity(file, .true., ierror)
    call MPI_File_get_atomicity(file, flag, ierror)
    CHECK(flag)
    call MPI_File_get_type_extent(file, MPI_DOUBLE_PRECISION, extent, ierror)
    CHECK(extent == 8)
    call MPI_File_get_info(file, info, ierror)
    call MPI_File_set_info(file, info, ierror)
    call MPI_Info_free(info, ierror)
    bytes = 100
    call MPI_File_set_size(file, bytes, ierror)
    call MPI_File_get_size(file, bytes, ierror)
    CHECK(bytes == 100)
    call MPI_File_close(file, ierror)
  end subroutine

  subroutine preallocate()
    integer(MPI_OFFSET_KIND) :: bytes
    integer :: ierror
    call begin('preallocate.dat')
    bytes = 200
    call MPI_File_preallocate(file, bytes, ierror)
    call MPI_File_get_size(file, bytes, ierror)
    CHECK(bytes == 200)
    call MPI_File_close(file, ierror)
  end subroutine

  subroutine delete()
    integer :: code, class, ierror
    call MPI_File_open(MPI_COMM_WORLD, 'delete.dat', MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, ierror)
    call MPI_File_close(file, ierror)
    if (rank == 0) then
      call MPI_File_delete('delete.dat', MPI_INFO_NULL, code)
      CHECK(code == MPI_SUCCESS)
      call MPI_File_delete('delete.dat', MPI_INFO_NULL, code)
      call MPI_Error_class(code, class, ierror)
      CHECK(class == MPI_ERR_NO_SUCH_FILE)
    end if
  end subroutine

  subroutine view()
    integer :: element, type, out(2), ierror
    integer(MPI_OFFSET_KIND) :: start, bytes
    character(MPI_MAX_DATAREP_STRING) :: name
    call begin('view.dat')
    start = 8 * rank
    call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    start = -1
    call MPI_File_get_view(file, start, element, type, name, ierror)
    CHECK(start == 8 * rank .and. name == 'native')
    start = 3
    call MPI_File_get_byte_offset(file, start, bytes, ierror)
    CHECK(bytes == 8 * rank + 12)
    out = rank
    call MPI_File_write(file, out, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call settle()
    start = 0
    call MPI_File_seek(file, start, MPI_SEEK_SET, ierror)
    out = -1
    call MPI_File_read_all(file, out, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    CHECK(all(out == rank))
    call MPI_File_read_at_all(file, start, out, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    CHECK(out(1) == rank)
    call MPI_File_close(file, ierror)
  end subroutine

  subroutine shared_pointer()
    integer :: in, sum, ierror
    integer(MPI_OFFSET_KIND) :: start
    call begin('shared.dat')
    call MPI_File_write_shared(file, 2**rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call settle()
    call MPI_File_get_position_shared(file, start, ierror)
    CHECK(start == 4 * size)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    start = 0
    call MPI_File_seek_shared(file, start, MPI_SEEK_SET, ierror)
    call MPI_File_read_shared(file, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_Allreduce(in, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(sum == 2**size - 1)
    call MPI_File_close(file, ierror)
  end subroutine

  subroutine ordered()
    integer :: in, ierror
    integer(MPI_OFFSET_KIND) :: start
    call begin('ordered.dat')
    call MPI_File_write_ordered(file, rank + 7, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call settle()
    start = 0
    call MPI_File_seek_shared(file, start, MPI_SEEK_SET, ierror)
    call MPI_File_read_ordered(file, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    CHECK(in == rank + 7)
    call MPI_File_close(file, ierror)
  end subroutine

  subroutine nonblocking()
    integer, asynchronous :: in, out
    integer :: request, ierror
    integer(MPI_OFFSET_KIND) :: start
    call begin('nonblocking.dat')
    out = rank + 20
    start = 4 * rank
    call MPI_File_iwrite_at(file, start, out, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_File_iread_at(file, start, in, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(in == rank + 20)
    call MPI_File_seek(file, start, MPI_SEEK_SET, ierror)
    out = rank + 30
    call MPI_File_iwrite(file, out, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_File_seek(file, start, MPI_SEEK_SET, ierror)
    call MPI_File_iread(file, in, 1, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(in == rank + 30)
    call MPI_File_close(file, ierror)
  end subroutine

  subroutine split_collective()
    integer, asynchronous :: in, out
    integer :: status(MPI_STATUS_SIZE), count, ierror
    integer(MPI_OFFSET_KIND) :: start
    call begin('split.dat')
    start = 4 * rank
    out = rank + 3
    call MPI_File_write_at_all_begin(file, start, out, 1, MPI_INTEGER, ierror)
    call MPI_File_write_at_all_end(file, out, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(count == 1)
    call settle()
    call MPI_File_read_at_all_begin(file, start, in, 1, MPI_INTEGER, ierror)
    call MPI_File_read_at_all_end(file, in, status, ierror)
    CHECK(in == rank + 3)
    call MPI_File_seek(file, start, MPI_SEEK_SET, ierror)
    out = rank + 5
    call MPI_File_write_all_begin(file, out, 1, MPI_INTEGER, ierror)
    call MPI_File_write_all_end(file, out, status, ierror)
    call settle()
    call MPI_File_seek(file, start, MPI_SEEK_SET, ierror)
    call MPI_File_read_all_begin(file, in, 1, MPI_INTEGER, ierror)
    call MPI_File_read_all_end(file, in, status, ierror)
    CHECK(in == rank + 5)
    call MPI_File_close(file, ierror)
  end subroutine

  subroutine on_error(f, code)
    integer :: f, code
    errors = errors + 1
  end subroutine

  subroutine error_handler()
    integer :: handler, now, ierror
    call begin('handler.dat')
    call MPI_File_create_errhandler(on_error, handler, ierror)
    call MPI_File_set_errhandler(file, handler, ierror)
    call MPI_File_get_errhandler(file, now, ierror)
    CHECK(now == handler)
    call MPI_Errhandler_free(now, ierror)
    call MPI_File_call_errhandler(file, MPI_ERR_OTHER, ierror)
    CHECK(errors == 1)
    call MPI_Errhandler_free(handler, ierror)
    call MPI_File_close(file, ierror)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('properties', properties)
  call run('preallocate', preallocate)
  call run('delete', delete)
  call run('view', view)
  call run('shared_pointer', shared_pointer)
  call run('ordered', ordered)
  call run('nonblocking', nonblocking)
  call run('split_collective', split_collective)
  call run('error_handler', error_handler)
  call finish()
end program
