"""Builds and runs the cases under several implementations of MPI and compares what they print.

usage: run.sh [--only IMPLEMENTATION]... [--accept] [--timeout SECONDS] [--jobs N] [THEME | THEME/FILE]...
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
EXPECTED = HERE / "expected.txt"
BUILT = HERE.parent / "target" / "conformance"
# Absolute, as every program runs in a folder of its own.
HPCAST = os.path.abspath(os.environ.get("HPCAST", HERE.parent / "target" / "release" / "hpcast"))
MACHINE = os.path.abspath(os.environ.get("MACHINE", HERE.parent / "machines" / "dahu.toml"))

# gcc takes MPI_STATUSES_IGNORE, which is no array, and buffers that MPI fills only later for mistakes. Functions of
# MPI-1 are called on purpose.
WARNINGS = ["-Wall", "-Wextra", "-Wno-stringop-overflow", "-Wno-stringop-overread", "-Wno-maybe-uninitialized"]
WARNINGS += ["-Wno-nonnull", "-Wno-deprecated-declarations"]
C_FLAGS = ["-std=gnu11", "-O1", "-g", *WARNINGS, f"-I{HERE}"]
CXX_FLAGS = ["-std=c++17", "-O1", "-g", *WARNINGS, "-Wno-cast-function-type", f"-I{HERE}"]
# Both libraries' older Fortran interfaces take buffers of any type, which gfortran else objects to.
FORTRAN_FLAGS = ["-O1", "-g", "-fallow-argument-mismatch", "-w", f"-I{HERE}"]
# Fortran's preprocessor does not see MPI_VERSION: who has MPI 4.
FORTRAN_NEWER = {"mpich": ["-DMPI_4"], "hpcast": ["-DMPI_4"]}

LANGUAGES = {".c": "c", ".cpp": "cxx", ".F90": "fortran", ".F": "fortran", ".py": "python"}
# The one that has mpi4py, which is linked with Open MPI (Debian: python3-mpi4py).
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")


def stop(words):
    """Ends because of what the user asked for."""
    print(f"error: {words}", file=sys.stderr)
    sys.exit(2)


class Implementation:
    """How to compile and start a program; `built_by` names whose binaries are run."""

    def __init__(self, name, built_by, compilers, launcher):
        self.name, self.built_by, self.compilers, self.launcher = name, built_by, compilers, launcher

    def missing(self):
        """The first command that is not there, if any."""
        commands = [self.compilers["c"][0], self.launcher[0]]
        return next((command for command in commands if not shutil.which(command)), None)


def compilers_of(suffix):
    return {"c": [f"mpicc.{suffix}"], "cxx": [f"mpicxx.{suffix}"], "fortran": [f"mpif90.{suffix}"]}


HPCAST_COMPILERS = {"c": [HPCAST, "cc"], "cxx": [HPCAST, "cxx"], "fortran": [HPCAST, "f90"]}
HPCAST_RUN = [HPCAST, "run", "-m", MACHINE, "-n"]
SHARED_RUN = [HPCAST, "run", "--stacks", "shared", "-m", MACHINE, "-n"]
PROCESSES_RUN = [HPCAST, "run", "--ranks-as", "processes", "-m", MACHINE, "-n"]
IMPLEMENTATIONS = {
    implementation.name: implementation
    for implementation in [
        Implementation(
            "openmpi",
            "openmpi",
            compilers_of("openmpi"),
            ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-n"],
        ),
        Implementation("mpich", "mpich", compilers_of("mpich"), ["mpirun.mpich", "-n"]),
        Implementation("hpcast", "hpcast", HPCAST_COMPILERS, HPCAST_RUN),
        Implementation("hpcast-openmpi", "openmpi", compilers_of("openmpi"), HPCAST_RUN),
        Implementation("hpcast-mpich", "mpich", compilers_of("mpich"), HPCAST_RUN),
        Implementation("shared", "hpcast", HPCAST_COMPILERS, SHARED_RUN),
        Implementation("processes", "hpcast", HPCAST_COMPILERS, PROCESSES_RUN),
        Implementation("processes-openmpi", "openmpi", compilers_of("openmpi"), PROCESSES_RUN),
        Implementation("processes-mpich", "mpich", compilers_of("mpich"), PROCESSES_RUN),
    ]
}


class Source:
    """A file of cases. Its first line says how it is run: the number of ranks, `aborts` where it must fail, `openmp`."""

    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(CASES))
        self.language = LANGUAGES[path.suffix]
        first = path.read_text().split("\n", 1)[0]
        found = re.search(r"ranks: (\d+)(, aborts)?(, openmp)?(, with (\S+))?", first)
        if not found:
            stop(f"{self.name}: the first line must say how many ranks it needs, such as /* ranks: 4 */")
        self.ranks = found[1]
        self.aborts = bool(found[2])
        self.flags = ["-fopenmp"] if found[3] else []
        self.partner = path.parent / found[5] if found[5] else None


def read_sections():
    """The expected output of each file: "== FILE" starts a section of expected.txt."""
    sections = {}
    if EXPECTED.exists():
        for block in re.split(r"^== ", EXPECTED.read_text(), flags=re.M)[1:]:
            name, _, text = block.partition("\n")
            sections[name] = text
    return sections


def read_exceptions():
    """Cases that a real implementation fails although the standard is clear: rows of the table in README.md."""
    rows = re.findall(r"^\| (openmpi|mpich) \| `(\S+)` \| `(\S+)` \|", (HERE / "README.md").read_text(), flags=re.M)
    exceptions = {}
    for implementation, file, case in rows:
        exceptions.setdefault((implementation, file), []).append(case)
    return exceptions


def build(source, implementation):
    """Compiles the file; returns the binary and, where that failed, the compiler's words. Scripts are what they are."""
    if source.language == "python":
        return source.path, None
    binary = BUILT / implementation.built_by / Path(source.name).with_suffix("")
    binary = binary.parent / (binary.name + "-" + source.path.suffix[1:])
    inputs = [source.path] + ([source.partner] if source.partner else [])
    compiler = Path(shutil.which(implementation.compilers["c"][0]))
    shared = [HERE / "case.h", HERE / "case.F90", HERE / "case_fortran.h", HERE / "run.py", compiler]
    if binary.exists() and all(binary.stat().st_mtime > file.stat().st_mtime for file in inputs + shared):
        return binary, None
    binary.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        objects = []
        files = list(reversed(inputs))
        if source.language == "fortran":
            files = [HERE / "case.F90"] + files
        for file in files:
            language = LANGUAGES[file.suffix]
            fortran_flags = FORTRAN_FLAGS + FORTRAN_NEWER.get(implementation.built_by, []) + [f"-J{scratch}"]
            flags = {"c": C_FLAGS, "cxx": CXX_FLAGS, "fortran": fortran_flags}[language] + source.flags
            objects.append(os.path.join(scratch, file.name + ".o"))
            command = implementation.compilers[language] + flags + ["-c", str(file), "-o", objects[-1]]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.stderr:
                print(done.stderr, file=sys.stderr, end="")
            if done.returncode:
                return binary, f"does not compile: {' '.join(command)}"
        link = implementation.compilers[source.language] + objects + source.flags + ["-o", str(binary), "-lm"]
        done = subprocess.run(link, capture_output=True, text=True)
        if done.returncode:
            return binary, f"does not link: {' '.join(link)}\n{done.stderr}"
    return binary, None


