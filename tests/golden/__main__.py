"""``python -m tests.golden``, from the root of the checkout: compare golden runs, or record them anew.

python -m tests.golden                          compares all but the slow ones
python -m tests.golden --record                 records all anew; then read what git diff shows
python -m tests.golden --record refused models  some groups, or single cases as group/name
python -m tests.golden --full before/           also writes what the digests are of, to be compared by diff
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.golden import goldens


def main() -> int:
    """Compare or record; return 1 where something differs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("chosen", nargs="*", help="groups, or cases as group/name; default: all")
    parser.add_argument(
        "--record", action="store_true", help="write down what comes out, slow cases included"
    )
    parser.add_argument("--slow", action="store_true", help="compare the slow cases as well")
    parser.add_argument("--full", type=Path, help="a folder for the texts that the digests are of")
    parser.add_argument("--times", action="store_true", help="say how much processor time each case took")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    names = goldens.select(asked.chosen, slow=asked.slow or asked.record or bool(asked.chosen))
    full = None if asked.full is None else str(asked.full.resolve())
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        timed = dict(zip(names, pool.map(goldens.run_timed, names, [full] * len(names)), strict=True))
    found = {name: outcome for name, (outcome, _) in timed.items()}
    if asked.times:
        for name, (_, seconds) in sorted(timed.items(), key=lambda each: -each[1][1]):
            print(f"{seconds:7.2f} s  {name}")
    differing = {name: goldens.differences(name, outcome) for name, outcome in found.items()}
    differing = {name: lines for name, lines in differing.items() if lines}
    if asked.record:
        goldens.write(found, all_of_them=not asked.chosen)
        print(f"Recorded {len(found)} cases, {len(differing)} of them new or changed.")
        return 0
    for name, lines in differing.items():
        print(f"== {name}", *lines, sep="\n")
    print(f"{len(found) - len(differing)} of {len(found)} cases are as recorded.")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
