#!/usr/bin/env python3
"""Records the point-to-point calls of a real library's collectives, for the test that compares ours with them.

    record.py openmpi|mpich OUTPUT RANKS...         for instance: record.py openmpi openmpi.txt 5 8

Needs Open MPI 4.1 (Debian: openmpi-bin libopenmpi-dev) or MPICH 4.0 on UCX (mpich libmpich-dev libucx-dev). Compiles
openmpi.c or mpich.c, forces one algorithm after the other, lets the library's rules choose for some sizes, and writes
a line for every case and rank: choice, ranks, count, bytes of an element, root, rank | calls (see perform.h).
Compare another recording than the one kept here with: HPCAST_OPENMPI_CALLS=OUTPUT cargo test -p hpcast-mpi libraries
(for MPICH: HPCAST_MPICH_CALLS).
"""

import os
import subprocess
import sys
import tempfile

# Operation, number of the algorithm in Open MPI, our name, further parameters.
OPENMPI = [
    ("barrier", 1, "linear", {}),
    ("barrier", 2, "double-ring", {}),
    ("barrier", 3, "recursive-doubling", {}),
    ("barrier", 4, "bruck", {}),
    ("barrier", 5, "two-processes", {}),
    ("barrier", 6, "tree", {}),
    ("bcast", 1, "linear", {}),
    ("bcast", 2, "chain:segment=48B,chains=3", {"segmentsize": 48, "chain_fanout": 3}),
    ("bcast", 2, "chain", {"chain_fanout": 4}),
    ("bcast", 3, "pipeline:segment=48B", {"segmentsize": 48}),
    ("bcast", 3, "pipeline", {}),
    ("bcast", 4, "split-binary:segment=48B", {"segmentsize": 48}),
    ("bcast", 4, "split-binary", {}),
    ("bcast", 5, "binary:segment=50B", {"segmentsize": 50}),
    ("bcast", 5, "binary", {}),
    ("bcast", 6, "binomial:segment=50B", {"segmentsize": 50}),
    ("bcast", 6, "binomial", {}),
    ("bcast", 7, "knomial:segment=48B,radix=3", {"segmentsize": 48, "knomial_radix": 3}),
    ("bcast", 7, "knomial", {}),
    ("bcast", 8, "scatter-allgather", {}),
    ("bcast", 9, "scatter-allgather-ring", {}),
    ("reduce", 1, "linear", {}),
    ("reduce", 2, "chain:segment=48B,chains=3", {"segmentsize": 48, "chain_fanout": 3}),
    ("reduce", 2, "chain", {"chain_fanout": 4}),
    ("reduce", 3, "pipeline:segment=48B", {"segmentsize": 48}),
    ("reduce", 3, "pipeline", {}),
    ("reduce", 4, "binary:segment=50B", {"segmentsize": 50}),
    ("reduce", 4, "binary", {}),
    ("reduce", 5, "binomial:segment=50B", {"segmentsize": 50}),
    ("reduce", 5, "binomial", {}),
    ("reduce", 6, "in-order-binary:segment=50B", {"segmentsize": 50}),
    ("reduce", 6, "in-order-binary", {}),
    ("reduce", 7, "rabenseifner", {}),
    ("allreduce", 1, "linear", {}),
    ("allreduce", 2, "nonoverlapping", {}),
    ("allreduce", 3, "recursive-doubling", {}),
    ("allreduce", 4, "ring", {}),
    ("allreduce", 5, "segmented-ring:segment=24B", {"segmentsize": 24}),
    ("allreduce", 6, "rabenseifner", {}),
    ("gather", 1, "linear", {}),
    ("gather", 2, "binomial", {}),
    ("gather", 3, "linear-sync:segment=48B", {"segmentsize": 48}),
    ("gather", 3, "linear-sync", {}),
    ("scatter", 1, "linear", {}),
    ("scatter", 2, "binomial", {}),
    ("scatter", 3, "linear-nb", {}),
    ("allgather", 1, "linear", {}),
    ("allgather", 2, "bruck", {}),
    ("allgather", 3, "recursive-doubling", {}),
    ("allgather", 4, "ring", {}),
    ("allgather", 5, "neighbor-exchange", {}),
    ("allgather", 6, "two-processes", {}),
    ("allgatherv", 1, "default", {}),
    ("allgatherv", 2, "bruck", {}),
    ("allgatherv", 3, "ring", {}),
    ("allgatherv", 4, "neighbor-exchange", {}),
    ("allgatherv", 5, "two-processes", {}),
    ("alltoall", 1, "linear", {}),
    ("alltoall", 2, "pairwise", {}),
    ("alltoall", 3, "bruck", {}),
    ("alltoall", 4, "linear-sync", {}),
    ("alltoall", 5, "two-processes", {}),
    ("alltoallv", 1, "linear", {}),
    ("alltoallv", 2, "pairwise", {}),
    ("reduce-scatter", 1, "non-overlapping", {}),
    ("reduce-scatter", 2, "recursive-halving", {}),
    ("reduce-scatter", 3, "ring", {}),
    ("reduce-scatter", 4, "butterfly", {}),
    ("reduce-scatter-block", 1, "linear", {}),
    ("reduce-scatter-block", 2, "recursive-doubling", {}),
    ("reduce-scatter-block", 3, "recursive-halving", {}),
    ("reduce-scatter-block", 4, "butterfly", {}),
    ("scan", 1, "linear", {}),
    ("scan", 2, "recursive-doubling", {}),
    ("exscan", 1, "linear", {}),
    ("exscan", 2, "recursive-doubling", {}),
    ("ibcast", 2, "nbc-binomial", {}),
    ("ibcast", 3, "nbc-chain", {}),
    ("ireduce", 1, "nbc-chain", {}),
    ("ireduce", 2, "nbc-binomial", {}),
    ("ireduce", 3, "rabenseifner", {}),
    ("iallreduce", 1, "nbc-ring", {}),
    ("iallreduce", 2, "nbc-binomial", {}),
    ("iallreduce", 3, "rabenseifner", {}),
    ("iallreduce", 4, "recursive-doubling", {}),
    ("iscan", 2, "recursive-doubling", {}),
    ("iexscan", 2, "recursive-doubling", {}),
]
# Operation, name of the algorithm in MPICH, our name.
MPICH = [
    ("barrier", "dissemination", "bruck"),
    ("bcast", "binomial", "mpich-binomial"),
    ("bcast", "scatter_recursive_doubling_allgather", "mpich-scatter-allgather"),
    ("bcast", "scatter_ring_allgather", "mpich-scatter-allgather-ring"),
    ("reduce", "binomial", "mpich-binomial"),
    ("reduce", "reduce_scatter_gather", "mpich-rabenseifner"),
    ("allreduce", "recursive_doubling", "recursive-doubling"),
    ("allreduce", "reduce_scatter_allgather", "mpich-rabenseifner"),
    ("gather", "binomial", "binomial"),
    ("scatter", "binomial", "binomial"),
    ("allgather", "brucks", "bruck"),
    ("allgather", "ring", "ring"),
    ("allgatherv", "brucks", "bruck"),
    ("allgatherv", "ring", "mpich-ring"),
    ("alltoall", "brucks", "bruck"),
    ("alltoall", "pairwise", "mpich-pairwise"),
    ("alltoall", "scattered", "scattered"),
    ("alltoallv", "scattered", "scattered"),
    ("reduce-scatter", "pairwise", "pairwise"),
    ("reduce-scatter", "recursive_doubling", "recursive-doubling"),
    ("reduce-scatter", "recursive_halving", "recursive-halving"),
    ("reduce-scatter-block", "pairwise", "pairwise"),
    ("reduce-scatter-block", "recursive_doubling", "recursive-doubling"),
    ("reduce-scatter-block", "recursive_halving", "recursive-halving"),
    ("scan", "recursive_doubling", "recursive-doubling"),
    ("exscan", "recursive_doubling", "recursive-doubling"),
]
OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather",
              "allgatherv", "alltoall", "alltoallv", "reduce-scatter", "reduce-scatter-block", "scan", "exscan"]
