"""The run of a drafted config on a million records of 10 columns as CSV, beside its floor in DuckDB.

Run as ``python -m benchmarks.scale_draft`` in the folder of the checkout. The floor reads the file, counts
distinct rows without the identifier, and writes sorted records.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.common import alternating, machine, python, run_command, run_process, table
from benchmarks.init import RECORDS, SEED, draft, drawn, row

LEFT_OUT = ("fnlwgt", "relationship", "capital-gain", "capital-loss", "hours-per-week")
"""Columns of Adult that the file does not have."""

IDENTIFIER = "person_id"

TARGET = 3.0
"""Times the processor seconds of the floor that the run may take."""


def floor(path: Path, target: Path) -> list[str]:
    """Return the command that reads a file, counts its distinct rows, and writes the records sorted."""
    statements = (
        f"CREATE TABLE r AS SELECT * EXCLUDE ({IDENTIFIER}) FROM read_csv('{path}', all_varchar = true)",
        "SELECT *, count(*) FROM r GROUP BY ALL",
        f"COPY (SELECT * FROM r ORDER BY ALL) TO '{target}' (HEADER)",
    )
    return python(
        "-c", f"import duckdb; c = duckdb.connect(); [c.execute(s).fetchnumpy() for s in {statements!r}]"
    )


def measured(records: int, runs: int) -> str:
    """Return the table, as Markdown."""
    frame = drawn(records, SEED).drop(columns=[*LEFT_OUT])
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "records.csv"
        frame.to_csv(path, index=False)
        run_process(draft(path))
        config = path.with_suffix(".yaml")
        commands = [run_command(config, Path(name) / "release"), floor(path, Path(name) / "floor.csv")]
        own, bare = alternating(commands, runs)
    ratio = median(one.cpu_seconds / other.cpu_seconds for one, other in zip(own, bare, strict=True))
    rows: list[list[object]] = [
        row("`anonymizer run` of the draft", own),
        row("read, GROUP BY and ordered write in DuckDB", bare),
        [f"ratio (target: at most {TARGET:g})", "", f"{ratio:.2f}", ""],
    ]
    title = f"{records:,} records x {frame.shape[1]} columns, CSV"
    return f"{title}\n\n{table(('process', 'seconds', 'CPU seconds', 'peak memory'), rows)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_draft", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--records", type=int, default=RECORDS, help=f"default {RECORDS:,}")
    parser.add_argument("--runs", type=int, default=3, help="measured runs of each (default 3)")
    chosen = parser.parse_args()
    print(measured(chosen.records, chosen.runs))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
