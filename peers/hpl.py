"""The real HPL in SMPI, and in hpcast (`hpcast hpl --exact --real`) both the real HPL and the skeleton, side by side. Called by
hpl.sh, which builds the first.

Without options: two cases of T. Cornebize's theses. With --platform: HPL with these options on that platform, one host a rank
(or --ranks-per-node of them), in the order of the hosts' numbers. The pivots that SMPI draws are also hpcast's."""

import argparse
import json
import pathlib
import re
import sys
import tempfile
import threading
import tomllib

from peers import SMPI, measured

# The parameters of HPL by hpcast's names, in the order of fidelity/cases.txt; what a case does not say is as in a fresh HPL.dat.
PARAMETERS = {
    "n": None, "nb": 128, "grid": None, "pmap": "row", "depth": 1, "pfact": "right", "rfact": "crout", "nbmin": 4, "ndiv": 2,
    "bcast": "1ringM", "swap": "mix", "threshold": 64, "l1": "transposed", "u": "transposed", "equilibration": "yes",
}

# machines/msc-512.toml as a platform of SimGrid.
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machine" prefix="node-" suffix="" radical="0-511" speed="1Gf" bw="10Gbps" lat="24us"
           topology="FAT_TREE" topo_parameters="2;16,32;1,16;1,1"/>
</platform>
"""

# Cores of 1 Gflop/s; what is not a matrix product or a triangular solve takes no time.
MODELS = """name = "1 Gflop/s"
unlisted = "free"
[kernel.dgemm]
terms = ["M*N*K"]
seconds = [2e-9]
[kernel.dtrsm]
terms = ["M*N*S"]
seconds = [1e-9]
"""

CASES = [
    ("64 ranks, N = 20,000", {"n": 20_000, "grid": "8x8"}),
    ("512 ranks, N = 50,000", {"n": 50_000, "grid": "16x32"}),
]


def flat(models):
    """A model file as the kernels in C read it: kernels.h says how."""
    text = ""
    for name, kernel in models["kernel"].items():
        terms = kernel["terms"]
        if not terms:
            continue
        rows = [kernel | {"node": None}] + kernel.get("processors", [])
        if any(row.get("socket", 0) for row in rows):
            sys.exit("error: models that differ from socket to socket can not be run in SMPI")
        text += f"{name} {len(terms)} {len(rows)}\n"
        for term in terms:
            factors = [1 + "MNKS".index(letter) for letter in term.split("*") if letter != "1"]
            text += " ".join(map(str, (factors + [0, 0, 0])[:3])) + "\n"
        for row in rows:
            node = -1 if row["node"] is None else row["node"] - models.get("first-node", 0)
            numbers = row["seconds"] + (row.get("deviation") or [0] * len(terms))
            text += f"{node} " + " ".join(map(str, numbers)) + "\n"
    return text


def hosts(platform):
    """The hosts of a platform's clusters and those that stand alone, in the order of their numbers."""
    names = re.findall(r'<host\s[^>]*?id="([^"]+)"', platform)
    for cluster in re.findall(r"<cluster\s[^>]*>", platform):
        prefix, suffix, radical = (re.search(rf'{key}="([^"]*)"', cluster)[1] for key in ("prefix", "suffix", "radical"))
        for part in radical.split(","):
            first, _, last = part.partition("-")
            names += [f"{prefix}{number}{suffix}" for number in range(int(first), int(last or first) + 1)]
    return names


class Memory:
    """The most memory that a child of this process holds, while it runs; a page that several addresses share counts once."""

    def __enter__(self):
        self.peak, self.over = 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def watch(self):
        while not self.over.wait(0.1):
            try:
                for children in pathlib.Path("/proc/self/task").glob("*/children"):
                    for number in children.read_text().split():
                        rollup = pathlib.Path(f"/proc/{number}/smaps_rollup").read_text()
                        self.peak = max(self.peak, 1024 * int(re.search(r"^Pss: +(\d+)", rollup, re.M)[1]))
            except (OSError, TypeError):
                pass  # it has just ended


