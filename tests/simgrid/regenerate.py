"""Runs every case under SimGrid and writes golden.json. Called by regenerate.sh; see README.md."""

import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent

# Computation is not simulated: only the model counts. The clock is finer than SimGrid's default (1 ns), so that what
# two simulators differ in is not rounding. Rates are always shared anew in full: SimGrid's default, which updates only
# what it believes has changed (network/optim:Lazy), misses changes in torus-permutation and lets a flow keep a whole
# link that it should share.
SETTINGS = [
    "smpi/simulate-computation:no",
    "smpi/host-speed:1f",
    "smpi/privatization:no",
    "surf/precision:1e-12",
    "contexts/stack-size:512",
    "network/optim:Full",
    "network/maxmin-selective-update:no",
]

BLOCKS = {"gather", "scatter", "allgather", "alltoall", "reduce_scatter_block"}


def read_case(path):
    """The header of a case, and the bytes that its largest buffer needs."""
    case = {"platform": None, "ranks": 0, "place": [], "collectives": {}}
    largest = 0
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if ":" in line:
            statement = line.split(":", 1)[1].split()
            numbers = [int(word) for word in statement if word.isdigit()]
            largest = max([largest] + [n * (case["ranks"] if BLOCKS & set(statement) else 1) for n in numbers])
        elif line:
            key, *words = line.split()
            if key == "platform":
                case["platform"] = words[0]
            elif key == "ranks":
                case["ranks"] = int(words[0])
            elif key == "place":
                case["place"] = words
            elif key == "collective":
                case["collectives"][words[0]] = words[1]
            else:
                sys.exit(f"{path}: unknown header '{key}'")
    place, ranks = case["place"], case["ranks"]
    if not place:
        case["place"] = list(range(ranks))
    elif place[0] == "block":
        case["place"] = [rank // int(place[1]) for rank in range(ranks)]
    else:
        case["place"] = [int(node) for node in place]
    if len(case["place"]) != ranks:
        sys.exit(f"{path}: {ranks} ranks, but {len(case['place'])} of them are placed")
    return case, largest


def hosts(platform):
    """The names of a platform's hosts, in the order of the file."""
    names = []
    for element in ElementTree.parse(platform).iter():
        if element.tag == "host":
            names.append(element.get("id"))
        elif element.tag == "cluster":
            for part in element.get("radical").split(","):
                first, _, last = part.partition("-")
                for number in range(int(first), int(last or first) + 1):
                    names.append(f"{element.get('prefix')}{number}{element.get('suffix')}")
    return names


def run(path, interpreter, scratch):
    case, largest = read_case(path)
    platform = HERE / "platforms" / case["platform"]
    names = hosts(platform)
    hostfile = scratch / "hostfile"
    hostfile.write_text("".join(names[node] + "\n" for node in case["place"]))
    settings = SETTINGS + [f"smpi/{name}:{algorithm}" for name, algorithm in case["collectives"].items()]
    command = ["smpirun", "-quiet", "-np", str(case["ranks"]), "-platform", str(platform), "-hostfile", str(hostfile)]
    command += [f"--cfg={setting}" for setting in settings]
    command += ["--log=root.thresh:error", interpreter, str(path), str(largest)]
    result = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{path}: {' '.join(command)}\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    finish = re.findall(r"^finish (\d+) (\S+)$", result.stdout, re.M)
    marks = re.findall(r"^mark (\d+) (\S+) (\S+)$", result.stdout, re.M)
    if len(finish) != case["ranks"]:
        sys.exit(f"{path}: {len(finish)} of {case['ranks']} ranks finished\n{result.stderr[-2000:]}")
    golden = {
        "case": path.stem,
        "platform": case["platform"],
        "ranks": case["ranks"],
        "seconds": max((seconds for _, seconds in finish), key=float),
    }
    if case["ranks"] <= 32:
        golden["finish"] = [seconds for _, seconds in sorted(finish, key=lambda item: int(item[0]))]
    if marks:
        marks.sort(key=lambda item: (int(item[0]), float(item[2])))
        golden["marks"] = [{"rank": int(rank), "label": label, "seconds": at} for rank, label, at in marks]
    return golden


def main():
    interpreter, scratch, version, only = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
    cases = sorted((HERE / "cases").glob("*.case"))
    if only:
        for path in cases:
            if any(name in path.stem for name in only):
                print(json.dumps(run(path, interpreter, scratch), indent=1))
        return
    golden = []
    for path in cases:
        golden.append(run(path, interpreter, scratch))
        print(f"{golden[-1]['seconds']} s  {path.stem}", flush=True)
    content = {"simulator": version, "settings": SETTINGS, "cases": golden}
    text = json.dumps(content, indent=1)
    # Times stay strings of 13 digits in Python, so that none is rounded; in the file they are numbers.
    text = re.sub(r'"(-?\d\.\d{12}e[+-]\d+)"', r"\1", text)
    text = re.sub(r"\[\s+(-?\d[^\]\[{}]*?)\s+\]", lambda list: "[" + re.sub(r"\s+", " ", list[1]) + "]", text)
    text = re.sub(r'\{\s+("rank"[^}]*?)\s+\}', lambda mark: "{" + re.sub(r"\s+", " ", mark[1]) + "}", text)
    (HERE / "golden.json").write_text(text + "\n")
    print(f"{len(golden)} cases written to golden.json")


main()
