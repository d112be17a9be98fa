"""Privacy models of other people: what they cannot measure, and what they do wrong, is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pytest
from pydantic import Field

import anonymizer as an
from anonymizer.errors import PlugInFault
from anonymizer.plugins import Settings, WholeNumber
from anonymizer.privacy.base import PRIVACY_MODELS, Merging, ScoredClassModel, Threshold
from anonymizer.testing import check_privacy_model

PEOPLE = pd.DataFrame(
    {
        "age": [21, 22, 31, 32, 51, 52, 61, 62],
        "wage": [10, 20, 15, 15, 40, 90, 10, 11],
        "job": list("abaccddb"),
    }
)


class RangeSettings(Settings):
    """Parameters of the model."""

    e: Annotated[WholeNumber, Field(ge=0, description="least difference")]


class Range(ScoredClassModel):
    """The numbers of every class differ by at least e."""

    name = "range"
    sensitive = True
    Settings = RangeSettings
    settings: RangeSettings
    thresholds = (Threshold("e", 0, whole=True),)
    merging = Merging.ANY
    larger_is_better = True

    def promise(self, attribute: str | None, unit: str) -> str:
        return f"knows {attribute} of each {unit} up to a range of {self.settings.e}"

    def unsuited(self, attribute: Any) -> str | None:
        return (
            None
            if attribute.column.numbers is not None
            else f"needs numbers, but '{attribute.name}' has texts"
        )

    def scores(self, view: Any, reference: Any) -> Any:
        counted = view.counted
        numbers = counted.attribute.column.numbers[counted.values]
        high, low = np.full(len(view.sizes), -np.inf), np.full(len(view.sizes), np.inf)
        with np.errstate(invalid="ignore"):
            # A missing number is NaN, which this model does not think of.
            np.maximum.at(high, counted.owners, numbers)
            np.minimum.at(low, counted.owners, numbers)
        return high - low

    def holds(self, view: Any, reference: Any) -> Any:
        return self.scores(view, reference) >= self.settings.e


class MinoritySettings(Settings):
    """Parameters of the model."""

    m: Annotated[WholeNumber, Field(ge=1, description="least records beside the most frequent value")]


class Minority(ScoredClassModel):
    """Enough in a class have another value than most: no merge of records lowers that."""

    name = "minority"
    sensitive = True
    Settings = MinoritySettings
    settings: MinoritySettings
    thresholds = (Threshold("m", 1, whole=True),)
    merging = Merging.ANY
    larger_is_better = True

    def promise(self, attribute: str | None, unit: str) -> str:
        return f"takes {attribute} of {self.settings.m} of each {unit}'s class for another"

    def scores(self, view: Any, reference: Any) -> Any:
        counted = view.counted
        return view.sizes - np.maximum.reduceat(counted.counts, counted.starts[:-1])

    def holds(self, view: Any, reference: Any) -> Any:
        return self.scores(view, reference) >= self.settings.m


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    for model in (Range, Minority):
        PRIVACY_MODELS.add(model)
    try:
        yield
    finally:
        for model in (Range, Minority):
            PRIVACY_MODELS.remove(model.name)


def config(attribute: str, e: int, **others: Any) -> dict[str, Any]:
    roles = {name: "sensitive" if name == attribute else "drop" for name in PEOPLE if name != "age"}
    age = {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [10, 50]}}}
    return {
        "attributes": {"age": age, **roles},
        "constraints": [{"model": "range", "e": e, "attribute": attribute}],
        "attacks": [],
        **others,
    }


def test_a_model_of_numbers_measures_them() -> None:
    result = an.anonymize(PEOPLE, config("wage", 10))
    assert result.report["constraints"][0]["measured"] == 10
    check_privacy_model(Range(RangeSettings(e=3)))


@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local", "microaggregation"])
def test_a_model_refuses_an_attribute(algorithm: str) -> None:
    """By the key of its constraint, and not as a job that is infeasible."""
    with pytest.raises(an.InputError, match=r"constraints\[0\]: range needs numbers, but 'job' has texts"):
        an.anonymize(PEOPLE, config("job", 1, algorithm={"name": algorithm}))


@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local"])
def test_what_merging_does_to_records_is_not_promised_for_persons(algorithm: str) -> None:
    """In one class both persons have both values, so that nobody is in a minority; by ward one is."""
    visits = pd.DataFrame({"who": list("pqpq"), "ward": list("1122"), "ill": list("abba")})
    asked = {
        "input": {"person": "who"},
        "attributes": {"who": "identifier", "ward": "quasi-identifier", "ill": "sensitive"},
        "constraints": [{"model": "minority", "m": 1, "attribute": "ill"}],
        "algorithm": {"name": algorithm},
        "attacks": [],
    }
    result = an.anonymize(visits, asked)
    assert result.report["constraints"][0]["measured"] == 1
    assert sorted(result.data["ward"]) == ["1", "1", "2", "2"]


def test_check_leaves_out_what_does_not_suit() -> None:
    measured = an.check(PEOPLE, qi=["age"], sensitive=["job", "wage"])
    own = measured[measured["model"] == "range"]
    assert list(own["attribute"]) == ["wage"]


@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local"])
def test_a_measure_that_is_no_number_is_a_fault_of_the_model(algorithm: str) -> None:
    """Not a proof that nothing satisfies the constraint."""
    wages = PEOPLE.assign(wage=[10, None, 15, 15, 40, 90, 10, 11])
    with pytest.raises(PlugInFault, match="privacy model range measures NaN"):
        an.anonymize(wages, config("wage", 1, algorithm={"name": algorithm}))


def test_the_suite_says_that_a_model_suits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Range, "unsuited", lambda *_: "needs pictures")
    with pytest.raises(AssertionError, match="suits no sensitive attribute"):
        check_privacy_model(Range(RangeSettings(e=1)))
