"""The JSON Schema accepts what the loader accepts and refuses what it refuses."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from anonymizer.config.load import load_config
from anonymizer.config.model import Config, config_schema
from anonymizer.config.plugin_sections import (
    hierarchy_sources,
    loss_metrics,
    privacy_models,
    search_algorithms,
)
from anonymizer.errors import ConfigError
from tests.config.examples import CONTRACT, attribute, constrained, small


@cache
def validator() -> Draft202012Validator:
    """Return what is made when a test asks for it, as it takes longer than to collect the tests of a room."""
    return Draft202012Validator(config_schema())


def alternatives(section: dict[str, Any]) -> dict[str, Any]:
    definitions = config_schema()["$defs"]
    section = definitions[section["$ref"].rpartition("/")[2]] if "$ref" in section else section
    return {each["title"]: each for each in section["oneOf"] if "title" in each}


def test_it_is_a_schema_of_the_draft() -> None:
    schema = config_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(Config.model_fields)


def test_every_plug_in_stands_in_it_with_its_parameters() -> None:
    properties = config_schema()["properties"]
    models = alternatives(properties["constraints"]["items"])
    assert set(models) == set(privacy_models())
    threshold = models["t-closeness"]["properties"]["t"]
    assert {key: threshold[key] for key in ("type", "minimum", "maximum")} == {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
    }
    assert threshold["description"]
    assert set(alternatives(properties["objective"])) == set(loss_metrics())
    assert set(alternatives(properties["algorithm"])) == set(search_algorithms())
    definitions = config_schema()["$defs"]
    assert set(alternatives(definitions["HierarchySettings"])) == set(hierarchy_sources())


def test_no_part_of_it_is_left_over() -> None:
    text = json.dumps(config_schema())
    for name in config_schema()["$defs"]:
        assert f'"#/$defs/{name}"' in text
    assert "\\u0000" not in text


VALID = [
    yaml.safe_load(CONTRACT),
    small(),
    small(
        scenarios={
            "anyone": {"known": {"any": 1, "of": ["age"]}, "models": [{"model": "k-anonymity", "k": 2}]}
        },
        constraints=[],
    ),
    small(input={"population": "people.csv"}),
    small(input={"population": {"path": "people.csv", "weight": "w"}}),
    small(objective={"aggregate": "maximum"}),
    small(algorithm={}),
    constrained({"model": "l-diversity", "l": 2, "attribute": "illness", "quasi_identifiers": "combined"}),
    attribute(role="quasi-identifier", hierarchy={"auto": None, "unknown": "top"}),
    attribute(role="quasi-identifier", hierarchy={"tree": {"*": {"a": ["b", "c"]}}}),
]


@pytest.mark.parametrize("config", VALID)
def test_valid_configs(config: dict[str, Any]) -> None:
    assert [error.message for error in validator().iter_errors(config)] == []
    load_config(config)


def test_what_a_report_shows_is_valid() -> None:
    validator().validate(load_config(yaml.safe_load(CONTRACT)).to_dict())


INVALID = [
    {},
    small(attributes={}),
    small(constraints=[]),
    small(extra=1),
    small(attacks=["homogeny"]),
    small(attacks=[{"attack": "background", "facts": -1}]),
    small(seed=-1),
    small(seed=True),
    small(suppression={"limit": 1.5}),
    small(suppression={"limit": 0.1, "methd": "classes"}),
    small(algorithm={"name": "latice"}),
    small(objective={"metric": "los"}),
    constrained({"model": "k-anonymity"}),
    constrained({"model": "k-anonymity", "k": 0}),
    constrained({"model": "k-anonymity", "k": 1.5}),
    constrained({"model": "k-anonymity", "k": 5, "l": 2}),
    constrained({"model": "k-anonimity", "k": 5}),
    constrained({"k": 5}),
    attribute(),
    small(attributes={"age": "quasi"}),
    attribute(role="quasi"),
    attribute(role="quasi-identifier", hierachy={}),
    attribute(role="quasi-identifier", hierarchy={"masc": {}}),
    attribute(role="quasi-identifier", hierarchy={"mask": {"form": "left"}}),
    attribute(role="quasi-identifier", hierarchy={"auto": {}, "mask": {}}),
    attribute(role="quasi-identifier", weight=-1),
]


@pytest.mark.parametrize("config", INVALID)
def test_invalid_configs(config: dict[str, Any]) -> None:
    assert not validator().is_valid(config)
    with pytest.raises(ConfigError):
        load_config(config)
