"""A programme whose solver breaks down has no solution and no bound, and the search goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymizer.search.solver import Effort, Programme


def programme() -> Programme:
    one = np.ones(1)
    nowhere = np.zeros(1, dtype=np.int64)
    return Programme(one, one, np.ones(1, dtype=bool), nowhere, nowhere, one, one, np.full(1, np.inf))


def test_it_is_solved() -> None:
    found = programme().solved(Effort(nodes=1), None)
    assert found.values is not None
    assert (found.values.tolist(), found.bound, found.ended) == ([1.0], 1.0, True)


def test_a_broken_solver_has_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from ortools.math_opt.python import mathopt

    def broken(*_: Any, **__: Any) -> None:
        raise AttributeError("'StatusNotOk' object has no attribute 'canonical_code'")

    monkeypatch.setattr(mathopt, "solve", broken)
    found = programme().solved(Effort(nodes=1), None)
    assert (found.values, found.bound, found.ended) == (None, -np.inf, True)
    assert programme().duals(1, Effort(nodes=1)) is None
