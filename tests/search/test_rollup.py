"""Counted transformations are freed as the search goes on, not at the next collection of Python."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from random import Random
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import given

from anonymizer.model.classes import Classes
from anonymizer.privacy.base import ClassConstraint
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.judge import Judge
from anonymizer.search.lattice.algorithm import Lattice
from anonymizer.search.rollup import RollUp
from tests import strategies
from tests.helpers import adult, build
from tests.helpers.examples import costly
from tests.helpers.problems import metric, problem


@contextmanager
def living() -> Iterator[WeakSet[Classes]]:
    """Yield the classes that are made and not freed; Python collects nothing meanwhile."""
    found: WeakSet[Classes] = WeakSet()
    begin = Classes.__init__

    def counted(self: Classes, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        found.add(self)

    collecting = gc.isenabled()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Classes, "__init__", counted)
        gc.collect()
        gc.disable()
        try:
            yield found
        finally:
            if collecting:
                gc.enable()


@costly()
@given(random=strategies.randoms())
def test_classes_that_were_judged_are_freed(random: Random) -> None:
    spec = strategies.problem(random)
    if random.random() < 0.4:
        spec = strategies.with_knowledge(random, spec)
    if random.random() < 0.4:
        spec = strategies.with_persons(random, spec)
    own = problem(spec)
    judge, rollup = Judge(own), RollUp.of(own.table)
    heights = [range(each.minimum, each.maximum + 1) for each in own.table.quasi_identifiers]
    every = list(product(*heights))
    with living() as classes:
        before = len(classes)
        for levels in random.sample(every, min(len(every), 5)):
            verdict = judge.judge(rollup.classes(levels))
            assert verdict.checks or not own.class_constraints
            del verdict
        assert len(classes) == before


def test_few_transformations_are_in_memory_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = adult.table(adult.ALL[:7])
    constraint = ClassConstraint(model=build.model("k-anonymity", {"k": 5}))
    own = SearchProblem(table, (constraint,), (), metric("loss"), table.records // 100, False, False, 5)
    most = 0
    with living() as classes:
        count = RollUp.classes

        def classes_of(self: RollUp, levels: Any) -> Classes:
            nonlocal most
            found = count(self, levels)
            most = max(most, len(classes))
            return found

        monkeypatch.setattr(RollUp, "classes", classes_of)
        outcome = Lattice().search(own, Control())
    assert outcome.optimal
    assert outcome.evaluated > 10
    assert most <= 3
