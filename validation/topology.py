"""The topology study (thesis 7.5): five synthetic clusters of 256 nodes, on a crossbar and on fat trees."""

from common import Forecast, Table, machine, models, percent, published, show

OPTIONS = (
    "--ranks-per-node 1 --grid 16x16 --nb 512 --pmap row --depth 1 --bcast 2ring --pfact crout --rfact right "
    "--nbmin 2 --ndiv 2 --swap binary-exchange --threshold 512 --copy-panels --equal-pivots"
).split()
COPIES = "dlacpy,dlatcpy,dlaswp01T,dlaswp02N,dlaswp03T,dlaswp04T"
BOUND = 3


def study(quick):
    """Each cluster, each network, each N; a line of the table for a cluster on a network."""
    points = {}
    for row in published("simulated_topology_study.csv", thesis_figure="7.5"):
        switches = int(float(row["nb_switches"] or 0))
        points.setdefault((switches, row["platform_id"]), {})[int(row["N"])] = float(row["time_s"])
    sizes = [100_000, 300_000] if quick else [100_000, 200_000, 300_000, 400_000, 500_000]
    table = Table(
        f"Published simulations: topology study, thesis 7.5 (bound: {BOUND} %)",
        "top switches", "cluster", *(f"N = {n:,}" for n in sizes),
    )
    everything = []
    for (switches, cluster), times in sorted(points.items()):
        if quick and cluster != "2":
            continue
        platform = f"dahu_synthetic_fat_tree_{switches}" if switches else "dahu_synthetic"
        file = models(
            f"synthetic-{cluster}", "dgemm_synthetic_clusters_ch7.csv", cluster,
            "--free", COPIES, "--no-noise-except", "dgemm",
        )
        ours = [Forecast(machine(platform), "--models", file, *OPTIONS, "--n", n) for n in sizes]
        differences = [percent(forecast.seconds, times[n]) for forecast, n in zip(ours, sizes)]
        cells = [f"{show(difference)} ({forecast.mode})" for difference, forecast in zip(differences, ours)]
        holds = all(abs(difference) <= BOUND for difference in differences)
        table.row(switches or "crossbar", cluster, *cells, holds=holds)
        everything += differences
    table.note(f"On average {show(sum(everything) / len(everything))}.")
    return table
