"""Attacks that succeed less often than a guess."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

from anonymizer.attacks.base import ATTACKS, AttackResult, marked
from anonymizer.report.wording import attack_sentence
from tests.helpers.linkage import frame_scene

SCENE = frame_scene(pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]}))


def entry(name: str, success: float, baseline: float) -> dict:
    known = {
        "attributes": ["a"],
        "sensitive": "illness",
        "linkage": "nearest",
        "overlap": 1.0,
        "distance": "rank",
    }
    (found,) = marked([AttackResult(name, known, success, baseline, success, success, 2)], SCENE)
    return {
        **{"attack": name, "knowledge": known, "success": success, "baseline": float(baseline)},
        **{"low": success, "high": success, "details": found.details},
    }


@pytest.mark.parametrize("name", ["definetti", "inference", "linkage", "homogeneity"])
def test_less_than_a_guess_is_said_in_the_details_and_in_words(name):
    assert name in ATTACKS
    below = entry(name, 0.2, Fraction(1, 4))
    assert below["details"]["below_baseline"]
    assert "right more often, for 25 %" in attack_sentence(below).replace("\xa0", " ")
    for success in (0.25, 0.3):
        same = entry(name, success, Fraction(1, 4))
        assert "below_baseline" not in same["details"]
        assert "right more often" not in attack_sentence(same)
