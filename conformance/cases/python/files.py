# ranks: 4
"""Files: each rank writes its part, all read what others wrote."""
import os

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
name = "parts.bin"
file = MPI.File.Open(comm, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(rank * 80, np.full(10, rank, dtype="d"))
file.Sync()
comm.Barrier()
assert file.Get_size() == 80 * size
data = np.empty(10)
file.Read_at(((rank + 1) % size) * 80, data)
assert (data == (rank + 1) % size).all()
every = MPI.DOUBLE.Create_vector(10, 1, size).Commit()
file.Set_view(rank * 8, MPI.DOUBLE, every)
file.Write_all(np.arange(10.0) * 1000 + rank)
file.Close()
if rank == 0:
    whole = np.fromfile(name, dtype="d").reshape(10, size)
    assert (whole == np.arange(10.0)[:, None] * 1000 + np.arange(size)).all()
    os.remove(name)
    print("files: right on", size, "ranks", flush=True)
