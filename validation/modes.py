"""The default mode against the simulation of every message (--exact): configurations unlike each other, of which the last
two are sampled."""

from common import ROOT, Forecast, Table, percent, show

# Machine, and what is run. With look-ahead the time of a run is partly chance: means of several seeds are compared, but for
# the last two, which are long.
CONFIGURATIONS = [
    ("dahu", "--grid 32x32 --n 100000 --nb 128 --bcast 2ring --depth 1 --swap mix"),
    ("dahu-optimistic", "--grid 16x16 --n 120000 --nb 192 --bcast 1ringM --depth 0 --swap long"),
    ("msc-512", "--grid 16x32 --n 50000 --nb 128 --bcast 2ring --depth 1 --swap binary-exchange"),
    ("frontera", "--ranks-per-node 1 --grid 8x16 --n 200000 --nb 384 --bcast 1ring --depth 1 --swap mix"),
    ("theta-like", "--ranks-per-node 1 --grid 10x12 --n 200000 --nb 336 --bcast 2ringM --depth 1 --swap mix"),
    ("stampede", "--ranks-per-node 1 --grid 8x8 --n 150000 --nb 192 --bcast long --depth 0 --swap long"),
    ("frontera", "--ranks-per-node 1 --grid 16x16 --n 1600000 --nb 96 --bcast 2ringM --depth 1 --swap binary-exchange"),
    ("theta-like", "--ranks-per-node 1 --grid 16x32 --n 2000000 --nb 192 --bcast 1ringM --depth 1 --swap long"),
]
BOUND = 1


def compare(quick):
    table = Table(
        f"Default mode against --exact (bound: {BOUND} %, and the uncertainty covers the difference)",
        "machine", "options", "seeds", "exact, s", "default, s", "difference", "uncertainty", "mode", "CPU s, exact", "default",
    )
    for name, options in CONFIGURATIONS[2:6:3] if quick else CONFIGURATIONS:
        machine = ROOT / "machines" / f"{name}.toml"
        seeds = 1 if (name, options) in CONFIGURATIONS[-2:] else 4
        exact = Forecast(machine, *options.split(), "--repeat", seeds, "--exact")
        default = Forecast(machine, *options.split(), "--repeat", seeds)
        off = percent(default.seconds, exact.seconds)
        uncertainty = 100 * default.uncertainty / default.seconds
        cells = (name, f"`{options}`", seeds, f"{exact.seconds:.2f}", f"{default.seconds:.2f}", show(off))
        times = f"{exact.cpu_seconds:.0f}", f"{default.cpu_seconds:.0f}"
        table.row(*cells, f"{uncertainty:.2f} %", default.mode, *times, holds=abs(off) <= min(BOUND, uncertainty))
    return table
