"""Further records go down the cuts that Mondrian made of earlier ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from tests.helpers.messages import exchange
from tests.run.applied import Row, first_run, go_on, multiset, published, released
from tests.run.commands import people

SMALL = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def stands_for(text: str, row: Row, position: int) -> bool:
    """Tell whether a published age, zip or sex stands for that of a record, by the documentation's words."""
    ages = {published(row, {"age": level, "zip": 0, "sex": 0})[0] for level in range(5)}
    zips = {published(row, {"age": 0, "zip": level, "sex": 0})[1] for level in range(5)}
    return text in (ages, zips, {row[3], "*"})[position]


def slow_region(tree: dict[str, Any], row: Row) -> list[str] | None:
    """Return what the cuts publish of a record, one record and one cut at a time; None for nothing."""

    def label(axis: int, node: int) -> str:
        return str(tree["nodes"][axis][node][1])

    region = next(
        (
            number
            for number, nodes in enumerate(tree["first"])
            if all(stands_for(label(axis, node), row, axis) for axis, node in enumerate(nodes))
        ),
        None,
    )
    if region is None:
        return None
    while tree["axis"][region] >= 0:
        axis = tree["axis"][region]
        parts = tree["parts"][tree["starts"][region] : tree["starts"][region + 1]]
        listed = any(stands_for(label(axis, node), row, axis) for node in parts)
        region = tree["left"][region] + (listed == bool(tree["listed_right"][region]))
    end = sum(axis < 0 for axis in tree["axis"][:region])
    texts = [label(axis, node) for axis, node in enumerate(tree["published"][end])]
    fits = all(stands_for(text, row, axis) for axis, text in enumerate(texts))
    return texts if fits else None


def wanted(before: Sequence[Row], new: Sequence[Row], tree: dict[str, Any]) -> list[Row]:
    """Return the release of both: new records that are in no region, or in a failing class, are left out."""
    found = [(slow_region(tree, row), row) for row in new]
    joining = [(*texts, row[4], row[5]) for texts, row in found if texts is not None]
    every = [*before, *joining]
    failing = {
        key
        for key in {row[:3] for row in joining}
        if sum(row[:3] == key for row in every) < 3 or len({row[3] for row in every if row[:3] == key}) < 2
    }
    return sorted([*before, *(row for row in joining if row[:3] not in failing)])


@pytest.mark.slow
@SMALL
@given(seed=st.integers(0, 10**6), limited=st.booleans())
def test_down_the_cuts(seed: int, limited: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cut")
    rows = people(260, seed)
    job = first_run(folder, rows[:160], algorithm={"name": "mondrian"})
    if limited:
        job.config["attributes"]["age"]["levels"] = {"max": 3}
        done = job.rows(rows[:160]).run("-o", folder / "first", "--overwrite", "--quiet")
        assert done.code == 0, done.err
    done = go_on(job, rows[160:], "--set", "suppression.limit=1")
    assert done.code == 0, done.err
    tree = json.loads((folder / "first" / "recoding.json").read_text(encoding="utf-8"))["cuts"]
    assert released(folder / "second") == wanted(released(folder / "first"), rows[160:], tree)


@pytest.mark.slow
@SMALL
@given(seed=st.integers(0, 10**6))
def test_equal_records_are_published_alike(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("twice")
    rows = people(200, seed)
    job = first_run(folder, rows, algorithm={"name": "mondrian"})
    assert go_on(job, rows, "--set", "suppression.limit=0.9").code == 0
    once = multiset(released(folder / "first"))
    assert multiset(released(folder / "second")) == multiset([*once.elements(), *once.elements()])
    kept = [(folder / name / "recoding.json").read_bytes() for name in ("first", "second")]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("option", [{"mode": "relaxed"}, {"labels": "interval"}])
def test_other_ways_to_cut_are_not_kept(
    option: dict[str, str], tmp_path: Path, message: SnapshotAssertion
) -> None:
    rows = people(120, 1)
    job = first_run(tmp_path, rows, algorithm={"name": "mondrian", **option})
    assert not (tmp_path / "first" / "recoding.json").exists()
    done = go_on(job, rows)
    assert done.code == 2
    assert exchange(f"mondrian with {option}", done.err.strip(), tmp_path) == message


def test_an_objective_without_a_value_for_regions_is_refused(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    rows = people(260, 4)
    job = first_run(tmp_path, rows[:200], algorithm={"name": "mondrian"})
    job.set("algorithm", name="lattice").set("objective", metric="height")
    done = go_on(job, rows[200:], "--set", "suppression.limit=1")
    assert done.code == 2
    assert exchange("objective height", done.err.strip(), tmp_path) == message
    assert not (tmp_path / "second").exists()
