#!/usr/bin/env bash
# Records what the real HPL sends, receives and computes: run.sh [--again] [CASE...], the cases of cases.txt, all by default.
# The recordings go to target/fidelity/CASE; those that are there already are kept, unless --again is given.
# HPL's sources come from Debian's source package hpcc; HPL_SOURCE names a folder that holds them already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/need.sh"
. "$here/../scripts/hpl_source.sh"
out=$here/../target/fidelity
mkdir -p "$out"
out=$(cd "$out" && pwd)

again=
if [ "${1:-}" = --again ]; then
    again=yes
    shift
fi

need gcc gcc
need python3 python3
need mpicc libopenmpi-dev
need mpirun openmpi-bin
if ! echo 'int main(void) { return 0; }' | gcc -x c - -o /dev/null -lopenblas 2>/dev/null; then
    need "library OpenBLAS" libopenblas-dev
fi

hpl_source "$out"

# HPL and the recorder, one object file a source, so that the linker can put the recorder between them.
program=$out/hpl-recorded
sources=("$HPL_SOURCE"/src/*/*.c "$HPL_SOURCE"/testing/matgen/*.c "$HPL_SOURCE"/testing/pmatgen/*.c)
ours=("$here"/main.c "$here"/parameters.c "$here"/parameters.h "$here"/record.c "$here"/record.h "$here"/compat.h)
if [ ! -x "$program" ] || [ -n "$(find "${ours[@]}" -newer "$program")" ]; then
    echo "building HPL with the recorder"
    objects=$out/objects
    rm -rf "$objects" && mkdir -p "$objects"
    flags=(-std=gnu11 -O2 -DHPL_CALL_CBLAS -I"$HPL_SOURCE/include")
    (cd "$objects" && mpicc "${flags[@]}" -w -include "$here/compat.h" -c "${sources[@]}")
    (cd "$objects" && mpicc "${flags[@]}" -Wall -Wextra -c "$here/main.c" "$here/parameters.c" "$here/record.c")
    wraps=()
    for kernel in $(nm "$objects/record.o" | sed -n 's/.* T __wrap_//p'); do
        wraps+=("-Wl,--wrap=$kernel")
    done
    mpicc -o "$program" "$objects"/*.o "${wraps[@]}" -lopenblas -lm
fi

export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
run=(nice mpirun --oversubscribe --mca btl "self,vader" --mca btl_vader_single_copy_mechanism none --mca mpi_yield_when_idle 1)

table=$(sed 's/#.*//' "$here/cases.txt" | awk 'NF')
for name in "$@"; do
    if ! awk -v name="$name" '$1 == name { found = 1 } END { exit !found }' <<<"$table"; then
        echo "error: cases.txt has no case '$name'" >&2
        exit 2
    fi
done

recorded=0 kept=0
while read -ra fields; do
    name=${fields[0]} ranks=$((fields[3] * fields[4])) parameters=${fields[*]:1}
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    folder=$out/$name
    if [ -z "$again" ] && [ "$folder/case.txt" -nt "$program" ] && [ "$(cat "$folder/case.txt")" = "$parameters" ]; then
        kept=$((kept + 1))
    else
        rm -rf "$folder" && mkdir -p "$folder"
        # shellcheck disable=SC2086 # one argument a parameter
        if ! "${run[@]}" -np "$ranks" "$program" "$folder" $parameters >"$folder/residual.txt" </dev/null; then
            echo "error: HPL failed in case $name" >&2
            exit 1
        fi
        echo "$parameters" >"$folder/case.txt"
        recorded=$((recorded + 1))
    fi
    awk -v name="$name" -v residual="$(cat "$folder/residual.txt")" '
        /^S/ { messages++ } /^K/ && !/ 0( |$)/ { kernels++ } # calls of size zero come in any number
        END { printf "%-28s %8d messages %9d kernel calls, residual %s\n", name, messages, kernels, residual }' "$folder"/rank-*.txt
done <<<"$table"
echo "$recorded recorded, $kept kept"
