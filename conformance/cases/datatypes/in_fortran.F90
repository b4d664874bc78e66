! ranks: 2
! Datatypes in Fortran, and the functions of MPI-1 with their default integers.
#include "case_fortran.h"

subroutine removed_functions()
  use cases
  implicit none
  include 'mpif.h'
  integer :: type, extent, lower, upper, ierror, bytes
  call MPI_Type_hvector(3, 1, 12, MPI_INTEGER, type, ierror)
  call MPI_Type_extent(type, extent, ierror)
  call MPI_Type_lb(type, lower, ierror)
  call MPI_Type_ub(type, upper, ierror)
  CHECK(extent == 28 .and. lower == 0 .and. upper == 28)
  call MPI_Type_free(type, ierror)
  call MPI_Type_hindexed(2, [1, 2], [24, 0], MPI_INTEGER, type, ierror)
  call MPI_Type_extent(type, extent, ierror)
  CHECK(extent == 28)
  call MPI_Type_free(type, ierror)
  call MPI_Type_struct(2, [2, 1], [8, 0], [MPI_INTEGER, MPI_DOUBLE_PRECISION], type, ierror)
  call MPI_Type_extent(type, extent, ierror)
  call MPI_Type_size(type, bytes, ierror)
  CHECK(extent == 16 .and. bytes == 16)
  call MPI_Type_free(type, ierror)
  CHECK(type == MPI_DATATYPE_NULL)
  call MPI_Type_struct(3, [1, 1, 1], [-8, 0, 24], [MPI_LB, MPI_INTEGER, MPI_UB], type, ierror)
  call MPI_Type_lb(type, lower, ierror)
  call MPI_Type_ub(type, upper, ierror)
  call MPI_Type_size(type, bytes, ierror)
  CHECK(lower == -8 .and. upper == 24 .and. bytes == 4)
  call MPI_Type_free(type, ierror)
end subroutine

! A block of a matrix, sent around.
subroutine subarray()
  use cases
  implicit none
  include 'mpif.h'
  integer :: type, ierror, i, j, from(5, 4), to(3, 2), other
  do j = 1, 4
    do i = 1, 5
      from(i, j) = 100 * rank + 10 * i + j
    end do
  end do
  other = modulo(rank + 1, size)
  call MPI_Type_create_subarray(2, [5, 4], [3, 2], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierror)
  call MPI_Type_commit(type, ierror)
  call MPI_Sendrecv(from, 1, type, other, 0, to, 6, MPI_INTEGER, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  do j = 1, 2
    do i = 1, 3
      CHECK(to(i, j) == 100 * other + 10 * (i + 1) + j + 2)
    end do
  end do
  call MPI_Type_free(type, ierror)
end subroutine

subroutine of_addresses()
  use cases
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: places(2)
  integer :: type, ierror, number, other
  double precision :: value
  number = 5 + rank
  value = 2.5d0 * (rank + 1)
  other = modulo(rank + 1, size)
  call MPI_Get_address(number, places(1), ierror)
  call MPI_Get_address(value, places(2), ierror)
  call MPI_Type_create_struct(2, [1, 1], places, [MPI_INTEGER, MPI_DOUBLE_PRECISION], type, ierror)
  call MPI_Type_commit(type, ierror)
  call MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, other, 0, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call touch(number, value)
  CHECK(number == 5 + other .and. value == 2.5d0 * (other + 1))
  call MPI_Type_free(type, ierror)
end subroutine

! Keeps the compiler from taking the variables for unchanged.
subroutine touch(number, value)
  implicit none
  integer :: number
  double precision :: value
end subroutine

subroutine of_precision()
  use cases
  implicit none
  include 'mpif.h'
  integer, parameter :: kind = selected_real_kind(12, 200)
  integer :: type, again, bytes, ierror
  real(kind) :: mine, total
  call MPI_Type_create_f90_real(12, 200, type, ierror)
  call MPI_Type_create_f90_real(12, 200, again, ierror)
  CHECK(type == again)
  call MPI_Type_size(type, bytes, ierror)
  CHECK(bytes == 8)
  mine = rank + 1.5_kind
  call MPI_Allreduce(mine, total, 1, type, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(total == 1.5_kind * size + size * (size - 1) / 2)
  call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, type, ierror)
  call MPI_Type_size(type, bytes, ierror)
  CHECK(bytes == 16)
end subroutine

subroutine names()
  use cases
  implicit none
  include 'mpif.h'
  character(MPI_MAX_OBJECT_NAME) :: name
  integer :: type, length, ierror
  call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, ierror)
  CHECK(name == 'MPI_DOUBLE_PRECISION' .and. length == 20)
  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierror)
  call MPI_Type_set_name(type, 'two integers   ', ierror)
  call MPI_Type_get_name(type, name, length, ierror)
  CHECK(name == 'two integers' .and. length == 12)
  call MPI_Type_free(type, ierror)
end subroutine

subroutine packing()
  use cases
  implicit none
  include 'mpif.h'
  character :: buffer(64)
  integer :: position, number, ierror, room
  integer(MPI_ADDRESS_KIND) :: place, needed
  real :: values(3)
  position = 0
  call MPI_Pack_size(1, MPI_INTEGER, MPI_COMM_WORLD, room, ierror)
  CHECK(room >= 4)
  call MPI_Pack(42, 1, MPI_INTEGER, buffer, 64, position, MPI_COMM_WORLD, ierror)
  call MPI_Pack([1.0, 2.0, 3.0], 3, MPI_REAL, buffer, 64, position, MPI_COMM_WORLD, ierror)
  position = 0
  call MPI_Unpack(buffer, 64, position, number, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call MPI_Unpack(buffer, 64, position, values, 3, MPI_REAL, MPI_COMM_WORLD, ierror)
  CHECK(number == 42 .and. all(values == [1.0, 2.0, 3.0]))
  call MPI_Pack_external_size('external32', 1, MPI_INTEGER, needed, ierror)
  CHECK(needed == 4)
  place = 0
  call MPI_Pack_external('external32', 258, 1, MPI_INTEGER, buffer, 64_MPI_ADDRESS_KIND, place, ierror)
  CHECK(place == 4 .and. ichar(buffer(3)) == 1 .and. ichar(buffer(4)) == 2)
end subroutine

program main
  use cases
  implicit none
  external :: removed_functions, subarray, of_addresses, of_precision, names, packing
  call start()
  call run('removed_functions', removed_functions)
  call run('subarray', subarray)
  call run('of_addresses', of_addresses)
  call run('of_precision', of_precision)
  call run('names', names)
  call run('packing', packing)
  call finish()
end program