ROOTED = {"bcast", "reduce", "gather", "gatherv", "scatter", "scatterv"}
UNEVEN = {"gatherv", "scatterv", "allgatherv", "alltoallv", "reduce-scatter"}
# These call other collectives, which must then follow Open MPI's own rules.
COMPOUND = {("allreduce", 2), ("allgather", 1), ("allgatherv", 1), ("reduce-scatter", 1), ("reduce-scatter-block", 1)}
# Counts of elements for forced algorithms (fewer than ranks, odd, round), and bytes for the rules.
COUNTS = [int(count) for count in os.environ.get("COUNTS", "37").split()]
SIZES = [int(size) for size in os.environ.get("SIZES", "20 3000").split()]


def cases_of(operation, counts, element):
    """The cases of an operation: count, element, root."""
    roots = [0, 2] if operation.removeprefix("i") in ROOTED else [0]
    if operation == "barrier":
        return [(0, 1, 0)]
    if element == 1 and operation in UNEVEN:
        # The largest block is 90 times the count.
        counts = sorted({max(1, count // 30) for count in counts})
    return [(count, element, root) for count in counts for root in roots]


def rounds(algorithms):
    """Groups of choices that can be forced in one run: at most one of each operation."""
    simple = [choice for choice in algorithms if choice[:2] not in COMPOUND]
    # Compound operations of different kinds do not disturb each other.
    groups = [[choice for choice in algorithms if choice[:2] in COMPOUND]]
    while simple:
        group, seen, rest = [], set(), []
        for choice in simple:
            (rest if choice[0] in seen else group).append(choice)
            seen.add(choice[0])
        groups.append(group)
        simple = rest
    return [group for group in groups if group]


def run(command, environment, cases):
    """Runs the cases (operation, count, element, root) and gives the lines printed."""
    with tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
        file.write("".join(f"{' '.join(map(str, case))}\n" for case in cases))
        file.flush()
        return subprocess.run(command + [file.name], check=True, capture_output=True, text=True,
                              env={**os.environ, **environment}, timeout=300).stdout.splitlines()


class OpenMpi:
    """Open MPI 4.1: algorithms are forced by parameters of the command line."""

    algorithms = OPENMPI
    compiler = "mpicc.openmpi"

    @staticmethod
    def run(program, ranks, group, cases):
        command = ["mpirun.openmpi", "--oversubscribe", "-np", str(ranks), "--mca", "btl", "self,vader",
                   "--mca", "coll_tuned_use_dynamic_rules", "1"]
        for operation, number, _, parameters in group:
            component = "libnbc" if operation.startswith("i") else "tuned"
            prefix = f"coll_{component}_{operation.replace('-', '_')}_algorithm"
            for name, value in [(prefix, number)] + [(f"{prefix}_{key}", value) for key, value in parameters.items()]:
                command += ["--mca", name, str(value)]
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return run(command + [program], environment, cases)

    @staticmethod
    def works(operation, number, name, ranks):
        if name == "two-processes":
            return ranks == 2
        # On two ranks libnbc takes the chain instead of Rabenseifner's reduction.
        return (operation, number) != ("ireduce", 3) or ranks > 2


class Mpich:
    """MPICH 4.0: algorithms are forced by the environment. Every rank counts as a node, as in our rules."""

    algorithms = MPICH
    compiler = "mpicc.mpich"

    @staticmethod
    def run(program, ranks, group, cases):
        environment = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_DEVICE_COLLECTIVES": "none"}
        for operation, name, _ in group:
            environment[f"MPIR_CVAR_{operation.replace('-', '_').upper()}_INTRA_ALGORITHM"] = name
        return run(["mpiexec.mpich", "-n", str(ranks), program], environment, cases)

    @staticmethod
    def works(operation, number, name, ranks):
        return True


def main():
    library, output, numbers = sys.argv[1], sys.argv[2], [int(number) for number in sys.argv[3:]]
    mpi = {"openmpi": OpenMpi, "mpich": Mpich}[library]
    here = os.path.dirname(os.path.abspath(__file__))
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "calls")
        source = os.path.join(here, f"{library}.c")
        subprocess.run([mpi.compiler, "-O1", "-rdynamic", "-o", program, source, "-ldl"], check=True)
        for ranks in numbers:
            for group in rounds(mpi.algorithms):
                group = [choice for choice in group if mpi.works(*choice[:3], ranks)]
                names, cases = {choice[0]: choice[2] for choice in group}, []
                for operation in names:
                    # libnbc's chains cut at 8 and 16 KiB; MPICH falls back where there are fewer elements than ranks.
                    counts = [37, 9000] if operation.startswith("i") or mpi is Mpich else COUNTS
                    cases += [(operation, *case) for case in cases_of(operation, counts, 4)]
                lines += [f"{line.split()[0]}={names[line.split()[0]]} {ranks} {line.split(' ', 1)[1]}"
                          for line in mpi.run(program, ranks, group, cases)]
            cases = [(form + operation + operator, *case) for form in ("", "i") for operation in OPERATIONS
                     for operator in ("", "-own", "-ordered") if not operator or "reduce" in operation
                     for case in cases_of(operation, SIZES, 1)]
            lines += [f"{line.split()[0]} {ranks} {line.split(' ', 1)[1]}"
                      for line in mpi.run(program, ranks, [], cases)]
            print(f"{ranks} ranks done", file=sys.stderr)
    with open(output, "w") as file:
        file.write(f"# Point-to-point calls of the collectives of {library}, recorded by record.py: choice, ranks,\n"
                   "# count, bytes of an element, root, rank | calls (see perform.h). Without a choice the library's\n"
                   "# rule holds. Names that begin with i are non-blocking; -own and -ordered tell the operator.\n")
        file.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
