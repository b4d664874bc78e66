#!/usr/bin/env bash
# Makes golden.json anew: compiles the interpreter with smpicc and runs every case under smpirun.
# With arguments, runs only the cases whose names contain one of them and prints the result without writing it.
# Needs SimGrid with SMPI (Debian: apt-get install libsimgrid-dev) and python3. Takes a minute.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for tool in smpicc smpirun python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install libsimgrid-dev python3" >&2; exit 2; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
smpicc -O2 -o "$scratch/interpreter" "$here/interpreter.c"
version=$(smpirun -version | head -n 1)
python3 "$here/regenerate.py" "$scratch/interpreter" "$scratch" "$version" "$@"
