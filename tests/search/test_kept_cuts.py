"""Local recoding beside its rival Mondrian: what one cuts and merges, the other does not do again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonymizer.search.base import Control, SearchProblem, first_with
from anonymizer.search.mondrian.algorithm import Mondrian
from anonymizer.search.partition.merging import Known
from tests.search.test_auto import DEEP, asked


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> list[SearchProblem]:
    """The problems that Mondrian cuts, in their order."""
    found: list[SearchProblem] = []
    real = Mondrian._cut

    def cut(self: Mondrian, problem: SearchProblem, control: Control) -> Any:
        found.append(problem)
        return real(self, problem, control)

    monkeypatch.setattr(Mondrian, "_cut", cut)
    return found


def test_equal_problems_are_cut_once(cuts: list[SearchProblem]) -> None:
    own, memory = asked(a=DEEP, b=DEEP), dict[str, Any]()
    alone = first_with("mondrian", own, Control())
    found = [first_with("mondrian", own, Control(memory=memory)) for _ in range(2)]
    assert len(cuts) == 2
    assert found[0] is found[1]
    assert found[0].recoding is not None
    assert alone.recoding is not None
    for mine, other in zip(found[0].recoding.published(), alone.recoding.published(), strict=True):
        assert mine.labels == other.labels
        assert np.array_equal(mine.codes, other.codes)


def test_others_are_cut_again(cuts: list[SearchProblem]) -> None:
    own, memory = asked(a=DEEP, b=DEEP), dict[str, Any]()
    first_with("mondrian", own, Control(memory=memory))
    others = [
        replace(own, class_constraints=()),
        replace(own, limit=3),
        replace(own, table=replace(own.table)),
        replace(own, keep_rows=not own.keep_rows),
    ]
    for each in others:
        first_with("mondrian", each, Control(memory=memory))
    first_with("mondrian", own, Control(memory=memory), labels="hierarchy")
    assert len(cuts) == 1 + len(others) + 1


def test_cuts_that_a_budget_ended_are_not_kept() -> None:
    own, memory = asked(a=DEEP, b=DEEP), dict[str, Any]()
    ended = first_with("mondrian", own, Control(steps=1, memory=memory))
    assert ended.recoding is not None
    assert not Known.of(Control(memory=memory)).cuts
    assert first_with("mondrian", own, Control(memory=memory)).objective < ended.objective  # type: ignore[operator]
