"""Short forms of sections: read, overridden, valid by the schema, and long in reports."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

import anonymizer as an
from anonymizer.config.model import config_schema

LONG: dict[str, Any] = {
    "attributes": {"age": {"role": "quasi-identifier"}, "sex": {"role": "sensitive"}},
    "constraints": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "attribute": "sex"}],
    "algorithm": {"name": "mondrian"},
    "objective": {"metric": "ncp"},
}
SHORT: dict[str, Any] = {
    "attributes": {"age": {"role": "qi"}, "sex": "sensitive"},
    "constraints": [{"k-anonymity": 5}, {"l-diversity": 2, "attribute": "sex"}],
    "algorithm": "mondrian",
    "objective": "ncp",
}


def test_a_short_form_is_the_long_one() -> None:
    assert an.load_config(SHORT) == an.load_config(LONG)
    assert an.load_config(SHORT).to_dict() == an.load_config(LONG).to_dict()
    assert an.load_config({**SHORT, "attributes": {"age": "qi", "sex": "sensitive"}}) == an.load_config(LONG)


@pytest.mark.slow
def test_the_schema_has_both() -> None:
    for each in (SHORT, LONG, {**SHORT, "attributes": {"age": "qi", "sex": "sensitive"}}):
        jsonschema.validate(each, config_schema())


@pytest.mark.parametrize(
    "override",
    [
        "constraints.0.k=7",
        "constraints.1.l=3",
        "algorithm.name=lattice",
        "algorithm.labels=set",
        "objective.aggregate=maximum",
        "attributes.sex.distance=equal",
        "attributes.{age,sex}=qi",
    ],
)
def test_an_override_reaches_into_either_form(override: str) -> None:
    found = []
    for each in (SHORT, LONG):
        try:
            found.append(str(an.load_config(each, [override]).to_dict()))
        except an.InputError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_braces_name_several_keys() -> None:
    overrides = ['attributes.{"a, b",age,"x.y"}=drop', "attributes.sex=qi", "constraints=[{k-anonymity: 5}]"]
    config = an.load_config(LONG, overrides)
    assert [config.attributes[each].role for each in ("a, b", "age", "x.y")] == ["drop"] * 3


def test_scenarios_take_the_short_form() -> None:
    scenario = {"known": ["age"], "models": [{"k-anonymity": 3}]}
    config = an.load_config({**SHORT, "scenarios": {"neighbour": scenario}, "algorithm": "lattice"})
    assert config.to_dict()["scenarios"]["neighbour"]["models"][0]["model"] == "k-anonymity"


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        (
            {"alpha-k-anonymity": 0.5},
            "needs alpha and k; write {model: alpha-k-anonymity, alpha: ..., k: ...}",
        ),
        ({"k-anonymity": 0}, "0; accepted: a whole number >= 1"),
        ({"k-anonymity": 5, "l-diversity": 2}, "model: missing"),
        ({"k-anonimity": 5}, "model: missing"),
    ],
)
def test_what_has_no_short_form(constraint: dict[str, Any], said: str) -> None:
    with pytest.raises(an.InputError) as caught:
        an.load_config({**LONG, "constraints": [constraint]})
    assert said in str(caught.value)
