"""The attacks that count classes, against slow twins and published numbers."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, PublishedTable
from tests import strategies
from tests.attacks.literature import literature
from tests.attacks.published import FEWER, attack, one, release, run
from tests.helpers.messages import exchange
from tests.strategies import tree
from tests.twins import attacks as twins
from tests.twins.microdata import Path, Value

SECRETS = ("flu", "cold", "cough", "asthma", "cancer")
DESCRIPTIVE = ("homogeneity", "background", "skewness", "similarity", "uniqueness", "wildcard")


@st.composite
def files(draw: st.DrawFn, most: int = 14) -> list[tuple[str, ...]]:
    """Return records of three quasi-identifiers, blanks among them, and a sensitive value."""
    cells = st.sampled_from(["a", "b", "c", "*"])
    row = st.tuples(cells, cells, st.sampled_from(["1", "2", "*"]), st.sampled_from(SECRETS))
    return draw(st.lists(row, min_size=1, max_size=most))


def table(
    rows: list[tuple[str, ...]], random: Random | None = None
) -> tuple[PublishedTable, dict[Value, Path]]:
    paths = tree(random or Random(1), list(SECRETS), 2)
    return release(("q", "r", "t", "s"), rows, ("s",), {"s": paths}), paths


KNOWN = st.sampled_from([("q",), ("q", "t"), ("q", "r", "t"), ("r",)])


def positions(known: tuple[str, ...]) -> list[int]:
    return [("q", "r", "t").index(name) for name in known]


@FEWER
@given(files(), KNOWN)
def test_homogeneity_is_what_a_loop_counts(rows: list[tuple[str, ...]], known: tuple[str, ...]) -> None:
    found = one("homogeneity", table(rows)[0], knowledge=known)
    assert found.success == twins.homogeneity(rows, positions(known), 3)
    assert found.baseline == twins.homogeneity(rows, [], 3)


@FEWER
@given(files(), KNOWN, st.integers(0, 4))
def test_background_is_what_a_loop_counts(
    rows: list[tuple[str, ...]], known: tuple[str, ...], facts: int
) -> None:
    found = one("background", table(rows)[0], knowledge=known, facts=facts)
    assert found.success == twins.background(rows, positions(known), 3, facts)
    assert found.baseline == twins.background(rows, [], 3, facts)


@FEWER
@given(files(), KNOWN, st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5]), st.sampled_from([0.25, 0.5, 0.6, 1]))
def test_skewness_is_what_a_loop_counts(
    rows: list[tuple[str, ...]], known: tuple[str, ...], rare: float, threshold: float
) -> None:
    found = one("skewness", table(rows)[0], knowledge=known, rare=rare, threshold=threshold)
    exact = Fraction(str(rare)), Fraction(str(threshold))
    assert found.success == twins.skewness(rows, positions(known), 3, *exact)
    assert found.baseline == twins.skewness(rows, [], 3, *exact)


@FEWER
@given(files(), KNOWN, st.integers(0, 2), strategies.randoms())
def test_similarity_is_what_a_loop_counts(
    rows: list[tuple[str, ...]], known: tuple[str, ...], level: int, random: Random
) -> None:
    own, paths = table(rows, random)
    found = one("similarity", own, knowledge=known, level=level)
    assert found.success == twins.similarity(rows, positions(known), 3, paths, level)
    assert found.baseline == twins.similarity(rows, [], 3, paths, level)


@FEWER
@given(files())
def test_wildcard_is_what_a_loop_counts(rows: list[tuple[str, ...]]) -> None:
    assert one("wildcard", table(rows)[0]).success == twins.wildcard(rows, 3)


@pytest.mark.parametrize("name", DESCRIPTIVE)
@FEWER
@given(secrets=st.lists(st.sampled_from(SECRETS), min_size=2, max_size=8))
def test_constant_release_gives_the_baseline(name: str, secrets: list[str]) -> None:
    own, _ = table([("*", "*", "*", value) for value in secrets])
    found = one(name, own)
    assert found.success == found.baseline
    assert found.low == found.high == float(found.success)


def test_rare_value_at_the_threshold_counts() -> None:
    rows = [("a", "cancer"), ("a", "flu"), *[("b", "flu")] * 18]
    own = release(("q", "s"), rows, ("s",))
    assert one("skewness", own).success == Fraction(2, 20)
    assert one("skewness", own, rare=0.0499).success == 0
    assert one("skewness", own, threshold=0.501).success == 0


def test_huge_denominators_stay_exact() -> None:
    own = release(("q", "s"), [("a", "cancer"), ("a", "flu"), ("b", "flu")], ("s",))
    assert one("skewness", own, rare=1, threshold="0.5000000000000000000000001").success == Fraction(1, 3)
    assert one("skewness", own, rare=1, threshold="0.4999999999999999999999999").success == 1


def test_each_sensitive_attribute_is_attacked() -> None:
    rows = [("a", "x", "1"), ("a", "x", "2"), ("b", "y", "1"), ("b", "x", "1")]
    found = run("homogeneity", release(("q", "s", "t"), rows, ("s", "t")))
    assert [(each.knowledge["sensitive"], each.success) for each in found] == [
        ("s", Fraction(1, 2)),
        ("t", Fraction(1, 2)),
    ]


def test_without_sensitive_attribute_they_say_what_they_lack() -> None:
    scene = AdversaryView(release(("q",), [("a",)]))
    assert attack("homogeneity").missing_requirement(scene) == "a sensitive attribute"
    assert attack("similarity").missing_requirement(scene) == "a hierarchy of a sensitive attribute"
    assert attack("uniqueness").missing_requirement(scene) is None


def test_flat_attribute_has_nothing_similar() -> None:
    own = release(("q", "s"), [("a", "x")], ("s",), {"s": {"x": ("x",)}})
    assert (
        attack("similarity").missing_requirement(AdversaryView(own)) == "a hierarchy of a sensitive attribute"
    )


@pytest.mark.parametrize(
    ("name", "parameters"), [("similarity", {"level": 3}), ("homogeneity", {"knowledge": ["Q"]})]
)
def test_parameters_that_the_release_lacks_are_refused(
    name: str, parameters: dict[str, Any], message: SnapshotAssertion
) -> None:
    with pytest.raises(InputError) as refused:
        one(name, table([("a", "b", "1", "flu")])[0], **parameters)
    assert exchange(f"{name} {parameters}", refused.value) == message


def test_blanks_that_match_anything_leave_the_unique_records_unique() -> None:
    """Two blanks make every record match another one, and two records are still alone on what is left."""
    rows = [("a", "x"), ("*", "x"), ("b", "y"), ("b", "*"), ("c", "z"), ("c", "z")]
    found = one("wildcard", release(("q", "r"), rows))
    assert found.success == Fraction(2, 6)
    assert found.details == {"blank_cells": 2, "unique_records": 2}


def test_homogeneity_of_the_l_diversity_paper() -> None:
    """Four of twelve inpatients all have cancer; the 3-diverse table discloses no value."""
    names, rows, _ = literature("ldiversity_inpatients_4anonymous")
    assert one("homogeneity", release(names, rows, names[-1:])).success == Fraction(1, 3)
    names, rows, _ = literature("ldiversity_inpatients_3diverse")
    table = release(names, rows, names[-1:])
    assert one("homogeneity", table).success == 0
    assert one("background", table, facts=1).success == 0
    assert one("background", table, facts=2).success == 1


def test_similarity_of_the_t_closeness_paper() -> None:
    """The first class of the 3-diverse table: three diseases, all of the stomach."""
    names, rows, _ = literature("tcloseness_salary_disease_3diverse")
    paths = literature_tree()
    table = release(names, rows, ("disease",), {"disease": paths})
    levels = range(len(next(iter(paths.values()))))
    found = [one("similarity", table, level=level).success for level in levels]
    assert found[0] == 0
    assert found[-1] == 1
    assert Fraction(1, 3) in found


def literature_tree() -> dict[str, tuple[str, ...]]:
    from tests.attacks.literature import rows_of

    return {row[0]: tuple(row) for row in rows_of("tcloseness_disease_hierarchy")}


def test_numbers_are_exact_fractions() -> None:
    rows = [("a", "x")] * 2 + [("b", "x"), ("b", "y"), ("b", "y")]
    success = one("homogeneity", release(("q", "s"), rows, ("s",))).success
    assert isinstance(success, Fraction)
    assert success == Fraction(2, 5)
    assert np.isclose(float(success), 0.4)
