# hpl_source FOLDER: fetches the sources of HPL into FOLDER/hpl, unless they are there, and sets HPL_SOURCE to it.
# A HPL_SOURCE that is set already is kept. They are in the upstream tarball of Debian's hpcc, which is found with the machine's
# own sources of packages; those stay as they are.
hpl_source() {
    [ -z "${HPL_SOURCE:-}" ] || return 0
    HPL_SOURCE=$1/hpl
    [ ! -e "$HPL_SOURCE/include/hpl.h" ] || return 0
    echo "fetching the sources of HPL"
    local apt=$1/apt file
    rm -rf "$apt" && mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/$(basename "$file")"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -e "$file" ] || sed -n 's/^deb\( .*\)/deb-src\1/p' "$file" >"$apt/parts/$(basename "$file" .list).list"
    done
    local options=(-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/parts" -o Dir::State::lists="$apt/lists"
        -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" -qq update
    (cd "$apt" && apt-get "${options[@]}" -qq source --tar-only --download-only hpcc)
    tar -xf "$apt"/hpcc_*.orig.tar.* -C "$apt"
    mv "$apt"/hpcc-*/hpl "$HPL_SOURCE"
    rm -rf "$apt"
}
