"""Runs the tests of a built copy of MPICH's own test suite and tells which pass.

usage: suite.py FOLDER [--launcher COMMAND] [--timeout SECONDS] [--out FILE] [--only DIRECTORY[/TEST]]...

FOLDER is where the suite was configured and built. A test passes if it says `No Errors` and ends with code 0, as the
suite itself wants it. Tests that the suite expects to fail, and repetitions of a test that differ in settings of MPICH
alone, are left out.
"""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

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
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--launcher", default="mpirun.mpich -n")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    root = arguments.folder.resolve()
    tests = [test for test in tests_of(root, LISTS) if not test.skipped]
    if arguments.only:
        tests = [
            test for test in tests if any((test.name(root) + "/").startswith(only + "/") for only in arguments.only)
        ]
    counts = {}
    out = open(arguments.out, "w") if arguments.out else None
    for test in tests:
        verdict, seconds, said = run(test, shlex.split(arguments.launcher), arguments.timeout)
        counts[verdict] = counts.get(verdict, 0) + 1
        if verdict != "pass" or seconds > 10:
            print(f"{verdict:8} {test.name(root)} -n {test.ranks} {' '.join(test.arguments)} ({seconds:.1f} s)", flush=True)
        if out:
            print(f"=== {verdict} {test.name(root)} {test.ranks} {test} {seconds:.2f}\n{said}", file=out, flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 0 if set(counts) <= {"pass"} else 1


sys.exit(main())
