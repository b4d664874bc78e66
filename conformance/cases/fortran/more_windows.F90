! ranks: 4
! The rest of windows, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer, target, asynchronous, save :: cells(64) = 0
  integer :: deleted = 0, errors = 0
contains
  subroutine post_and_start()
    integer :: win, world, before, after, ierror
    integer(MPI_ADDRESS_KIND) :: bytes, place
    logical :: flag
    cells = -1
    bytes = 256
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    call MPI_Group_incl(world, 1, [mod(rank + size - 1, size)], before, ierror)
    call MPI_Group_incl(world, 1, [mod(rank + 1, size)], after, ierror)
    place = 0
    call MPI_Win_post(before, 0, win, ierror)
    call MPI_Win_start(after, 0, win, ierror)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + 1, size), place, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_complete(win, ierror)
    call MPI_Win_wait(win, ierror)
    CHECK(cells(1) == mod(rank + size - 1, size))
    place = 1
    call MPI_Win_post(before, 0, win, ierror)
    call MPI_Win_start(after, 0, win, ierror)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + 1, size), place, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_complete(win, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(win, flag, ierror)
    end do
    CHECK(cells(2) == mod(rank + size - 1, size))
    call MPI_Group_free(before, ierror)
    call MPI_Group_free(after, ierror)
    call MPI_Group_free(world, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine passive()
    integer :: win, next, ierror, requests(1)
    integer, asynchronous :: in, old, out
    integer(MPI_ADDRESS_KIND) :: bytes, place
    cells = 0
    bytes = 256
    next = mod(rank + 1, size)
    out = rank + 1
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock_all(0, win, ierror)
    place = 0
    call MPI_Rput(out, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win, requests(1), ierror)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    call MPI_Win_flush(next, win, ierror)
    call MPI_Rget(in, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win, requests(1), ierror)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    CHECK(in == rank + 1)
    place = 1
    call MPI_Raccumulate(out, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, MPI_SUM, win, requests(1), ierror)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    call MPI_Win_flush_all(win, ierror)
    call MPI_Rget_accumulate(out, 1, MPI_INTEGER, old, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, MPI_SUM, win, &
                             requests(1), ierror)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
    CHECK(old == rank + 1)
    place = 2
    call MPI_Get_accumulate(out, 1, MPI_INTEGER, old, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, MPI_REPLACE, &
                            win, ierror)
    call MPI_Win_flush_local(next, win, ierror)
    CHECK(old == 0)
    call MPI_Win_flush(next, win, ierror)
    in = 99
    call MPI_Compare_and_swap(in, out, old, MPI_INTEGER, next, place, win, ierror)
    call MPI_Win_flush_local_all(win, ierror)
    CHECK(old == rank + 1)
    call MPI_Win_sync(win, ierror)
    call MPI_Win_unlock_all(win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win, ierror)
    CHECK(cells(1) == mod(rank + size - 1, size) + 1 .and. cells(2) == 2 * cells(1) .and. cells(3) == 99)
    call MPI_Win_unlock(rank, win, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine shared()
    integer :: node, win, unit, place, count, i, ierror
    integer(MPI_ADDRESS_KIND) :: bytes
    type(c_ptr) :: base
    integer, pointer, asynchronous :: mine(:), first(:)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, node, ierror)
    call MPI_Comm_rank(node, place, ierror)
    call MPI_Comm_size(node, count, ierror)
    bytes = 4
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, base, win, ierror)
    call c_f_pointer(base, mine, [1])
    call MPI_Win_fence(0, win, ierror)
    mine(1) = place + 40
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_shared_query(win, 0, bytes, unit, base, ierror)
    call c_f_pointer(base, first, [count])
    CHECK(bytes == 4 .and. unit == 4 .and. all(first == [(i + 40, i = 0, count - 1)]))
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_free(win, ierror)
    call MPI_Comm_free(node, ierror)
  end subroutine

  subroutine dynamic()
    integer :: win, ierror
    integer(MPI_ADDRESS_KIND) :: bytes, mine, theirs
    cells = -1
    bytes = 256
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_attach(win, cells, bytes, ierror)
    call MPI_Get_address(cells(5), mine, ierror)
    call MPI_Sendrecv(mine, 1, MPI_AINT, mod(rank + size - 1, size), 0, theirs, 1, MPI_AINT, mod(rank + 1, size), 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + 1, size), theirs, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    CHECK(cells(5) == mod(rank + size - 1, size) .and. cells(6) == -1)
    call MPI_Win_detach(win, cells, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine on_delete(win, key, value, extra, ierror)
    integer :: win, key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_error(win, code)
    integer :: win, code
    errors = errors + 1
  end subroutine

  subroutine attached()
    integer :: win, key, handler, now, group, count, info, ierror
    integer(MPI_ADDRESS_KIND) :: bytes, value
    logical :: found
    bytes = 256
    call MPI_Win_create(cells, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    value = 0
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, key, value, ierror)
    value = 12
    call MPI_Win_set_attr(win, key, value, ierror)
    value = 0
    call MPI_Win_get_attr(win, key, value, found, ierror)
    CHECK(found .and. value == 12)
    call MPI_Win_delete_attr(win, key, ierror)
    CHECK(deleted == 1)
    call MPI_Win_free_keyval(key, ierror)
    call MPI_Win_create_errhandler(on_error, handler, ierror)
    call MPI_Win_set_errhandler(win, handler, ierror)
    call MPI_Win_get_errhandler(win, now, ierror)
    CHECK(now == handler)
    call MPI_Errhandler_free(now, ierror)
    call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierror)
    CHECK(errors == 1)
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Win_get_group(win, group, ierror)
    call MPI_Group_size(group, count, ierror)
    CHECK(count == size)
    call MPI_Group_free(group, ierror)
    call MPI_Win_get_info(win, info, ierror)
    call MPI_Win_set_info(win, info, ierror)
    call MPI_Info_free(info, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('post_and_start', post_and_start)
  call run('passive', passive)
  call run('shared', shared)
  call run('dynamic', dynamic)
  call run('attached', attached)
  call finish()
end program
