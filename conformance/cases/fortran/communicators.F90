! ranks: 4
! Communicators, groups, topologies, attributes, strings and error handlers, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  implicit none
  integer :: copied = 0, deleted = 0, errors = 0, last_class = 0
contains
  subroutine split_and_dup()
    integer :: comm, copy, place, count, result, ierror
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, comm, ierror)
    call MPI_Comm_rank(comm, place, ierror)
    call MPI_Comm_size(comm, count, ierror)
    CHECK(count == 2 .and. place == 1 - rank / 2)
    call MPI_Comm_dup(comm, copy, ierror)
    call MPI_Comm_compare(comm, copy, result, ierror)
    CHECK(result == MPI_CONGRUENT)
    call MPI_Comm_free(copy, ierror)
    call MPI_Comm_free(comm, ierror)
    CHECK(comm == MPI_COMM_NULL)
  end subroutine

  subroutine groups()
    integer :: world, group, other, comm, ranks(2), count, result, ranges(3, 1), ierror
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    call MPI_Group_incl(world, 2, [3, 1], group, ierror)
    call MPI_Group_translate_ranks(group, 2, [0, 1], world, ranks, ierror)
    CHECK(all(ranks == [3, 1]))
    ranges(:, 1) = [1, 3, 2]
    call MPI_Group_range_incl(world, 1, ranges, other, ierror)
    call MPI_Group_compare(group, other, result, ierror)
    CHECK(result == MPI_SIMILAR)
    call MPI_Comm_create(MPI_COMM_WORLD, group, comm, ierror)
    if (mod(rank, 2) == 1) then
      call MPI_Comm_size(comm, count, ierror)
      CHECK(count == 2)
      call MPI_Comm_free(comm, ierror)
    else
      CHECK(comm == MPI_COMM_NULL)
    end if
    call MPI_Group_free(group, ierror)
    call MPI_Group_free(other, ierror)
    call MPI_Group_free(world, ierror)
    CHECK(world == MPI_GROUP_NULL)
  end subroutine

  subroutine cartesian()
    integer :: comm, dims(2), coords(2), from, to, place, row, ierror
    logical :: periods(2)
    dims = 0
    call MPI_Dims_create(4, 2, dims, ierror)
    CHECK(all(dims == 2))
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., comm, ierror)
    call MPI_Cart_get(comm, 2, dims, periods, coords, ierror)
    CHECK(periods(1) .and. .not. periods(2) .and. coords(1) == rank / 2 .and. coords(2) == mod(rank, 2))
    call MPI_Cart_shift(comm, 1, 1, from, to, ierror)
    CHECK(to == merge(rank + 1, MPI_PROC_NULL, mod(rank, 2) == 0))
    call MPI_Cart_rank(comm, [3, 1], place, ierror)
    CHECK(place == 3)
    call MPI_Cart_sub(comm, [.false., .true.], row, ierror)
    call MPI_Comm_rank(row, place, ierror)
    CHECK(place == mod(rank, 2))
    call MPI_Comm_free(row, ierror)
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine names()
    character(MPI_MAX_OBJECT_NAME) :: name
    character(10) :: short
    integer :: comm, length, ierror
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
    CHECK(name == 'MPI_COMM_WORLD' .and. length == 14)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    short = 'rows'
    call MPI_Comm_set_name(comm, short, ierror)
    call MPI_Comm_get_name(comm, name, length, ierror)
    CHECK(name == 'rows' .and. length == 4)
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine processor()
    character(MPI_MAX_PROCESSOR_NAME) :: name
    integer :: length, version, subversion, ierror
    call MPI_Get_processor_name(name, length, ierror)
    CHECK(length > 0 .and. len_trim(name) == length)
    call MPI_Get_version(version, subversion, ierror)
    CHECK(version >= 3)
    CHECK(MPI_Wtime() >= 0 .and. MPI_Wtick() > 0)
  end subroutine

  subroutine info_strings()
    integer :: info, count, length, ierror
    logical :: flag
    character(20) :: value, key
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'colour ', ' blue ', ierror)
    call MPI_Info_get_nkeys(info, count, ierror)
    CHECK(count == 1)
    call MPI_Info_get(info, 'colour', 20, value, flag, ierror)
    ! Blanks at both ends of key and value are cut.
    CHECK(flag .and. value == 'blue')
    call MPI_Info_get_nthkey(info, 0, key, ierror)
    CHECK(key == 'colour')
    call MPI_Info_get_valuelen(info, 'colour', length, flag, ierror)
    CHECK(flag .and. length == 4)
    call MPI_Info_get(info, 'size', 20, value, flag, ierror)
    CHECK(.not. flag)
    call MPI_Info_free(info, ierror)
    CHECK(info == MPI_INFO_NULL)
  end subroutine

  subroutine on_copy(comm, key, extra, in, out, flag, ierror)
    integer :: comm, key, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copied = copied + 1
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_delete(comm, key, value, extra, ierror)
    integer :: comm, key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine attributes()
    integer :: key, comm, copy, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    logical :: found
    extra = 1000
    call MPI_Comm_create_keyval(on_copy, on_delete, key, extra, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    value = 12345678901_MPI_ADDRESS_KIND
    call MPI_Comm_set_attr(comm, key, value, ierror)
    call MPI_Comm_dup(comm, copy, ierror)
    call MPI_Comm_get_attr(copy, key, value, found, ierror)
    CHECK(found .and. value == 12345679901_MPI_ADDRESS_KIND)
    CHECK(copied == 1)
    call MPI_Comm_delete_attr(comm, key, ierror)
    CHECK(deleted == 1)
    call MPI_Comm_free(copy, ierror)
    CHECK(deleted == 2)
    call MPI_Comm_free(comm, ierror)
    CHECK(deleted == 2)
    call MPI_Comm_free_keyval(key, ierror)
    CHECK(key == MPI_KEYVAL_INVALID)
  end subroutine

  ! Predefined ones are integers here, not addresses of them.
  subroutine predefined_attributes()
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    integer :: ierror
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found, ierror)
    CHECK(found .and. value >= 32767)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, found, ierror)
    CHECK(found)
  end subroutine

  subroutine ready_made_copy()
    integer :: key, comm, copy, ierror
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    value = 0
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, value, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    value = -42
    call MPI_Comm_set_attr(comm, key, value, ierror)
    call MPI_Comm_dup(comm, copy, ierror)
    value = 0
    call MPI_Comm_get_attr(copy, key, value, found, ierror)
    CHECK(found .and. value == -42)
    call MPI_Comm_free(copy, ierror)
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_free_keyval(key, ierror)
  end subroutine

  subroutine on_error(comm, code)
    integer :: comm, code, ierror
    errors = errors + 1
    call MPI_Error_class(code, last_class, ierror)
  end subroutine

  subroutine error_handlers()
    integer :: comm, handler, code, class, length, ierror
    character(MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_create_errhandler(on_error, handler, ierror)
    call MPI_Comm_set_errhandler(comm, handler, ierror)
    call MPI_Send(1, 1, MPI_INTEGER, size + 1, 0, comm, code)
    CHECK(errors == 1 .and. last_class == MPI_ERR_RANK)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    call MPI_Send(1, -1, MPI_INTEGER, 0, 0, comm, code)
    call MPI_Error_class(code, class, ierror)
    CHECK(errors == 1 .and. class == MPI_ERR_COUNT)
    call MPI_Error_string(code, text, length, ierror)
    CHECK(length > 0 .and. len_trim(text) == length)
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine inter()
    integer :: local, comm, merged, count, value, ierror
    logical :: low, flag
    low = rank < 1
    call MPI_Comm_split(MPI_COMM_WORLD, merge(0, 1, low), rank, local, ierror)
    call MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, merge(1, 0, low), 3, comm, ierror)
    call MPI_Comm_test_inter(comm, flag, ierror)
    call MPI_Comm_remote_size(comm, count, ierror)
    CHECK(flag .and. count == merge(size - 1, 1, low))
    call MPI_Intercomm_merge(comm, .not. low, merged, ierror)
    call MPI_Comm_rank(merged, value, ierror)
    CHECK(value == rank)
    call MPI_Comm_free(merged, ierror)
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_free(local, ierror)
  end subroutine

  subroutine neighbours()
    integer :: comm, in(2), ierror
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., comm, ierror)
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, ierror)
    CHECK(in(1) == mod(rank + size - 1, size) .and. in(2) == mod(rank + 1, size))
    call MPI_Comm_free(comm, ierror)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('split_and_dup', split_and_dup)
  call run('groups', groups)
  call run('cartesian', cartesian)
  call run('names', names)
  call run('processor', processor)
  call run('info_strings', info_strings)
  call run('attributes', attributes)
  call run('predefined_attributes', predefined_attributes)
  call run('ready_made_copy', ready_made_copy)
  call run('error_handlers', error_handlers)
  call run('inter', inter)
  call run('neighbours', neighbours)
  call finish()
end program
