"""What the inference constraint takes for a measure."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from anonymizer.attacks.base import AttackResult
from anonymizer.attacks.definetti import Definetti, DefinettiSettings
from anonymizer.attacks.inference import Inference, InferenceSettings
from anonymizer.config.load import load_config
from anonymizer.errors import ConfigError
from anonymizer.privacy.inference_risk import InferenceRisk, InferenceRiskSettings


@pytest.mark.parametrize(("baseline", "high", "expected"), [(0.375, 0.29, 0.375), (0.375, 0.5, 0.5)])
def test_who_is_misled_counts_as_guessing_the_most_frequent_value(
    baseline: float, high: float, expected: float
) -> None:
    model = InferenceRisk(InferenceRiskSettings(max=Decimal("0.3")))
    measured = model.worst([AttackResult("definetti", {}, 0.25, baseline, 0.2, high, 400)])
    assert measured == expected
    assert not model.holds(measured)


@pytest.mark.parametrize(
    ("given", "attack"),
    [
        ({}, Definetti(DefinettiSettings(chains=4, sweeps=1024))),
        (
            {"knowledge": ("age",), "features": "similar", "bins": 5, "prior": 2, "chains": 2, "sweeps": 64},
            Definetti(
                DefinettiSettings(
                    knowledge=("age",), features="similar", bins=5, prior=2, chains=2, sweeps=64
                )
            ),
        ),
        ({"attack": "inference"}, Inference()),
        (
            {"attack": "inference", "knowledge": ("age",), "targets": 50},
            Inference(InferenceSettings(knowledge=("age",), targets=50)),
        ),
    ],
)
def test_the_attack_has_the_options_of_the_constraint(given: dict[str, Any], attack: Any) -> None:
    own = InferenceRisk(InferenceRiskSettings(max=Decimal("0.5"), **given)).attack()
    assert type(own) is type(attack)
    assert own.settings == attack.settings


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"targets": 50}, "targets goes with attack: inference; remove it, or set attack: inference"),
        (
            {"attack": "inference", "bins": 5, "sweeps": 64},
            "bins and sweeps go with attack: definetti; remove them, or set attack: definetti",
        ),
        ({"knowledge": ["salary"]}, "'salary' is not a quasi-identifier"),
    ],
)
def test_options_that_do_not_fit_are_refused(given: dict[str, Any], what: str) -> None:
    attributes = {"age": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}
    asked = {"model": "inference-risk", "max": 0.5, **given}
    with pytest.raises(ConfigError, match=what):
        load_config({"attributes": attributes, "constraints": [asked]})
