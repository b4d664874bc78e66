#!/usr/bin/env bash
# The real HPL in SMPI, with all published optimisations, the real HPL in hpcast (`hpcast hpl --real`) and its skeleton, side by side:
# the same sources, parameters, platform, kernel models and pivots. Without arguments two cases that take some five minutes; hpl.py
# --help says what else can be run.
# HPL's sources come from Debian's source package hpcc; HPL_SOURCE names a folder that holds them already.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/need.sh"
. "$here/../scripts/hpl_source.sh"
need python3 python3
need gcc gcc
need smpicc libsimgrid-dev
out=$here/../target/peers-hpl
mkdir -p "$out"
out=$(cd "$out" && pwd)
hpl_source "$out"

# HPL in a library, so that our kernels come before its own.
program=$out/hpl-smpi
if [ ! -x "$program" ] || [ -n "$(find "$here/hpl" "$here"/../fidelity/{parameters.*,compat.h} -type f -newer "$program")" ]; then
    echo "building HPL for SMPI"
    objects=$out/objects
    rm -rf "$objects" && mkdir -p "$objects"
    flags=(-std=gnu11 -O2 -DHPL_CALL_CBLAS -DHPL_NO_MPI_DATATYPE -DSMPI_NO_OVERRIDE_MALLOC -I"$HPL_SOURCE/include"
        -I"$here/hpl" -I"$here/../fidelity")
    theirs=("${flags[@]}" -w -include "$here/../fidelity/compat.h")
    src=$HPL_SOURCE/src
    (
        cd "$objects"
        smpicc "${theirs[@]}" -c "$src"/{auxil,comm,grid,panel,pauxil,pfact,pgesv}/*.c
        smpicc "${theirs[@]}" -DMEMORY_OF_PANELS -include "$here/hpl/memory.h" -c "$src"/panel/HPL_pdpanel_{init,free}.c
        smpicc "${theirs[@]}" -DMEMORY_OF_SWAPS -include "$here/hpl/memory.h" -c "$src"/pgesv/HPL_pdlaswp00{N,T}.c
        ar rcs libhpl.a HPL_*.o
        smpicc "${flags[@]}" -Wall -Wextra -Wno-unused-parameter -c "$here"/hpl/{main,kernels,memory}.c "$here/../fidelity/parameters.c"
    )
    gcc -O2 -Wall -Wextra -shared -fPIC -o "$out/clock.so" "$here/hpl/clock.c"
    wraps=()
    for name in $(nm "$objects"/{main,kernels}.o | sed -n 's/.* T __wrap_//p'); do
        wraps+=("-Wl,--wrap=$name")
    done
    # SMPI itself loads a BLAS (by way of ns-3 and GSL), whose kernels would come before ours but for -Bsymbolic.
    smpicc -o "$program" "$objects"/{main,kernels,memory,parameters}.o "${wraps[@]}" -Wl,-Bsymbolic "$objects/libhpl.a"
fi

binary=${HPCAST:-$here/../target/release/hpcast}
if [ ! -x "$binary" ]; then
    echo "error: $binary is missing; build it with: cargo build --release --bin hpcast" >&2
    exit 2
fi
exec python3 "$here/hpl.py" --hpcast "$(realpath "$binary")" --smpi "$out" --hpl-source "$HPL_SOURCE" "$@"
