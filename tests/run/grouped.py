"""Jobs whose release is in two tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tests.run.commands import Job, people, read_rows

AGE, ZIP, SEX, NOTE, GROUP = range(5)


def anatomy_job(folder: Path, records: int = 60, **settings: Any) -> Job:
    """Return a job for anatomy with three values in each group."""
    job = Job(folder).rows(people(records)).set("algorithm", name="anatomy")
    job.constraints({"model": "l-diversity", "l": 3})
    job.config["suppression"] = {"limit": 0}
    job.config.update(settings)
    job.config.setdefault("seed", 5)
    return job


def halves(job: Job) -> tuple[Path, Path]:
    """Return both files of the release."""
    stem, _, suffix = job.release.name.partition(".")
    return tuple(job.release.with_name(f"{stem}.{half}.{suffix}") for half in ("qit", "st"))  # type: ignore[return-value]


def members(job: Job) -> dict[str, list[list[str]]]:
    """Return the records of each group."""
    found: dict[str, list[list[str]]] = {}
    for row in read_rows(halves(job)[0]):
        found.setdefault(row[-1], []).append(row[:-1])
    return found


def values(job: Job) -> dict[str, Counter[str]]:
    """Return the sensitive values of each group."""
    found: dict[str, Counter[str]] = {}
    for group, value, count in read_rows(halves(job)[1]):
        found.setdefault(group, Counter())[value] += int(count)
    return found
