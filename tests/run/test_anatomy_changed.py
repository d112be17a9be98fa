"""A release in two tables that was changed, or of which one is missing, is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.commands import Job, assert_message, call
from tests.run.grouped import anatomy_job, halves


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job with its release, which tests leave as it is."""
    job = anatomy_job(tmp_path_factory.mktemp("made"))
    assert job.run().code == 0
    return job


@pytest.fixture
def job(made: Job, tmp_path: Path) -> Job:
    """A job with its release, to be changed."""
    return made.copied(tmp_path)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("command", ["check", "attack", "audit"])
def test_a_half_is_refused_by_the_name_of_the_other(half: int, command: str, job: Job) -> None:
    missing, there = halves(job)[half], halves(job)[1 - half]
    missing.unlink()
    for path in (there, missing, job.release):
        done = call(command, path, *(("-c", job.file) if command != "audit" else ()))
        assert done.code == 2
        assert_message(done.err, (str(missing), "no such file", there.name, "put both in one folder"))


def changed(path: Path, old: str, new: str) -> None:
    """Replace a line of a file by another, or by none."""
    lines = path.read_text().splitlines()
    assert old in lines
    place = lines.index(old)
    lines[place : place + 1] = [new] if new else []
    path.write_text("\n".join([*lines, ""]))


def tampered(job: Job, way: str) -> str:
    """Change a release; return the name of the group that an error should give."""
    records, sensitive = halves(job)
    rows, first = sensitive.read_text().splitlines(), records.read_text().splitlines()[1]
    group, value, count = rows[1].split(",")
    if way == "unknown group":
        changed(sensitive, rows[1], f"999,{value},{count}")
        return "999"
    if way == "a group without values":
        changed(records, first, f"{first.rpartition(',')[0]},777")
        return "777"
    if way == "counts do not add up":
        changed(sensitive, rows[1], f"{group},{value},{int(count) + 1}")
    elif way == "a value less":
        changed(sensitive, rows[1], "")
    elif way == "a record less":
        changed(records, first, "")
        return first.rpartition(",")[2]
    elif way == "a value twice":
        changed(sensitive, rows[1], f"{rows[1]}\n{rows[1]}")
    else:
        changed(sensitive, rows[1], f"{group},{value},{way.rsplit(maxsplit=1)[-1]}")
    return group


WAYS = [
    "unknown group",
    "a group without values",
    "counts do not add up",
    "a value less",
    "a record less",
    "a value twice",
    "count 0",
    "count -1",
    "count 1.5",
    "count many",
]


@pytest.mark.parametrize("way", WAYS)
def test_a_tampered_pair_is_an_error_that_names_the_group(way: str, job: Job) -> None:
    group = tampered(job, way)
    for command in ("check", "attack"):
        done = call(command, job.release, "-c", job.file)
        assert done.code == 2
        assert_message(done.err, (f"group {group} ", "not of one release, or were changed"))
    audited = call("audit", job.release)
    assert audited.code == 1
    assert f"group {group} " in audited.out


def test_records_that_change_groups_are_found_by_the_hash(job: Job) -> None:
    lines = halves(job)[0].read_text().splitlines()
    one = lines[1]
    other = next(line for line in lines[2:] if line.rpartition(",")[2] != one.rpartition(",")[2])
    for line, with_group in ((one, other), (other, one)):
        changed(halves(job)[0], line, f"{line.rpartition(',')[0]},{with_group.rpartition(',')[2]}")
    done = call("audit", job.release)
    assert done.code == 1
    assert "release.qit.csv is not the file" in done.out
