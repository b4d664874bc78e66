# ranks: 4
"""Python objects: between pairs, through a ring, to all and from all."""
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
thing = {"rank": rank, "list": list(range(rank)), "text": "x" * 1000 * rank}
right, left = (rank + 1) % size, (rank - 1) % size
got = comm.sendrecv(thing, dest=right, source=left)
assert got == {"rank": left, "list": list(range(left)), "text": "x" * 1000 * left}
request = comm.isend(thing, dest=right, tag=7)
assert comm.irecv(1 << 20, source=left, tag=7).wait()["rank"] == left
request.wait()
assert comm.bcast(thing if rank == 2 % size else None, root=2 % size)["rank"] == 2 % size
assert comm.scatter([i * i for i in range(size)] if rank == 0 else None) == rank * rank
gathered = comm.gather((rank, "r"), root=size - 1)
assert gathered == ([(i, "r") for i in range(size)] if rank == size - 1 else None)
assert comm.allreduce([rank]) == list(range(size))
assert comm.allreduce(rank, op=MPI.MAX) == size - 1
assert comm.alltoall([(rank, i) for i in range(size)]) == [(i, rank) for i in range(size)]
assert comm.scan(rank) == sum(range(rank + 1))
status = MPI.Status()
if rank == 0:
    seen = set()
    for _ in range(size - 1):
        assert comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status) == status.Get_source() * 10
        assert status.Get_tag() == status.Get_source() + 100
        seen.add(status.Get_source())
    assert seen == set(range(1, size))
else:
    comm.send(rank * 10, dest=0, tag=rank + 100)
comm.barrier()
if rank == 0:
    print("objects: right on", size, "ranks", flush=True)
