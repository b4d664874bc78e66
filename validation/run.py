"""Repeats published simulations and compares with reality: run.py [--quick] [PART...], by default all parts but top500
and sensitivity, which take half an hour each.

Prints tables, and writes them to target/validation/results.md. Exit code 1: a bound is broken."""

import shutil
import sys

import common
import dahu
import modes
import top500
import topology

USUAL = {"published": dahu.figure_6_2, "topology": topology.study, "reality": dahu.reality, "modes": modes.compare}
PARTS = USUAL | {"top500": top500.runs, "sensitivity": top500.sensitivity}
WITHOUT_DATA = ["modes", "top500", "sensitivity"]


def main(words):
    quick = "--quick" in words
    parts = [word for word in words if word != "--quick"] or list(USUAL)
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    lacking = [part for part in parts if part not in WITHOUT_DATA and not common.DATA.is_dir()]
    if lacking:
        reason = f"{common.DATA} is not there (HPCAST_DATA names another folder)"
        if lacking == parts:
            sys.exit(f"nothing can be compared: {reason}")
        print(f"skipped {', '.join(lacking)}: {reason}")
        parts = [part for part in parts if part not in lacking]
    shutil.rmtree(common.WORK, ignore_errors=True)
    common.WORK.mkdir(parents=True)
    tables = [PARTS[part](quick) for part in parts]
    (common.WORK / "results.md").write_text("\n".join(line for table in tables for line in table.lines).lstrip() + "\n")
    broken = sum(table.broken for table in tables)
    print(f"\n{', '.join(parts)}: " + (f"{broken} bounds are broken" if broken else "all bounds hold"))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
