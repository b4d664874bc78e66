! ranks: 2
! Datatypes, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  implicit none
  type particle
    sequence
    double precision :: place(3)
    integer :: id
    integer :: kind
  end type
contains
  ! Packs a type from the numbers 1, 2, 3 ... and compares.
  subroutine expect(type, list, line)
    integer, intent(in) :: type, list(:), line
    integer :: cells(100), packed(100), i, ierror
    cells = [(i, i = 1, 100)]
    packed = -1
    call MPI_Sendrecv(cells, 1, type, rank, 0, packed, 100, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &
                      ierror)
    call check(all(packed(1:ubound(list, 1)) == list) .and. packed(ubound(list, 1) + 1) == -1, line)
  end subroutine

  subroutine constructors()
    integer :: type, ierror
    integer(MPI_ADDRESS_KIND) :: stride, places(2)
    call MPI_Type_vector(3, 1, 4, MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call expect(type, [1, 5, 9], __LINE__)
    call MPI_Type_free(type, ierror)
    CHECK(type == MPI_DATATYPE_NULL)
    stride = 20
    call MPI_Type_create_hvector(2, 2, stride, MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call expect(type, [1, 2, 6, 7], __LINE__)
    call MPI_Type_free(type, ierror)
    call MPI_Type_indexed(2, [2, 1], [6, 2], MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call expect(type, [7, 8, 3], __LINE__)
    call MPI_Type_free(type, ierror)
    places = [12, 0]
    call MPI_Type_create_hindexed(2, [1, 1], places, MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call expect(type, [4, 1], __LINE__)
    call MPI_Type_free(type, ierror)
    call MPI_Type_create_indexed_block(2, 2, [5, 0], MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call expect(type, [6, 7, 1, 2], __LINE__)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine subarray()
    integer :: type, ierror
    call MPI_Type_create_subarray(2, [5, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call expect(type, [12, 13, 17, 18, 22, 23], __LINE__)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine darray()
    integer :: type, ierror
    call MPI_Type_create_darray(2, rank, 1, [6], [MPI_DISTRIBUTE_CYCLIC], [MPI_DISTRIBUTE_DFLT_DARG], [2], &
                                MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call expect(type, [1 + rank, 3 + rank, 5 + rank], __LINE__)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine structure()
    type(particle) :: all_particles(4)
    integer :: plain, type, ierror, i
    integer(MPI_ADDRESS_KIND) :: base, places(3), extent, lower
    call MPI_Get_address(all_particles(1), base, ierror)
    call MPI_Get_address(all_particles(1)%place, places(1), ierror)
    call MPI_Get_address(all_particles(1)%id, places(2), ierror)
    call MPI_Get_address(all_particles(1)%kind, places(3), ierror)
    places = places - base
    call MPI_Get_address(all_particles(2), extent, ierror)
    extent = MPI_Aint_diff(extent, base)
    lower = 0
    call MPI_Type_create_struct(3, [3, 1, 1], places, [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_INTEGER], plain, ierror)
    call MPI_Type_create_resized(plain, lower, extent, type, ierror)
    call MPI_Type_commit(type, ierror)
    do i = 1, 4
      all_particles(i) = particle([1d0, 2d0, 3d0] * i * (rank + 1), i, rank)
    end do
    if (rank == 0) then
      call MPI_Send(all_particles, 4, type, 1, 0, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      call MPI_Recv(all_particles, 4, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      do i = 1, 4
        CHECK(all(all_particles(i)%place == [1d0, 2d0, 3d0] * i) .and. all_particles(i)%kind == 0)
      end do
    end if
    call MPI_Type_free(plain, ierror)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine bottom()
    integer :: a, b, type, ierror, in(2)
    integer(MPI_ADDRESS_KIND) :: places(2)
    a = 3
    b = 4
    call MPI_Get_address(a, places(1), ierror)
    call MPI_Get_address(b, places(2), ierror)
    call MPI_Type_create_hindexed(2, [1, 1], places, MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call MPI_Sendrecv(MPI_BOTTOM, 1, type, rank, 0, in, 2, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &
                      ierror)
    CHECK(in(1) == 3 .and. in(2) == 4)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine sizes()
    integer :: bytes, ierror
    integer(MPI_ADDRESS_KIND) :: lower, extent
    call MPI_Type_size(MPI_DOUBLE_PRECISION, bytes, ierror)
    CHECK(bytes == 8)
    call MPI_Type_size(MPI_INTEGER, bytes, ierror)
    CHECK(bytes == 4)
    call MPI_Type_size(MPI_DOUBLE_COMPLEX, bytes, ierror)
    CHECK(bytes == 16)
    call MPI_Type_get_extent(MPI_REAL, lower, extent, ierror)
    CHECK(lower == 0 .and. extent == 4)
    call MPI_Type_size(MPI_CHARACTER, bytes, ierror)
    CHECK(bytes == 1)
    call MPI_Type_size(MPI_LOGICAL, bytes, ierror)
    CHECK(bytes == 4)
  end subroutine

  subroutine by_precision()
    integer, parameter :: wide = selected_real_kind(12, 100), long = selected_int_kind(15)
    real(wide) :: value, sum
    integer(long) :: number, total
    complex(wide) :: pair, pair_sum
    integer :: real_type, integer_type, complex_type, bytes, ierror
    call MPI_Type_create_f90_real(12, 100, real_type, ierror)
    call MPI_Type_create_f90_integer(15, integer_type, ierror)
    call MPI_Type_create_f90_complex(12, 100, complex_type, ierror)
    value = 1.5_wide
    number = 2_long**40
    pair = (1.0_wide, 2.0_wide)
    call MPI_Allreduce(value, sum, 1, real_type, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(number, total, 1, integer_type, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(pair, pair_sum, 1, complex_type, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(sum == 1.5_wide * size .and. total == size * 2_long**40 .and. pair_sum == pair * size)
    call MPI_Type_size(real_type, bytes, ierror)
    CHECK(bytes == 8)
  end subroutine

  subroutine by_size()
    double precision :: d
    integer :: i, bytes, type, ierror
    complex :: c(5)
    call MPI_Sizeof(d, bytes, ierror)
    CHECK(bytes == 8)
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, bytes, type, ierror)
    d = 2d0
    call MPI_Allreduce(MPI_IN_PLACE, d, 1, type, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(d == 2d0 * size)
    call MPI_Sizeof(i, bytes, ierror)
    CHECK(bytes == 4)
    call MPI_Sizeof(c, bytes, ierror)
    CHECK(bytes == 8)
  end subroutine

  subroutine pack_and_unpack()
    character :: buffer(200)
    integer :: position, n, ierror, i
    double precision :: values(3)
    character(4) :: text
    position = 0
    if (rank == 0) then
      call MPI_Pack(3, 1, MPI_INTEGER, buffer, 200, position, MPI_COMM_WORLD, ierror)
      call MPI_Pack([(i * 1.5d0, i = 1, 3)], 3, MPI_DOUBLE_PRECISION, buffer, 200, position, MPI_COMM_WORLD, ierror)
      call MPI_Pack('done', 4, MPI_CHARACTER, buffer, 200, position, MPI_COMM_WORLD, ierror)
      call MPI_Send(buffer, position, MPI_PACKED, 1, 0, MPI_COMM_WORLD, ierror)
    else if (rank == 1) then
      call MPI_Recv(buffer, 200, MPI_PACKED, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Unpack(buffer, 200, position, n, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
      call MPI_Unpack(buffer, 200, position, values, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
      call MPI_Unpack(buffer, 200, position, text, 4, MPI_CHARACTER, MPI_COMM_WORLD, ierror)
      CHECK(n == 3 .and. values(3) == 4.5d0 .and. text == 'done')
    end if
  end subroutine

  subroutine contents()
    integer :: type, integers, addresses, types, combiner, ierror, list(3), inner(1)
    integer(MPI_ADDRESS_KIND) :: places(1)
    call MPI_Type_vector(4, 5, 6, MPI_REAL, type, ierror)
    call MPI_Type_get_envelope(type, integers, addresses, types, combiner, ierror)
    CHECK(integers == 3 .and. addresses == 0 .and. types == 1 .and. combiner == MPI_COMBINER_VECTOR)
    call MPI_Type_get_contents(type, 3, 0, 1, list, places, inner, ierror)
    CHECK(all(list == [4, 5, 6]) .and. inner(1) == MPI_REAL)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine names()
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: type, length, ierror
    call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, ierror)
    CHECK(name == 'MPI_DOUBLE_PRECISION' .and. length == 20)
    call MPI_Type_dup(MPI_REAL, type, ierror)
    call MPI_Type_set_name(type, 'pressure  ', ierror)
    call MPI_Type_get_name(type, name, length, ierror)
    CHECK(name == 'pressure' .and. length == 8)
    call MPI_Type_free(type, ierror)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('constructors', constructors)
  call run('subarray', subarray)
  call run('darray', darray)
  call run('structure', structure)
  call run('bottom', bottom)
  call run('sizes', sizes)
  call run('by_precision', by_precision)
  call run('by_size', by_size)
  call run('pack_and_unpack', pack_and_unpack)
  call run('contents', contents)
  call run('names', names)
  call finish()
end program
