#!/usr/bin/env python3
"""Asks Open MPI's decision functions which algorithm they choose, for the test of our tables.

    decisions.py OPENMPI_SOURCE OUTPUT

Compiles coll_tuned_decision_fixed.c of an Open MPI source tree against headers that hold nothing but what it needs,
calls every decision function for numbers of ranks on both sides of every power of two, and looks for the sizes where
the choice changes. Writes a line for each operation and number of ranks: operation, c (the operator commutes) or n,
ranks | size:algorithm ... (from that many bytes on, that number of Open MPI's).
"""

import os
import subprocess
import sys
import tempfile

HEADERS = ["ompi_config.h", "mpi.h", "opal/util/bit_ops.h", "ompi/datatype/ompi_datatype.h",
           "ompi/communicator/communicator.h", "ompi/mca/coll/coll.h", "ompi/mca/coll/base/coll_tags.h",
           "ompi/op/op.h", "coll_tuned.h"]

PRELUDE = """
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#define MPI_IN_PLACE ((void *)1)
#define OPAL_OUTPUT(arguments)
struct ompi_datatype_t; struct ompi_op_t; struct ompi_communicator_t;
typedef struct mca_coll_base_module_t mca_coll_base_module_t;
static int ranks, commutes, chosen, ompi_coll_tuned_alltoall_max_requests;
#define ompi_comm_size(comm) ranks
#define ompi_comm_rank(comm) 0
#define ompi_op_is_commute(op) commutes
#define ompi_datatype_type_size(type, size) (*(size) = 1)
"""

# Operation, arguments of the decision function when everyone gives n bytes, which argument of do_this is the algorithm.
FUNCTIONS = [
    ("barrier", "0, 0", 2),
    ("bcast", "0, n, 0, 0, 0, 0", 6),
    ("reduce", "0, 0, n, 0, 0, 0, 0, 0", 8),
    ("allreduce", "0, 0, n, 0, 0, 0, 0", 7),
    ("gather", "0, n, 0, 0, n, 0, 0, 0, 0", 9),
    ("scatter", "0, n, 0, 0, n, 0, 0, 0, 0", 9),
    ("allgather", "0, n, 0, 0, n, 0, 0, 0", 8),
    ("allgatherv", "0, n, 0, 0, counts, 0, 0, 0, 0", 9),
    ("alltoall", "0, n, 0, 0, n, 0, 0, 0", 8),
    ("alltoallv", "0, 0, 0, 0, 0, 0, 0, 0, 0, 0", 10),
    ("reduce_scatter", "0, 0, counts, 0, 0, 0, 0", 7),
    ("reduce_scatter_block", "0, 0, n, 0, 0, 0, 0", 7),
]


def source(tree):
    """The program: stand-ins for do_this that note the algorithm, the real file, and a loop over ranks and sizes."""
    with open(os.path.join(tree, "ompi/mca/coll/tuned/coll_tuned_decision_fixed.c")) as file:
        real = file.read()
    text = ""
    for operation, _, position in FUNCTIONS:
        name = f"ompi_coll_tuned_{operation}_intra_do_this"
        skipped = "".join(f"a{index}, " for index in range(position))
        text += f"#define {name}({skipped}algorithm, ...) (chosen = (algorithm))\n"
    # The only operation without further arguments after the algorithm.
    text = text.replace("a9, algorithm, ...)", "a9, algorithm)")
    text += real
    text += "static int counts[100000];\nstatic int choose(int operation, long n) {\n"
    # Of the operations with counts the first rank gives all, so that any total can be had.
    text += "    memset(counts, 0, sizeof counts);\n    counts[0] = n;\n"
    for index, (operation, arguments, _) in enumerate(FUNCTIONS):
        if operation == "allgatherv":
            text += f"    if (operation == {index}) for (int k = 0; k < ranks; k++) counts[k] = n;\n"
        text += f"    if (operation == {index}) ompi_coll_tuned_{operation}_intra_dec_fixed({arguments});\n"
    names = ", ".join(f'"{operation.replace("_", "-")}"' for operation, _, _ in FUNCTIONS)
    text += "    return chosen;\n}\n" + """
int main(void) {
    const char *names[] = {%s};
    for (int operation = 0; operation < %d; operation++)
        for (commutes = 1; commutes >= 0; commutes--) {
            if (!commutes && !strstr(names[operation], "reduce")) continue;
            for (int power = 1; power <= 13; power++)
                for (ranks = (1 << power) - 1; ranks <= (1 << power) + 1; ranks++) {
                    if (ranks < 2 || (ranks == 3 && power == 2)) continue;
                    printf("%%s %%c %%d |", names[operation], commutes ? 'c' : 'n', ranks);
                    int last = 0;
                    /* Choices change at powers of two of bytes only: small sizes, then both sides of each. */
                    for (long n = 0, size = 8; size <= 1L << 24; n++) {
                        if (choose(operation, n) != last) printf(" %%ld:%%d", n, last = chosen);
                        if (n == size) n = (size *= 2) - 2;
                    }
                    printf("\\n");
                }
        }
    return 0;
}
""" % (names, len(FUNCTIONS))
    return text


def main():
    tree, output = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for header in HEADERS:
            path = os.path.join(folder, header)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(PRELUDE if header == "ompi_config.h" else "")
        program = os.path.join(folder, "decisions")
        subprocess.run(["gcc", "-w", "-I", folder, "-o", program, "-x", "c", "-"], input=source(tree), text=True,
                       check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    with open(output, "w") as file:
        file.write("# The choices of Open MPI 4.1.4, asked from its source by decisions.py: operation, c (the\n"
                   "# operator commutes) or n, ranks | size:algorithm ... (from that many bytes on that number of\n"
                   "# Open MPI's).\n")
        file.write(lines)


if __name__ == "__main__":
    main()
