# ranks: 4
"""Communicators: splits, duplicates, groups, grids, attributes, errors."""
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
half = comm.Split(color=rank % 2, key=-rank)
assert half.allreduce(rank) == sum(range(rank % 2, size, 2))
assert half.rank == len(range(rank % 2, size, 2)) - 1 - rank // 2
node = comm.Split_type(MPI.COMM_TYPE_SHARED)
assert 1 <= node.size <= size
grid = comm.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False])
source, target = grid.Shift(0, 1)
assert grid.sendrecv(grid.coords, dest=target, source=source) == grid.Get_coords(source)
evens = comm.group.Incl(list(range(0, size, 2)))
part = comm.Create(evens)
assert (part == MPI.COMM_NULL) == (rank % 2 == 1)
if part != MPI.COMM_NULL:
    assert part.allgather(rank) == list(range(0, size, 2))
deleted = []
key = MPI.Comm.Create_keyval(copy_fn=lambda comm, key, value: value + 1, delete_fn=lambda *rest: deleted.append(1))
half.Set_attr(key, 41)
twin = half.Dup()
assert twin.Get_attr(key) == 42
twin.Free()
half.Free()
assert len(deleted) == 2
try:
    comm.send(1, dest=size + 5)
    raise AssertionError("no such rank")
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK
if rank == 0:
    print("groups: right on", size, "ranks", flush=True)
