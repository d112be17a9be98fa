"""Further records join the classes of a local recoding that cover them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.run.applied import Row, first_run, go_on, multiset, released
from tests.run.commands import call, people
from tests.run.test_apply_mondrian import stands_for

SMALL = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LOCAL: dict[str, Any] = {"algorithm": {"name": "local"}, "budget": {"steps": 6}}


def classes_of(folder: Path) -> list[tuple[str, ...]]:
    """Return the published values of the classes that a run kept, in their order."""
    kept = json.loads((folder / "recoding.json").read_text(encoding="utf-8"))["classes"]
    assert kept["attributes"] == ["age", "zip", "sex"]
    return [
        tuple(kept["texts"][axis][node] for axis, node in enumerate(nodes)) for nodes in kept["published"]
    ]


def slow_class(classes: Sequence[tuple[str, ...]], row: Row) -> tuple[str, ...] | None:
    """Return the first class that stands for a record, one class and one value at a time."""
    for texts in classes:
        if all(stands_for(text, row, axis) for axis, text in enumerate(texts)):
            return texts
    return None


def wanted(
    before: Sequence[Row], new: Sequence[Row], classes: Sequence[tuple[str, ...]], *, alone: bool
) -> list[Row]:
    """Return the release of both: new records in no class, or in a failing one, are left out."""
    found = [(slow_class(classes, row), row) for row in new]
    joining = [(*texts, row[4], row[5]) for texts, row in found if texts is not None]

    def failing(rows: Sequence[Row]) -> set[Row]:
        return {
            key
            for key in {row[:3] for row in joining}
            if sum(row[:3] == key for row in rows) < 3 or len({row[3] for row in rows if row[:3] == key}) < 2
        }

    left = failing([*before, *joining]) | (failing(joining) if alone else set())
    return sorted([*before, *(row for row in joining if row[:3] not in left)])


@pytest.mark.slow
@SMALL
@given(seed=st.integers(0, 10**6), alone=st.booleans(), number=st.sampled_from((1, 7, 100)))
def test_into_the_first_class_that_covers(
    seed: int, alone: bool, number: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("joined")
    rows = people(260, seed)
    job = first_run(folder, rows[:160], **LOCAL)
    new, apply = rows[160 : 160 + number], {"batch": "require"} if alone else {}
    done = go_on(job, new, "--set", "suppression.limit=1", **apply)
    before = released(folder / "first")
    expected = wanted(before, new, classes_of(folder / "first"), alone=alone)
    if len(expected) == len(before):
        assert done.code == 1
        return
    assert done.code == 0, done.err
    assert released(folder / "second") == expected
    said = json.loads((folder / "second" / "report.json").read_text(encoding="utf-8"))
    assert said["applied"]["rows_before"] == len(before)
    assert said["applied"]["rows_added"] == len(expected) - len(before)
    assert said["release"]["suppressed_records"] == number - (len(expected) - len(before))


@pytest.mark.defaults
def test_both_are_audited_and_appended_to(tmp_path: Path) -> None:
    """What `auto` released, twice appended to: the first records stay, and every file is verified."""
    rows = people(460, 5)
    job = first_run(tmp_path, rows[:300])
    kept = [tmp_path / "first" / "recoding.json"]
    before = multiset(released(tmp_path / "first"))
    for number, (name, first) in enumerate((("second", "first"), ("third", "second"))):
        new = rows[300 + 80 * number : 380 + 80 * number]
        done = go_on(job, new, "--set", "suppression.limit=0.5", to=name, report=f"{first}/report.json")
        assert done.code == 0, done.err
        after = multiset(released(tmp_path / name))
        assert not before - after
        assert {row[:3] for row in after} == {row[:3] for row in before}
        before = after
        kept.append(tmp_path / name / "recoding.json")
    assert len({each.read_bytes() for each in kept}) == 1
    for name in ("first", "second", "third"):
        path = tmp_path / name / "share" / "release.csv"
        for report in (tmp_path / name / "report.json", tmp_path / name / "share" / "report.public.json"):
            audited = call("audit", path, "--report", report)
            assert audited.code == 0, audited.out


def test_equal_records_go_to_one_class_whatever_the_batch(tmp_path: Path) -> None:
    """Of a batch of one, all nodes above its values cover the same; the class is published as before."""
    rows = people(260, 3)
    job = first_run(tmp_path, rows[:250], **LOCAL)
    before = multiset(released(tmp_path / "first"))

    def added(new: Sequence[Row], to: str) -> list[Row]:
        done = go_on(job, new, "--set", "suppression.limit=1", to=to)
        assert done.code == 0, done.err
        return sorted((multiset(released(tmp_path / to)) - before).elements())

    together = added(rows[252:258], "together")
    alone = [added([each], f"alone-{number}") for number, each in enumerate(rows[252:258])]
    assert together == sorted(row for each in alone for row in each)
    assert {row[:3] for row in together} <= {row[:3] for row in before}


@pytest.mark.parametrize("engine", [{"name": "duckdb", "options": {"combinations": 60}}])
def test_out_of_core_as_in_memory(engine: dict[str, Any], tmp_path: Path) -> None:
    rows = people(260, 8)
    job = first_run(tmp_path, rows[:160], **LOCAL)
    found = []
    for name, own in (("memory", {"name": "memory"}), ("duckdb", engine)):
        job.config["engine"] = own
        done = go_on(job, rows[160:], "--set", "suppression.limit=1", to=name)
        if "engine.options.combinations" in done.err:
            continue
        assert done.code == 0, done.err
        found.append((tmp_path / name / "share" / "release.csv").read_bytes())
    assert len(set(found)) == 1
