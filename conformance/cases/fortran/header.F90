! ranks: 3
! Free form and mpif.h: interfaces are implicit, so everything goes by reference as it is.
#include "case_fortran.h"
module the_cases
  use cases
  implicit none
contains
  subroutine messages()
    include 'mpif.h'
    integer :: status(MPI_STATUS_SIZE), ierror, count
    double precision :: values(4), in(4)
    values = [1d0, 2d0, 3d0, 4d0] * (rank + 1)
    call MPI_Sendrecv(values, 4, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 3, in, 4, MPI_DOUBLE_PRECISION, &
                      mod(rank + size - 1, size), 3, MPI_COMM_WORLD, status, ierror)
    CHECK(all(in == [1d0, 2d0, 3d0, 4d0] * (mod(rank + size - 1, size) + 1)))
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
    CHECK(count == 4)
    CHECK(status(MPI_SOURCE) == mod(rank + size - 1, size))
  end subroutine

  subroutine special_constants()
    include 'mpif.h'
    integer :: sum, ierror, requests(2), in
    sum = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(sum == size * (size + 1) / 2)
    call MPI_Irecv(in, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(rank, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(requests(1) == MPI_REQUEST_NULL)
  end subroutine

  subroutine functions()
    include 'mpif.h'
    double precision :: before
    integer(MPI_ADDRESS_KIND) :: a, b
    integer :: cells(2), ierror
    before = MPI_Wtime()
    CHECK(MPI_Wtime() >= before .and. MPI_Wtick() > 0)
    call MPI_Get_address(cells(1), a, ierror)
    call MPI_Get_address(cells(2), b, ierror)
    CHECK(b - a == 4)
  end subroutine

  subroutine info_of_the_start()
    include 'mpif.h'
    integer :: info, count, ierror
    logical :: flag
    character(3) :: value
#ifdef MPI_4
    call MPI_Info_create_env(info, ierror)
    call MPI_Info_get_nkeys(info, count, ierror)
    CHECK(count >= 0)
    call MPI_Info_set(info, 'own', 'one', ierror)
    call MPI_Info_get(info, 'own', 3, value, flag, ierror)
    CHECK(flag .and. value == 'one')
    call MPI_Info_free(info, ierror)
    CHECK(info == MPI_INFO_NULL)
#endif
  end subroutine

  subroutine strings()
    include 'mpif.h'
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: length, ierror
    call MPI_Comm_get_name(MPI_COMM_SELF, name, length, ierror)
    CHECK(name == 'MPI_COMM_SELF' .and. length == 13)
  end subroutine

  subroutine unweighted_graph()
    include 'mpif.h'
    integer :: comm, in, out, ierror, from(1), to(1)
    logical :: weighted
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [mod(rank + size - 1, size)], MPI_UNWEIGHTED, 1, &
                                        [mod(rank + 1, size)], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm, ierror)
    call MPI_Dist_graph_neighbors_count(comm, in, out, weighted, ierror)
    CHECK(in == 1 .and. out == 1 .and. .not. weighted)
    call MPI_Dist_graph_neighbors(comm, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, ierror)
    CHECK(from(1) == mod(rank + size - 1, size) .and. to(1) == mod(rank + 1, size))
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine error_codes()
    include 'mpif.h'
    integer :: class, code, found, length, ierror
    character(MPI_MAX_ERROR_STRING) :: text
    call MPI_Add_error_class(class, ierror)
    call MPI_Add_error_code(class, code, ierror)
    call MPI_Add_error_string(code, 'of our own', ierror)
    call MPI_Error_string(code, text, length, ierror)
    CHECK(text == 'of our own' .and. length == 10)
    call MPI_Error_class(code, found, ierror)
    CHECK(found == class)
  end subroutine

  subroutine on_query(extra, status, ierror)
    include 'mpif.h'
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror
    call MPI_Status_set_cancelled(status, .false., ierror)
    call MPI_Status_set_elements(status, MPI_INTEGER, 0, ierror)
    extra = extra + 1
  end subroutine

  subroutine on_free(extra, ierror)
    include 'mpif.h'
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    extra = 10 * extra
    ierror = MPI_SUCCESS
  end subroutine

  subroutine on_cancel(extra, complete, ierror)
    include 'mpif.h'
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    if (complete) extra = 0
    ierror = MPI_SUCCESS
  end subroutine

  ! Functions of a generalized request get the program's own variable.
  subroutine own_variable()
    include 'mpif.h'
    integer(MPI_ADDRESS_KIND), volatile :: extra
    integer :: request, status(MPI_STATUS_SIZE), ierror
    extra = 23
    call MPI_Grequest_start(on_query, on_free, on_cancel, extra, request, ierror)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    CHECK(extra == 240)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('messages', messages)
  call run('special_constants', special_constants)
  call run('functions', functions)
  call run('info_of_the_start', info_of_the_start)
  call run('strings', strings)
  call run('unweighted_graph', unweighted_graph)
  call run('error_codes', error_codes)
  call run('own_variable', own_variable)
  call finish()
end program
