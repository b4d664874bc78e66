"""What all parts share: running hpcast, reading published tables, and a table of figures with bounds."""

import csv
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("HPCAST_DATA", ROOT.parent / "shared" / "data"))
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
HPCAST = TARGET / "release" / "hpcast"
WORK = TARGET / "validation"


def hpcast(*arguments):
    """Runs the program; what it prints is not needed, what goes wrong is shown."""
    done = subprocess.run([HPCAST, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"hpcast {' '.join(map(str, arguments))}\n{done.stderr}")


def machine(platform, *options):
    """A machine file made of a published SimGrid platform, read as SimGrid did when it was used."""
    file = WORK / f"{platform}.toml"
    if not file.exists():
        source = DATA / "network" / "platforms" / f"{platform}.xml"
        hpcast("machine", "import", source, "--simgrid", "2018", *options, "-o", file)
    return file


def models(name, table, set_name, *options):
    """A model file made of published tables."""
    file = WORK / f"{name}.toml"
    if not file.exists():
        kernels = DATA / "kernels" / "hpl_kernel_models_dahu.csv"
        hpcast("model", "import", DATA / "dgemm" / table, "--set", set_name, "--kernels", kernels, *options, "-o", file)
    return file


def with_network(file, name):
    """The same model file with a published model of messages."""
    noisy = file.with_stem(f"{file.stem}-network")
    if not noisy.exists():
        hpcast("model", "import-network", DATA / "network" / name, "--add-to", file, "-o", noisy)
    return noisy


class Forecast:
    """HPL, simulated with these options."""

    def __init__(self, machine_file, *options):
        out = WORK / "run.json"
        hpcast("hpl", "-m", machine_file, *options, "--json", out)
        found = json.loads(out.read_text())
        rows = found["table"]
        self.seconds = mean(row["seconds"] for row in rows)
        self.uncertainty = max(row["uncertainty_seconds"] for row in rows)
        self.gflops = mean(row["gflops"] for row in rows)
        self.cpu_seconds = found["cpu_seconds"]
        self.memory = found["peak_memory_bytes"]
        shortcuts = {"without contention": "joint", "interpolated": "sampled"}
        assumed = " ".join(found["assumptions"])
        self.mode = ", ".join(word for sign, word in shortcuts.items() if sign in assumed) or "exact"


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def published(name, **conditions):
    """Rows of a table of the folder hpl whose columns have these values."""
    with open(DATA / "hpl" / name, newline="") as file:
        return [row for row in csv.DictReader(file) if all(row[key] == value for key, value in conditions.items())]


class Table:
    """Rows that are printed as they come, and the bounds that were broken."""

    def __init__(self, title, *columns):
        self.title, self.columns, self.broken, self.lines = title, columns, 0, []
        self.line(f"\n## {title}\n")
        self.line("| " + " | ".join(columns) + " |")
        self.line("|" + "---|" * len(columns))

    def line(self, text):
        self.lines.append(text)
        print(text, flush=True)

    def row(self, *cells, holds=True):
        """A line of the table; one that breaks its bound is marked."""
        self.broken += not holds
        self.line("| " + " | ".join(map(str, cells)) + (" |" if holds else " **out of bounds** |"))

    def note(self, text, holds=True):
        """A sentence below the table."""
        self.broken += not holds
        self.line(f"\n{text}" + ("" if holds else " **Out of bounds.**"))


def percent(ours, theirs):
    return 100 * (ours / theirs - 1)


def show(value):
    return f"{value:+.2f} %"
