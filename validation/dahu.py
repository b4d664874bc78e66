"""The 32 nodes of dahu: published simulations (thesis, figure 6.2), and measured runs."""

from common import Forecast, Table, machine, mean, models, percent, published, show, with_network

PLATFORM = "dahu_optimistic_radical0-31"
OPTIONS = (
    "--ranks-per-node 32 --grid 32x32 --nb 128 --pmap row --depth 1 --bcast 2ring --pfact crout --rfact right "
    "--nbmin 2 --ndiv 2 --swap binary-exchange --threshold 128 --copy-panels"
).split()
# Lines of the figure: set of dgemm models, whether kernels vary, and whether messages do.
LINES = {
    "a": ("dahu_2019-03_hom_linear", False, False),
    "b": ("dahu_2019-03_hom_linear", False, True),
    "c": ("dahu_2019-04_het_linear", False, False),
    "d": ("dahu_2019-04_het_poly", False, False),
    "e": ("dahu_2019-04_het_poly", True, False),
    "f": ("dahu_2019-04_het_poly", True, True),
}
QUICK = [100_000, 300_000]
MATRIX_SIZES = "dahu_matrix_size_2019-03"


def simulate(line, n, first_node, *more):
    set_name, noise, noisy_network = LINES[line]
    options = ["--first-node", first_node] + ([] if noise else ["--no-noise"])
    file = models(f"dahu-{line}-{first_node}", "dgemm_models_per_cpu.csv", set_name, *options)
    if noisy_network:
        file = with_network(file, "stochastic_network_model.json")
    return Forecast(machine(PLATFORM, "--sockets", 2), "--models", file, *OPTIONS, "--n", n, *more)


def figure_6_2(quick):
    """Our time and the published one, at every N of all lines."""
    table = Table(
        "Published simulations: dahu, thesis figure 6.2 (bound: 2 %)",
        "line", "N", "published, s", "ours, s", "difference", "mode", "seeds",
    )
    for line in LINES:
        theirs = {int(row["N"]): float(row["time_s"]) for row in
                  published("simulated_by_author.csv", thesis_figure=f"6.2 line {line}")}
        for n, time in sorted(theirs.items()):
            if quick and (n not in QUICK or line in "cdf"):
                continue
            # Pivots are drawn in every line, in most lines noise too; where panels are few, the time depends on them most.
            small = n <= 75_000
            repeat = (12 if line in "ef" else 3) if small else 1
            ours = simulate(line, n, 0, *(["--exact", "--repeat", repeat] if small else []))
            off = percent(ours.seconds, time)
            cells = (line, f"{n:,}", f"{time:.2f}", f"{ours.seconds:.2f}", show(off), ours.mode, repeat)
            table.row(*cells, holds=abs(off) <= 2)
    return table


def reality(quick):
    """The forecast of line e and the mean of the measured runs, at every N."""
    measured = {}
    for row in published("measured.csv", dataset=MATRIX_SIZES):
        measured.setdefault(int(row["N"]), []).append(float(row["time_s"]))
    table = Table(
        "Reality: dahu, 32 nodes (bounds: mean 3 %, worst 6 %)",
        "N", "runs", "measured, s", "forecast, s", "error", "mode",
    )
    errors = []
    for n, times in sorted(measured.items()):
        if quick and n not in QUICK:
            continue
        ours = simulate("e", n, 1)
        error = percent(ours.seconds, mean(times))
        errors.append(abs(error))
        cells = (f"{n:,}", len(times), f"{mean(times):.2f}", f"{ours.seconds:.2f}", show(error), ours.mode)
        table.row(*cells, holds=abs(error) <= 6)
    table.note(f"Mean error {mean(errors):.2f} %, worst {max(errors):.2f} %.", holds=mean(errors) <= 3)
    return table
