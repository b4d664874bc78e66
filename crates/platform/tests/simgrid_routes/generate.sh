#!/bin/sh
# Writes golden.txt anew with the SimGrid that is installed (Debian: libsimgrid-dev, g++).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -O2 -std=c++17 "$here/signature.cpp" -o "$work/signature" -lsimgrid
cd "$work"
# "1;..." to "3;..." without and with parallel cables on several levels, wider and narrower above; odd and even tori.
{
    for shape in '1;12;1;1' '1;5;2;3' '2;16,32;1,16;1,1' '2;32,8;1,1;1,8' '2;32,8;1,2;1,8' '2;32,8;1,3;1,8' \
        '2;20,320;1,8;1,2' '2;4,6;2,3;2,2' '3;4,4,4;1,4,2;1,1,1' '3;2,2,3;1,2,2;2,3,2' '3;3,2,4;1,3,2;1,2,2' \
        '3;4,3,2;2,3,1;3,2,4' '3;8,8,10;1,4,8;1,2,1' '4;2,3,2,2;1,2,2,3;2,1,3,2'; do
        ./signature FAT_TREE "$shape" SPLITDUPLEX
    done
    ./signature FAT_TREE '3;2,2,3;1,2,2;2,3,2' SHARED
    for sizes in 2 3 7 8 5,3 8,8 2,6 4,4,4 3,4,5 1,6,2 2,2,2,2 4,3,2,5,3 24,24; do
        ./signature TORUS "$sizes" SPLITDUPLEX
    done
    ./signature TORUS 4,5 SHARED
    for policy in SPLITDUPLEX SHARED; do
        ./signature FLAT 32 $policy
        ./signature BACKBONE 20 $policy
    done
} > golden.txt
mv golden.txt "$here/golden.txt"
