"""What the inference constraint takes for a measure."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

import numpy as np
import pytest

from anonymizer.attacks.base import AttackResult
from anonymizer.attacks.definetti import Definetti
from anonymizer.model.adversary import AdversaryView
from anonymizer.privacy.inference_risk import InferenceRisk, InferenceRiskSettings


@pytest.mark.parametrize(("baseline", "high", "expected"), [(0.375, 0.29, 0.375), (0.375, 0.5, 0.5)])
def test_who_is_misled_counts_as_guessing_the_most_frequent_value(
    baseline: float, high: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any) -> list[AttackResult]:
        return [AttackResult("definetti", {}, 0.25, baseline, 0.2, high, 400)]

    monkeypatch.setattr(Definetti, "run", run)
    model = InferenceRisk(InferenceRiskSettings(max=Decimal("0.3")))
    measured = model.measured(cast("AdversaryView", None), np.random.default_rng(0))
    assert measured == expected
    assert not model.holds(measured)
