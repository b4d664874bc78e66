! ranks: 2
! Attributes in Fortran: values are integers, of two sizes.
#include "case_fortran.h"

module callbacks
  implicit none
  include 'mpif.h'
  integer :: copied = 0, deleted = 0
  integer(MPI_ADDRESS_KIND) :: last = 0
contains
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
    last = value
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_old_copy(comm, key, extra, in, out, flag, ierror)
    integer :: comm, key, extra, in, out, ierror
    logical :: flag
    copied = copied + 1
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_old_delete(comm, key, value, extra, ierror)
    integer :: comm, key, value, extra, ierror
    deleted = deleted + 1
    last = value
    ierror = MPI_SUCCESS
  end subroutine

  subroutine refuse(comm, key, extra, in, out, flag, ierror)
    integer :: comm, key, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copied = copied + 1
    flag = .false.
    ierror = MPI_SUCCESS
  end subroutine
end module

subroutine set_and_get()
  use cases
  use callbacks
  integer :: key, ierror
  integer(MPI_ADDRESS_KIND) :: value
  logical :: found
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, ierror)
  CHECK(.not. found)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 2_MPI_ADDRESS_KIND**40 + rank, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, ierror)
  CHECK(found .and. value == 2_MPI_ADDRESS_KIND**40 + rank)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, ierror)
  CHECK(.not. found)
  call MPI_Comm_free_keyval(key, ierror)
  CHECK(key == MPI_KEYVAL_INVALID)
end subroutine

subroutine functions_of_the_program()
  use cases
  use callbacks
  integer :: key, one, other, ierror
  integer(MPI_ADDRESS_KIND) :: value
  logical :: found
  copied = 0
  deleted = 0
  call MPI_Comm_create_keyval(on_copy, on_delete, key, 1000_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, one, ierror)
  call MPI_Comm_set_attr(one, key, -5_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(one, other, ierror)
  CHECK(copied == 1)
  call MPI_Comm_get_attr(other, key, value, found, ierror)
  CHECK(found .and. value == 995)
  call MPI_Comm_free(other, ierror)
  CHECK(deleted == 1 .and. last == 995)
  call MPI_Comm_free(one, ierror)
  CHECK(deleted == 2 .and. last == -5)
  call MPI_Comm_free_keyval(key, ierror)
end subroutine

subroutine ready_made_functions()
  use cases
  use callbacks
  integer :: always, never, one, other, ierror
  integer(MPI_ADDRESS_KIND) :: value
  logical :: found
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, always, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, never, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, one, ierror)
  call MPI_Comm_set_attr(one, always, 77_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_set_attr(one, never, 78_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(one, other, ierror)
  call MPI_Comm_get_attr(other, always, value, found, ierror)
  CHECK(found .and. value == 77)
  call MPI_Comm_get_attr(other, never, value, found, ierror)
  CHECK(.not. found)
  call MPI_Comm_free(other, ierror)
  call MPI_Comm_free(one, ierror)
  call MPI_Comm_free_keyval(always, ierror)
  call MPI_Comm_free_keyval(never, ierror)
end subroutine

! Default integers.
subroutine functions_of_mpi_1()
  use cases
  use callbacks
  integer :: key, always, one, other, value, ierror
  logical :: found
  copied = 0
  deleted = 0
  call MPI_Keyval_create(on_old_copy, on_old_delete, key, 10, ierror)
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, always, 0, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, one, ierror)
  call MPI_Attr_put(one, key, -3, ierror)
  call MPI_Attr_put(one, always, -4, ierror)
  call MPI_Comm_dup(one, other, ierror)
  call MPI_Attr_get(other, key, value, found, ierror)
  CHECK(copied == 1 .and. found .and. value == 7)
  call MPI_Attr_get(other, always, value, found, ierror)
  CHECK(found .and. value == -4)
  call MPI_Attr_delete(other, key, ierror)
  CHECK(deleted == 1 .and. last == 7)
  call MPI_Attr_get(other, key, value, found, ierror)
  CHECK(.not. found)
  call MPI_Comm_free(other, ierror)
  call MPI_Comm_free(one, ierror)
  CHECK(deleted == 2 .and. last == -3)
  call MPI_Keyval_free(key, ierror)
  call MPI_Keyval_free(always, ierror)
  CHECK(key == MPI_KEYVAL_INVALID)
end subroutine

! The value itself, not its address as in C.
subroutine predefined()
  use cases
  use callbacks
  integer :: old, ierror
  integer(MPI_ADDRESS_KIND) :: value
  logical :: found
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found, ierror)
  CHECK(found .and. value >= 32767 .and. value <= huge(old))
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, old, found, ierror)
  CHECK(found .and. old == value)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, found, ierror)
  CHECK(found .and. (value == 0 .or. value == 1))
end subroutine

subroutine of_datatypes()
  use cases
  use callbacks
  integer :: key, type, copy, ierror
  integer(MPI_ADDRESS_KIND) :: value
  logical :: found
  copied = 0
  deleted = 0
  call MPI_Type_create_keyval(on_copy, on_delete, key, 1_MPI_ADDRESS_KIND, ierror)
  call MPI_Type_contiguous(3, MPI_REAL, type, ierror)
  call MPI_Type_set_attr(type, key, 40_MPI_ADDRESS_KIND, ierror)
  call MPI_Type_dup(type, copy, ierror)
  call MPI_Type_get_attr(copy, key, value, found, ierror)
  CHECK(copied == 1 .and. found .and. value == 41)
  call MPI_Type_delete_attr(copy, key, ierror)
  CHECK(deleted == 1 .and. last == 41)
  call MPI_Type_free(copy, ierror)
  call MPI_Type_free(type, ierror)
  CHECK(deleted == 2 .and. last == 40)
  call MPI_Type_free_keyval(key, ierror)
end subroutine

program main
  use cases
  implicit none
  external :: set_and_get, functions_of_the_program, ready_made_functions, functions_of_mpi_1, predefined, of_datatypes
  call start()
  call run('set_and_get', set_and_get)
  call run('functions_of_the_program', functions_of_the_program)
  call run('ready_made_functions', ready_made_functions)
  call run('functions_of_mpi_1', functions_of_mpi_1)
  call run('predefined', predefined)
  call run('of_datatypes', of_datatypes)
  call finish()
end program
