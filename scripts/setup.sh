#!/usr/bin/env bash
# Installs what the build needs, where it may; otherwise says what is missing.
set -euo pipefail

need() { # command, Debian package
    command -v "$1" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing $2"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
    else
        echo "error: the command '$1' is missing; install it, on Debian with: sudo apt-get install $2" >&2
        exit 2
    fi
}

if ! command -v cargo >/dev/null; then
    echo "error: Rust is missing; install it with rustup (https://rustup.rs) or your distribution's package" >&2
    exit 2
fi
need cc gcc
need git git
