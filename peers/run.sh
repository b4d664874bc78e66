#!/usr/bin/env bash
# Runs the same micro-benchmarks in SMPI and in hpcast on the same platform files, side by side.
# Takes some ten minutes, nearly all of them in SMPI. Arguments go to peers.py (--only TITLE, --no-smpi, --json FILE).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/need.sh"
need python3 python3
need cc gcc
need smpicc libsimgrid-dev
binary=${HPCAST:-$here/../target/release/hpcast}
if [ -x "$binary" ]; then
    set -- --hpcast "$(realpath "$binary")" "$@"
else
    echo "warning: $binary is missing, so only SMPI is measured; build it with: cargo build --release --bin hpcast" >&2
fi
exec python3 "$here/peers.py" "$@"
