"""Sources by name, and the suite that every registered one passes."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from anonymizer.errors import HierarchyError, InputError
from anonymizer.hierarchy.source import HIERARCHY_SOURCES, OptionalSettings, make_source
from tests.hierarchy.columns import source

NAMES = ["auto", "date", "file", "frequency", "intervals", "mask", "order", "ready", "tree"]


def test_the_names_of_the_contract_are_registered() -> None:
    assert set(NAMES) <= set(HIERARCHY_SOURCES)


@pytest.mark.parametrize("name", list(HIERARCHY_SOURCES))
def test_a_source_says_what_it_is(name: str) -> None:
    kind = HIERARCHY_SOURCES[name]
    assert kind.name == name
    assert isinstance(kind.rule_built, bool)
    assert issubclass(kind.Settings, BaseModel)
    assert kind.Settings.model_config["frozen"]
    assert all(field.description for field in kind.Settings.model_fields.values())
    assert kind.Settings.model_json_schema()


@pytest.mark.parametrize("name", [name for name in NAMES if name in ("auto", "date", "frequency", "mask")])
def test_a_key_alone_stands_for_the_defaults(name: str) -> None:
    kind = HIERARCHY_SOURCES[name]
    assert issubclass(kind.Settings, OptionalSettings)
    assert source(**{name: None}).settings == source(**{name: {}}).settings
    assert kind.Settings.model_json_schema()["type"] == ["object", "null"]


def test_an_unknown_source_meets_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"unknown hierarchy source 'interval'; did you mean 'intervals'\?"):
        make_source({"interval": {}}, "here")


@pytest.mark.parametrize("mapping", [{}, {"auto": {}, "mask": {}}])
def test_exactly_one_source_is_accepted(mapping: dict) -> None:
    with pytest.raises(HierarchyError, match=r"here: .*accepted: one of auto, date"):
        make_source(mapping, "here")


def test_every_fault_of_the_settings_is_listed() -> None:
    with pytest.raises(HierarchyError) as caught:
        make_source({"mask": {"from": "up", "step": 3}}, "here")
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "here.mask.from",
        "here.mask.step",
    ]
