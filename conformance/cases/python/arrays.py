# ranks: 4
"""numpy arrays: messages, requests, datatypes, collective operations, operations of our own."""
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size
for n in (1, 1000, 300_000):
    out, inn = np.full(n, rank, dtype="d"), np.empty(n)
    comm.Sendrecv(out, dest=right, recvbuf=inn, source=left)
    assert (inn == left).all()
    many = np.empty((size, n))
    requests = [comm.Irecv(many[i], source=i, tag=3) for i in range(size)]
    requests += [comm.Isend(out, dest=i, tag=3) for i in range(size)]
    MPI.Request.Waitall(requests)
    assert (many == np.arange(size)[:, None]).all()
total = np.empty(5, dtype="i")
comm.Allreduce(np.full(5, rank, dtype="i"), total, op=MPI.SUM)
assert (total == sum(range(size))).all()
matrix = np.arange(size * size, dtype="i").reshape(size, size) * (rank + 1)
column = MPI.INT.Create_vector(size, 1, size).Commit()
row = np.empty(size, dtype="i")
comm.Sendrecv([matrix.reshape(-1)[1 % size :], 1, column], dest=right, recvbuf=row, source=left)
assert (row == (np.arange(size) * size + 1 % size) * (left + 1)).all()
column.Free()
counts = np.arange(size) + 1
pieces = np.empty(counts.sum(), dtype="d")
comm.Allgatherv(np.full(rank + 1, rank, dtype="d"), [pieces, counts])
assert (pieces == np.repeat(np.arange(size), counts)).all()
shares = np.empty(3)
comm.Reduce_scatter_block(np.arange(3.0 * size), shares)
assert (shares == size * (np.arange(3) + 3 * rank)).all()


def smaller_difference(left_bytes, right_bytes, datatype):
    ours, theirs = np.frombuffer(left_bytes, dtype="d"), np.frombuffer(right_bytes, dtype="d")
    theirs[:] = np.minimum(ours, theirs)


op = MPI.Op.Create(smaller_difference, commute=True)
least = np.empty(4)
comm.Allreduce(np.arange(4.0) + rank, least, op=op)
assert (least == np.arange(4.0)).all()
op.Free()
ones, big = np.ones(1000), np.empty(1000)
request = comm.Iallreduce(ones, big)
request.Wait()
assert (big == size).all()
if rank == 0:
    print("arrays: right on", size, "ranks", flush=True)
