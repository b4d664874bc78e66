#!/usr/bin/env python3
"""Compares two recordings of the same case: compare.py [--whole] [--mxcopy] REAL OURS, two folders with rank-NNNNN.txt.

What must be the same, rank by rank: all messages of each communicator in their order; all kernel calls in their order; and the
order of messages and kernel calls among each other, except for the place of the panel's broadcast (messages 'row ... fact'): with
look-ahead it comes where a probe finds it, at a time that depends on the machine. --whole compares that place, too; it is fixed
where there is no look-ahead and where the broadcast is long or longM.

For the same reason HPL cuts the kernels of one update into pieces of some columns: such pieces are put together again. Calls of size
zero do nothing and are left out. So are the copies named mxcopy, which depend on the values in the matrix, unless --mxcopy is given.

Exits with 0 if the recordings agree, with 1 if not, with 2 if they cannot be read.
"""

import argparse
import itertools
import pathlib
import sys

# The kernels of one piece of an update, in the order in which HPL calls them; those of size zero are missing.
PIECES = {
    ("dtrsm",),
    ("dtrsm", "dgemm"),
    ("dtrsm", "dgemm", "dlacpy"),
    ("dtrsm", "dgemm", "dlatcpy"),
    ("dtrsm", "dlacpy"),
    ("dtrsm", "dlatcpy"),
    ("dlaswp00N", "dtrsm"),
    ("dlaswp00N", "dtrsm", "dgemm"),
}
LONGEST = max(len(piece) for piece in PIECES)


def fail(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


def read(path, mxcopy):
    """The events of one rank: tuples of words, kernels as ('K', name, side, sizes...), without the calls that do nothing."""
    events = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        try:
            if not words or words[0].startswith("#"):
                continue
            if words[0] in ("S", "R"):
                direction, comm, peer, kind, size = words
                events.append((direction, comm, int(peer), kind, int(size)))
            elif words[0] == "K":
                name = words[1].removeprefix("HPL_")
                side = words[2] if name == "dtrsm" else ""
                sizes = [int(word) for word in words[3 if side else 2 :]]
                work = (max(sizes[:2]), sizes[2]) if name.startswith("dlaswp04") else sizes
                if min(work) > 0 and (mxcopy or name != "mxcopy"):
                    events.append(("K", name, side, *sizes))
            else:
                raise ValueError
        except (ValueError, IndexError):
            fail(f"{path}:{number}: not a line of a recording: {line!r}")
    return events


def columns(event):
    """The place of the size that the pieces of one update share out among each other."""
    name, side = event[1:3]
    return 3 if (name, side) == ("dtrsm", "R") else 4


def joined(events):
    """The same events with the pieces of updates put together."""
    out = []
    for event in events:
        out.append(event)
        for length in range(1, LONGEST + 1):
            first, second = out[-2 * length : -length], out[-length:]
            if event[0] != "K" or len(first) < length or tuple(e[1] for e in second) not in PIECES:
                continue
            if all(same_but_columns(a, b) for a, b in zip(first, second)):
                del out[-length:]
                for place, (a, b) in enumerate(zip(first, second), len(out) - length):
                    at = columns(a)
                    out[place] = (*a[:at], a[at] + b[at], *a[at + 1 :])
                break
    return out


def same_but_columns(a, b):
    if a[:3] != b[:3] or len(a) != len(b):
        return False
    at = columns(a)
    return a[:at] == b[:at] and a[at + 1 :] == b[at + 1 :]


def show(event):
    return " ".join(str(word) for word in event if word != "") if event else "(nothing more)"


def difference(rank, what, real, ours):
    """Prints the first difference of two sequences with its context; False if there is none."""
    for place, (a, b) in enumerate(itertools.zip_longest(real, ours)):
        if a != b:
            break
    else:
        return False
    print(f"rank {rank}: {what} differ at number {place + 1} of {len(real)} (real) and {len(ours)} (ours)")
    print(f"  {'':7} {'real':34} ours")
    for at in range(max(0, place - 6), place + 5):
        a = real[at] if at < len(real) else None
        b = ours[at] if at < len(ours) else None
        if a or b:
            print(f"{'>' if at == place else ' '} {at + 1:7} {show(a):34} {show(b)}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("real", type=pathlib.Path)
    parser.add_argument("ours", type=pathlib.Path)
    parser.add_argument("--whole", action="store_true", help="compare the place of the panel's broadcast, too")
    parser.add_argument("--mxcopy", action="store_true", help="compare the copies that depend on the values, too")
    args = parser.parse_args()

    names = [sorted(path.name for path in folder.glob("rank-*.txt")) for folder in (args.real, args.ours)]
    for folder, found in zip((args.real, args.ours), names):
        if not found:
            fail(f"{folder} holds no recording")
    if names[0] != names[1]:
        print(f"{len(names[0])} ranks (real), but {len(names[1])} ranks (ours)")
        return 1

    messages = kernels = 0
    for rank, name in enumerate(names[0]):
        both = [read(folder / name, args.mxcopy) for folder in (args.real, args.ours)]
        for comm in sorted({event[1] for events in both for event in events if event[0] != "K"}):
            pair = [[e for e in events if e[0] != "K" and e[1] == comm] for events in both]
            if difference(rank, f"the messages of communicator {comm}", *pair):
                return 1
        # The broadcasts go first: they may come between the pieces of an update.
        main_events = [joined(e for e in events if (e[1], e[3]) != ("row", "fact")) for events in both]
        pair = [[e for e in events if e[0] == "K"] for events in main_events]
        if difference(rank, "the kernel calls", *pair):
            return 1
        if difference(rank, "messages and kernel calls in their order", *main_events):
            return 1
        if args.whole and difference(rank, "all events in their order", *map(joined, both)):
            return 1
        messages += sum(event[0] == "S" for event in both[0])
        kernels += len(pair[0])
    print(f"agree: {len(names[0])} ranks, {messages} messages, {kernels} kernel calls")
    return 0


if __name__ == "__main__":
    sys.exit(main())
