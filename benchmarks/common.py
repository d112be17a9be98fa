"""What the benchmarks share: timing, processes, the machine, and tables."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("numpy", "pandas", "networkx", "duckdb")


@dataclass(frozen=True)
class Process:
    """What a command took.

    Attributes
    ----------
    seconds: from start to end.
    cpu_seconds: of all its threads together, in user and system mode.
    peak_bytes: largest resident memory.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int

    @property
    def peak_mib(self) -> float:
        """The largest resident memory in MiB."""
        return self.peak_bytes / 2**20


def python(*arguments: str) -> list[str]:
    """Return the command that runs this Python."""
    return [sys.executable, *arguments]


def run_process(command: Sequence[str]) -> Process:
    """Run a command in the folder of the checkout and measure it.

    Raises
    ------
    RuntimeError: its exit code is not 0; with the end of its standard error.
    """
    launcher = python("-I", "-S", str(ROOT / "benchmarks" / "launch.py"))
    # A package that is installed has its bytecode, so whoever runs it may write it down here too.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [*launcher, *command], cwd=ROOT, check=True, capture_output=True, text=True, env=variables
    )
    found = json.loads(done.stdout)
    if found["code"]:
        raise RuntimeError(f"{' '.join(command[:4])} … ended with {found['code']}: {found['said']}")
    return Process(found["seconds"], found["cpu_seconds"], found["peak_bytes"])


def run_command(config: Path, output: Path) -> list[str]:
    """Return the command of a whole run, which replaces what an earlier one left."""
    return python("-m", "anonymizer", "run", str(config), "-o", str(output), "--overwrite", "--quiet")


def read_report(output: Path) -> dict[str, Any]:
    """Return the internal report of a run."""
    report: dict[str, Any] = json.loads((output / "report.json").read_text(encoding="utf-8"))
    return report


def require_proven(output: Path) -> dict[str, Any]:
    """Return the report of a run, which must be of a verified release that is proven optimal.

    Raises
    ------
    RuntimeError: it is not.
    """
    report = read_report(output)
    if not (report["release"]["verified"] and report["search"]["optimal"]):
        raise RuntimeError("the run ended without a verified release that is proven optimal")
    return report


def alternating(commands: Sequence[Sequence[str]], runs: int) -> list[list[Process]]:
    """Run commands in turns, after one round that is not counted; return the runs of each command.

    What the machine does beside weighs on all of them alike; every other round goes backwards.
    """
    for command in commands:
        run_process(command)
    found: list[list[Process]] = [[] for _ in commands]
    for number in range(runs):
        for position in range(len(commands))[:: -1 if number % 2 else 1]:
            found[position].append(run_process(commands[position]))
    return found


def median_ratio(of: Sequence[Process], to: Sequence[Process]) -> float:
    """Return the median over the rounds of one command's seconds divided by another's."""
    return median(one.seconds / other.seconds for one, other in zip(of, to, strict=True))


def seconds_of(task: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def median_seconds(task: Callable[[], object], runs: int) -> float:
    """Return the median over several calls."""
    return median(seconds_of(task) for _ in range(runs))


def peer_environment(folder: Path, peer: str) -> Path:
    """Make a virtual environment with a peer in it, unless it is there; return its Python."""
    interpreter = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not interpreter.exists():
        print(f"installing {peer} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", peer]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    return interpreter


def run_peer(interpreter: Path, script: str, *arguments: str) -> dict[str, Any]:
    """Run a script of this folder in the environment of a peer and return what it prints, as JSON."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(interpreter), "-W", "ignore", str(ROOT / "benchmarks" / script), *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=variables,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table(headers: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    named = list(headers)
    lines: list[Iterable[object]] = [named, ["---"] * len(named), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def machine() -> str:
    """Return date, hardware and versions, as a Markdown paragraph that names no host and no path."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{date.today().isoformat()}; {os.cpu_count()} cores ({_processor()}), {memory:.0f} GiB; "
        f"{platform.system()}, Python {platform.python_version()}, {versions}; "
        f"load of the machine at the end: {os.getloadavg()[0]:.1f}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())
