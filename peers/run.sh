#!/usr/bin/env bash
# Runs the same micro-benchmarks in SMPI and in hpcast on the same platform files, side by side.
# Takes some ten minutes, nearly all of them in SMPI. Arguments go to peers.py (--only TITLE, --no-smpi, --json FILE).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
need() { # command, Debian package
    command -v "$1" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing $2"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
    else
        echo "error: the command '$1' is missing; on Debian: sudo apt-get install $2" >&2
        exit 2
    fi
}
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
