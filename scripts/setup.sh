#!/usr/bin/env bash
# Installs what the build needs, where it may; otherwise says what is missing.
set -euo pipefail

. "$(dirname "$0")/need.sh"

if ! command -v cargo >/dev/null; then
    echo "error: Rust is missing; install it with rustup (https://rustup.rs) or your distribution's package" >&2
    exit 2
fi
need cc gcc
need git git
