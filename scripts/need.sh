# need COMMAND PACKAGE: installs a Debian package where it may, unless its command is there; otherwise says what is missing.
need() {
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
