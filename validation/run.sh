#!/usr/bin/env bash
# Compares forecasts with published simulations and measured runs: run.sh [--quick] [PART...]; README.md says more.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/need.sh"
need python3 python3
exec python3 "$here/run.py" "$@"
