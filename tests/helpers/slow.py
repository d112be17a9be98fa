"""Tests of many cases, of which a plain run takes a few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(quick: int, cases: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test; all but the first ``quick`` have the mark ``slow``."""
    listed = list(cases)
    return listed[:quick] + [pytest.param(case, marks=pytest.mark.slow) for case in listed[quick:]]
