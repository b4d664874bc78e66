! ranks: 3, with mixed_part.c
! A Fortran program that hands its handles to C functions, and takes theirs.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function c_rank_of(comm) bind(c)
      import :: c_int
      integer, value :: comm
    end function
    integer function c_make_pair_type() bind(c)
    end function
    integer function c_split(comm, colour) bind(c)
      integer, value :: comm, colour
    end function
    integer function c_smallest() bind(c)
    end function
    integer function c_start_receive(buffer, from, comm) bind(c)
      import :: c_ptr
      type(c_ptr), value :: buffer
      integer, value :: from, comm
    end function
    integer(c_int) function c_status_tag(status) bind(c)
      import :: c_int
      integer :: status(*)
    end function
    integer(c_int) function c_attribute(comm, key) bind(c)
      import :: c_int
      integer, value :: comm, key
    end function
  end interface
contains
  subroutine communicator_to_c()
    integer :: comm, ierror
    CHECK(c_rank_of(MPI_COMM_WORLD) == rank)
    CHECK(c_rank_of(MPI_COMM_SELF) == 0)
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, ierror)
    CHECK(c_rank_of(comm) == size - 1 - rank)
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine communicator_from_c()
    integer :: comm, place, ierror
    comm = c_split(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(comm, place, ierror)
    CHECK(place == 1)
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine type_from_c()
    integer :: type, out(2), in(2), ierror, bytes
    type = c_make_pair_type()
    call MPI_Type_size(type, bytes, ierror)
    CHECK(bytes == 8)
    out = [rank, -rank]
    call MPI_Sendrecv(out, 1, type, rank, 0, in, 2, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(all(in == out))
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine operation_from_c()
    integer :: op, value, ierror
    op = c_smallest()
    call MPI_Allreduce(-rank, value, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
    CHECK(value == 1 - size)
    call MPI_Op_free(op, ierror)
  end subroutine

  subroutine request_from_c()
    integer, target, asynchronous :: value
    integer :: request, ierror, status(MPI_STATUS_SIZE)
    value = -1
    request = c_start_receive(c_loc(value), rank, MPI_COMM_WORLD)
    call MPI_Send(rank + 5, 1, MPI_INTEGER, rank, 31, MPI_COMM_WORLD, ierror)
    call MPI_Wait(request, status, ierror)
    CHECK(value == rank + 5 .and. status(MPI_TAG) == 31)
    CHECK(c_status_tag(status) == 31)
  end subroutine

  ! C finds the address of what Fortran set.
  subroutine attribute_to_c()
    integer :: key, comm, ierror
    integer(MPI_ADDRESS_KIND) :: value
    value = 0
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, value, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    value = 77
    call MPI_Comm_set_attr(comm, key, value, ierror)
    CHECK(c_attribute(comm, key) == 77)
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_free_keyval(key, ierror)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('communicator_to_c', communicator_to_c)
  call run('communicator_from_c', communicator_from_c)
  call run('type_from_c', type_from_c)
  call run('operation_from_c', operation_from_c)
  call run('request_from_c', request_from_c)
  call run('attribute_to_c', attribute_to_c)
  call finish()
end program
