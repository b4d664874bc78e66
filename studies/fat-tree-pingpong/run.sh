#!/bin/sh
# Ping-pong of pairs whose ranks are placed at random on the first nodes of a fat tree, for more and more nodes: figure 10 of
# Janssen et al. (2010). docs/network-studies.md says what to expect.
#
#     studies/fat-tree-pingpong/run.sh FOLDER
#
# writes pingpong.csv and pingpong.svg to the folder. HPCAST names the program, if it is not in PATH or target/release.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
hpcast=${HPCAST:-$(command -v hpcast || echo "$here/../../target/release/hpcast")}

room=41472
# Messages of all nodes together, as in the paper; an eighth of them where each is many packets.
messages=65536
size="64KiB"
table=$out/pingpong.csv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -f "$table"

# One row of the table: network model, routing, nodes, seeds, messages.
measure() {
    count=$(($5 / $3))
    [ "$count" -gt 0 ] || count=1
    sed -e "s/^count = .*/count = $3/" -e "s/^unused-ports = .*/unused-ports = $((room - $3))/" \
        "$here/machine.toml" >"$scratch/machine.toml"
    "$hpcast" run pingpong -n "$3" -m "$scratch/machine.toml" --placement random --network "$1" --routing "$2" \
        --size "$size" --count "$count" --repeat "$4" --csv "$scratch/row.csv" >/dev/null
    # Times relative to a link that is alone: 64 KiB at 1 GB/s.
    awk -F, -v OFS=, -v routing="$2" -v header="$([ -e "$table" ] || echo yes)" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; if (header) print "network,routing,nodes,mean_seconds,prediction_95_seconds,slowdown" }
        NR == 2 { mean = $at["mean_seconds"]
                  print $at["network"], routing, $at["ranks"], mean, $at["prediction_95_seconds"], mean / 65.536e-6 }
    ' "$scratch/row.csv" >>"$table"
}

for nodes in 2 4 8 12 14 16 20 24 36 48 72 96 144 288 576 1152 1728 3456; do
    echo "$nodes nodes" >&2
    # Few pairs differ more from seed to seed.
    seeds=20
    [ $nodes -le 144 ] || seeds=5
    # The paper's own network: the oldest flow gets all it can use, and each pair has one way.
    measure circuit ecmp $nodes $seeds $messages
    measure flow ecmp $nodes $seeds $messages
    measure flow d-mod-k $nodes $seeds $messages
    measure flow random $nodes $seeds $messages
    measure flow least-loaded $nodes $seeds $messages
    if [ $nodes -le 1152 ]; then
        measure packet ecmp $nodes $((seeds / 2)) $((messages / 8))
        measure packet d-mod-k $nodes $((seeds / 2)) $((messages / 8))
        measure packet least-loaded $nodes $((seeds / 2)) $((messages / 8))
    fi
done

"$hpcast" plot "$table" --x nodes --y slowdown --series network,routing --log-x -o "$out/pingpong.svg" \
    --title "Ping-pong with random placement, fat tree of 4 levels and radix 24" \
    --note "Time of a message relative to one that is alone. After figure 10 of Janssen et al. (2010): nothing is slowed down up to 12 nodes."
awk -F, 'NR > 1 { name = $1 ", " $2; if (!(name in seen)) { seen[name] = 1; names[++n] = name }
                  if (!($3 in known)) { known[$3] = 1; nodes[++m] = $3 } value[$3, name] = sprintf("%.3f", $6) }
         END { printf "\n%-6s", "nodes"; for (i = 1; i <= n; i++) printf "  %-20s", names[i]; print "  (slowdown)"
               for (j = 1; j <= m; j++) { printf "%-6s", nodes[j]
                   for (i = 1; i <= n; i++) printf "  %-20s", value[nodes[j], names[i]]; print "" } }' "$table"
