! ranks: 4
! Variables that live long, common blocks, units and strings belong to one rank alone.
#include "case_fortran.h"
module long_lived
  implicit none
  integer :: plain = 5
  real, allocatable :: grown(:)
  character(20) :: text = 'start'
  type settings
    integer :: number = 3
    logical :: flag = .false.
  end type
  type(settings) :: chosen
end module

module the_cases
  use cases
  use mpi
  use long_lived
  implicit none
contains
  ! Lets all other ranks run.
  subroutine turn()
    integer :: ierror
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine module_variables()
    integer :: i
    plain = plain + rank
    allocate (grown(rank + 1))
    grown = [(i * 0.5, i = 0, rank)]
    write (text, '(a, i0)') 'rank ', rank
    chosen%number = 100 + rank
    chosen%flag = mod(rank, 2) == 1
    call turn()
    CHECK(plain == 5 + rank .and. ubound(grown, 1) == rank + 1 .and. grown(rank + 1) == rank * 0.5)
    CHECK(chosen%number == 100 + rank .and. (chosen%flag .eqv. mod(rank, 2) == 1))
    CHECK(text(1:5) == 'rank ')
    deallocate (grown)
  end subroutine

  integer function next()
    integer, save :: calls = 10
    calls = calls + 1
    next = calls
  end function

  subroutine saved_variables()
    integer :: i
    do i = 1, rank + 1
      CHECK(next() == 10 + i)
    end do
    call turn()
    CHECK(next() == 12 + rank)
  end subroutine

  subroutine set_common(value)
    integer, intent(in) :: value
    integer :: a, b(10)
    common /shared/ a, b
    a = value
    b = value + 1
  end subroutine

  subroutine common_blocks()
    integer :: a, b(10)
    common /shared/ a, b
    call set_common(7 * rank)
    call turn()
    CHECK(a == 7 * rank .and. all(b == 7 * rank + 1))
  end subroutine

  subroutine strings()
    character(40) :: line
    character(:), allocatable :: long
    integer :: number
    real :: value
    write (line, '(i4, f8.3)') rank, rank * 1.5
    call turn()
    read (line, *) number, value
    CHECK(number == rank .and. abs(value - rank * 1.5) < 1e-3)
    long = repeat('ab', rank + 1)//'c'
    call turn()
    CHECK(len(long) == 2 * rank + 3 .and. index(long, 'c') == len(long))
  end subroutine

  ! Every rank has its own unit 20, open at the same time as those of the others.
  subroutine units()
    character(20) :: name
    integer :: i, number, status
    write (name, '(a, i0, a)') 'unit', rank, '.txt'
    open (unit=20, file=name, status='replace', action='readwrite')
    do i = 1, 3
      write (20, *) 10 * rank + i
      call turn()
    end do
    rewind (20)
    do i = 1, 3
      read (20, *) number
      CHECK(number == 10 * rank + i)
      call turn()
    end do
    read (20, *, iostat=status) number
    CHECK(status /= 0)
    close (20, status='delete')
  end subroutine

  subroutine unformatted_units()
    integer :: unit, values(5), i
    character(20) :: name
    write (name, '(a, i0, a)') 'raw', rank, '.dat'
    open (newunit=unit, file=name, form='unformatted', access='stream', status='replace')
    write (unit) [(rank + i, i = 1, 5)]
    call turn()
    rewind (unit)
    read (unit) values
    CHECK(all(values == [(rank + i, i = 1, 5)]))
    close (unit, status='delete')
  end subroutine

  subroutine random_numbers()
    integer :: length
    integer, allocatable :: seed(:)
    real :: first(3), second(3)
    call random_seed(size=length)
    allocate (seed(length))
    seed = 1234 + rank
    call random_seed(put=seed)
    call random_number(first(1))
    call turn()
    call random_number(first(2:3))
    call random_seed(put=seed)
    call random_number(second)
    CHECK(all(first == second))
  end subroutine

  subroutine fill(values, n)
    integer, intent(in) :: n
    double precision, intent(out) :: values(n, n)
    double precision :: work(n, n)
    work = rank
    call turn()
    values = matmul(work, work)
  end subroutine

  subroutine automatic_arrays()
    double precision, allocatable :: values(:, :)
    integer :: n
    n = 20 + rank
    allocate (values(n, n))
    call fill(values, n)
    CHECK(all(values == dble(rank * rank * n)))
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('module_variables', module_variables)
  call run('saved_variables', saved_variables)
  call run('common_blocks', common_blocks)
  call run('strings', strings)
  call run('units', units)
  call run('unformatted_units', unformatted_units)
  call run('random_numbers', random_numbers)
  call run('automatic_arrays', automatic_arrays)
  call finish()
end program
