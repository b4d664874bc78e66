#!/usr/bin/env bash
# Runs the cases under real Open MPI, real MPICH and hpcast, and compares what they print; README.md says how.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/need.sh"
need python3 python3
exec python3 "$here/run.py" "$@"
