"""Random runs, each judged by code that shares nothing with the package: ``python -m tests.fuzz``.

Ends with 1 if anything was found, after writing config and data of each finding into a folder. A seed and the
number of a case repeat it: ``python -m tests.fuzz --case 7000123``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.cases import Case, draw_case
from tests.fuzz.judge import Judge, Tally
from tests.fuzz.relations import audited, checked, repeated, run

CASES_OF_A_SEED = 1_000_000


def judged(case: Case, folder: Path, tally: Tally) -> list[str]:
    """Run a case, and others that must agree with it; return what is wrong."""
    for each in (folder, folder.with_name(f"{folder.name}-again")):
        shutil.rmtree(each, ignore_errors=True)
    case.write(folder)
    tally[f"runs: {case.algorithm} {case.method}"] += 1
    try:
        answer = run(folder)
        if answer.code == 2 and answer.error.startswith("error: ") and answer.error.count("\n") <= 10:
            tally[f"refused: {answer.error.splitlines()[0][:90]}"] += 1
            return []
        if answer.code not in (0, 1) or not answer.out:
            return [f"run: exit {answer.code}: {answer.error}"]
        report = json.loads(answer.out)
        if (answer.code == 0) != (report["status"] == "satisfied"):
            return [f"run: exit {answer.code}, status {report['status']}"]
        found = Judge(case, report, folder / "release", tally).findings()
        found += checked(case, folder, report, tally)
        if answer.code == 0:
            found += audited(case, folder, report, tally)
            found += repeated(case, folder, tally)
        return found
    except Exception:  # whatever escapes, of the package or the judge, is to be looked at
        return [traceback.format_exc()]


@dataclass
class Fuzz:
    """Runs until the time is over, or something is found.

    Attributes
    ----------
    keep: folder for what is found; without one, nothing is kept.
    all: whether to continue after a finding.
    found: number of each case with findings, and these.
    """

    folder: Path
    keep: Path | None = None
    all: bool = False
    tally: Tally = field(default_factory=Counter)
    found: dict[int, list[str]] = field(default_factory=dict)

    def run(self, seed: int, seconds: float) -> None:
        """Judge the cases of a seed, one after the other."""
        end = time.monotonic() + seconds
        number = seed * CASES_OF_A_SEED
        while time.monotonic() < end and (self.all or not self.found):
            self.judge(number)
            number += 1

    def judge(self, number: int) -> None:
        """Judge one case."""
        findings = judged(draw_case(number), self.folder, self.tally)
        if not findings:
            return
        self.found[number] = findings
        print(f"FOUND in case {number} (python -m tests.fuzz --case {number}):", *findings, sep="\n  ")
        if self.keep is not None:
            shutil.copytree(self.folder, self.keep / str(number), dirs_exist_ok=True)
            print(f"anonymizer run {self.keep / str(number) / 'config.json'} repeats it", flush=True)


def seeds_of(text: str) -> list[int]:
    """Return the seeds that ``3`` or ``3..7`` names.

    Raises
    ------
    ValueError: it is not of this form.
    """
    first, _, last = text.partition("..")
    return list(range(int(first), int(last or first) + 1))


def main(words: Sequence[str] | None = None) -> int:
    """Fuzz by the words of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="in all, divided among the seeds")
    parser.add_argument("--seeds", type=seeds_of, default=[0], help="one, or several as 1..10")
    parser.add_argument("--case", type=int, help="judge one case alone, by the number that a finding prints")
    parser.add_argument("--all", action="store_true", help="continue after a finding")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-finding"), help="folder for what is found")
    own = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder) / "case", own.keep, own.all)
        if own.case is not None:
            fuzz.judge(own.case)
        else:
            for seed in own.seeds:
                fuzz.run(seed, own.seconds / len(own.seeds))
    for name, number in sorted(fuzz.tally.items()):
        print(f"{number:8,}  {name}")
    runs = sum(number for name, number in fuzz.tally.items() if name.startswith("runs: "))
    print(f"{runs:,} cases of {len(own.seeds)} seeds; found: {list(fuzz.found) or 'nothing'}")
    return 1 if fuzz.found else 0


if __name__ == "__main__":
    sys.exit(main())
