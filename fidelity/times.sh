#!/usr/bin/env bash
# Compares the times of hpcast's skeleton with those of the real HPL on the same simulated machine (`hpcast hpl --real`), with the same
# kernel models and pivots: times.sh [CASE...], all cases of cases.txt by default. One line a case; exits with 1 if any differs.
# HPL's sources come from Debian's source package hpcc; HPL_SOURCE names a folder that holds them already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
hpcast=${HPCAST:-$root/target/release/hpcast}
source_options=()
[ -z "${HPL_SOURCE:-}" ] || source_options=(--hpl-source "$HPL_SOURCE")
said=$(mktemp)
trap 'rm -f "$said"' EXIT

agreed=0 differing=0
printf '%-28s %14s %14s %12s\n' case "real, s" "skeleton, s" difference
while read -r name n nb p q pmap depth pfact rfact nbmin ndiv bcast swap threshold l1 u equil; do
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    [ "$swap" != binary ] || swap=binary-exchange
    options=(--n "$n" --nb "$nb" --grid "${p}x$q" --pmap "$pmap" --depth "$depth" --pfact "$pfact" --rfact "$rfact"
        --nbmin "$nbmin" --ndiv "$ndiv" --bcast "$bcast" --swap "$swap" --threshold "$threshold" --l1 "$l1" --u "$u")
    [ "$equil" = yes ] || options+=(--no-equilibration)
    if ! "$hpcast" hpl -m "$root/machines/dahu.toml" --models "$here/models.toml" "${options[@]}" --exact --real \
        "${source_options[@]}" --json - >"$said"; then
        echo "error: hpcast failed in case $name" >&2
        exit 2
    fi
    # They should be equal; what is left is the rounding of the real HPL's clock.
    if python3 - "$name" "$said" <<'END'; then
import json, sys
run = json.load(open(sys.argv[2]))["real"][0]
difference = run["difference"]
print(f"{sys.argv[1]:<28} {run['real_seconds']:14.9f} {run['skeleton_seconds']:14.9f} {100 * difference:+10.5f} %", flush=True)
sys.exit(abs(difference) > 1e-6)
END
        agreed=$((agreed + 1))
    else
        differing=$((differing + 1))
    fi
done < <(sed 's/#.*//' "$here/cases.txt" | awk 'NF')
echo "$agreed agree, $differing differ"
[ "$differing" = 0 ] && [ "$agreed" -gt 0 ]
