"""Write the release of synthetic records from the frequency table: the step alone, measured in its process.

Run as ``python -m benchmarks.scale_release FILE.parquet`` in the folder of the checkout (Linux).
Prints seconds, processor seconds, and memory before the step and at its peak, beside a bare copy of the file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from anonymizer.config.load import load_config
from anonymizer.job.clock import UNWATCHED
from anonymizer.job.search import search
from anonymizer.job.source import input_path, open_as
from anonymizer.job.table import prepare
from anonymizer.job.verify import shape_of
from anonymizer.model.classes import released
from anonymizer.plan.plan import plan_of
from anonymizer.plan.prepared import Found
from benchmarks import scale_data
from benchmarks.common import machine, run_process, table
from benchmarks.scale import ALGORITHMS, K, bare_copy

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def memory(what: str) -> float:
    """Return a number of /proc/self/status in MiB: ``VmRSS`` is held, ``VmHWM`` the most since cleared."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) / 1024


def written(config: Path, target: Path) -> list[object]:
    """Search, then write, and return a row with what the writing took."""
    loaded = load_config(config)
    with open_as(loaded, input_path(loaded)) as relation:
        plan = plan_of(loaded)
        job = prepare(plan, relation)
        outcome = search(job, UNWATCHED)
        assert outcome.recoding is not None, "the limit of suppression is generous"
        found = Found(job, outcome, released(outcome.recoding, job.problem.k))
        CLEAR.write_text("5")
        before, started, used = memory("VmRSS"), time.monotonic(), time.process_time()
        (release,) = shape_of(plan, relation).queries(found, None)
        release.copy(target, None)
        return _row("release from the table", time.monotonic() - started, time.process_time() - used, before)


def _row(name: str, seconds: float, used: float, before: float) -> list[object]:
    peak = memory("VmHWM")
    return [name, f"{seconds:.1f}", f"{used:.1f}", f"{before:,.0f} MiB", f"{peak - before:,.0f} MiB"]


def main() -> None:
    """Print a table of the step and of the copy."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_release", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("path", type=Path, help="of the .parquet file")
    path = parser.parse_args().path.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, target = folder / "lattice.json", folder / "release.parquet"
        asked = scale_data.config(path, K, **ALGORITHMS["lattice"], output={"path": "release.parquet"})
        config.write_text(json.dumps(asked), encoding="utf-8")
        copy = run_process(bare_copy(path, folder / "copy.parquet"))
        rows = [
            written(config, target),
            ["bare copy", f"{copy.seconds:.1f}", f"{copy.cpu_seconds:.1f}", "", f"{copy.peak_mib:,.0f} MiB"],
        ]
        print(f"{target.stat().st_size / 2**20:,.0f} MiB of release\n")
    print(table(("step", "seconds", "CPU seconds", "held before", "beside that at the peak"), rows))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
