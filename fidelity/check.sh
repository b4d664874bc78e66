#!/usr/bin/env bash
# Compares hpcast's skeleton with the recordings of the real HPL: check.sh [CASE...], all cases of cases.txt by default.
# run.sh makes the recordings. One line a case; exits with 1 if any differs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
hpcast=${HPCAST:-$root/target/release/hpcast}
real=$root/target/fidelity
ours=$real/ours
mkdir -p "$ours"

agreed=0 differing=0
while read -r name n nb p q pmap depth pfact rfact nbmin ndiv bcast swap threshold l1 u equil; do
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    if [ ! -e "$real/$name/pivots.txt" ]; then
        echo "error: case $name is not recorded; run fidelity/run.sh $name" >&2
        exit 2
    fi
    [ "$swap" != binary ] || swap=binary-exchange
    options=(--n "$n" --nb "$nb" --grid "${p}x$q" --pmap "$pmap" --depth "$depth" --pfact "$pfact" --rfact "$rfact"
        --nbmin "$nbmin" --ndiv "$ndiv" --bcast "$bcast" --swap "$swap" --threshold "$threshold" --l1 "$l1" --u "$u" --exact)
    [ "$equil" = yes ] || options+=(--no-equilibration)
    rm -rf "${ours:?}/$name"
    if ! "$hpcast" hpl -m "$root/machines/dahu.toml" "${options[@]}" --pivots "$real/$name/pivots.txt" \
        --record "$ours/$name" >/dev/null; then
        echo "error: hpcast failed in case $name" >&2
        exit 2
    fi
    if said=$(python3 "$here/compare.py" "$real/$name" "$ours/$name" 2>&1); then
        agreed=$((agreed + 1))
    else
        differing=$((differing + 1))
    fi
    printf '%-28s %s\n' "$name" "$said"
done < <(sed 's/#.*//' "$here/cases.txt" | awk 'NF')
echo "$agreed agree, $differing differ"
[ "$differing" = 0 ] && [ "$agreed" -gt 0 ]
