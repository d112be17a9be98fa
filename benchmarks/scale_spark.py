"""A run by Spark beside the same run in memory: the same answers, and what the driver holds.

Run as ``python -m benchmarks.scale_spark [RECORDS …] [--profile alike]`` in the folder of the checkout, with
Java 17 and the extra spark.

Spark runs on two worker processes of this machine. What the driver holds is the largest resident memory of
this program's process and of Spark's own Java beside it, the workers not among them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import scale_data
from benchmarks.common import ROOT, machine, read_report, run_command, table

K = 10
RECORDS = 1_000_000
SECONDS = 0.1
"""Between two looks at the processes."""

WORKER = b"CoarseGrainedExecutorBackend"
SAME = ("status", "recoding", "constraints", "loss")
MEMORY = "1GB"

ALGORITHMS: Mapping[str, Mapping[str, Any]] = {
    "lattice": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.02}},
    "mondrian": {"algorithm": {"name": "mondrian"}},
}
"""What is added to the config for each."""


@dataclass(frozen=True)
class Held:
    """What a command took.

    Attributes
    ----------
    seconds: from start to end.
    python, java: largest resident memory of either process of the driver, in bytes.
    together: of both at one time.
    """

    seconds: float
    python: int
    java: int
    together: int

    @property
    def cells(self) -> list[str]:
        """The figures as cells of a table."""
        memory = (f"{held / 2**20:,.0f} MiB" for held in (self.python, self.java, self.together))
        return [f"{self.seconds:.1f}", *memory]


MOST = 1_000_000
"""Distinct combinations that the driver and one process of a worker hold; of fewer records a tenth."""


def engine(records: int) -> dict[str, Any]:
    """Return the section of a config for two worker processes of this machine, and a small driver."""
    options = {
        "master": "local-cluster[2,1,1024]",
        "combinations": min(records // 10, MOST),
    }
    return {"name": "spark", "memory_limit": MEMORY, "options": options}


def watched(command: list[str]) -> Held:
    """Run a command and look at its processes until it ends.

    Raises
    ------
    RuntimeError: its exit code is not 0.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=said)
        python = java = together = 0
        while running.poll() is None:
            own, driver = resident(running.pid, "VmRSS"), spark_driver(running.pid)
            beside = 0 if driver is None else resident(driver, "VmRSS")
            together = max(together, own + beside)
            python = max(python, resident(running.pid, "VmHWM"))
            java = max(java, 0 if driver is None else resident(driver, "VmHWM"))
            time.sleep(SECONDS)
        if running.returncode:
            said.seek(0)
            raise RuntimeError(said.read().decode(errors="replace")[-2000:])
    return Held(time.perf_counter() - started, python, java, together)


def resident(process: int, what: str) -> int:
    """Return the resident memory of a process in bytes, now (VmRSS) or at most (VmHWM); 0 once it ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = [line.split() for line in status.splitlines() if line.startswith(f"{what}:")]
    return int(found[0][1]) * 1024 if found else 0


def spark_driver(process: int) -> int | None:
    """Return the Java that a process has started; the workers are children of that one."""
    try:
        tasks = Path(f"/proc/{process}/task").iterdir()
        children = [int(each) for task in tasks for each in (task / "children").read_text().split()]
        for child in children:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"SparkSubmit" in command and WORKER not in command:
                return child
    except OSError:
        pass
    return None


def same(folder: Path, one: Path, other: Path) -> bool:
    """Tell whether two runs tell the same and released the same records, in whatever order."""
    first, second = read_report(one), read_report(other)
    if any(first[key] != second[key] for key in SAME):
        return False
    if any(first["release"][key] != second["release"][key] for key in ("rows", "classes", "verified")):
        return False
    inner, outer = _grouped(one), _grouped(other)
    with duckdb.connect(config={"temp_directory": str(folder), "memory_limit": "4GB"}) as connection:
        either = f"(({inner}) EXCEPT ({outer})) UNION ALL (({outer}) EXCEPT ({inner}))"
        return connection.execute(f"SELECT count(*) FROM ({either})").fetchall() == [(0,)]


def _grouped(output: Path) -> str:
    """Return SQL for the distinct records of a release with their numbers, each as texts."""
    release = output / "share" / "release.parquet"
    files = f"{release}/*.parquet" if release.is_dir() else str(release)
    columns = ", ".join(f'CAST("{name}" AS VARCHAR) AS "{name}"' for name in scale_data.ATTRIBUTES)
    return f"SELECT {columns}, count(*) AS n FROM '{files}' GROUP BY ALL"


def measured(records: int, profile: str, algorithm: str, *, compared: bool) -> list[object]:
    """Return the row of the table for a number of records."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "records.parquet"
        scale_data.write(records, path, profile)
        asked = scale_data.config(path, K, **ALGORITHMS[algorithm], output={"path": "release.parquet"})
        configs = {"memory": asked, "spark": {**asked, "engine": engine(records)}}
        for place, config in configs.items():
            (folder / f"{place}.json").write_text(json.dumps(config), encoding="utf-8")
        by_spark = watched(run_command(folder / "spark.json", folder / "spark"))
        report = read_report(folder / "spark")
        loss, classes = report["loss"]["loss"], report["release"]["classes"]
        title = [f"{records:,}", algorithm, f"{loss:.6f}", f"{classes:,}"]
        if not compared:
            return [*title, *by_spark.cells, "-", "-"]
        in_memory = watched(run_command(folder / "memory.json", folder / "memory"))
        answer = "yes" if same(folder, folder / "spark", folder / "memory") else "NO"
        return [*title, *by_spark.cells, f"{in_memory.seconds:.1f}", answer]


def main() -> None:
    """Print a table with a row for each number of records."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_spark", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("records", type=int, nargs="*", default=[RECORDS], help=f"default {RECORDS:,}")
    parser.add_argument("--algorithms", nargs="*", choices=list(ALGORITHMS), default=list(ALGORITHMS))
    parser.add_argument(
        "--profile", choices=list(scale_data.PROFILES), default="varied", help="default varied"
    )
    parser.add_argument("--alone", action="store_true", help="without the run in memory beside it")
    chosen = parser.parse_args()
    rows = [
        measured(own, chosen.profile, algorithm, compared=not chosen.alone)
        for own in chosen.records
        for algorithm in chosen.algorithms
    ]
    found = ("records", "algorithm", "loss", "classes", "s", "Python", "Java", "together")
    header = (*found, "s in memory", "same")
    print(f"Spark on two workers of one core, driver with {MEMORY}\n")
    print(table(header, rows))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