def launch(source, implementation, binary, left_out, timeout):
    """Runs the binary in a folder of its own; returns its output, its stderr, and why it failed, if so."""
    program = [PYTHON, str(binary)] if source.language == "python" else [str(binary)]
    command = implementation.launcher + [source.ranks] + program + ["-" + case for case in left_out]
    with tempfile.TemporaryDirectory() as scratch:
        process = subprocess.Popen(
            command,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, words = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                output, words = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, words = process.communicate()
            return output, words, f"hangs (no end after {timeout:g} s)"
    if source.aborts:
        return "", words, None if process.returncode else "ends with status 0, although it aborts"
    return output, words, f"ends with status {process.returncode}" if process.returncode else None


def results_of(text):
    """One result per case. A program without cases is one case, named after nothing: its whole output."""
    results = {}
    lines = []
    for line in text.splitlines():
        lines.append(line)
        found = re.fullmatch(r"(?:ok|FAILED) (\S+)", line)
        if found:
            results[found[1]] = "\n".join(lines)
            lines = []
    if lines or not results:
        results[""] = "\n".join(lines)
    return results


def run_all(source, implementation, binary, wanted, left_out, timeout):
    """Runs the cases of a file. Where one crashes or hangs, those after it are run without it."""
    found, complaints, broken = {}, [], []
    while True:
        output, words, problem = launch(source, implementation, binary, left_out + broken, timeout)
        found.update(results_of(output))
        if problem:
            if len(wanted) > 1:
                found.pop("", None)  # words of the launcher
            # Cases run in their order: the first that printed nothing is the one at which the file ended.
            culprit = next((case for case in wanted if case and case not in found and case not in broken), None)
            complaints.append(f"{implementation.name}: {source.name} {problem}" + (f" in {culprit}" if culprit else ""))
            complaints += ["    " + line for line in words.strip().splitlines()[:20]]
            if culprit and culprit != [*wanted][-1]:
                broken.append(culprit)
                continue
        return found, complaints


def check(source, implementation, expected, left_out, timeout):
    """Builds, runs and compares one file; returns (cases, passed, differing, found, complaints)."""
    wanted = {case: text for case, text in results_of(expected or "").items() if case not in left_out}
    binary, problem = build(source, implementation)
    if problem:
        return len(wanted), 0, len(wanted), {}, [f"{implementation.name}: {source.name} {problem}"]
    found, complaints = run_all(source, implementation, binary, wanted, left_out, timeout)
    if expected is None:
        wanted = found
    elif not expected:
        complaints.append(f"{source.name} has no section in expected.txt; run.sh --accept writes one")
    differing = [case for case in wanted if found.get(case) != wanted[case] or "\nFAILED " in "\n" + wanted[case]]
    differing += [case for case in found if case not in wanted]
    if complaints and not differing:
        differing = [""]
    names = [f"{case or 'output'} {'differs' if case in found else 'is missing'}" for case in differing]
    complaints = [f"{implementation.name}: {source.name}: {name}" for name in names] + complaints
    cases = len(set(wanted) | set(differing))
    return cases, cases - len(differing), len(differing), found, complaints


def sources_of(themes):
    paths = sorted(path for path in CASES.rglob("*") if path.suffix in LANGUAGES)
    chosen = []
    for theme in themes or [""]:
        found = [path for path in paths if str(path.relative_to(CASES)).startswith(theme)]
        if not found:
            stop(f"no cases in {CASES / theme}; the themes are the folders of {CASES}")
        chosen += [path for path in found if path not in chosen]
    partners = {source.partner for source in map(Source, filter(is_main, paths)) if source.partner}
    return [Source(path) for path in chosen if path not in partners]


def has_mpi4py():
    """Whether scripts can run. Only the kind of the library counts, so nothing is started."""
    command = [PYTHON, "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('mpi4py') is None)"]
    return shutil.which(PYTHON) is not None and subprocess.run(command, capture_output=True).returncode == 0


def is_main(path):
    return "ranks: " in path.read_text().split("\n", 1)[0]


def main():
    parser = argparse.ArgumentParser(prog="run.sh", description="Runs the cases and compares what they print.")
    parser.add_argument("--only", action="append", choices=list(IMPLEMENTATIONS), help="run under this one (repeat)")
    parser.add_argument("--accept", action="store_true", help="write expected.txt, where all that ran agree")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a file (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="files at a time (one for each core)")
    parser.add_argument("themes", nargs="*", metavar="THEME", help="a folder of cases, or a file: collectives/scan.c")
    options = parser.parse_args()

    chosen = [IMPLEMENTATIONS[name] for name in options.only or ["openmpi", "mpich", "hpcast"]]
    for implementation in list(chosen):
        missing = implementation.missing()
        if missing and options.only:
            stop(f"{implementation.name} needs {missing}, which is not there")
        if missing:
            print(f"warning: {implementation.name} is left out: {missing} is not there", file=sys.stderr)
            chosen.remove(implementation)
    if not chosen:
        stop("there is no implementation to run")

    sections, exceptions = read_sections(), read_exceptions()
    sources = sources_of(options.themes)
    if any(source.language == "python" for source in sources) and not has_mpi4py():
        print(f"warning: scripts are left out: {PYTHON} has no mpi4py", file=sys.stderr)
        sources = [source for source in sources if source.language != "python"]
    totals = {implementation.name: [0, 0, 0] for implementation in chosen}
    results_by_file = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:

        def work(source):
            found = []
            for implementation in chosen:
                if source.language == "python" and implementation.built_by != "openmpi":
                    continue
                left_out = exceptions.get((implementation.name, source.name), [])
                expected = None if options.accept else sections.get(source.name, "")
                if source.aborts:
                    expected = None
                found.append((implementation, check(source, implementation, expected, left_out, options.timeout)))
            return source, found

        for source, found in pool.map(work, sources):
            for implementation, (cases, passed, differing, results, complaints) in found:
                for total, add in enumerate((cases, passed, differing)):
                    totals[implementation.name][total] += add
                results_by_file.setdefault(source.name, []).append({} if differing else results)
                for complaint in complaints:
                    print(complaint, flush=True)

    if options.accept:
        accept(sections, results_by_file, sources)
    print(f"{'implementation':<16}{'cases':>8}{'passed':>8}{'differing':>11}")
    for name, (cases, passed, differing) in totals.items():
        print(f"{name:<16}{cases:>8}{passed:>8}{differing:>11}")
    return 1 if any(differing for _, _, differing in totals.values()) else 0


def accept(sections, results_by_file, sources):
    """Takes over what was printed, where no case failed and no two implementations differ."""
    for source in sources:
        merged, agree = {}, True
        for results in sorted(results_by_file[source.name], key=len, reverse=True):
            agree &= results not in ({}, {"": ""})
            for case, text in results.items():
                agree &= merged.setdefault(case, text) == text
        if source.aborts:
            continue
        if not agree:
            print(f"not accepted: {source.name}")
        else:
            sections[source.name] = "\n".join(merged.values()) + "\n"
    known = {source.name for source in sources_of([])}
    EXPECTED.write_text("".join(f"== {name}\n{sections[name]}" for name in sorted(sections) if name in known))


if __name__ == "__main__":
    sys.exit(main())
