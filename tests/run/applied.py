"""A first run and further records, and slow words for what becomes of these."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.run.commands import Done, Job, read_rows

Row = tuple[str, ...]
QUASI_IDENTIFIERS = (0, 1, 2)
DIAGNOSIS = 3
"""Columns of a release of the small job: age, zip, sex, diagnosis, note."""


def first_run(folder: Path, rows: Sequence[Row], **sections: dict[str, Any]) -> Job:
    """Run the small job on some records into ``first/``, and return it."""
    job = Job(folder).rows(rows)
    for name, values in sections.items():
        job.set(name, **values)
    done = job.run("-o", folder / "first", "--quiet")
    assert done.code == 0, done.err
    return job


def go_on(job: Job, rows: Sequence[Row], *args: str, to: str = "second", **apply: str) -> Done:
    """Run the job on further records, which join the release of ``first/``."""
    job.set("apply", **{"report": "first/report.json", **apply})
    return job.rows(rows).run("-o", job.folder / to, "--quiet", *args)


def released(folder: Path) -> list[Row]:
    """Return the rows of a release."""
    return [tuple(row) for row in read_rows(folder / "share" / "release.csv")]


def header(folder: Path) -> list[str]:
    """Return the columns of a release."""
    with (folder / "share" / "release.csv").open(encoding="utf-8", newline="") as stream:
        return next(csv.reader(stream))


def published(row: Row, levels: dict[str, int]) -> Row:
    """Return a record of the small job at generalization levels, by the words of the documentation."""
    _, age, code, sex, diagnosis, note = row
    width = {1: 10, 2: 20, 3: 40}.get(levels["age"])
    low = 0 if width is None else int(age) // width * width
    ages = {0: age, 4: "*"}.get(levels["age"], f"{low}-{low + (width or 1) - 1}")
    kept = len(code) - levels["zip"]
    zips = "*" if kept == 0 else code[:kept] + "*" * levels["zip"]
    return ages, zips, sex if levels["sex"] == 0 else "*", diagnosis, note


def expected(
    before: Sequence[Row], new: Sequence[Row], k: int, distinct: int, *, alone: bool = False
) -> tuple[list[Row], int]:
    """Return the release that goes on, and how many new records are left out, for models without p.

    Parameters
    ----------
    before, new: as published.
    k, distinct: records and distinct diagnoses that every class must have.
    alone: whether the classes of the new records must by themselves.
    """

    def failing(rows: Sequence[Row]) -> set[Row]:
        classes: dict[Row, list[str]] = defaultdict(list)
        for row in rows:
            classes[row[:3]].append(row[DIAGNOSIS])
        return {key for key, values in classes.items() if len(values) < k or len(set(values)) < distinct}

    suppressed = failing([*before, *new]) | (failing(new) if alone else set())
    kept = [row for row in new if row[:3] not in suppressed]
    return sorted([*before, *kept]), len(new) - len(kept)


def multiset(rows: Sequence[Row]) -> Counter[Row]:
    """Return how often each row stands in a release."""
    return Counter(rows)
