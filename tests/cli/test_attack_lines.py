"""How the results of attacks are said on the terminal."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.attacks.base import ATTACKS, Attack
from anonymizer.cli.summary import attack_lines
from tests.helpers.messages import exchange

KNOWN: dict[str, dict[str, Any]] = {
    "background": {"sensitive": "illness", "facts": 1},
    "definetti": {"sensitive": "illness"},
    "homogeneity": {"sensitive": "illness"},
    "inference": {"sensitive": "illness"},
    "intersection": {"sensitive": "illness"},
    "interval": {"attribute": "age", "measure": "sdid", "width": 0.05},
    "linkage": {"linkage": "nearest", "distance": "euclidean", "overlap": 0.25},
    "minimality": {"sensitive": ["illness"]},
    "noise-removal": {"attribute": "age", "method": "bayes", "width": 0.05},
    "release-linkage": {"linkage": "nearest"},
    "similarity": {"sensitive": "illness", "level": 1},
    "skewness": {"sensitive": "illness"},
    "special-uniques": {},
    "uniqueness": {},
    "vulnerability": {"target": "re-identification"},
    "wildcard": {},
}
"""What the adversary of each attack knows besides the quasi-identifiers."""


def entry(attack: str, columns: list[str], **changes: Any) -> dict[str, Any]:
    """Return a result of an attack."""
    numbers = {"success": 0.151, "baseline": 0.0002, "low": 0.151, "high": 0.151, "details": {}}
    known = {"attributes": columns, **KNOWN[attack]}
    return {"attack": attack, "knowledge": known, **numbers, **changes}


@pytest.mark.parametrize("attack", sorted(KNOWN))
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
    known = {"attributes": ["age", "sex"], **KNOWN[attack], "unit": "person"}
    (line,) = attack_lines([entry(attack, [], knowledge=known)])
    assert exchange(attack, line) == message


def test_values_of_households_are_guessed(message: SnapshotAssertion) -> None:
    known = {"target": "attribute-inference", "sensitive": "illness", "unit": "household"}
    (line,) = attack_lines([entry("vulnerability", [], knowledge={"attributes": ["age"], **known})])
    assert exchange(known, line) == message


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_every_attack_has_a_sentence_of_its_own(attack: str) -> None:
    assert ATTACKS[attack].sentence.__func__ is not Attack.sentence.__func__  # type: ignore[attr-defined]
    assert attack in KNOWN


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
