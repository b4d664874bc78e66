"""The same micro-benchmarks in SMPI and in hpcast, on the same platform files, side by side. Called by run.sh."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# SMPI's fastest settings: no real computation is timed, no copies of globals, small stacks without guard pages.
SMPI = [
    "smpi/simulate-computation:no",
    "smpi/host-speed:1f",
    "smpi/privatization:no",
    "contexts/stack-size:64",
    "contexts/guard-size:0",
]

# The protocol of dahu (32 nodes, Omni-Path), as calibrated in T. Cornebize's thesis.
PROTOCOL = """
  <config id="General">
    <prop id="smpi/os" value="0:2.965491847282898e-07:9.63619592297199e-11;8133:4.117386759387727e-06:9.998650637323814e-11;15831:3.901910334928982e-06:1.1003492469181915e-10;33956:8.556208528368661e-06:1.2636592924112397e-10;64000:0:0"/>
    <prop id="smpi/or" value="0:1.3754300044375236e-06:8.456019002037162e-11;8133:1.0616877366305338e-06:1.0399801951417905e-10;15831:1.1989168715510673e-06:9.880880432093221e-11;33956:1.3028804423006338e-06:1.0742263180618875e-10;64000:0:0"/>
    <prop id="smpi/ois" value="0:6.931229521083401e-07:7.051204536228214e-11;8133:3.601990790153244e-07:1.2449128895712037e-10;15831:2.97701688103096e-06:4.1302612649640425e-11;33956:3.133466154066955e-06:3.293458765281899e-11;64000:6.939993663604069e-07:0"/>
    <prop id="smpi/bw-factor" value="0:0.4955575510466301;8133:5.649491428460505;15831:5.716405752533658;33956:12.659099698925065;64000:0.9867951082730274"/>
    <prop id="smpi/lat-factor" value="0:1.2162964660682605;8133:19.230103984475342;15831:18.285606440676755;33956:51.6103738900493;64000:129.24904864615127"/>
    <prop id="smpi/async-small-thresh" value="64000"/>
    <prop id="smpi/send-is-detached-thresh" value="64000"/>
  </config>"""


# No overheads: all messages of an all-to-all start at once.
PLAIN = """
  <config id="General">
    <prop id="smpi/bw-factor" value="0:0.95"/>
    <prop id="smpi/lat-factor" value="0:1"/>
    <prop id="smpi/async-small-thresh" value="64000"/>
    <prop id="smpi/send-is-detached-thresh" value="64000"/>
  </config>"""


def platform(hosts, protocol, attributes):
    return f"""<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">{protocol}
  <cluster id="machine" prefix="node-" suffix="" radical="0-{hosts - 1}" speed="1Gf" bw="12.5GBps" lat="0.05us"
           {attributes}/>
