! ranks: 4
! Collectives, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  implicit none
contains
  subroutine broadcast()
    double precision :: values(3, 3)
    character(12) :: text
    logical :: flag
    integer :: ierror
    values = rank
    text = 'nothing'
    flag = rank == 2
    if (rank == 2) text = 'from rank 2'
    call MPI_Bcast(values, 9, MPI_DOUBLE_PRECISION, 2, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(text, len(text), MPI_CHARACTER, 2, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(flag, 1, MPI_LOGICAL, 2, MPI_COMM_WORLD, ierror)
    CHECK(all(values == 2d0))
    CHECK(text == 'from rank 2' .and. flag)
  end subroutine

  subroutine reductions()
    integer :: sum, ierror
    real :: largest(2)
    double precision :: product
    complex :: total
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(sum == size * (size - 1) / 2)
    call MPI_Allreduce([rank * 1.5, -rank * 1.0], largest, 2, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, ierror)
    CHECK(largest(1) == (size - 1) * 1.5 .and. largest(2) == 0)
    product = -1
    call MPI_Reduce(2d0, product, 1, MPI_DOUBLE_PRECISION, MPI_PROD, 1, MPI_COMM_WORLD, ierror)
    if (rank == 1) then
      CHECK(product == 2d0**size)
    else
      CHECK(product == -1)
    end if
    call MPI_Allreduce(cmplx(rank, 1), total, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(total == cmplx(sum, size))
  end subroutine

  subroutine logical_reductions()
    logical :: every, some, odd
    integer :: ierror
    call MPI_Allreduce(rank < 3, every, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(rank == 3, some, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(rank < 3, odd, 1, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierror)
    CHECK((.not. every) .and. some .and. odd)
  end subroutine

  subroutine located()
    integer :: pair(2), ierror
    double precision :: reals(2)
    real :: singles(2)
    call MPI_Allreduce([mod(rank, 2), rank], pair, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    CHECK(pair(1) == 1 .and. pair(2) == 1)
    call MPI_Allreduce([10d0 - rank, 1d0 * rank], reals, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, MPI_COMM_WORLD, ierror)
    CHECK(reals(1) == 11d0 - size .and. reals(2) == size - 1)
    call MPI_Allreduce([1.0 * rank, 1.0 * rank], singles, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    CHECK(singles(1) == size - 1 .and. singles(2) == size - 1)
  end subroutine

  subroutine in_place()
    integer :: values(4), all_values(8), sum, ierror, i
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(all(values == size * (size - 1) / 2))
    all_values = -1
    all_values(rank + 1) = rank * rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_values, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    CHECK(all(all_values(1:size) == [(i * i, i = 0, size - 1)]))
    sum = 1
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
      CHECK(sum == size)
    else
      call MPI_Reduce(sum, i, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    end if
  end subroutine

  subroutine gather_and_scatter()
    integer :: out(2), in(16), back(2), counts(8), places(8), ierror, i
    out = [rank, 10 * rank]
    in = -1
    call MPI_Gather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    if (rank == 1) then
      do i = 0, size - 1
        CHECK(in(2 * i + 1) == i .and. in(2 * i + 2) == 10 * i)
      end do
    end if
    call MPI_Scatter(in, 2, MPI_INTEGER, back, 2, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    CHECK(all(back == out))
    counts = 1
    places = [(2 * i, i = 0, 7)]
    in = -1
    call MPI_Gatherv(rank, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) then
      CHECK(all(in(1:2 * size:2) == [(i, i = 0, size - 1)]) .and. all(in(2::2) == -1))
    end if
    call MPI_Scatterv(in, counts, places, MPI_INTEGER, back, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    CHECK(back(1) == rank)
  end subroutine

  subroutine alltoall()
    integer :: out(8), in(8), counts(8), places(8), ierror, i
    out(1:size) = [(10 * rank + i, i = 0, size - 1)]
    call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    CHECK(all(in(1:size) == [(10 * i + rank, i = 0, size - 1)]))
    counts = 1
    places = [(i, i = 0, 7)]
    in = -1
    call MPI_Alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    CHECK(all(in(1:size) == [(10 * i + rank, i = 0, size - 1)]))
  end subroutine

  subroutine scans()
    integer :: sum, before, ierror, part, i
    call MPI_Scan(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(sum == (rank + 1) * (rank + 2) / 2)
    call MPI_Exscan(rank + 1, before, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank > 0) then
      CHECK(before == rank * (rank + 1) / 2)
    end if
    call MPI_Reduce_scatter_block([(i, i = 1, size)], part, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(part == size * (rank + 1))
  end subroutine

  subroutine nonblocking()
    integer, asynchronous :: value, sum, all_ranks(8)
    integer :: requests(3), ierror, i
    value = merge(77, 0, rank == 0)
    call MPI_Ibcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Iallreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Iallgather(rank, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierror)
    CHECK(value == 77 .and. sum == size * (size - 1) / 2)
    CHECK(all(all_ranks(1:size) == [(i, i = 0, size - 1)]))
  end subroutine

  ! Two by two matrices: the order matters.
  subroutine multiply(a, b, length, type)
    integer, intent(in) :: length, type
    integer, intent(in) :: a(2, 2, length)
    integer, intent(inout) :: b(2, 2, length)
    integer :: i
    do i = 1, length
      b(:, :, i) = mod(matmul(a(:, :, i), b(:, :, i)), 1009)
    end do
  end subroutine

  subroutine user_operation()
    integer :: op, type, ierror, i, matrix(2, 2), product(2, 2), expected(2, 2)
    logical :: flag
    call MPI_Type_contiguous(4, MPI_INTEGER, type, ierror)
    call MPI_Type_commit(type, ierror)
    call MPI_Op_create(multiply, .false., op, ierror)
    call MPI_Op_commutative(op, flag, ierror)
    CHECK(.not. flag)
    matrix = of_rank(rank)
    call MPI_Allreduce(matrix, product, 1, type, op, MPI_COMM_WORLD, ierror)
    expected = of_rank(0)
    do i = 1, size - 1
      expected = mod(matmul(expected, of_rank(i)), 1009)
    end do
    CHECK(all(product == expected))
    call MPI_Op_free(op, ierror)
    CHECK(op == MPI_OP_NULL)
    call MPI_Type_free(type, ierror)
  contains
    function of_rank(r) result(m)
      integer, intent(in) :: r
      integer :: m(2, 2)
      m = reshape([r + 1, 2, 3, r + 4], [2, 2])
    end function
  end subroutine

  subroutine kinds()
    integer, parameter :: i8 = selected_int_kind(18), i2 = selected_int_kind(4), r8 = selected_real_kind(15)
    integer(i8) :: long, long_sum
    integer(i2) :: short, short_sum
    real(r8) :: real8, real8_sum
    integer :: ierror
    long = 10_i8**12
    short = 3_i2
    real8 = 0.125_r8
    call MPI_Allreduce(long, long_sum, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(short, short_sum, 1, MPI_INTEGER2, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(real8, real8_sum, 1, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(long_sum == size * 10_i8**12)
    CHECK(short_sum == 3 * size)
    CHECK(real8_sum == 0.125_r8 * size)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('broadcast', broadcast)
  call run('reductions', reductions)
  call run('logical_reductions', logical_reductions)
  call run('located', located)
  call run('in_place', in_place)
  call run('gather_and_scatter', gather_and_scatter)
  call run('alltoall', alltoall)
  call run('scans', scans)
  call run('nonblocking', nonblocking)
  call run('user_operation', user_operation)
  call run('kinds', kinds)
  call finish()
end program
