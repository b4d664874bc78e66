"""Builds MPICH's own test suite, as Debian's sources of mpich hold it, and runs it in hpcast.

usage: suite.sh [--timeout SECONDS] [--out FILE] [--list] [DIRECTORY[/TEST]]...

A test passes if it says `No Errors` and ends with code 0, as the suite itself wants it. Tests that the suite expects to
fail, and repetitions of a test that differ in settings of MPICH alone, are left out. The folder `errors` checks that
mistakes are found as MPICH finds them, and `spawn` that ranks can be added; they are run only where they are named.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import packages
from run import HPCAST, LAUNCHERS, SCRATCH, shell

BUILT = SCRATCH / "mpich-suite"
# Directories in the order of the suite's own list; not those for threads, C++ bindings and checkpoints.
DIRECTORIES = "attr coll comm datatype errhan group info init mpi_t pt2pt part rma topo io f77 f90".split()
ON_DEMAND = ["errors", "spawn"]
OPTIONS = "--disable-dependency-tracking --disable-static --enable-threads=single CFLAGS=-O1"
OPTIONS += " FFLAGS=-fallow-argument-mismatch FCFLAGS=-fallow-argument-mismatch"
LISTS = ["testlist", "testlist.dtp"]


class Test:
    """A line of a list: a program, how many ranks it needs, and its arguments."""

    def __init__(self, folder, program, ranks, options):
        self.folder, self.program, self.ranks = folder, program, ranks
        self.arguments = [value for key, value in options if key == "arg"]
        self.environment = dict(value.split("=", 1) for key, value in options if key == "env")
        self.skipped = any(key == "xfail" for key, _ in options) or any(
            name.startswith("MPIR_") for name in self.environment
        )

    def name(self, root):
        return f"{self.folder.relative_to(root)}/{self.program}"

    def __str__(self):
        return shlex.join([self.program, *self.arguments])


def tests_of(folder, lists):
    """The tests of a folder and of those that its list names, in their order."""
    found = []
    for name in lists:
        path = folder / name
        for line in path.read_text().splitlines() if path.exists() else []:
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) == 1:
                found += tests_of(folder / words[0], lists)
                continue
            options = [word.split("=", 1) for word in words[2:] if "=" in word]
            found.append(Test(folder, words[0], int(words[1]), options))
    return found


def build():
    """Fetches, configures and compiles the suite, unless that was done; gives its folder."""
    folder = BUILT / "test" / "mpi"
    if (BUILT / ".built").exists():
        return folder
    packages.unpack_source("mpich", SCRATCH / "sources" / "fetched", BUILT)
    wrappers = subprocess.run([HPCAST, "mpi", "wrappers"], check=True, capture_output=True, text=True).stdout.strip()
    variables = {"PATH": f"{wrappers}:{os.environ['PATH']}"}
    compilers = "MPICC=mpicc MPICXX=mpicxx MPIF77=mpif77 MPIFC=mpifort"
    shell(f"./configure {OPTIONS} {compilers}", folder, variables, 600, BUILT / "configure.log")
    # What needs functions of MPICH alone cannot be built, which is no reason to stop.
    for part in ["util", "dtpools", *DIRECTORIES, *ON_DEMAND]:
        shell(f"make -k -j2 -C {part} || true", folder, variables, 3600, BUILT / f"{part}.log")
    (BUILT / ".built").touch()
    return folder


def run(test, launcher, timeout):
    """(verdict, seconds, what was printed)"""
    program = test.folder / test.program
    if not os.access(program, os.X_OK):
        return "unbuilt", 0.0, ""
    command = [*launcher, str(test.ranks), f"./{test.program}", *test.arguments]
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=test.folder,
        env={**os.environ, **test.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
        out, err = out.decode(errors="replace"), err.decode(errors="replace")
        passed = process.returncode == 0 and any(line.strip().lower() == "no errors" for line in out.splitlines())
        verdict = "pass" if passed else "fail"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = (part.decode(errors="replace") for part in process.communicate())
        verdict = "late"
    return verdict, time.monotonic() - start, f"exit {process.returncode}\n{out[-3000:]}{err[-3000:]}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("only", nargs="*")
    arguments = parser.parse_args()
    root = build()
    tests = [test for test in tests_of(root, LISTS) if not test.skipped]
    only = arguments.only or DIRECTORIES
    tests = [test for test in tests if any((test.name(root) + "/").startswith(part + "/") for part in only)]
    if arguments.list:
        print("\n".join(f"{test.name(root)} -n {test.ranks} {' '.join(test.arguments)}" for test in tests))
        return 0
    counts = {}
    out = open(arguments.out, "w") if arguments.out else None
    for test in tests:
        verdict, seconds, said = run(test, shlex.split(LAUNCHERS["hpcast"]), arguments.timeout)
        counts[verdict] = counts.get(verdict, 0) + 1
        if verdict != "pass":
            words = " ".join(test.arguments)
            print(f"{verdict:8} {test.name(root)} -n {test.ranks} {words} ({seconds:.1f} s)", flush=True)
        if out:
            print(f"=== {verdict} {test.name(root)} {test.ranks} {test} {seconds:.2f}\n{said}", file=out, flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 0 if set(counts) <= {"pass"} else 1


sys.exit(main())