class Case:
    def __init__(self, options, folder, title, parameters):
        self.options, self.folder, self.title = options, folder, title
        self.parameters = PARAMETERS | parameters
        self.rows, self.columns = self.parameters["grid"].split("x")
        self.ranks = int(self.rows) * int(self.columns)

    def smpi(self):
        options = self.options
        hostfile = self.folder / "hosts"
        names = [name for name in hosts((self.folder / "platform.xml").read_text()) for _ in range(options.ranks_per_node)]
        if len(names) < self.ranks:
            sys.exit(f"error: {self.ranks} ranks on {len(names)} places")
        hostfile.write_text("".join(f"{name}\n" for name in names))
        words = dict(self.parameters)
        words["grid"] = f"{self.rows} {self.columns}"
        words["swap"] = words["swap"].removesuffix("-exchange")
        command = ["smpirun", "-quiet", "-np", str(self.ranks), "-platform", "platform.xml", "-hostfile", hostfile]
        if not options.real_clocks:
            command += ["-wrapper", f"env LD_PRELOAD={options.smpi / 'clock.so'}"]
        command += [f"--cfg={setting}" for setting in SMPI + ["smpi/wtime:0", *options.cfg]]
        command += ["--log=root.thresh:error", options.smpi / "hpl-smpi", "models.txt", str(options.ranks_per_node)]
        command += ["equal" if options.equal_pivots else "any", str(options.seed), "pivots.txt"]
        command += " ".join(map(str, words.values())).split()
        text, cpu, _ = measured(command, self.folder)
        found = re.search(r"simulated_seconds (\S+) messages (\d+) memory (\d+)", text)
        if not found:
            sys.exit(f"no result in the output of SMPI: {text[-3000:]}")
        return {"simulated": float(found[1]), "messages": int(found[2]), "memory": int(found[3]), "cpu": cpu}

    def command(self):
        options = self.options
        command = [options.hpcast, "hpl", "-m", "machine.toml", "--models", "models.toml", "--exact", "--copy-panels"]
        command += ["--ranks-per-node", str(options.ranks_per_node), "--seed", str(options.seed), "--json", "result.json"]
        command += ["--pivots", "pivots.txt"]
        for name, value in self.parameters.items():
            if name != "equilibration":
                command += [f"--{name}", str(value)]
            elif value == "no":
                command.append("--no-equilibration")
        return command

    def skeleton(self):
        _, cpu, _ = measured(self.command(), self.folder)
        report = json.loads((self.folder / "result.json").read_text())
        return {"simulated": report["table"][0]["seconds"], "messages": report["messages"],
                "memory": report["peak_memory_bytes"], "cpu": cpu}

    def real(self):
        """The real HPL in hpcast; the memory is that of both, which run one after the other."""
        with Memory() as memory:
            measured(self.command() + ["--real", "--hpl-source", self.options.hpl_source], self.folder)
        run = json.loads((self.folder / "result.json").read_text())["real"][0]
        return {"simulated": run["real_seconds"], "messages": run["real_messages"], "memory": memory.peak,
                "cpu": run["cpu_seconds"]}


def line(cells):
    widths = (34, 11, 9, 6, 14, 11, 9)
    print("  ".join(f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}" for i, (cell, width) in enumerate(zip(cells, widths))), flush=True)


def show(what, run, smpi):
    ratio, difference = smpi["cpu"] / run["cpu"], run["simulated"] / smpi["simulated"] - 1
    against = ["", ""] if run is smpi else [f"{ratio:.1f}", f"{100 * difference:+.4f} %"]
    line([f"  {what}", f"{run['messages']:,}", f"{run['cpu']:.2f}", against[0], f"{run['simulated']:.6f}", against[1],
          f"{run['memory'] / 2**20:,.0f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hpcast", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--smpi", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--hpl-source", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--platform", type=pathlib.Path, help="platform of SimGrid (XML)")
    parser.add_argument("--models", type=pathlib.Path, help="hpcast's model file (default: 1 Gflop/s)")
    parser.add_argument("--ranks-per-node", type=int, default=1)
    parser.add_argument("--equal-pivots", action="store_true", help="pivots as in a matrix of zeros, as they were in the theses")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cfg", action="append", default=[], metavar="NAME:VALUE", help="another setting of SMPI")
    parser.add_argument("--real-clocks", action="store_true", help="SMPI reads the CPU's clock, as it does by itself")
    parser.add_argument("--only", default="", help="run the cases whose titles contain this")
    parser.add_argument("--json", type=pathlib.Path, help="also write the results to this file")
    for name, usual in PARAMETERS.items():
        parser.add_argument(f"--{name}", default=usual, help=f"as hpcast's (default: {usual})" if usual else "as hpcast's")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "platform.xml").write_text(options.platform.read_text() if options.platform else PLATFORM)
        (folder / "models.toml").write_text(options.models.read_text() if options.models else MODELS)
        (folder / "models.txt").write_text(flat(tomllib.loads((folder / "models.toml").read_text())))
        measured([options.hpcast, "machine", "import", "platform.xml", "-o", "machine.toml"], folder)
        cases = [case for case in CASES if options.only in case[0]]
        if options.n and options.grid:
            own = {name: getattr(options, name) for name in PARAMETERS}
            cases = [(f"{options.grid} ranks, N = {int(options.n):,}", own)]
        elif options.n or options.grid or options.platform:
            parser.error("--n and --grid are needed")
        # What is built for the first run is not measured.
        measured([options.hpcast, "hpl", "-m", "machine.toml", "--models", "models.toml", "--copy-panels", "--n", "10", "--grid", "1x1",
                  "--real", "--hpl-source", options.hpl_source], folder)
        line(["", "messages", "CPU s", "ratio", "simulated s", "difference", "MiB"])
        for title, parameters in cases:
            case = Case(options, folder, title, parameters)
            print(title, flush=True)
            smpi = case.smpi()
            show("real HPL in SMPI", smpi, smpi)
            real = case.real()
            show("real HPL in hpcast, with set-up", real, smpi)
            skeleton = case.skeleton()
            show("hpcast's skeleton", skeleton, smpi)
            results.append({"case": title, "smpi": smpi, "real": real, "hpcast": skeleton})
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


main()
