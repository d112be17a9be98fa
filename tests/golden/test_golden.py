"""Whole runs are what they were: releases, reports and messages, whatever moves behind them.

Where you mean a change, ``python -m tests.golden --record`` records anew; ``git diff`` then shows it.
"""

from __future__ import annotations

import pytest

from tests.golden import goldens

NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if case.slow else name
    for name, case in goldens.all_cases().items()
]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_what_it_was(name: str) -> None:
    lines = goldens.differences(name, goldens.run(name))
    if lines:
        pytest.fail("\n".join([f"{name} is not as recorded", *lines]), pytrace=False)


def test_nothing_is_recorded_of_cases_that_are_gone() -> None:
    kept = {f"{group}/{name}" for group in goldens.GROUPS for name in goldens.recorded(group)}
    assert kept == set(goldens.all_cases())
    assert {path.stem for path in goldens.RECORDED.glob("*.json")} == set(goldens.GROUPS)


def test_no_command_ends_with_a_traceback() -> None:
    for group in goldens.GROUPS:
        for name, outcome in goldens.recorded(group).items():
            codes = [step["exit"] for step in outcome["steps"] if "command" in step]
            assert set(codes) <= {0, 1, 2}, f"{group}/{name}: {codes}"