</platform>
"""


# One rank a host, everywhere. Name: (hosts, protocol, attributes of the cluster).
PLATFORMS = {
    "cluster-2": (2, PROTOCOL, ""),
    "cluster-512": (512, PLAIN, ""),
    "cluster-1024": (1024, PROTOCOL, ""),
    "cluster-65536": (65536, PROTOCOL, ""),
    "fat-tree-256": (256, PROTOCOL, 'topology="FAT_TREE" topo_parameters="2;16,16;1,8;1,1"'),
    "fat-tree-512": (512, PROTOCOL, 'topology="FAT_TREE" topo_parameters="2;16,32;1,16;1,1"'),
}

# title, program, platform, bytes, count, algorithms of SMPI, algorithms of hpcast, how often SMPI is run; hpcast's rate
# is taken over so many times more iterations, where it would be done too soon to be timed
CASES = [
    ("ping-pong, 2 ranks, 1 kB", "pingpong", "cluster-2", 1000, 100_000, [], [], 3, 20),
    ("ping-pong, 1,024 ranks, 1 kB", "pingpong", "cluster-1024", 1000, 200, [], [], 3, 20),
    ("ping-pong, 65,536 ranks, 1 kB", "pingpong", "cluster-65536", 1000, 4, [], [], 1, 10),
    ("allreduce, 1,024 ranks, 8 B", "allreduce", "cluster-1024", 8, 10,
     ["allreduce:rdb", "barrier:ompi_recursivedoubling"],
     ["allreduce=recursive-doubling", "barrier=recursive-doubling"], 3, 20),
    ("allreduce, 1,024 ranks, 1 MiB", "allreduce", "cluster-1024", 1 << 20, 4,
     ["allreduce:rdb", "barrier:ompi_recursivedoubling"],
     ["allreduce=recursive-doubling", "barrier=recursive-doubling"], 2, 10),
    ("alltoall pairwise, 256 ranks, 10 kB", "alltoall", "fat-tree-256", 10_000, 4,
     ["alltoall:pair", "barrier:ompi_recursivedoubling"],
     ["alltoall=mpich-pairwise", "barrier=recursive-doubling"], 2, 1),
    ("alltoall at once, 512 ranks, 100 kB", "alltoall", "cluster-512", 100_000, 1,
     ["alltoall:basic_linear"], ["alltoall=linear"], 1, 1),
    ("random traffic, 512 ranks x 4, 100 kB", "random-traffic", "fat-tree-512", 100_000, 20, [], [], 1, 10),
]

SEED = 1


def measured(command, folder):
    """Output, CPU seconds (user and system, children included) and peak memory in bytes of a command."""
    output = folder / "output"
    with open(output, "w") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    text = output.read_text()
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed: {text[-3000:]}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Smpi:
    name = "SMPI"

    def __init__(self, folder):
        self.folder = folder
        self.program = folder / "bench"
        subprocess.run(["smpicc", "-O2", "-o", self.program, HERE / "bench.c"], check=True)

    def run(self, case, ranks, count):
        _, program, machine, size, _, algorithms, *_ = case
        hostfile = self.folder / f"{machine}.hosts"
        command = ["smpirun", "-quiet", "-np", str(ranks), "-platform", f"{machine}.xml", "-hostfile", hostfile]
        command += [f"--cfg={setting}" for setting in SMPI + [f"smpi/{algorithm}" for algorithm in algorithms]]
        command += ["--log=root.thresh:error", self.program, program, str(size), str(count), str(SEED)]
        text, cpu, memory = measured(command, self.folder)
        found = re.search(r"simulated_seconds (\S+) messages (\d+)", text)
        if not found:
            sys.exit(f"no result in the output of SMPI: {text[-3000:]}")
        return {"simulated": float(found[1]), "messages": int(found[2]), "cpu": cpu, "memory": memory}


class Hpcast:
    name = "hpcast"

    def __init__(self, folder, binary):
        self.folder = folder
        self.binary = binary
        for machine in PLATFORMS:
            command = [binary, "machine", "import", f"{machine}.xml", "-o", f"{machine}.toml"]
            measured(command, folder)

    def run(self, case, ranks, count):
        _, program, machine, size, _, _, algorithms, *_ = case
        result = self.folder / "result.json"
        command = [self.binary, "run", program, "-n", str(ranks), "-m", f"{machine}.toml", "--network", "flow",
                   "--size", f"{size}B", "--count", str(count), "--seed", str(SEED), "--json", result]
        for algorithm in algorithms:
            command += ["--coll", algorithm]
        _, cpu, _ = measured(command, self.folder)
        report = json.loads(result.read_text())
        # The kernel's figure would include the memory of this script, from which the command was started.
        return {"simulated": report["simulated_seconds"], "messages": report["messages"], "cpu": cpu,
                "memory": report["peak_memory_bytes"]}


def measure(tool, case):
    """The cheapest of several runs, without what start and end cost; memory beyond that of a run with two ranks.

    SMPI's start is a run without iterations; hpcast refuses those, so that it is one with a single iteration, whose
    messages are subtracted too. Where the case itself has a single iteration, hpcast's start counts against it."""
    ranks, count = PLATFORMS[case[2]][0], case[4]
    least, more, repetitions = (0, 1, case[7]) if tool.name == "SMPI" else (1, case[8], 3)
    result = tool.run(case, ranks, count)
    runs = [tool.run(case, ranks, count * more) for _ in range(repetitions)] if (more, repetitions) != (1, 1) else [result]
    best = min(runs, key=lambda run: run["cpu"])
    messages, cpu = best["messages"], best["cpu"]
    if count * more > least:
        starts = [tool.run(case, ranks, least) for _ in range(repetitions)]
        start = min(starts, key=lambda run: run["cpu"])
        messages, cpu = messages - start["messages"], max(cpu - start["cpu"], 1e-3)
    result["rate"] = messages / cpu
    result["bytes"] = None
    if ranks > 2:
        result["bytes"] = max(best["memory"] - tool.run(case, 2, 1)["memory"], 0) / ranks
    return result


def line(cells):
    widths = (38, 10, 12, 12, 8, 10, 10, 14, 14, 10)
    print("  ".join(f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}" for i, (cell, width) in enumerate(zip(cells, widths))), flush=True)


def show(case, smpi, ours):
    per_rank = lambda result: "-" if not result or result["bytes"] is None else f"{result['bytes']:,.0f}"
    rate = lambda result: "-" if not result else f"{result['rate']:,.0f}"
    time = lambda result: "-" if not result else f"{result['simulated']:.6e}"
    ratio = difference = "-"
    known = smpi or ours
    if smpi and ours:
        ratio = f"{ours['rate'] / smpi['rate']:.1f}"
        difference = f"{100 * (ours['simulated'] / smpi['simulated'] - 1):+.4f} %"
    line([case[0], f"{known['messages']:,}", rate(smpi), rate(ours), ratio, per_rank(smpi), per_rank(ours), time(smpi),
          time(ours), difference])
    if smpi and ours and smpi["messages"] != ours["messages"]:
        print(f"    the numbers of messages differ: {smpi['messages']:,} and {ours['messages']:,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hpcast", help="the binary; without it only SMPI is measured")
    parser.add_argument("--only", default="", help="run the cases whose titles contain this")
    parser.add_argument("--no-smpi", action="store_true", help="run hpcast only")
    parser.add_argument("--json", type=pathlib.Path, help="also write the results to this file")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, (hosts, protocol, attributes) in PLATFORMS.items():
            (folder / f"{name}.xml").write_text(platform(hosts, protocol, attributes))
            (folder / f"{name}.hosts").write_text("".join(f"node-{host}\n" for host in range(hosts)))
        smpi = None if options.no_smpi else Smpi(folder)
        ours = Hpcast(folder, options.hpcast) if options.hpcast else None
        line(["", "messages", "messages per CPU second", "", "", "bytes/rank", "", "simulated s", "", ""])
        line(["", "", "SMPI", "hpcast", "ratio", "SMPI", "hpcast", "SMPI", "hpcast", "difference"])
        for case in CASES:
            if options.only not in case[0]:
                continue
            theirs = measure(smpi, case) if smpi else None
            mine = measure(ours, case) if ours else None
            show(case, theirs, mine)
            results.append({"case": case[0], "smpi": theirs, "hpcast": mine})
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
