"""How the results of attacks are said on the terminal."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.base import ATTACKS, Attack
from anonymizer.cli.summary import attack_lines
from tests.helpers.messages import exchange


def entry(attack: str, columns: list[str], **changes: Any) -> dict[str, Any]:
    """Return a result of an attack."""
    numbers = {"success": 0.151, "baseline": 0.0002, "low": 0.151, "high": 0.151, "details": {}}
    known = {"attributes": columns, **ATTACKS[attack].examples[0]}
    return {"attack": attack, "knowledge": known, **numbers, **changes}


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_each_attack_says_its_result_in_a_sentence(attack: str, message: SnapshotAssertion) -> None:
    (line,) = attack_lines([entry(attack, ["age", "sex", "postcode"])])
    assert exchange(attack, line) == message
    assert "15.1 %" in line
    assert line.endswith(".")
    assert "people" not in line


@pytest.mark.parametrize(
    "attack", ["definetti", "inference", "intersection", "interval", "minimality", "wildcard"]
)
def test_attacks_on_persons_say_so(attack: str, message: SnapshotAssertion) -> None:
    known = {"attributes": ["age", "sex"], **ATTACKS[attack].examples[0], "unit": "person"}
    (line,) = attack_lines([entry(attack, [], knowledge=known)])
    assert exchange(attack, line) == message


def test_values_of_households_are_guessed(message: SnapshotAssertion) -> None:
    known = {"target": "attribute-inference", "sensitive": "illness", "unit": "household"}
    (line,) = attack_lines([entry("vulnerability", [], knowledge={"attributes": ["age"], **known})])
    assert exchange(known, line) == message


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_every_attack_has_a_sentence_of_its_own(attack: str) -> None:
    assert ATTACKS[attack].sentence.__func__ is not Attack.sentence.__func__  # type: ignore[attr-defined]


def test_many_columns_are_not_all_named_and_an_estimate_has_its_interval() -> None:
    (line,) = attack_lines([entry("vulnerability", list("abcdef"), low=0.1, high=0.2)])
    assert "knows a person's a, b, c and 3 more columns" in line
    assert line.endswith(" is an estimate; its 95 % interval is 10 % to 20 %.")


def test_certainty_is_compared_with_a_guess_of_the_most_frequent_value() -> None:
    details = {"base_rate": 0.925, "beyond_guess": 0.0}
    (line,) = attack_lines([entry("homogeneity", ["age"], success=0.6, low=0.6, high=0.6, details=details)])
    assert (
        "for 60 % of the records; always guessing the most frequent value would be right for 92.5 %" in line
    )


def test_no_findings_are_no_lines() -> None:
    assert list(attack_lines([])) == []
