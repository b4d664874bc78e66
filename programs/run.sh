#!/usr/bin/env bash
# Runs real programs under Open MPI or MPICH and under hpcast, and compares their results; README.md says how.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/need.sh"
need python3 python3
need mpirun.openmpi openmpi-bin
need mpicc.openmpi libopenmpi-dev
need mpirun.mpich mpich
exec python3 "$here/run.py" "$@"
