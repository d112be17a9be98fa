"""Linkage on what generalization leaves: from the written files, against a slow reference."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given

from anonymizer.adversary.candidate import adversary_of
from anonymizer.model.adversary import Truth
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.linkage import (
    config_of,
    linkage,
    names_of,
    original_rows,
    released_rows,
    scene,
    write,
)
from tests.helpers.recodings import Node, highest, levels_between, lowest, node
from tests.twins.linkage import classes_over_records, exact_linkage

DISTANCES = ("euclidean", "mahalanobis", "rank")


def random_node(random: Random) -> Node:
    while True:
        data = strategies.table(random)
        levels = levels_between(random, lowest(data), highest(data))
        found = node(random, data, levels, random.choice((1, 2, 3)))
        if found is not None:
            return found


@share(10)
@given(strategies.randoms())
def test_on_a_full_domain_release_every_distance_links_as_often_as_the_vulnerability_says(random):
    chosen = random_node(random)
    data = chosen.data
    width = len(data.quasi_identifiers)
    rows = sorted(row for row in released_rows(chosen) if row is not None)
    with TemporaryDirectory() as name:
        folder = Path(name)
        given_scene = scene(
            config_of(data, folder),
            write(folder / "release.csv", names_of(data), rows),
            write(folder / "original.csv", names_of(data), original_rows(data)),
        )
    assert given_scene.original.truth is Truth.RECONSTRUCTED
    known = list(range(width))
    if not chosen.kept_suppressed:
        known = sorted(random.sample(known, random.randint(1, width)))
    expected = classes_over_records([[row[position] for position in known] for row in rows])
    names = [data.quasi_identifiers[position].name for position in known]
    for distance in DISTANCES:
        found = linkage(given_scene, distance=distance, knowledge=names, standardise="original")
        assert found.success == pytest.approx(float(expected), abs=1e-12)
        assert found.low == found.success == found.high
        assert found.baseline * len(rows) == 1
        assert found.records == len(rows)


@share(3)
@given(strategies.randoms())
def test_with_known_truth_the_narrowest_class_that_fits_is_taken(random):
    chosen = random_node(random)
    data = chosen.data
    table = build.table(data)
    rows = released_rows(chosen)
    kept = [row for row in rows if row is not None]
    places = iter(range(len(kept)))
    became = [None if row is None else next(places) for row in rows]
    known = sorted(random.sample(range(len(data.quasi_identifiers)), random.randint(1, len(chosen.levels))))

    def value(row, position):
        return "<missing>" if data.records[row][position] is None else str(data.records[row][position])

    def stands_for(position, text):
        spec = data.quasi_identifiers[position]
        present = {record[position] for record in data.records}
        level = chosen.levels[position]
        return {
            "<missing>" if cell is None else str(cell)
            for cell in present
            if text == "*" or spec.paths[cell][level] == text
        }

    expected = exact_linkage(
        [[value(row, position) for position in known] for row in range(len(rows))],
        [[row[position] for position in known] for row in kept],
        became,
        lambda i, text, own: own in stands_for(known[i], text),
        lambda i, text: len(stands_for(known[i], text)),
    )
    recoding = chosen.released(table).recoding
    names = [data.quasi_identifiers[position].name for position in known]
    # Without the records left out, the release has another mean and deviation than the original.
    found = linkage(adversary_of(table, recoding), knowledge=names, standardise="original")
    assert found.success == pytest.approx(float(expected), abs=1e-12)
    assert found.details["truth"] == "known"


@share(3)
@given(strategies.randoms())
def test_assignment_expects_as_much_as_nearest_on_a_release_without_stars(random):
    chosen = random_node(random)
    if chosen.kept_suppressed:
        return
    table = build.table(chosen.data)
    given_scene = adversary_of(table, chosen.released(table).recoding)
    scale = {"standardise": "original"}  # a handful of records has other means than all of them
    one, other = linkage(given_scene, **scale), linkage(given_scene, linkage="assignment", **scale)
    assert other.success == pytest.approx(one.success, abs=1e-12)
    assert other.details["blocks"] == bool(chosen.suppressed)


@pytest.mark.quick(1)
@pytest.mark.parametrize("distance", DISTANCES)
def test_the_shortcut_through_coverings_changes_nothing(distance, monkeypatch):
    from anonymizer.attacks.linkage.distances import Distance

    random = Random(5)
    scenes = []
    for _ in range(40):
        chosen = random_node(random)
        table = build.table(chosen.data)
        scenes.append(adversary_of(table, chosen.released(table).recoding))
    quick = [linkage(each, distance=distance).success for each in scenes]
    monkeypatch.setattr(Distance, "exact", False)
    assert [linkage(each, distance=distance).success for each in scenes] == pytest.approx(quick, abs=1e-12)
    assert len(np.unique(quick)) > 10
