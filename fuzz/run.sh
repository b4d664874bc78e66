#!/usr/bin/env bash
# A minute of coverage-guided fuzzing for each reader of foreign input. Needs cargo-fuzz and a nightly toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v cargo-fuzz >/dev/null; then
    echo "error: cargo-fuzz is missing; install it with: cargo install cargo-fuzz" >&2
    exit 2
fi

# A target, and folders with files to begin with.
fuzz() {
    local target=$1
    mkdir -p "fuzz/corpus/$target"
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "${@:2}" -- -max_total_time="${SECONDS_EACH:-60}"
}
fuzz machine_toml machines
fuzz platform_xml tests/simgrid/platforms
fuzz topology_conf crates/platform/tests/imported
fuzz ibnetdiscover crates/platform/tests/imported
fuzz model_toml validation/models
fuzz model_csv
fuzz calls_csv
fuzz daily_csv
fuzz messages_csv
fuzz network_import
fuzz hpl_dat crates/apps/tests
fuzz script tests/simgrid/cases
fuzz functions_toml
fuzz validation_part validation
fuzz verified_lines
fuzz rank_file
fuzz traffic_csv
fuzz http_request
mkdir -p fuzz/corpus/elf_program
echo '__thread int a = 1; int b, *c = &b; int main(void) { return a + *c; }' |
    cc -x c - -s -fPIC -Wl,--hash-style=both -o fuzz/corpus/elf_program/small
fuzz elf_program
fuzz elf_start fuzz/corpus/elf_program
