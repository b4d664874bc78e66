"""Ranked runs of the TOP500, forecast from what is published of the machines, beside what they reached.

Nothing is fitted to these runs: the machine files say where each figure comes from, and what is an assumption. Where
parameters of HPL are not published, they are what a practitioner would take, and the last table shows what they matter."""

from common import ROOT, Forecast, Table, percent, show

# Machine, Rmax in Tflop/s, how it was run.
RUNS = [
    (
        "stampede",
        5168.11,
        "--ranks-per-node 1 --n 3875000 --nb 1024 --grid 77x78 --rfact crout --bcast longM --depth 0 --swap binary-exchange",
    ),
    (
        "theta-like",
        5884.6,
        "--ranks-per-node 1 --n 8360352 --nb 336 --grid 32x101 --rfact left --bcast 2ringM --depth 0 --swap binary-exchange",
    ),
    ("pupmaya", 7484.0, "--n 4748928 --nb 384 --grid 59x72 --bcast 2ringM --depth 1 --swap binary-exchange"),
    ("frontera", 23516.0, "--n 9282848 --nb 384 --grid 88x91 --bcast 2ringM --depth 1 --swap binary-exchange"),
]
LARGEST = "--ranks-per-node 2 --n 20000000 --nb 384 --grid 100x100 --bcast 2ringM --depth 1 --swap binary-exchange"
VARIANTS = [
    "--nb 192 --grid 88x91",
    "--nb 256 --grid 88x91",
    "--nb 384 --grid 88x91",
    "--nb 384 --grid 77x104",
    "--nb 384 --grid 56x143",
]
CPU_SECONDS = 600
MEMORY = 500e6


def runs(_quick):
    table = Table(
        f"Ranked runs (bounds: {CPU_SECONDS // 60} minutes of CPU, {MEMORY / 1e6:.0f} MB)",
        "machine", "options", "forecast, Tflop/s", "uncertainty", "Rmax, Tflop/s", "difference", "CPU min", "MB",
    )
    for name, rmax, options in RUNS:
        run = Forecast(ROOT / "machines" / f"{name}.toml", *options.split())
        show_run(table, name, options, run, f"{rmax:,.0f}", show(percent(run.gflops / 1000, rmax)))
    run = Forecast(ROOT / "machines" / "frontera.toml", *LARGEST.split())
    show_run(table, "frontera", LARGEST, run, "-", "-", cpu_seconds=1800)
    return table


def sensitivity(_quick):
    table = Table(
        "Frontera with other panels and grids (five samples)",
        "machine", "options", "forecast, Tflop/s", "uncertainty", "Rmax, Tflop/s", "difference", "CPU min", "MB",
    )
    name, rmax, _ = RUNS[-1]
    for variant in VARIANTS:
        options = f"--n 9282848 {variant} --bcast 2ringM --depth 1 --swap binary-exchange --samples 5"
        run = Forecast(ROOT / "machines" / f"{name}.toml", *options.split())
        show_run(table, name, options, run, f"{rmax:,.0f}", show(percent(run.gflops / 1000, rmax)))
    return table


def show_run(table, name, options, run, rmax, difference, cpu_seconds=CPU_SECONDS):
    cells = (name, f"`{options}`", f"{run.gflops / 1000:,.0f}", f"{100 * run.uncertainty / run.seconds:.2f} %")
    costs = f"{run.cpu_seconds / 60:.1f}", f"{run.memory / 1e6:.0f}"
    table.row(*cells, rmax, difference, *costs, holds=run.cpu_seconds < cpu_seconds and run.memory < MEMORY)
