#!/usr/bin/env python3
"""Piecewise regression by pycewise (the published program) and by hpcast-stats, side by side, one process each.

Needs `pip install pycewise numpy` and `cargo build --release -p hpcast-stats --example piecewise`. Reads piecewise/datasets.csv
of the folder HPCAST_DATA (otherwise ../shared/data beside the repository); arguments name some of its data sets. Prints for
each data set and objective how long both take, the objective value and the criterion (BIC, thesis 5.3.3) of both, worked out
here from the lines that each of them gives, and the breakpoints.
"""

import csv
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("HPCAST_DATA", ROOT.parent / "shared" / "data"))
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FITTER = TARGET / "release" / "examples" / "piecewise"

# Our name of an objective, pycewise's, and the error of a point.
OBJECTIVES = [
    ("ordinary", "BIC", lambda x, y, f: y - f),
    ("weighted", "weighted", lambda x, y, f: (y - f) / x),
    ("logarithmic", "log", lambda x, y, f: math.log(y / f) if f > 0 else math.inf),
]


def datasets(names):
    """Points by data set."""
    found = {}
    with open(DATA / "piecewise" / "datasets.csv", newline="") as file:
        for row in csv.DictReader(file):
            if not names or row["dataset"] in names:
                found.setdefault(row["dataset"], []).append((float(row["x"]), float(row["y"])))
    return found


def theirs(points, mode):
    """Lines (last x, intercept, slope) by pycewise, and the seconds they took."""
    from pycewise import compute_regression

    start = time.perf_counter()
    found = compute_regression(points, mode=mode).auto_simplify()
    seconds = time.perf_counter() - start
    return [(span[1], line.intercept, line.coeff) for span, line in found.flatify().segments], seconds


def ours(points, objective):
    """The same by hpcast-stats; repeated, since a single fit is too short to time."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("".join(f"{x!r},{y!r}\n" for x, y in points))
        file.flush()
        repeats = "1" if len(points) > 5000 else "50"
        done = subprocess.run([FITTER, file.name, objective, "both", repeats], capture_output=True, text=True, check=True)
    *segments, summary = [list(map(float, line.split(","))) for line in done.stdout.splitlines()]
    lines = [(last, intercept, slope) for _, last, intercept, slope, _, _ in segments]
    return lines, summary[2]


def judged(points, lines, error):
    """Objective value, and the criterion."""
    total = 0.0
    for x, y in points:
        intercept, slope = next(line[1:] for line in lines if x <= line[0] or line is lines[-1])
        total += error(x, y, intercept + slope * x) ** 2
    count = len(points)
    return total, (4 * len(lines) - 1) * math.log(count) + count * math.log(max(total, 1e-300) / count)


def main():
    print("| data set | objective | seconds: theirs | ours | ratio | objective: theirs | ours | BIC: theirs | ours | breakpoints |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, points in datasets(sys.argv[1:]).items():
        for objective, mode, error in OBJECTIVES:
            (old, slow), (new, quick) = theirs(points, mode), ours(points, objective)
            (old_value, old_bic), (new_value, new_bic) = judged(points, old, error), judged(points, new, error)
            places = ["[" + ", ".join(f"{line[0]:.6g}" for line in lines[:-1]) + "]" for lines in (old, new)]
            print(
                f"| {name} | {objective} | {slow:.4f} | {quick:.6f} | {slow / quick:.0f} | {old_value:.4e} | {new_value:.4e} "
                f"| {old_bic:.1f} | {new_bic:.1f} | {places[0]} / {places[1]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
