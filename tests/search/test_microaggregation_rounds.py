"""Microaggregation in rounds of larger and larger groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anonymizer.model.recoding import Status
from anonymizer.search.base import Control
from tests.helpers.problems import problem
from tests.helpers.stubs import FewClasses
from tests.search.microaggregated import published, search
from tests.twins.microdata import Microdata, QuasiIdentifierSpec, SensitiveSpec, Value
from tests.twins.search import ConstraintSpec, ProblemSpec


def diverse(cells: Sequence[tuple[Value, str]], limit: int = 0, *, keep_rows: bool = False) -> ProblemSpec:
    """Return a problem of two distinct sensitive values per class."""
    values = sorted({value for value, _ in cells if value is not None})  # type: ignore[type-var]
    paths = {value: (str(value), "*") for value in values} | {None: ("<missing>", "*")}
    own = QuasiIdentifierSpec("q", paths, True, 1.0, 0, 1)
    data = Microdata((own,), (SensitiveSpec("s"),), tuple(cells))
    two = ConstraintSpec("l-diversity", {"l": 2}, "s")
    return ProblemSpec(data, (two,), limit=limit, keep_rows=keep_rows)


ROUNDS = [(value, "a" if value < 40 else "b") for value in range(80)]
"""Groups of two become groups of 2, 4, 8, ... until the two halves meet."""


def test_steps_repeat_a_run_that_ended_early() -> None:
    own = problem(diverse(ROUNDS))
    whole = search(own)
    assert whole.status is Status.SATISFIED
    assert len(whole.steps) > 3
    ended = search(own, Control(steps=2))
    assert ended.status is Status.UNDECIDED
    assert ended.steps == whole.steps[:2]
    assert not ended.interrupted


def test_an_interrupt_keeps_the_best_so_far() -> None:
    """Suppression is within the limit from the first round on."""
    own = problem(diverse([*ROUNDS, (900, "a"), (901, "b")], limit=80))
    calls = 0

    def counted() -> bool:
        nonlocal calls
        calls += 1
        return calls == last

    last = -1
    whole = search(own, Control(stopped=counted))
    last, calls = calls, 0
    outcome = search(own, Control(stopped=counted))
    assert outcome.interrupted
    assert outcome.status is Status.SATISFIED
    assert outcome.steps == whole.steps[:-1]
    assert outcome.objective == min(step.objective for step in outcome.steps if step.objective is not None)


def test_suppressed_records_that_stay_are_no_class_of_other_records() -> None:
    """A class with missing and other values is all stars, too: the suppressed records are removed then."""
    far = [(985, "b"), (985, "b"), (1010, "a"), (1010, "a"), (1020, "a"), (1020, "a")]
    spec = diverse([*[(500, "a"), (500, "b")] * 20, (None, "a"), *far], limit=6, keep_rows=True)
    own = replace(problem(spec), metric=FewClasses())
    outcome = search(own, k=2)
    assert published(outcome) == {("*",): 41}
    assert outcome.objective == 1
    without = search(replace(own, keep_rows=False), k=2)
    assert published(without) == published(outcome)
    assert any(step.candidate == {"classes": 3} and step.accepted for step in outcome.steps)
