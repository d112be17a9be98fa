"""Random runs, each judged by code that shares nothing with the package: ``python -m tests.fuzz``.

Ends with 1 at the first finding, after writing its config and data into a folder.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.cli.main import main as command
from tests.fuzz.cases import Case, draw_case
from tests.fuzz.judge import Judge, Tally


@dataclass
class Answer:
    """What a command said."""

    code: Any
    out: str
    error: str


def invoke(*words: str) -> Answer:
    """Run a command in this process.

    Raises
    ------
    Exception: whatever the command lets through, which is a finding.
    """
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            code: Any = command(list(words))
        except SystemExit as end:
            code = end.code
    return Answer(code, out.getvalue(), error.getvalue())


def judged(case: Case, folder: Path, tally: Tally) -> list[str]:
    """Run a case, audit its release, and return what is wrong."""
    case.write(folder)
    release = folder / "release"
    tally[f"runs: {case.algorithm} {case.method}"] += 1
    try:
        answer = invoke(
            "run", str(folder / "config.json"), "-o", str(release), "--overwrite", "--json", "--quiet"
        )
        if answer.code == 2 and answer.error.startswith("error: ") and answer.error.count("\n") <= 10:
            tally[f"refused: {answer.error.splitlines()[0][:90]}"] += 1
            return []
        if answer.code not in (0, 1) or not answer.out:
            return [f"run: exit {answer.code}: {answer.error}"]
        report = json.loads(answer.out)
        if (answer.code == 0) != (report["status"] == "satisfied"):
            return [f"run: exit {answer.code}, status {report['status']}"]
        found = Judge(case, report, release, tally).findings()
        return found + (audited(release, tally) if answer.code == 0 else [])
    except Exception:  # whatever escapes, of the package or the judge, is to be looked at
        return [traceback.format_exc()]


def audited(release: Path, tally: Tally) -> list[str]:
    """Audit a release by its public report alone."""
    tally["audits"] += 1
    [first, *_] = sorted((release / "share").glob("release*.csv"))
    answer = invoke("audit", str(first))
    verified = answer.code == 0 and "VERIFIED" in answer.out and "NOT VERIFIED" not in answer.out
    return [] if verified else [f"audit: exit {answer.code}: {answer.out}{answer.error}"]


@dataclass
class Fuzz:
    """Runs until the time is over or something is found.

    Attributes
    ----------
    found: seed and findings of the last case, where there are any.
    """

    folder: Path
    tally: Tally = field(default_factory=Counter)
    found: tuple[int, list[str]] | None = None

    def run(self, seed: int, seconds: float) -> None:
        """Judge the cases of ``seed * 1_000_000`` and the numbers after it."""
        end = time.monotonic() + seconds
        own = seed * 1_000_000
        while time.monotonic() < end and self.found is None:
            shutil.rmtree(self.folder, ignore_errors=True)
            findings = judged(draw_case(own), self.folder, self.tally)
            if findings:
                self.found = own, findings
            own += 1


def main() -> int:
    """Fuzz by the words of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; each next one has the next")
    parser.add_argument("--case", type=int, help="judge one case alone, by the number that a finding prints")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-finding"), help="folder for what is found")
    own = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder) / "case")
        if own.case is None:
            fuzz.run(own.seed, own.seconds)
        elif findings := judged(draw_case(own.case), fuzz.folder, fuzz.tally):
            fuzz.found = own.case, findings
        for name, number in sorted(fuzz.tally.items()):
            print(f"{number:8,}  {name}")
        if fuzz.found is None:
            print("nothing found")
            return 0
        shutil.copytree(fuzz.folder, own.keep, dirs_exist_ok=True)
    number, findings = fuzz.found
    print(f"FOUND in case {number} (python -m tests.fuzz --case {number}):", *findings, sep="\n  ")
    print(f"anonymizer run {own.keep / 'config.json'} repeats it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
