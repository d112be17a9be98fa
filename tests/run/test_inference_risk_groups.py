"""The inference constraint on releases in groups, beside every fixed l."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anonymizer as an

pytestmark = pytest.mark.slow

NAMES = ["age", "sex", "marital_status", "diagnosis"]
MOST = 0.6


def report(*constraints: dict[str, Any]) -> dict[str, Any]:
    sample = Path(__file__).parents[2] / "examples" / "sample.csv"
    people = pd.read_csv(sample, dtype=str)[NAMES].head(1000)
    roles = {name: {"role": "quasi-identifier"} for name in NAMES[:-1]} | {NAMES[-1]: {"role": "sensitive"}}
    config = {
        "attributes": roles,
        "constraints": list(constraints),
        "algorithm": {"name": "anatomy"},
        "attacks": [{"attack": "definetti", "chains": 2, "sweeps": 512}],
        "utility": ["query-error"],
    }
    found: dict[str, Any] = an.anonymize(people, config).report.to_dict()
    return found


def test_it_loses_less_than_any_fixed_l_that_passes() -> None:
    fixed = {least: report({"model": "l-diversity", "l": least}) for least in (2, 3, 4)}
    passing = [least for least, own in fixed.items() if own["attacks"][0]["high"] <= MOST]
    assert passing == [3, 4]
    assert fixed[2]["attacks"][0]["baseline"] < MOST < fixed[2]["attacks"][0]["success"]
    found = report(
        {"model": "l-diversity", "l": 2},
        {"model": "inference-risk", "attack": "definetti", "max": MOST, "chains": 2, "sweeps": 256},
    )
    own = found["constraints"][1]
    assert own["satisfied"] is True
    assert own["measured"] <= MOST
    # The attack of the config has a seed of its own.
    assert found["attacks"][0]["success"] <= MOST
    assert fixed[3]["recoding"]["groups"] < found["recoding"]["groups"] < fixed[2]["recoding"]["groups"]
    error = found["utility"][0]["value"]
    assert all(error < fixed[least]["utility"][0]["value"] for least in passing)
    broken = [step for step in found["steps"] if any("inference-risk" in name for name in step["failed"])]
    assert broken
    assert not any(step["accepted"] for step in broken)
