"""Regions that are merged from below: valid, no worse than the cuts, and cut the same for later records."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.recoding import Outcome, Status
from anonymizer.release.recoding import applied_cuts, keep_cuts
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.mondrian import merging
from anonymizer.search.mondrian.algorithm import Mondrian
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.problems import problem
from tests.search.test_local import check_valid
from tests.twins.search import BruteForce, ProblemSpec

SEEDS = st.integers(0, 2**32)


def asked(seed: int) -> ProblemSpec:
    """Return a problem with models of all kinds, persons and suppression."""
    random = Random(seed)
    spec = strategies.problem(random)
    if random.random() < 0.3:
        spec = strategies.with_persons(random, spec)
    return replace(spec, metric="loss", aggregate="arithmetic-mean")


def merges(outcome: Outcome) -> int:
    return sum("merged" in step.candidate for step in outcome.steps)


def both(own: SearchProblem) -> tuple[Outcome, Outcome]:
    return Mondrian().first(own, Control()), Mondrian().search(own, Control())


@share(2)
@given(SEEDS)
def test_they_are_valid_and_lose_no_more_than_the_cuts(seed: int) -> None:
    spec = asked(seed)
    cut, merged = both(problem(spec))
    if cut.status is Status.SATISFIED:
        assert merged.status is Status.SATISFIED
        assert cut.objective is not None
        assert merged.objective is not None
        assert merged.objective <= cut.objective
    if merged.objective != cut.objective and spec.data.persons is None:
        check_valid(merged, spec)


@share(2)
@given(SEEDS)
def test_they_are_valid_for_persons(seed: int) -> None:
    """Whatever they lose, so that most are looked at."""
    random = Random(seed)
    spec = strategies.with_lost_persons(random, strategies.problem(random))
    spec = replace(spec, whole=random.random() < 0.4, metric="loss", aggregate="arithmetic-mean")
    own = problem(spec, divided=not spec.whole)
    row_of = build.table_and_rows(spec.data, whole=spec.whole)[1]
    if not spec.whole:
        row_of = build.divided_rows(spec.data).of_record
    better = merging._better

    def taken(found: Outcome, *others: object) -> Outcome:
        return better(replace(found, objective=None), *others)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "_better", taken)
        patch.setattr(merging, "WORTHWHILE", 0)
        recoding = Mondrian().search(own, Control()).recoding
    if recoding is None:
        return
    waiting: dict[int, list[int]] = {}
    for record, row in enumerate(row_of.tolist()):
        waiting.setdefault(row, []).append(record)
    columns, classes, starred = recoding.published(), dict[tuple[int, ...], list[int]](), set[int]()
    for part, row in enumerate(recoding.owners.tolist()):
        records = [waiting[row].pop() for _ in range(int(recoding.table.counts[part]))]
        if recoding.suppressed[part]:
            starred.update(records)
        if not recoding.removed[part]:
            classes.setdefault(tuple(int(each.codes[part]) for each in columns), []).extend(records)
    twin, everyone = BruteForce(spec), list(range(len(spec.data.records)))
    kept = bool((recoding.suppressed & ~recoding.removed).any())
    moving = spec.moving_reference and not kept
    reference = [record for record in everyone if record not in starred] if moving else everyone
    assert all(twin.holds(rows, reference) for rows in classes.values())
    assert twin.table_holds(list(classes.values()))
    assert not twin.exceeds_limit(starred)
    persons = spec.data.persons
    lost = {persons[record] for record in starred} - {None}
    assert not spec.whole or all(persons[record] not in lost or record in starred for record in everyone)


@share(2)
@given(SEEDS)
def test_records_that_come_later_are_published_as_equal_ones_are(seed: int) -> None:
    own = problem(asked(seed))
    merged = Mondrian().search(own, Control())
    if merged.cuts is None or merged.recoding is None or merged.recoding.suppressed.any():
        return
    attributes = own.table.quasi_identifiers
    applied = applied_cuts(keep_cuts(merged.cuts, attributes), own.table)
    assert not applied.uncovered.any()
    again = applied.recoding(np.zeros(own.table.combinations, dtype=bool))
    for place in range(len(attributes)):
        assert np.array_equal(again.cells(place).codes, merged.recoding.cells(place).codes)


@share(4)
@given(SEEDS)
def test_a_budget_of_steps_ends_between_merges(seed: int) -> None:
    own = problem(asked(seed))
    whole = Mondrian().search(own, Control())
    for fewer in range(1, merges(whole) + 1):
        steps = len(whole.steps) - fewer
        some = Mondrian().search(own, Control(steps=steps))
        assert some.steps == whole.steps[:steps]


def test_they_lose_less_where_models_end_the_cuts_early() -> None:
    outcomes = (both(problem(asked(seed))) for seed in range(60))
    assert any(cut.objective is not None and merged.objective != cut.objective for cut, merged in outcomes)
