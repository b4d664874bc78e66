#!/usr/bin/env python3
"""Records the point-to-point calls of Open MPI's collectives, for the test that compares ours with them.

    record.py OUTPUT RANKS...          for instance: record.py calls.txt 5 8

Needs Open MPI 4.1 (Debian: openmpi-bin libopenmpi-dev). Compiles calls.c, forces one algorithm after the other and
writes a line for every case and rank: choice, ranks, count, bytes of an element, root, rank, calls (see calls.c).
Compare with: HPCAST_OPENMPI_CALLS=OUTPUT cargo test -p hpcast-mpi openmpi
"""

import os
import subprocess
import sys
import tempfile

# Operation, number of the algorithm in Open MPI (None: its own rule), our name, further parameters.
ALGORITHMS = [
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
]
OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather",
              "allgatherv", "alltoall", "alltoallv", "reduce-scatter", "reduce-scatter-block", "scan", "exscan"]
ROOTED = {"bcast", "reduce", "gather", "gatherv", "scatter", "scatterv"}
# These call other collectives, which must then follow Open MPI's own rules.
COMPOUND = {("allreduce", 2), ("allgather", 1), ("allgatherv", 1), ("reduce-scatter", 1), ("reduce-scatter-block", 1)}
# Counts of elements for forced algorithms (fewer than ranks, odd, round), and bytes for the rules.
COUNTS = [int(count) for count in os.environ.get("COUNTS", "3 37").split()]
SIZES = [int(size) for size in os.environ.get("SIZES", "4 3000 70000").split()]


def cases_of(operation, counts, element):
    """The cases of an operation: count, element, root."""
    roots = [0, 2] if operation in ROOTED else [0]
    if operation == "barrier":
        return [(0, 1, 0)]
    return [(count, element, root) for count in counts for root in roots]


def rounds():
    """Groups of choices that can be forced in one run: at most one of each operation."""
    simple = [choice for choice in ALGORITHMS if choice[:2] not in COMPOUND]
    groups = [[choice] for choice in ALGORITHMS if choice[:2] in COMPOUND]
    # Compound operations of different kinds do not disturb each other.
    groups = [sum(groups, [])]
    while simple:
        group, seen, rest = [], set(), []
        for choice in simple:
            (rest if choice[0] in seen else group).append(choice)
            seen.add(choice[0])
        groups.append(group)
        simple = rest
    return groups


def run(program, ranks, settings, cases):
    """Runs the cases (operation, count, element, root) and gives the lines it prints."""
    with tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
        file.write("".join(f"{' '.join(map(str, case))}\n" for case in cases))
        file.flush()
        command = ["mpirun", "--oversubscribe", "-np", str(ranks), "--mca", "btl", "self,vader",
                   "--mca", "coll_tuned_use_dynamic_rules", "1"]
        for name, value in settings.items():
            command += ["--mca", name, str(value)]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(command + [program, file.name], check=True, capture_output=True, text=True,
                              env=environment, timeout=300).stdout.splitlines()


def main():
    output, numbers = sys.argv[1], [int(number) for number in sys.argv[2:]]
    here = os.path.dirname(os.path.abspath(__file__))
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "calls")
        subprocess.run(["mpicc", "-O1", "-o", program, os.path.join(here, "calls.c"), "-ldl"], check=True)
        for ranks in numbers:
            for group in rounds():
                settings, names, cases = {}, {}, []
                for operation, number, name, parameters in group:
                    if name == "two-processes" and ranks != 2:
                        continue
                    prefix = f"coll_tuned_{operation.replace('-', '_')}_algorithm"
                    settings[prefix] = number
                    settings.update({f"{prefix}_{key}": value for key, value in parameters.items()})
                    names[operation] = name
                    cases += [(operation, *case) for case in cases_of(operation, COUNTS, 4)]
                lines += [f"{line.split()[0]}={names[line.split()[0]]} {ranks} {line.split(' ', 1)[1]}"
                          for line in run(program, ranks, settings, cases)]
            cases = [(operation, *case) for operation in OPERATIONS for case in cases_of(operation, SIZES, 1)]
            lines += [f"{line.split()[0]} {ranks} {line.split(' ', 1)[1]}" for line in run(program, ranks, {}, cases)]
            print(f"{ranks} ranks done", file=sys.stderr)
    with open(output, "w") as file:
        file.write("# Point-to-point calls of Open MPI 4.1.4's collectives, recorded by record.py. Choice, ranks, count,\n"
                   "# bytes of an element, root, rank: calls (see calls.c). Without a choice the library's rule holds.\n")
        file.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
