! What every Fortran file of cases shares, as case.h does for C: the cases are module procedures, and the main program
! calls start, run(NAME, PROCEDURE) for each, and finish. Arguments NAME and -NAME choose among them.
module cases
  implicit none
  private
  integer, public :: rank, size
  public :: start, run, check, finish
  include 'mpif.h'
  character(64) :: now = 'outside'
  integer :: failures = 0, any_failure = 0
contains
  subroutine start()
    integer :: ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  end subroutine

  subroutine run(name, procedure)
    character(*), intent(in) :: name
    external :: procedure
    integer :: total, ierror
    if (.not. wanted(name)) return
    now = name
    failures = 0
    call procedure()
    call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    any_failure = any_failure + total
    if (rank /= 0) return
    if (total == 0) then
      write (*, '(2a)') 'ok ', name
    else
      write (*, '(2a)') 'FAILED ', name
    end if
  end subroutine

  ! Called through the macro CHECK of case_fortran.h, which knows the line.
  subroutine check(condition, line)
    logical, intent(in) :: condition
    integer, intent(in) :: line
    if (condition) return
    failures = failures + 1
    write (0, '(a, i0, a, i0, 2a)') 'line ', line, ': rank ', rank, ': ', trim(now)
  end subroutine

  subroutine finish()
    integer :: ierror
    call MPI_Finalize(ierror)
    if (any_failure /= 0) stop 1
  end subroutine

  logical function wanted(name)
    character(*), intent(in) :: name
    character(64) :: argument
    logical :: named
    integer :: i
    wanted = .false.
    named = .false.
    do i = 1, command_argument_count()
      call get_command_argument(i, argument)
      if (argument == '-'//name) return
      if (argument(1:1) /= '-') named = .true.
      if (argument == name) wanted = .true.
    end do
    if (.not. named) wanted = .true.
  end function
end module
