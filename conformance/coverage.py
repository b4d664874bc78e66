"""Which functions of MPI the cases call, and which they do not.

The functions are those that the headers of both Open MPI and MPICH declare, so about those of MPI 3.1. Prints the
functions that no case calls in C or C++, with a mark where one calls them in Fortran.
"""

import re
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"
HEADERS = [Path("/usr/lib/x86_64-linux-gnu/openmpi/include"), Path("/usr/include/x86_64-linux-gnu/mpich")]


def declared(folder):
    """Functions of a library. Callback types and the tool interface MPI_T, which no program needs, are left out."""
    text = "".join(header.read_text(errors="replace") for header in folder.glob("mpi*.h"))
    found = set(re.findall(r"\b(?:int|double|MPI_\w+)\s+(MPI_[A-Z]\w*)\s*\(", text))
    return {name for name in found if not name.startswith("MPI_T_") and not re.search(r"_(function|fn)$", name, re.I)}


def called(suffixes):
    """Functions that are called, in lower case, as Fortran does not tell cases apart."""
    names = set()
    for path in CASES.rglob("*"):
        if path.suffix in suffixes:
            text = path.read_text()
            names |= {name.lower() for name in re.findall(r"\bP?(MPI_\w+)\s*\(", text, flags=re.I)}
    return names


def main():
    functions = set.intersection(*map(declared, HEADERS))
    in_c, in_fortran = called({".c", ".cpp", ".h"}), called({".F90", ".F"})
    missing = sorted(name for name in functions if name.lower() not in in_c)
    for name in missing:
        print(name + (" (in Fortran only)" if name.lower() in in_fortran else ""))
    fortran = sum(name.lower() in in_fortran for name in functions)
    print(f"{len(functions)} functions: {len(functions) - len(missing)} called in C or C++, {fortran} in Fortran")


if __name__ == "__main__":
    main()
