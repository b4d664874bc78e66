#!/usr/bin/env bash
# Runs MPICH's own test suite in hpcast; README.md says how.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/need.sh"
need python3 python3
need make make
need gfortran gfortran
exec python3 "$here/suite.py" "$@"
