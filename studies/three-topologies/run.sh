#!/bin/sh
# A sum over all nodes by binary trees, on a fat tree, a torus and a dragonfly with 24 nodes at each switch: figure 12 of
# Eyerman et al. docs/network-studies.md says what to expect.
#
#     studies/three-topologies/run.sh FOLDER
#
# writes block.csv and block.svg (ranks in order, the data whole), random.csv and random.svg (ranks drawn among the first nodes,
# the data in pieces), cables.csv and cables.svg (ranks in order, the data in pieces, dragonflies with fewer cables between groups) to
# the folder. HPCAST names the program, if it is not in PATH or target/release.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
hpcast=${HPCAST:-$(command -v hpcast || echo "$here/../../target/release/hpcast")}

# Assumed: the paper does not tell how many weights are summed. Ratios hardly depend on it.
size=64MiB
piece=1MiB
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$here/torus.graph" "$scratch"

# Ports of a dragonfly's switch for cables to other groups: as the paper has it.
global=7

# The machine with no more than the first so many nodes: machine, nodes.
first_nodes() {
    room=$(sed -n 's/^count = //p' "$here/$1.toml")
    sed -e "s/^count = .*/count = $2/" -e "s/^topology = .*/&\nunused-ports = $((room - $2))/" \
        -e "s/^global-cables-per-switch = .*/global-cables-per-switch = $global/" \
        "$here/$1.toml" >"$scratch/machine.toml"
}

# One row of the table, the mean of some seeds: table, machine, routing, nodes, seeds, algorithm, placement, name of the machine.
measure() {
    first_nodes "$2" "$4"
    : >"$scratch/seeds"
    for seed in $5; do
        "$hpcast" run allreduce -n "$4" -m "$scratch/machine.toml" --ranks-per-node 1 --routing "$3" --seed "$seed" \
            --size "$size" --placement "$7" --coll allreduce=nonoverlapping --coll "reduce=$6" --coll "bcast=$6" \
            --csv "$scratch/row.csv" >/dev/null
        # The slowest rank: the next step of the training needs all weights.
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "max_seconds") at = i } NR == 2 { print $at }' \
            "$scratch/row.csv" >>"$scratch/seeds"
    done
    [ -e "$out/$1.csv" ] || echo "topology,routing,nodes,time_seconds" >"$out/$1.csv"
    awk -v row="${8:-$2},$3,$4" '{ sum += $1 } END { printf "%s,%.6g\n", row, sum / NR }' "$scratch/seeds" >>"$out/$1.csv"
}

# All networks: table, seeds, algorithm, placement.
study() {
    rm -f "$out/$1.csv"
    for nodes in 2 4 8 16 24 32 64 128 256 512 1024 2048; do
        echo "$1: $nodes nodes" >&2
        measure "$1" fat-tree least-loaded $nodes "$2" "$3" "$4"
        measure "$1" fat-tree d-mod-k $nodes "$2" "$3" "$4"
        measure "$1" torus shortest-path $nodes "$2" "$3" "$4"
        measure "$1" dragonfly ugal-l $nodes "$2" "$3" "$4"
        measure "$1" dragonfly minimal $nodes "$2" "$3" "$4"
    done
    show "$1" "$5"
}

# The torus beside dragonflies with fewer and fewer cables between groups: table, seeds, algorithm, placement.
cables() {
    rm -f "$out/$1.csv"
    for nodes in 2 4 8 16 24 32 64 128 256 512 1024 2048; do
        echo "$1: $nodes nodes" >&2
        measure "$1" fat-tree least-loaded $nodes "$2" "$3" "$4"
        measure "$1" torus shortest-path $nodes "$2" "$3" "$4"
        for global in 7 4 2 1; do
            # Of a group's 18 switches to each of four other groups.
            measure "$1" dragonfly ugal-l $nodes "$2" "$3" "$4" "dragonfly $((18 * global / 4)) cables"
        done
        global=7
    done
    show "$1" "$5"
}

# Draws and prints a table: table, title.
show() {
    "$hpcast" plot "$out/$1.csv" --x nodes --y time_seconds --series topology,routing --log-x -o "$out/$1.svg" \
        --title "A sum of $size by binary trees, 24 nodes at each switch: $2" \
        --note "After figure 12 of Eyerman et al.: up to 32 nodes networks do not differ, beyond that the fat tree is the fastest, then the dragonfly, from 512 on the torus."
    awk -F, 'NR > 1 { name = $1 ", " $2; if (!(name in seen)) { seen[name] = 1; names[++n] = name }
                      if (!($3 in known)) { known[$3] = 1; nodes[++m] = $3 } value[$3, name] = $4 * 1e3 }
             END { printf "\n%-6s", "nodes"; for (i = 1; i <= n; i++) printf "  %-28s", names[i]; print "  (ms)"
                   for (j = 1; j <= m; j++) { printf "%-6s", nodes[j]
                       for (i = 1; i <= n; i++) printf "  %-28.1f", value[nodes[j], names[i]]; print "" } }' "$out/$1.csv"
}

study block "1" binary block "ranks in order, data whole"
study random "1 2 3 4 5 6" "binary:segment=$piece" random "ranks at random, in pieces of $piece"
cables cables "1" "binary:segment=$piece" block "ranks in order, in pieces of $piece"
