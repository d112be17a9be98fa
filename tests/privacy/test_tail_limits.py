"""Limits on the success among the most exposed."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymizer as an
from anonymizer.attacks.base import TAILS
from anonymizer.errors import ConfigError
from anonymizer.model.classes import ClassView
from anonymizer.privacy.vulnerability import Vulnerability, VulnerabilitySettings
from tests.helpers.examples import share

SHARES = [float(own) for own in TAILS.values()]

FEWER = share(3)


def risk(sizes: list[int], at: float) -> Fraction:
    settings = VulnerabilitySettings.model_validate({"max": 1, "at": at})
    return Vulnerability(settings).risk(ClassView(np.array(sizes)))


def by_sorting(sizes: list[int], at: float) -> Fraction:
    chances = sorted((Fraction(1, size) for size in sizes for _ in range(size)), reverse=True)
    number = max(ceil(Fraction(str(at)) * len(chances)), 1)
    return sum(chances[:number], Fraction(0)) / number


@FEWER
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.sampled_from(SHARES))
def test_the_smallest_classes_are_the_most_exposed(sizes: list[int], at: float) -> None:
    assert risk(sizes, at) == by_sorting(sizes, at)
    assert risk(sizes, at) >= Fraction(len(sizes), sum(sizes))


@FEWER
@given(st.lists(st.integers(1, 40), min_size=2, max_size=12), st.sampled_from(SHARES))
def test_merging_classes_exposes_nobody_more(sizes: list[int], at: float) -> None:
    assert risk([sizes[0] + sizes[1], *sizes[2:]], at) <= risk(sizes, at)


def people(records: int = 300) -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, records),
            "zip": random.integers(0, 27, records),
            "ill": random.choice(["a", "b", "c"], records, p=[0.5, 0.3, 0.2]),
        }
    )


def config(*constraints: dict[str, Any], algorithm: str = "lattice") -> dict[str, Any]:
    return {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5, 10, 20, 40]}}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [3, 9]}}},
            "ill": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}, *constraints],
        "algorithm": {"name": algorithm},
    }


LIMITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"model": "linkage-risk", "max": 0.15}, {"attack": "linkage"}),
    ({"model": "vulnerability", "max": 0.15}, {"attack": "vulnerability", "target": "re-identification"}),
    ({"model": "interval-risk", "max": 0.5, "width": 0.05}, {"attack": "interval", "width": 0.05}),
]


@pytest.mark.quick(3)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian"])
@pytest.mark.parametrize("at", SHARES)
@pytest.mark.parametrize(("limit", "attack"), LIMITS, ids=[own["model"] for own, _ in LIMITS])
def test_a_limit_is_on_what_the_attack_reports(
    limit: dict[str, Any], attack: dict[str, Any], at: float, algorithm: str
) -> None:
    given = config({**limit, "at": at}, algorithm=algorithm) | {"attacks": [attack]}
    report = an.anonymize(people(), given).report
    (own,) = (each for each in report["constraints"] if each["model"] == limit["model"])
    assert own["parameters"]["at"] == at
    found = max(entry["tail"][str(at)] for entry in report["attacks"])
    assert own["measured"] == pytest.approx(found)
    assert found <= limit["max"]
    mean = max(entry["success"] for entry in report["attacks"])
    loose = an.anonymize(people(), config(limit, algorithm=algorithm)).report
    assert mean <= limit["max"] or limit["model"] == "interval-risk"
    assert loose["loss"]["loss"] <= report["loss"]["loss"] + 1e-9 or limit["model"] == "interval-risk"


@pytest.mark.slow
def test_values_of_whom_an_adversary_is_surest_are_limited() -> None:
    given = config({"model": "inference-risk", "max": 0.75, "at": 0.1, "sweeps": 128}, algorithm="mondrian")
    report = an.anonymize(people(), given | {"attacks": [{"attack": "definetti", "sweeps": 128}]}).report
    own = report["constraints"][1]
    assert report["attacks"][0]["tail_baseline"]["0.1"] <= own["measured"] <= 0.75


@pytest.mark.parametrize("model", ["linkage-risk", "inference-risk", "interval-risk", "vulnerability"])
def test_other_shares_are_refused(model: str) -> None:
    with pytest.raises(ConfigError, match=r"at is 0.02; accepted: 0.01, 0.05, 0.1"):
        an.anonymize(people(), config({"model": model, "max": 0.5, "at": 0.02}))


def test_a_share_is_one_however_it_is_written() -> None:
    reports = [
        an.anonymize(people(), config({"model": "vulnerability", "max": 1, "at": at})).report
        for at in (0.1, "0.1", "0.10")
    ]
    measured = {each["constraints"][1]["measured"] for each in reports}
    assert len(measured) == 1
