"""Which algorithm `auto` chooses, rule by rule, and that it returns what that one finds."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.model.features import SuppressionMethod
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import Status
from anonymizer.search.auto import FEW_SECONDS, MANY_COMBINATIONS, Auto, choose
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchAlgorithm, SearchProblem
from tests import strategies
from tests.helpers.messages import exchange
from tests.helpers.problems import metric, problem
from tests.twins.microdata import Microdata, Path, QuasiIdentifierSpec, SensitiveSpec, Value
from tests.twins.search import ConstraintSpec, ProblemSpec

DEEP: dict[Value, Path] = {value: (value, value[0], "*") for value in ("aa", "ab", "ba", "bb")}
FLAT: dict[Value, Path] = {value: (value, "*") for value in ("x", "y", "z")}
NUMBERS: dict[Value, Path] = {value: (str(value), "*") for value in range(5)}


def asked(**trees: dict[Value, Path]) -> SearchProblem:
    """Return a problem with k-anonymity; the numbers have no hierarchy."""
    random = Random(5)
    own = tuple(
        QuasiIdentifierSpec(name, paths, paths is NUMBERS, 1.0, 0, len(next(iter(paths.values()))) - 1)
        for name, paths in trees.items()
    )
    columns = [strategies._cells(random, list(paths), 20) for paths in (*trees.values(), FLAT)]
    data = Microdata(own, (SensitiveSpec("s"),), tuple(zip(*columns, strict=True)))
    found = problem(ProblemSpec(data, (ConstraintSpec("k-anonymity", {"k": 2}),), k=2))
    attributes = tuple(
        replace(attribute, by_range=trees[attribute.name] is NUMBERS)
        for attribute in found.table.quasi_identifiers
    )
    return replace(found, table=replace(found.table, quasi_identifiers=attributes))


def many(own: SearchProblem) -> SearchProblem:
    """Return a problem on a table with one combination too many for local recoding."""
    codes = np.resize(own.table.codes, (MANY_COMBINATIONS + 1, own.table.codes.shape[1]))
    ones = np.ones(len(codes), dtype=np.int64)
    return replace(own, table=replace(own.table, codes=codes, measure=Measure(ones)))


def test_hierarchies_go_to_local(message: SnapshotAssertion) -> None:
    choice = choose(asked(a=DEEP, b=FLAT), None)
    assert (choice.name, choice.parameters) == ("local", {})
    assert exchange("hierarchies", choice.reason) == message
    assert choose(asked(a=DEEP), FEW_SECONDS).name == "local"


@pytest.mark.parametrize("method", [SuppressionMethod.RECORDS, SuppressionMethod.CELLS])
def test_a_method_of_suppression_goes_to_lattice(
    method: SuppressionMethod, message: SnapshotAssertion
) -> None:
    choice = choose(replace(asked(a=DEEP, n=NUMBERS), suppression=method), 0.1)
    assert choice.name == "lattice"
    assert exchange(method.value, choice.reason) == message
    assert method in SEARCH_ALGORITHMS["lattice"].suppressions()
    assert method in Auto.suppressions()


def test_a_metric_of_full_domain_levels_goes_to_lattice(message: SnapshotAssertion) -> None:
    choice = choose(replace(asked(a=DEEP, n=NUMBERS), metric=metric("height")), 0.1)
    assert choice.name == "lattice"
    assert exchange("height", choice.reason) == message


def test_a_metric_of_levels_goes_where_nodes_are_published() -> None:
    own = replace(asked(n=NUMBERS), metric=metric("precision"))
    assert choose(own, None).name == "local"
    large = choose(many(own), None)
    assert (large.name, large.parameters) == ("mondrian", {"labels": "hierarchy"})
    assert Auto().search(many(own), Control()).status is Status.SATISFIED


def test_numbers_without_a_hierarchy_go_to_mondrian_with_intervals_and_not_to_microaggregation(
    message: SnapshotAssertion,
) -> None:
    said = []
    for own in (asked(n=NUMBERS), asked(a=DEEP, n=NUMBERS, m=NUMBERS)):
        choice = choose(own, None)
        assert (choice.name, choice.parameters) == ("mondrian", {"labels": "interval"})
        said.append(choice.reason)
    assert exchange("one, then two numbers", "\n".join(said)) == message


def test_categories_without_any_hierarchy_go_to_mondrian_with_sets(message: SnapshotAssertion) -> None:
    choice = choose(asked(a=FLAT, b=FLAT, c=FLAT, d=FLAT), None)
    assert (choice.name, choice.parameters) == ("mondrian", {"labels": "interval"})
    assert exchange("four categories", choice.reason) == message


def test_many_combinations_go_to_mondrian(message: SnapshotAssertion) -> None:
    choice = choose(many(asked(a=DEEP)), None)
    assert (choice.name, choice.parameters) == ("mondrian", {})
    assert exchange(MANY_COMBINATIONS + 1, choice.reason) == message
    fewer = many(asked(a=DEEP)).table
    table = replace(fewer, codes=fewer.codes[1:], measure=Measure(fewer.counts[1:]))
    assert choose(replace(asked(a=DEEP), table=table), None).name == "local"


def test_little_time_goes_to_mondrian(message: SnapshotAssertion) -> None:
    choice = choose(asked(a=DEEP), 0.5)
    assert (choice.name, choice.parameters) == ("mondrian", {})
    assert exchange(0.5, choice.reason) == message


@pytest.mark.parametrize(
    ("own", "seconds"),
    [
        (replace(asked(a=DEEP, b=FLAT), metric=metric("height")), None),
        (asked(a=DEEP, n=NUMBERS), None),
        (asked(a=DEEP, b=FLAT), FEW_SECONDS / 2),
        (asked(a=DEEP, b=FLAT), None),
    ],
    ids=["lattice", "mondrian with intervals", "mondrian", "local"],
)
def test_returns_what_the_chosen_algorithm_finds(own: SearchProblem, seconds: float | None) -> None:
    choice = choose(own, seconds)
    outcome = Auto().search(own, Control(seconds, steps=50))
    assert outcome.chosen == (choice.name, (choice.reason,))
    alone = choice.build().search(own, Control(seconds, steps=50))
    assert outcome.status is Status.SATISFIED
    assert (outcome.objective, outcome.bound, outcome.steps) == (alone.objective, alone.bound, alone.steps)


def test_every_choice_is_built_with_its_parameters() -> None:
    mondrian: SearchAlgorithm = choose(asked(n=NUMBERS), None).build()
    assert mondrian.settings.labels.value == "interval"  # type: ignore[attr-defined]
