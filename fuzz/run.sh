#!/usr/bin/env bash
# A minute of coverage-guided fuzzing for each reader of foreign input. Needs cargo-fuzz and a nightly toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v cargo-fuzz >/dev/null; then
    echo "error: cargo-fuzz is missing; install it with: cargo install cargo-fuzz" >&2
    exit 2
fi
for target in machine_toml platform_xml model_toml model_csv calls_csv daily_csv messages_csv network_import hpl_dat validation_part; do
    cargo +nightly fuzz run "$target" -- -max_total_time="${SECONDS_EACH:-60}"
done
