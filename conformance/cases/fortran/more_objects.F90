! ranks: 4
! The rest of groups, communicators, graphs, types and the environment, with the module mpi.
#include "case_fortran.h"
module the_cases
  use cases
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: deleted = 0
contains
  subroutine environment()
    integer :: level, length, ierror
    logical :: flag
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: text
    call MPI_Initialized(flag, ierror)
    CHECK(flag)
    call MPI_Finalized(flag, ierror)
    CHECK(.not. flag)
    call MPI_Query_thread(level, ierror)
    CHECK(level >= MPI_THREAD_SINGLE .and. level <= MPI_THREAD_MULTIPLE)
    call MPI_Is_thread_main(flag, ierror)
    CHECK(flag)
    call MPI_Get_library_version(text, length, ierror)
    CHECK(length > 0 .and. text /= ' ')
    call MPI_Pcontrol(1)
  end subroutine

  subroutine memory()
    integer(MPI_ADDRESS_KIND) :: bytes
    type(c_ptr) :: base
    double precision, pointer :: values(:)
    integer :: ierror
    bytes = 800
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, ierror)
    call c_f_pointer(base, values, [100])
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, 100, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(all(values == size * (size - 1) / 2))
    call MPI_Free_mem(values, ierror)
  end subroutine

  subroutine set_operations()
    integer :: world, a, b, group, count, place, ranges(3, 1), ierror
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    call MPI_Group_incl(world, 2, [0, 1], a, ierror)
    call MPI_Group_incl(world, 2, [1, 2], b, ierror)
    call MPI_Group_union(a, b, group, ierror)
    call MPI_Group_size(group, count, ierror)
    CHECK(count == 3)
    call MPI_Group_free(group, ierror)
    call MPI_Group_intersection(a, b, group, ierror)
    call MPI_Group_rank(group, place, ierror)
    CHECK(place == merge(0, MPI_UNDEFINED, rank == 1))
    call MPI_Group_free(group, ierror)
    call MPI_Group_difference(a, b, group, ierror)
    call MPI_Group_rank(group, place, ierror)
    CHECK(place == merge(0, MPI_UNDEFINED, rank == 0))
    call MPI_Group_free(group, ierror)
    call MPI_Group_excl(world, 1, [2], group, ierror)
    call MPI_Group_size(group, count, ierror)
    CHECK(count == size - 1)
    call MPI_Group_free(group, ierror)
    ranges(:, 1) = [0, 2, 2]
    call MPI_Group_range_excl(world, 1, ranges, group, ierror)
    call MPI_Group_rank(group, place, ierror)
    CHECK(place == merge(rank / 2, MPI_UNDEFINED, mod(rank, 2) == 1))
    call MPI_Group_free(group, ierror)
    call MPI_Group_free(a, ierror)
    call MPI_Group_free(b, ierror)
    call MPI_Group_free(world, ierror)
  end subroutine

  subroutine more_communicators()
    integer :: world, group, comm, info, request, count, handler, parent, ierror
    call MPI_Comm_idup(MPI_COMM_WORLD, comm, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_size(comm, count, ierror)
    CHECK(count == size)
    call MPI_Comm_get_errhandler(comm, handler, ierror)
    CHECK(handler == MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Comm_disconnect(comm, ierror)
    CHECK(comm == MPI_COMM_NULL)
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'a', 'b', ierror)
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, comm, ierror)
    call MPI_Comm_set_info(comm, info, ierror)
    call MPI_Info_free(info, ierror)
    call MPI_Comm_get_info(comm, info, ierror)
    call MPI_Info_free(info, ierror)
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm, ierror)
    call MPI_Comm_size(comm, count, ierror)
    CHECK(count >= 1 .and. count <= size)
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    call MPI_Group_incl(world, 2, [3, 0], group, ierror)
    if (rank == 0 .or. rank == 3) then
      call MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, comm, ierror)
      call MPI_Comm_rank(comm, count, ierror)
      CHECK(count == merge(1, 0, rank == 0))
      call MPI_Comm_free(comm, ierror)
    end if
    call MPI_Group_free(group, ierror)
    call MPI_Group_free(world, ierror)
    call MPI_Comm_get_parent(parent, ierror)
    CHECK(parent == MPI_COMM_NULL)
  end subroutine

  subroutine info_lists()
    integer :: info, copy, count, ierror
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'one', '1', ierror)
    call MPI_Info_set(info, 'two', '2', ierror)
    call MPI_Info_dup(info, copy, ierror)
    call MPI_Info_delete(info, 'one', ierror)
    call MPI_Info_get_nkeys(info, count, ierror)
    CHECK(count == 1)
    call MPI_Info_get_nkeys(copy, count, ierror)
    CHECK(count == 2)
    call MPI_Info_free(info, ierror)
    call MPI_Info_free(copy, ierror)
  end subroutine

  subroutine info_of_the_start()
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

  subroutine graphs()
    integer :: comm, nodes, edges, count, list(2), index(4), ends(8), status, place, in, out, ierror
    logical :: weighted
    ! A ring.
    index = [2, 4, 6, 8]
    ends = [1, 3, 0, 2, 1, 3, 0, 2]
    call MPI_Graph_create(MPI_COMM_WORLD, 4, index, ends, .false., comm, ierror)
    call MPI_Topo_test(comm, status, ierror)
    call MPI_Graphdims_get(comm, nodes, edges, ierror)
    CHECK(status == MPI_GRAPH .and. nodes == 4 .and. edges == 8)
    call MPI_Graph_neighbors_count(comm, rank, count, ierror)
    call MPI_Graph_neighbors(comm, rank, 2, list, ierror)
    CHECK(count == 2 .and. all(list == ends(2 * rank + 1:2 * rank + 2)))
    index = 0
    ends = 0
    call MPI_Graph_get(comm, 4, 8, index, ends, ierror)
    CHECK(all(index == [2, 4, 6, 8]) .and. all(ends == [1, 3, 0, 2, 1, 3, 0, 2]))
    call MPI_Graph_map(MPI_COMM_WORLD, 4, index, ends, place, ierror)
    CHECK(place >= 0 .and. place < 4)
    call MPI_Comm_free(comm, ierror)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [mod(rank + 1, size)], [rank], MPI_INFO_NULL, .false., &
                               comm, ierror)
    call MPI_Dist_graph_neighbors_count(comm, in, out, weighted, ierror)
    CHECK(in == 1 .and. out == 1 .and. weighted)
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine grids()
    integer :: comm, count, coords(1), place, ierror
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.false.], .false., comm, ierror)
    call MPI_Cartdim_get(comm, count, ierror)
    call MPI_Cart_coords(comm, rank, 1, coords, ierror)
    CHECK(count == 1 .and. coords(1) == rank)
    call MPI_Cart_map(MPI_COMM_WORLD, 1, [size], [.false.], place, ierror)
    CHECK(place >= 0 .and. place < size)
    call MPI_Comm_free(comm, ierror)
  end subroutine

  subroutine on_delete(type, key, value, extra, ierror)
    integer :: type, key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + int(value)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine type_attributes()
    integer :: type, copy, key, ierror
    integer(MPI_ADDRESS_KIND) :: value
    logical :: found
    value = 0
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, on_delete, key, value, ierror)
    call MPI_Type_dup(MPI_REAL, type, ierror)
    value = 30
    call MPI_Type_set_attr(type, key, value, ierror)
    call MPI_Type_dup(type, copy, ierror)
    value = 0
    call MPI_Type_get_attr(copy, key, value, found, ierror)
    CHECK(found .and. value == 30)
    call MPI_Type_delete_attr(type, key, ierror)
    CHECK(deleted == 30)
    call MPI_Type_free(copy, ierror)
    call MPI_Type_free(type, ierror)
    CHECK(deleted == 60)
    call MPI_Type_free_keyval(key, ierror)
    CHECK(key == MPI_KEYVAL_INVALID)
  end subroutine

  subroutine type_sizes()
    integer :: type, ierror
    integer(MPI_ADDRESS_KIND) :: places(2), lower, extent
    integer(MPI_COUNT_KIND) :: wide, wide_lower, wide_extent
    places = [-8, 12]
    call MPI_Type_create_hindexed_block(2, 1, places, MPI_INTEGER, type, ierror)
    call MPI_Type_get_true_extent(type, lower, extent, ierror)
    CHECK(lower == -8 .and. extent == 24)
    call MPI_Type_size_x(type, wide, ierror)
    CHECK(wide == 8)
    call MPI_Type_get_extent_x(type, wide_lower, wide_extent, ierror)
    CHECK(wide_lower == -8 .and. wide_extent == 24)
    call MPI_Type_get_true_extent_x(type, wide_lower, wide_extent, ierror)
    CHECK(wide_lower == -8 .and. wide_extent == 24)
    call MPI_Type_free(type, ierror)
  end subroutine

  subroutine portable_packing()
    character(32) :: buffer
    integer(MPI_ADDRESS_KIND) :: position, bytes
    integer :: value, room, ierror
    bytes = 32
    position = 0
    call MPI_Pack_external('external32', 258, 1, MPI_INTEGER, buffer, bytes, position, ierror)
    CHECK(position == 4 .and. ichar(buffer(3:3)) == 1 .and. ichar(buffer(4:4)) == 2)
    position = 0
    call MPI_Unpack_external('external32', buffer, bytes, position, value, 1, MPI_INTEGER, ierror)
    CHECK(value == 258)
    call MPI_Pack_external_size('external32', 3, MPI_DOUBLE_PRECISION, bytes, ierror)
    CHECK(bytes == 24)
    call MPI_Pack_size(3, MPI_INTEGER, MPI_COMM_WORLD, room, ierror)
    CHECK(room >= 12)
  end subroutine
end module

program main
  use the_cases
  call start()
  call run('environment', environment)
  call run('memory', memory)
  call run('set_operations', set_operations)
  call run('more_communicators', more_communicators)
  call run('info_lists', info_lists)
  call run('info_of_the_start', info_of_the_start)
  call run('graphs', graphs)
  call run('grids', grids)
  call run('type_attributes', type_attributes)
  call run('type_sizes', type_sizes)
  call run('portable_packing', portable_packing)
  call finish()
end program
