# ranks: 4
"""One-sided: windows on memory of the program, on memory of MPI, and shared ones."""
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size
own = np.full(size, -1.0)
win = MPI.Win.Create(own, disp_unit=8, comm=comm)
win.Fence()
for target in range(size):
    win.Put(np.array([100.0 * rank + target]), target, target=(rank, 1, MPI.DOUBLE))
win.Fence()
assert (own == 100.0 * np.arange(size) + rank).all()
seen = np.empty(size)
win.Get(seen, right)
win.Fence()
assert (seen == 100.0 * np.arange(size) + right).all()
own[0] = 0.0
win.Fence()
win.Accumulate(np.array([rank + 1.0]), 0, target=(0, 1, MPI.DOUBLE), op=MPI.SUM)
win.Fence()
assert rank or own[0] == size * (size + 1) / 2
win.Free()

counter = MPI.Win.Allocate(8 if rank == 0 else 0, 8, comm=comm)
if rank == 0:
    np.frombuffer(counter, dtype="q")[0] = 0
comm.Barrier()
one, mine = np.array([1], dtype="q"), np.empty(1, dtype="q")
tickets = []
for _ in range(3):
    counter.Lock(0)
    counter.Fetch_and_op(one, mine, 0)
    counter.Unlock(0)
    tickets.append(int(mine[0]))
assert sorted(sum(comm.allgather(tickets), [])) == list(range(3 * size))
counter.Free()

node = comm.Split_type(MPI.COMM_TYPE_SHARED)
shared = MPI.Win.Allocate_shared(8, 8, comm=node)
base, _ = shared.Shared_query(0)
all_of_node = np.ndarray(buffer=shared.Shared_query(0)[0], dtype="d", shape=(1,))
mine = np.ndarray(buffer=shared, dtype="d", shape=(1,))
mine[0] = rank
node.Barrier()
first = node.bcast(rank)
assert all_of_node[0] == first
shared.Free()
if rank == 0:
    print("windows: right on", size, "ranks", flush=True)
