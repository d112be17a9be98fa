"""Every privacy model on random tables of numbers: what is published satisfies it, or nothing is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import isclose
from random import Random

import numpy as np
import pytest
from hypothesis import given

from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.recoding import Outcome, Recoding, Status
from anonymizer.model.table import Table
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.microaggregation.algorithm import Microaggregation, MicroaggregationSettings
from tests import strategies
from tests.helpers.examples import quickly
from tests.helpers.problems import problem
from tests.twins.loss import aggregate
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, Value, in_order
from tests.twins.search import BruteForce, ConstraintSpec, ProblemSpec, Rows

Labels = tuple[str, ...]


def numbers(random: Random, name: str, weight: float) -> QuasiIdentifierSpec:
    """Return a numeric quasi-identifier without hierarchy, some of whose values may be missing."""
    values = strategies.domain(random, random.randint(1, 8), numeric=True, missing=random.random() < 0.25)
    paths = {value: ("<missing>" if value is None else str(value), "*") for value in in_order(set(values))}
    return QuasiIdentifierSpec(name, paths, True, weight, 0, 1)


def spec_of(random: Random, names: list[str], most: int) -> ProblemSpec:
    """Return a problem with some models on a random table of numbers."""
    own = [numbers(random, "q0", 1.0)]
    own += [numbers(random, f"q{i}", random.choice((0.0, 1.0, 2.5))) for i in range(1, random.randint(1, 3))]
    secret = [strategies.sensitive(random, name) for name in ("s", "t")[: random.choice((1, 1, 2))]]
    size = random.randint(2, most)
    columns = [strategies._cells(random, list(each.paths), size) for each in (*own, *secret)]  # type: ignore[arg-type]
    data = Microdata(tuple(own), tuple(secret), tuple(zip(*columns, strict=True)))
    constraints = tuple(strategies.constraint(random, data, name) for name in names)
    sizes = [each.parameters["k"] for each in constraints if each.model == "k-anonymity"]
    return ProblemSpec(
        data,
        constraints,
        random.choice(("loss", "loss", "ncp", "discernibility", "nonuniform-entropy")),
        random.choice(strategies.AGGREGATES),
        random.choice((0, 1, 3, 10)) * size // 10,
        random.random() < 0.4,
        random.random() < 0.5,
        sizes[0] if sizes else None,
    )


def any_settings(random: Random) -> MicroaggregationSettings:
    return MicroaggregationSettings.model_validate(
        {
            "k": random.choice((None, None, 1, 2, 4)),
            "aggregate": random.choice(("mean", "median")),
            "variable": random.random() < 0.5,
        }
    )


def split(table: Table, recoding: Recoding) -> None:
    """Check that a recoding's table has the records of the searched one."""
    if recoding.owner is None:
        assert recoding.table is table
        return
    assert (np.diff(recoding.owner) >= 0).all()
    assert np.array_equal(recoding.table.codes, table.codes[recoding.owner])
    assert np.array_equal(np.bincount(recoding.owner, recoding.table.counts), table.counts)


def labels_of(recoding: Recoding) -> list[Labels]:
    """Return what each row of a recoding's table is published as, or would be were it not suppressed."""
    columns = [recoding.cells(i) for i in range(len(recoding.table.quasi_identifiers))]
    return [
        tuple(own.labels[code] for own, code in zip(columns, codes, strict=True))
        for codes in zip(*(own.codes.tolist() for own in columns), strict=True)
    ]


def records_of(data: Microdata, recoding: Recoding) -> Iterator[tuple[int, int]]:
    """Yield each record of the input with the row of the recoding's table that speaks of it."""
    waiting: dict[tuple[str, ...], Rows] = defaultdict(list)
    for i, record in enumerate(data.records):
        waiting[tuple("<missing>" if cell is None else str(cell) for cell in record)].append(i)
    table = recoding.table
    columns = [own.column for own in (*table.quasi_identifiers, *table.sensitive)]
    for row, (codes, count) in enumerate(zip(table.codes.tolist(), table.counts.tolist(), strict=True)):
        own = waiting[tuple(column.texts[code] for column, code in zip(columns, codes, strict=True))]
        for _ in range(count):
            yield own.pop(), row
    assert not any(waiting.values())


def partition(data: Microdata, recoding: Recoding) -> dict[Labels, Rows]:
    """Return the records of each class as published."""
    labels = labels_of(recoding)
    classes: dict[Labels, Rows] = defaultdict(list)
    for record, row in records_of(data, recoding):
        classes[labels[row]].append(record)
    return classes


def cell_cost(data: Microdata, position: int, rows: Rows) -> float:
    """Return what a class costs in one attribute: its range, by that of the table."""
    own = data.column(position, rows)
    known = [float(value) for value in own if value is not None]
    everyone = [float(value) for value in data.column(position) if value is not None]
    if known and len(known) < len(own):
        return 1.0
    span = max(everyone, default=0.0) - min(everyone, default=0.0)
    return (max(known) - min(known)) / span if known and span else 0.0


def loss(spec: ProblemSpec, kept: list[Rows]) -> float:
    """Return the loss of some classes; whatever is in none of them is suppressed."""
    data = spec.data
    staying, size = sum(len(rows) for rows in kept), len(data.records)
    losses = [
        (sum(len(rows) * cell_cost(data, i, rows) for rows in kept) + size - staying) / size
        for i in range(len(data.quasi_identifiers))
    ]
    return aggregate(spec.aggregate, losses, data.quasi_identifiers)


