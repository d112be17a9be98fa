"""What a config may say, and what it stands for."""

from __future__ import annotations

from decimal import Decimal

import pytest

from anonymizer.config.load import load_config
from anonymizer.loss.base import GeometricMean
from anonymizer.model.table import Role
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.privacy.k_anonymity import KAnonymity
from tests.config.examples import constrained, small


def test_defaults_are_the_contracts() -> None:
    config = load_config(small())
    assert config.input.missing == ("",)
    assert config.reference == "release"
    assert (config.suppression.limit, config.suppression.method) == (0, "classes")
    assert not config.suppression.keep_rows
    assert (config.algorithm.name, config.objective.metric, config.objective.aggregate) == (
        "lattice",
        "loss",
        "arithmetic-mean",
    )
    assert (config.output.path, config.output.order, config.seed) == ("release.csv", "sorted", 0)
    assert not config.budget.model_dump(exclude_none=True)


def test_plug_ins_are_built_with_their_parameters() -> None:
    config = load_config(small(objective={"metric": "ncp", "aggregate": "geometric-mean"}))
    model = config.constraints[0].build()
    assert (model.name, model.settings.k) == ("k-anonymity", 2)
    assert isinstance(config.objective.build().aggregate, GeometricMean)
    assert config.algorithm.build().name == "lattice"


def test_columns_are_listed_by_role() -> None:
    config = load_config(small())
    assert config.with_role(Role.QUASI_IDENTIFIER) == ("age", "zip")
    assert config.with_role(Role.IDENTIFIER) == ()


def test_thresholds_given_as_floats_are_the_decimals_a_person_means() -> None:
    config = load_config(small(suppression={"limit": 0.1}))
    assert config.suppression.limit == Decimal("0.1")


def test_numbers_stand_for_their_text_among_missing_tokens() -> None:
    assert load_config(small(input={"missing": [-9, "?"]})).input.missing == ("-9", "?")


def test_a_config_cannot_be_changed() -> None:
    config = load_config(small())
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 3


def test_a_new_plug_in_is_accepted_by_being_registered() -> None:
    class Stricter(KAnonymity):
        name = "stricter-k-anonymity"

    PRIVACY_MODELS.add(Stricter)
    try:
        config = load_config(constrained({"model": "stricter-k-anonymity", "k": 3}))
        assert isinstance(config.constraints[0].build(), Stricter)
    finally:
        PRIVACY_MODELS.remove("stricter-k-anonymity")
