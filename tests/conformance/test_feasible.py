"""The exhaustive search over partitions: it sees all of them, and wider families have more releases."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.asked import about, any_table
from tests.helpers.examples import share
from tests.strategies import PARAMETERS
from tests.twins.feasible import AnyValues, BlankedNode, Feasibility, LocalNodes, WithinLevels, partitions
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec
from tests.twins.search import ConstraintSpec, ProblemSpec

SEEDS = st.integers(0, 2**32)


@pytest.mark.parametrize(("rows", "number"), [(0, 1), (1, 1), (4, 15), (6, 203)])
def test_every_partition_comes_once(rows: int, number: int) -> None:
    seen = {frozenset(map(frozenset, classes)) for classes in partitions(range(rows))}
    assert len(seen) == len(list(partitions(range(rows)))) == number
    assert all(sorted(row for rows_of in classes for row in rows_of) == list(range(rows)) for classes in seen)


def letters(*values: str) -> Microdata:
    """Return one quasi-identifier whose letters are under two nodes, the small and the large ones."""
    paths = {value: (value, "small" if value < "c" else "large", "*") for value in "abcd"}
    secret = SensitiveSpec("s", {"x": ("x", "*")})
    return Microdata(
        (QuasiIdentifierSpec("q", paths, maximum=2),), (secret,), tuple((value, "x") for value in values)
    )


def pairs(data: Microdata, limit: int = 0) -> Feasibility:
    """Return the search for classes of exactly... at least two records."""
    return Feasibility(ProblemSpec(data, (ConstraintSpec("k-anonymity", {"k": 2}),), limit=limit, k=2))


def test_classes_need_labels_of_their_own() -> None:
    data = letters("a", "b")
    nodes = LocalNodes(ProblemSpec(data, ()))
    assert nodes.labels([0, 1]) == {("small",), ("*",)}
    assert nodes.labels([0]) == {("a",), ("small",), ("*",)}
    assert nodes.separates([[0, 1], [0, 1]])
    assert not nodes.separates([[0, 1], [0, 1], [0, 1]])
    assert not nodes.separates([[0, 1], [0, 1]], frozenset({("*",)}))
    assert BlankedNode(ProblemSpec(data, ()), (0,)).labels([0, 1]) == set()
    assert BlankedNode(ProblemSpec(data, ()), (1,)).labels([0, 1]) == {("small",)}
    assert BlankedNode(ProblemSpec(data, ()), (2,)).labels([0, 1]) == {("*",)}


def test_a_single_record_can_only_be_suppressed() -> None:
    alone = letters("a")
    for limit in (0, 1):
        assert not pairs(alone, limit).by_classes(AnyValues())
        assert not pairs(alone, limit).by_records(AnyValues())
    assert pairs(letters("a", "c")).by_classes(AnyValues())


@share(3)
@given(seed=SEEDS)
def test_wider_families_have_more_releases(seed: int) -> None:
    random = Random(seed)
    names = [random.choice(list(PARAMETERS)) for _ in range(random.randint(1, 2))]
    spec = about(random, any_table(random, 5), names, ["loss"])
    own = Feasibility(spec)
    by_nodes = own.by_classes(LocalNodes(spec))
    within = own.by_classes(WithinLevels(spec))
    assert by_nodes or not own.valid()
    assert within or not by_nodes
    assert own.by_classes(AnyValues()) or not within
    assert own.by_records(AnyValues()) or not own.by_classes(AnyValues())
    assert own.by_records(LocalNodes(spec)) or not own.full_domain_by_records()
    assert own.full_domain_by_records() or not own.valid()
