"""What the inference constraint takes for a measure."""

from __future__ import annotations

from decimal import Decimal

import pytest

from anonymizer.attacks.base import AttackResult
from anonymizer.privacy.inference_risk import InferenceRisk, InferenceRiskSettings


@pytest.mark.parametrize(("baseline", "high", "expected"), [(0.375, 0.29, 0.375), (0.375, 0.5, 0.5)])
def test_who_is_misled_counts_as_guessing_the_most_frequent_value(
    baseline: float, high: float, expected: float
) -> None:
    model = InferenceRisk(InferenceRiskSettings(max=Decimal("0.3")))
    measured = model.worst([AttackResult("definetti", {}, 0.25, baseline, 0.2, high, 400)])
    assert measured == expected
    assert not model.holds(measured)
