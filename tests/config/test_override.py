"""``--set a.b=v``."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.load import load_config, parse_override
from anonymizer.errors import ConfigError
from anonymizer.model.table import Role
from tests.config.examples import small
from tests.helpers.messages import exchange


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("seed=3", ("seed",), 3),
        ("suppression.limit=0.05", ("suppression", "limit"), Decimal("0.05")),
        ("constraints.0.k=10", ("constraints", "0", "k"), 10),
        ("constraints[0].k=10", ("constraints", 0, "k"), 10),
        ('attributes."a.b".weight=2', ("attributes", "a.b", "weight"), 2),
        (r'attributes."say \"x\"".weight=2', ("attributes", 'say "x"', "weight"), 2),
        ("attributes.two words.weight=2", ("attributes", "two words", "weight"), 2),
        ("input.separator='='", ("input", "separator"), "="),
        ("input.path=a=b.csv", ("input", "path"), "a=b.csv"),
        ("input.missing=['?', '']", ("input", "missing"), ["?", ""]),
        ("input.separator=", ("input", "separator"), None),
    ],
)
def test_paths_and_values(text: str, path: tuple[str | int, ...], value: Any) -> None:
    assert parse_override(text) == (path, value)


def test_a_value_is_replaced_and_the_rest_stays() -> None:
    config = load_config(small(), ["constraints.0.k=10", "suppression.limit=0.05", "attributes.zip.weight=2"])
    assert config.constraints[0].settings.k == 10
    assert config.suppression.limit == Decimal("0.05")
    assert config.attributes["zip"].weight == 2
    assert config.attributes["zip"].role == "quasi-identifier"


def test_plus_adds_to_the_end_of_a_list() -> None:
    attacks = ["attacks.+=uniqueness", "attacks.+=homogeneity", "attacks.1=skewness"]
    config = load_config(small(), ["constraints.+={model: l-diversity, l: 2}", *attacks])
    assert [each.model for each in config.constraints] == ["k-anonymity", "l-diversity"]
    assert [each.attack for each in config.attacks] == ["uniqueness", "skewness"]


def test_an_added_entry_is_named_by_its_place_in_errors() -> None:
    with pytest.raises(ConfigError, match=r"constraints\[1\]\.l"):
        load_config(small(), ["constraints.+={model: l-diversity, l: 0}"])


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.QUASI_IDENTIFIER])
def test_a_role_alone_replaces_all_settings_of_a_column(role: Role) -> None:
    config = load_config(small(), [f"attributes.age={role}"])
    assert config.attributes["age"] == AttributeSettings(role=role)


def test_a_role_alone_is_a_column_in_a_config_too() -> None:
    columns = {"age": "quasi-identifier", "illness": "sensitive"}
    config = load_config(small(attributes=columns))
    assert {name: each.role for name, each in config.attributes.items()} == columns
    assert config.to_dict()["attributes"]["illness"] == {"role": "sensitive"}


def test_the_last_override_of_a_path_wins() -> None:
    assert load_config(small(), ["seed=1", "seed=2"]).seed == 2


@pytest.mark.parametrize(
    "override",
    [
        "seed",
        "=3",
        'a."b=3',
        "constraints.1.k=3",
        "constraints.k=3",
        "constraints.+.k=3",
        "constraints.+={k: 3}",
        "suppression.+=3",
        "attributes.age=identifer",
        "constraints.0.model.x=3",
        "seed=[1",
        "seed=" + "[" * 3000,
        "seed" + ".a" * 3000 + "=1",
        "seed=" + "9" * 5000,
        "suppression.limit=1e-999999999",
        "suppression.limit='1e-999999999'",
        "seed=[&a [1, 2, 3]" + ", *a" * 40000 + "]",
        "supression.limit=0",
        "suppression.limt=0",
        "suppression.limit=2",
        "attributes.ago.weight=2",
        "attributes.other={weight: 2}",
        "algorithm={name:lattice}",
    ],
    ids=lambda override: override[:40],
)
def test_refusals_name_the_path(override: str, message: SnapshotAssertion) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(small(), [override])
    assert exchange(f"--set {override[:40]}", caught.value) == message


def test_all_wrong_overrides_come_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(small(), ["seed", "constraints.7.k=3"])
    assert len(caught.value.problems) == 2


def test_an_override_has_no_line_of_the_file(tmp_path: Any) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "seed: 1\nattributes: {a: {role: quasi-identifier}}\nconstraints: [{model: k-anonymity, k: 2}]\n"
    )
    with pytest.raises(ConfigError) as caught:
        load_config(path, ["seed=-1", "constraints.0.k=0"])
    assert [problem.line for problem in caught.value.problems] == [None, None]
