"""The inference constraint from a config to the report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymizer as an
from anonymizer.attacks.definetti import Definetti
from anonymizer.config.load import load_config
from anonymizer.errors import ConfigError
from tests.helpers.age_and_zip import AGE_AND_ZIP

RISK = {"model": "inference-risk", "attack": "definetti", "max": 0.55}


def people(number: int = 400) -> pd.DataFrame:
    """Return people of whom the old and the young have illnesses of their own, mostly."""
    random = np.random.default_rng(3)
    age = random.integers(20, 60, number)
    own = np.array(list("abcd"))[(age - 20) // 10]
    illness = np.where(random.random(number) < 0.8, own, random.choice(list("abcd"), number))
    return pd.DataFrame(
        {
            "age": age,
            "zip": random.choice(["10", "11", "12", "20", "21"], number),
            "illness": illness,
            "blood": random.choice(list("AB"), number),
        }
    )


def settings(**changed: Any) -> dict[str, Any]:
    return {
        "attributes": {
            **AGE_AND_ZIP,
            "illness": {"role": "sensitive"},
            "blood": {"role": "insensitive"},
        },
        "constraints": [RISK, {"model": "k-anonymity", "k": 4}],
        "attacks": [{"attack": "definetti", "chains": 2, "sweeps": 512}],
        **changed,
    }


def report(**changed: Any) -> dict[str, Any]:
    return an.anonymize(people(), settings(**changed)).report.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mondrian", "lattice", "local"])
def test_a_release_is_accepted_below_what_the_attack_reaches_without_it(name: str) -> None:
    algorithm: dict[str, Any] = {"algorithm": {"name": name}, "budget": {"steps": 60}}
    free = report(constraints=[{"model": "k-anonymity", "k": 4}], **algorithm)
    assert free["attacks"][0]["high"] > 0.55
    found = report(**algorithm)
    own = found["constraints"][0]
    assert own["satisfied"] is True
    assert own["measured"] <= 0.55
    assert own["verifiable_from_release"] is False
    # The attack of the config has randomness of its own.
    assert found["attacks"][0]["high"] <= 0.55 + 0.02
    assert found["search"]["objective"] > free["search"]["objective"]
    failed = [each for step in found["steps"] for each in step["failed"]]
    assert any(each.startswith("inference-risk") for each in failed)


@pytest.mark.slow
def test_it_is_about_one_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    attack, asked = Definetti.run, []

    def run(definetti: Definetti, scene: Any, random: np.random.Generator) -> Any:
        asked.append(scene.release.sensitive_names)
        return attack(definetti, scene, random)

    monkeypatch.setattr(Definetti, "run", run)
    roles = settings()["attributes"] | {"blood": {"role": "sensitive"}}
    constraints = [{**RISK, "attribute": "blood", "max": 0.7}, {"model": "k-anonymity", "k": 40}]
    found = report(attributes=roles, constraints=constraints, attacks=[])
    assert found["constraints"][0]["attribute"] == "blood"
    assert asked == [["blood"], ["blood"]]


@pytest.mark.parametrize("wrong", [{"quasi_identifiers": "combined"}, {"missing_sensitive": "value"}])
def test_what_counts_values_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(
        ConfigError, match="is measured by an attack, which does not count values; remove the key"
    ):
        load_config(settings(constraints=[{**RISK, **wrong}]))


@pytest.mark.parametrize("wrong", [{"max": 1.5}, {"attack": "guessing"}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        load_config(settings(constraints=[{**RISK, **wrong}]))


@pytest.mark.slow
def test_nothing_satisfies_less_than_the_most_frequent_value() -> None:
    few = {"age": {"role": "quasi-identifier"}, "zip": {"role": "insensitive"}}
    asked = [{**RISK, "max": 0.2}, {"model": "k-anonymity", "k": 4}]
    with pytest.raises(an.Infeasible):
        report(attributes=settings()["attributes"] | few, constraints=asked)


def test_a_model_of_the_release_may_measure_it() -> None:
    asked = {**RISK, "attack": "inference", "knowledge": ["age"], "targets": 300}
    found = report(constraints=[{**asked, "max": 0.6}, {"model": "k-anonymity", "k": 4}], attacks=[])
    free = report(constraints=[{**asked, "max": 1}, {"model": "k-anonymity", "k": 4}], attacks=[])
    own, other = found["constraints"][0], free["constraints"][0]
    assert own["measured"] <= 0.6 < other["measured"]
    assert own["parameters"]["knowledge"] == ["age"]
    assert any("inference-risk" in each for step in found["steps"] for each in step["failed"])


def test_anatomy_has_no_records_that_a_model_could_learn_from() -> None:
    asked = [{**RISK, "attack": "inference"}, {"model": "l-diversity", "l": 2, "attribute": "illness"}]
    with pytest.raises(an.InputError, match="inference learns from sensitive values record by record"):
        report(constraints=asked, algorithm={"name": "anatomy"})
