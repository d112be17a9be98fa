"""``python -m tests.faults``, from the root of a checkout: plant faults, one at a time, and see tests fail.

python -m tests.faults                    all, each against the quick tests of its rooms, then the slow ones
python -m tests.faults alpha hierarchy    those whose name or file has one of these words
python -m tests.faults --quick            the quick tests alone
python -m tests.faults --tree OTHER       with the package and the tests of another checkout

The faults are planted in a temporary copy. Exit code 1 means that no test noticed one of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import yaml

ROOT = Path(__file__).parents[2]
SLOW = "(slow or hypothesis) and not spark and not postgres and not browser"
NO_TESTS = 5
"""Exit code of pytest where no test has the marks."""


@dataclass(frozen=True)
class Fault:
    """A textual substitution in a file of the package, and the tests that should notice it."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]


FAULTS = [
    Fault(**each) for each in yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text("utf-8"))
]


@dataclass(frozen=True)
class Found:
    """What noticed a fault: the first test that failed, empty if none did, and after how many seconds."""

    test: str
    half: str
    seconds: float


@contextmanager
def planted(fault: Fault, tree: Path) -> Iterator[None]:
    """Change one file of a checkout, and change it back."""
    path = tree / "anonymizer" / fault.file
    before = path.read_text(encoding="utf-8")
    assert before.count(fault.old) == 1, f"{fault.name}: {fault.file} must have once: {fault.old}"
    path.write_text(before.replace(fault.old, fault.new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def run(fault: Fault, tree: Path, *, quick: bool, seconds: float) -> Found:
    """Run the tests of a fault in a checkout that has it."""
    start = time.monotonic()
    halves = {"quick": [], **({} if quick else {"slow": ["-m", SLOW]})}
    paths = [f"tests/{each}" for each in fault.tests if (tree / "tests" / each).exists()]
    for half, marks in halves.items():
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-n0",
            "-p",
            "no:cacheprovider",
            *marks,
            *paths,
        ]
        environment = {**os.environ, "CI": "true"} if half == "slow" else None
        try:
            done = subprocess.run(
                command,
                cwd=tree,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return Found("", f"{half} tests did not end in time", time.monotonic() - start)
        if done.returncode not in (0, NO_TESTS):
            failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return Found(failed[0].split(" - ")[0] if failed else "pytest", half, time.monotonic() - start)
    return Found("", "", time.monotonic() - start)


def chosen(words: list[str]) -> list[Fault]:
    """Return the faults that have one of some words; all without any."""
    return [each for each in FAULTS if not words or any(word in f"{each.name} {each.file}" for word in words)]


def main() -> int:
    """Plant the faults, print what noticed each, and return 1 if nothing noticed one."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("--quick", action="store_true", help="run the quick tests alone")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is copied")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--after", type=int, default=0, help="leave out so many of them")
    parser.add_argument("--seconds", type=float, default=600, help="the most for each half")
    asked = parser.parse_args()
    faults = chosen(asked.words)[asked.after :]
    trees = SimpleQueue[Path]()
    missed = 0

    def one(fault: Fault) -> tuple[Fault, Found]:
        tree = trees.get()
        try:
            with planted(fault, tree):
                return fault, run(fault, tree, quick=asked.quick, seconds=asked.seconds)
        finally:
            trees.put(tree)

    with tempfile.TemporaryDirectory(prefix="faults-") as name, ThreadPoolExecutor(asked.workers) as pool:
        for number in range(asked.workers):
            tree = Path(name) / str(number)
            shutil.copytree(asked.tree, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "build"))
            trees.put(tree)
        for fault, found in pool.map(one, faults):
            missed += not found.test
            said = (
                f"{found.half}: {found.test.removeprefix('FAILED ')}"
                if found.test
                else f"NOT FOUND {found.half}"
            )
            print(f"{found.seconds:6.0f} s  {fault.name}\n          {said}", flush=True)
    print(f"{missed} of {len(faults)} faults were not noticed.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
