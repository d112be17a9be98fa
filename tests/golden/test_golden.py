"""Whole runs are what they were: releases, reports and messages, whatever moves behind them.

Where you mean a change, ``python -m tests.golden --record`` records anew; ``git diff`` then shows it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden import goldens
from tests.golden.wording import Leaves, Lines, Wording

NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if case.slow else name
    for name, case in goldens.all_cases().items()
]


@pytest.mark.quick(40)
@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_what_it_was(name: str) -> None:
    lines = goldens.differences(name, goldens.run(name))
    if lines:
        pytest.fail("\n".join([f"{name} is not as recorded", *lines]), pytrace=False)


def test_nothing_is_recorded_of_cases_that_are_gone() -> None:
    kept = {f"{group}/{name}" for group in goldens.GROUPS for name in goldens.recorded(group)}
    assert kept == set(goldens.all_cases())
    assert {path.stem for path in goldens.RECORDED.glob("*.json")} == {*goldens.GROUPS, goldens.WORDING}


def test_no_command_ends_with_a_traceback() -> None:
    for group in goldens.GROUPS:
        for name, outcome in goldens.recorded(group).items():
            codes = [step["exit"] for step in outcome["steps"] if "command" in step]
            assert set(codes) <= {0, 1, 2}, f"{group}/{name}: {codes}"


def outcome(*lines: str, **words: str) -> dict[str, Any]:
    report = Leaves((("loss", "0.25"),), tuple(words.items()), ())
    return {"steps": [{"command": "run", "exit": 0, "out": Lines(lines)}], "files": {"report.json": report}}


def test_a_changed_word_is_one_changed_line() -> None:
    """The runs that print it, or have it in a digest, refer to it by the number that it had."""
    before = [outcome("Kept 5 of 60 records", "Verified."), outcome("Kept 12 of 90 records", status="fine")]
    after = [outcome("Held 5 of 60 records", "Verified."), outcome("Held 12 of 90 records", state="fine")]
    first = Wording({})
    first.encoded(before)
    first = first.learned(whole=True)
    recorded = first.encoded(before)
    assert first.decoded(recorded)[1]["steps"][0]["out"] == ["Kept 12 of 90 records"]
    assert first.encoded(after) != recorded
    second = Wording(first.texts)
    second.encoded(after)
    second = second.learned(whole=True)
    assert second.encoded(after) == recorded
    changed = {number for number, text in first.texts.items() if second.texts.get(number) != text}
    assert {second.texts[number] for number in changed} == {"Held § of § records", "state"}


def test_figures_words_and_lines_that_change_are_noticed() -> None:
    wording = Wording({})
    given = outcome("Kept 5 of 60 records", status="fine")
    wording.encoded(given)
    wording = wording.learned(whole=True)
    recorded = wording.encoded(given)
    others = [
        outcome("Kept 6 of 60 records", status="fine"),
        outcome("Kept 5 of 60 records", "Kept 5 of 60 records", status="fine"),
        outcome("Kept 5 of 60 records", status="bad"),
        outcome("Kept 5 of 60 records", state="fine"),
        outcome("Left 5 of 60 records", status="fine"),
    ]
    assert all(wording.encoded(other) != recorded for other in others)
    assert wording.decoded(wording.encoded(others[-1]))["steps"][0]["out"] == ["Left 5 of 60 records"]