def check(spec: ProblemSpec, asked: SearchProblem, outcome: Outcome) -> None:
    """The twin finds in what is published what the outcome says of it."""
    recoding = outcome.recoding
    assert (outcome.status is Status.SATISFIED) == (recoding is not None)
    assert outcome.evaluated == len(outcome.steps) > 0
    if recoding is None:
        assert outcome.objective is None
        return
    split(asked.table, recoding)
    classes = partition(spec.data, recoding)
    release = BruteForce(spec).release(list(classes.values()))
    gone = {record for record, row in records_of(spec.data, recoding) if recoding.suppressed[row]}
    kept_suppressed = bool((recoding.suppressed & ~recoding.removed).any())
    if not kept_suppressed:
        assert np.array_equal(recoding.suppressed, recoding.removed)
    stars = classes.get((SUPPRESSED,) * len(spec.data.quasi_identifiers), [])
    if set(stars) - gone:
        # Suppressed records that stay would be in that class; so they are removed.
        assert not kept_suppressed
        release = BruteForce(replace(spec, keep_rows=False)).release(list(classes.values()))
    assert release is not None
    assert release.kept_suppressed == kept_suppressed
    assert len(gone) <= spec.limit
    assert gone == release.suppressed
    kept = [rows for rows in classes.values() if not gone & set(rows)]
    if spec.metric in ("loss", "ncp"):
        assert isclose(outcome.objective, loss(spec, kept), rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    accepted = [step.objective for step in outcome.steps if step.accepted]
    assert outcome.objective == min(accepted)  # type: ignore[type-var]


def partitions(rows: Rows) -> Iterator[list[Rows]]:
    """Yield every partition of some records."""
    if not rows:
        yield []
        return
    for rest in partitions(rows[1:]):
        yield [[rows[0]], *rest]
        for i, own in enumerate(rest):
            yield [*rest[:i], [rows[0], *own], *rest[i + 1 :]]


@given(strategies.randoms())
def test_what_is_published_satisfies_every_model(random: Random) -> None:
    names = [random.choice(list(strategies.PARAMETERS)) for _ in range(random.randint(1, 3))]
    spec = spec_of(random, names, 24)
    asked = problem(spec)
    check(spec, asked, Microaggregation(any_settings(random)).search(asked, Control()))


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", strategies.PARAMETERS)
def test_each_model_alone_and_with_k(name: str) -> None:
    """Each is satisfied by merging on some of the tables."""
    merged = 0
    for seed in range(40):
        random = Random(seed)
        spec = spec_of(random, [name, "k-anonymity"][: random.randint(1, 2)], 30)
        asked = problem(spec)
        outcome = Microaggregation(any_settings(random)).search(asked, Control())
        check(spec, asked, outcome)
        merged += outcome.status is Status.SATISFIED and len(outcome.steps) > 1
    assert merged


@pytest.mark.slow
def test_infeasible_is_true() -> None:
    """No partition of the records at all can be released then; and seldom is one missed."""
    missed = infeasible = 0
    for seed in range(150):
        random = Random(seed)
        spec = spec_of(random, [random.choice(list(strategies.PARAMETERS)) for _ in range(2)], 6)
        outcome = Microaggregation().search(problem(spec), Control())
        if outcome.status is not Status.SATISFIED:
            brute = BruteForce(spec)
            possible = any(brute.release(own) for own in partitions(list(range(len(spec.data.records)))))
            assert not (possible and outcome.status is Status.INFEASIBLE)
            missed += possible
            infeasible += outcome.status is Status.INFEASIBLE
    assert infeasible
    assert missed < 5


@pytest.mark.slow
@quickly(40, 15)
@given(strategies.randoms())
def test_the_order_of_the_records_changes_nothing(random: Random) -> None:
    spec = spec_of(random, ["k-anonymity", random.choice(strategies.REFERENCED)], 20)
    records: list[tuple[Value, ...]] = list(spec.data.records)
    random.shuffle(records)
    own = any_settings(random)
    shuffled = replace(spec, data=replace(spec.data, records=tuple(records)))
    one, two = (Microaggregation(own).search(problem(each), Control()) for each in (spec, shuffled))
    assert (one.status, one.objective, one.steps) == (two.status, two.objective, two.steps)
    if one.recoding is not None and two.recoding is not None:
        assert labels_of(one.recoding) == labels_of(two.recoding)
        assert np.array_equal(one.recoding.suppressed, two.recoding.suppressed)


def test_distinct_values_are_reached_by_merging_with_the_nearest() -> None:
    """Two pairs of equal sensitive values side by side become one class; the far pair stays as it is."""
    own = QuasiIdentifierSpec(
        "q", {value: (str(value), "*") for value in (0, 1, 4, 5, 90, 91)}, True, 1.0, 0, 1
    )
    secret = strategies.SensitiveSpec("s")
    cells = [(0, "a"), (1, "a"), (4, "b"), (5, "b"), (90, "a"), (91, "b")]
    spec = ProblemSpec(
        Microdata((own,), (secret,), tuple(cells)), (ConstraintSpec("l-diversity", {"l": 2}, "s"),)
    )
    outcome = Microaggregation(MicroaggregationSettings(k=2)).search(problem(spec), Control())
    assert outcome.recoding is not None
    classes = partition(spec.data, outcome.recoding)
    assert {label: len(rows) for label, rows in classes.items()} == {("2.5",): 4, ("90.5",): 2}
    assert [step.candidate for step in outcome.steps] == [{"classes": 3}, {"classes": 2}]
    assert outcome.steps[0].failed == ("suppression.limit",)
