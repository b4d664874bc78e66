"""Runs real programs under Open MPI or MPICH and under hpcast, and compares their results.

usage: run.sh [--ranks N] [--timeout SECONDS] [--no-native | --again] [NAME]...

What is run is in programs.toml. Everything that is fetched, built or written goes to target/programs; results of native
runs are kept there, unless they are asked for --again.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import packages

HERE = Path(__file__).resolve().parent
SCRATCH = HERE.parent / "target" / "programs"
HPCAST = os.path.abspath(os.environ.get("HPCAST", HERE.parent / "target" / "release" / "hpcast"))
MACHINE = os.path.abspath(os.environ.get("MACHINE", HERE.parent / "machines" / "dahu.toml"))

LAUNCHERS = {
    "openmpi": "mpirun.openmpi --oversubscribe --allow-run-as-root -n",
    "mpich": "mpirun.mpich -n",
    "hpcast": f"{HPCAST} run -m {MACHINE} --compute skip -n",
}
COMPILERS = {
    "openmpi": {"MPICC": "mpicc.openmpi", "MPICXX": "mpicxx.openmpi", "MPIFC": "mpif90.openmpi"},
    "hpcast": {"MPICC": f"{HPCAST} cc", "MPICXX": f"{HPCAST} cxx", "MPIFC": f"{HPCAST} f90"},
}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


class Failed(Exception):
    """A step did not work."""


class Program:
    """An entry of programs.toml."""

    def __init__(self, entry):
        self.name, self.runs = entry["name"], entry["runs"]
        self.packages, self.source = entry.get("packages", []), entry.get("source")
        self.library = entry.get("library", "openmpi")
        self.ranks = entry.get("ranks")
        self.environment = entry.get("environment", {})
        self.prepare, self.build = entry.get("prepare"), entry.get("build", "")
        self.results, self.file = re.compile(entry["results"], re.M), entry.get("file")
        self.verified, self.native = entry.get("verified"), entry.get("native", True)
        self.tolerance = entry.get("tolerance", 1e-6)
        self.note = entry.get("note", "")

    @property
    def how(self):
        return "source" if self.source else f"binary ({'Open MPI' if self.library == 'openmpi' else 'MPICH'})"

    def get(self):
        """Fetches it; gives the variables that its commands use."""
        variables = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "INPUTS": str(HERE / "inputs")}
        if self.packages:
            root = packages.unpack_binaries(self.packages, SCRATCH / "binaries" / self.name)
            variables["ROOT"] = str(root)
            libraries = root / "usr" / "lib" / "x86_64-linux-gnu"
            folders = [libraries, *(libraries / part for part in ("blas", "lapack", "openmpi")), root / "usr" / "lib"]
            variables["LD_LIBRARY_PATH"] = ":".join(str(folder) for folder in folders)
        for key, value in self.environment.items():
            for name in ("ROOT", "LD_LIBRARY_PATH"):
                value = value.replace(f"${name}", variables.get(name, ""))
            variables[key] = value
        return variables

    def compile(self, by, variables, timeout):
        """Builds it from source with the compilers of `by`, unless that was done."""
        folder = SCRATCH / "sources" / by / self.name
        variables["SOURCE"] = str(folder)
        if (folder / ".built").exists():
            return
        packages.unpack_source(self.source, SCRATCH / "sources" / "fetched", folder)
        shell(self.build, folder, {**variables, **COMPILERS[by]}, timeout, folder / "build.log")
        (folder / ".built").touch()

    def run(self, by, variables, ranks, timeout):
        """Runs it in a folder of its own; gives what counts as its results and the time of the last step."""
        folder = SCRATCH / "runs" / by / self.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if self.prepare:
            shell(self.prepare, folder, variables, timeout, folder / "prepare.txt")
        start = time.monotonic()
        for place, command in enumerate(self.runs):
            launched = f"{LAUNCHERS[by]} {ranks} {command}"
            shell(launched, folder, variables, timeout, folder / f"out{place}.txt")
        seconds = time.monotonic() - start
        said = "".join((folder / f"out{place}.txt").read_text(errors="replace") for place in range(len(self.runs)))
        where = (folder / self.file).read_text(errors="replace") if self.file else said
        if self.verified and len(re.findall(self.verified, where, re.M)) < len(self.runs):
            raise Failed(f"it does not say '{self.verified}'")
        found = [" ".join(match.group(0).split()) for match in self.results.finditer(where)]
        if not found:
            raise Failed("no results found")
        return found, seconds


def shell(command, folder, variables, timeout, out):
    """Runs a command in a shell; standard output goes to a file, errors to one beside it."""
    with open(out, "wb") as said, open(out.with_suffix(".err"), "wb") as errors:
        process = subprocess.Popen(
            ["bash", "-e", "-c", command],
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Failed(f"not done after {timeout:.0f} s: {command}") from None
    if code != 0:
        lines = out.with_suffix(".err").read_text(errors="replace").strip().splitlines()
        told = [line for line in lines if "error" in line.lower() or line.startswith("rank")] or lines[-1:]
        raise Failed(f"code {code}: {' '.join(told[:1])[:160]} (see {out})")


def differs(one, other, tolerance):
    """The first line of results in which numbers differ by more than the tolerance, or words at all."""
    if len(one) != len(other):
        return f"{len(one)} lines of results and {len(other)}"
    for a, b in zip(one, other):
        if NUMBER.sub("#", a) != NUMBER.sub("#", b):
            return f"'{a}' and '{b}'"
        for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)):
            x, y = (float(number.lower().replace("d", "e")) for number in (x, y))
            if abs(x - y) > tolerance * max(abs(x), abs(y)):
                return f"'{a}' and '{b}'"
    return None


def natively(program, variables, arguments):
    """What the native run gave, now or before: (results, seconds)."""
    by, ranks = program.library, program.ranks or arguments.ranks
    kept = SCRATCH / "native" / f"{program.name}-{ranks}.txt"
    if kept.exists() and not arguments.again:
        seconds, *found = kept.read_text().splitlines()
        return found, float(seconds)
    found, seconds = program.run(by, variables, ranks, arguments.timeout)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("".join(f"{line}\n" for line in [seconds, *found]))
    return found, seconds


def attempt(program, arguments):
    """Runs a program both ways: (result, seconds natively, seconds in hpcast)."""
    variables, expected, native = program.get(), None, None
    if program.native and not arguments.no_native:
        if program.source:
            program.compile(program.library, variables, 4 * arguments.timeout)
        try:
            expected, native = natively(program, variables, arguments)
        except Failed as failure:
            raise Failed(f"{program.library}: {failure}") from None
    if program.source:
        program.compile("hpcast", variables, 4 * arguments.timeout)
    found, seconds = program.run("hpcast", variables, program.ranks or arguments.ranks, arguments.timeout)
    if expected is not None and (difference := differs(expected, found, program.tolerance)):
        raise Failed(f"other results: {difference}")
    how = "as natively" if expected is not None else "by its own check" if program.verified else "not compared"
    return f"{len(found)} results, {how}", native, seconds


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--no-native", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    programs = [Program(entry) for entry in tomllib.loads((HERE / "programs.toml").read_text())["program"]]
    known = [program.name for program in programs]
    if unknown := [name for name in arguments.names if name not in known]:
        sys.exit(f"error: no such program: {unknown[0]}; there are {', '.join(known)}")
    chosen = [program for program in programs if not arguments.names or program.name in arguments.names]
    print(f"{'program':24} {'how':18} {'ranks':>5} {'native':>8} {'hpcast':>8}  result", flush=True)
    bad = 0
    for program in chosen:
        native, own = None, None
        try:
            result, native, own = attempt(program, arguments)
        except (Failed, packages.Missing) as failure:
            result, bad = f"WRONG: {failure}", bad + 1
        times = [f"{seconds:.1f} s" if seconds is not None else "-" for seconds in (native, own)]
        ranks = program.ranks or arguments.ranks
        row = f"{program.name:24} {program.how:18} {ranks:5} {times[0]:>8} {times[1]:>8}  {result}"
        print(f"{row}; {program.note}" if program.note else row, flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} programs run to their end with right results")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
