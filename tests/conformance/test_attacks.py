"""Every registered attack conforms; one that breaks its promises does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonymizer.attacks.base import ATTACKS, Attack, AttackResult, MostExposed
from anonymizer.model.adversary import AdversaryView
from anonymizer.testing import check_attack

SLOW = ("definetti", "linkage")
"""Attacks that take more than a few seconds on all samples."""

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "linkage": [
        {"linkage": own} for own in ("assignment", "sinkhorn", "probabilistic", "learned", "classifier")
    ],
    "vulnerability": [{"subsets": "all"}],
}
"""Further parameters of attacks that have several ways."""

LACKING = ("intersection", "minimality", "release-linkage", "similarity")
"""Attacks that need more than a candidate has: a second release, a proof, a sensitive hierarchy."""


@pytest.mark.parametrize(
    "name", [pytest.param(own, marks=pytest.mark.slow if own in SLOW else ()) for own in sorted(ATTACKS)]
)
@pytest.mark.usefixtures("short_chains")
def test_conforms(name: str) -> None:
    attack = ATTACKS[name]
    applied = check_attack(attack)
    for given in OPTIONS.get(name, []):
        check_attack(attack(attack.Settings.model_validate(given)))
    assert (applied > 0) == (name not in LACKING)


class Promising(Attack):
    """Finds half of the records, and says so."""

    name = "promising"
    threat = None
    change: dict[str, Any]

    def missing_requirement(self, adversary: AdversaryView) -> str | None:
        return None

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        half = Fraction(1, 2)
        best = MostExposed(half, Fraction(0), 0.5, 0.5, (0.5, 0.5), 1)
        own = self.counted(adversary, {}, half, Fraction(0))
        given = {"tail": dict.fromkeys(("0.01", "0.05", "0.1"), best), "ceiling": 1.0} | self.change
        return [replace(own, **given)]


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"success": Fraction(3, 2), "high": 1.0}, "success is 3/2"),
    ({"low": 0.6}, "is not from 0.6"),
    ({"ceiling": 0.4}, "above its ceiling"),
    ({"tail": {"0.01": MostExposed(1.0, 0.0, 1.0, 1.0, (1.0, 1.0), 1)}}, "expected 0.01, 0.05, 0.1"),
]


def test_an_attack_that_keeps_its_promises_conforms() -> None:
    Promising.change = {}
    assert check_attack(Promising) > 0


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_a_broken_promise_is_found(change: dict[str, Any], message: str) -> None:
    Promising.change = change
    with pytest.raises(AssertionError, match=message):
        check_attack(Promising)


@pytest.mark.parametrize(
    ("best", "message"),
    [
        (MostExposed(0.5, 0.0, 0.6, 0.7, (0.5, 0.5), 1), "is not from 0.6"),
        (MostExposed(1.5, 0.0, 0.6, 1.7, (0.5, 0.5), 1), "expected shares"),
        (MostExposed(0.5, 0.0, 0.5, 0.5, (0.5, 0.5), 10**6), "targets are"),
    ],
)
def test_broken_promises_of_the_most_exposed_are_found(best: MostExposed, message: str) -> None:
    Promising.change = {"tail": dict.fromkeys(("0.01", "0.05", "0.1"), best)}
    with pytest.raises(AssertionError, match=message):
        check_attack(Promising)
