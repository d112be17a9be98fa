"""``--set a.b=v``."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from anonymizer.config.load import load_config, parse_override
from anonymizer.errors import ConfigError
from tests.config.examples import small


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


def test_the_last_override_of_a_path_wins() -> None:
    assert load_config(small(), ["seed=1", "seed=2"]).seed == 2


@pytest.mark.parametrize(
    ("override", "what"),
    [
        ("seed", "--set seed: not an override; accepted: KEY=VALUE, such as suppression.limit=0.05"),
        ("=3", "--set =3: not an override"),
        ('a."b=3', "not an override"),
        ("constraints.1.k=3", "--set constraints.1.k=3: constraints holds 1 entries; accepted: 0 to 0"),
        ("constraints.k=3", "constraints holds 1 entries; accepted: 0 to 0"),
        ("constraints.0.model.x=3", "constraints.0.model is 'k-anonymity' and holds no keys"),
        ("seed=[1", "--set seed=[1: the value is not YAML; put quotes around a text"),
        ("seed=" + "[" * 3000, "nested too deeply"),
        ("seed" + ".a" * 3000 + "=1", "nested too deeply"),
        ("seed=" + "9" * 5000, "a number with too many digits"),
        ("suppression.limit=1e-999999999", "a number with too many digits"),
        ("suppression.limit='1e-999999999'", "a number with too many digits"),
        ("seed=[&a [1, 2, 3]" + ", *a" * 40000 + "]", "aliases repeat more than 100,000 keys and values"),
        ("supression.limit=0", "supression: unknown key; did you mean 'suppression'?"),
        ("suppression.limt=0", "suppression.limt: unknown key; did you mean 'limit'?"),
        ("suppression.limit=2", "suppression.limit: 2; accepted: a number from 0 to 1"),
        ("attributes.ago.weight=2", "no column 'ago' in attributes; accepted: age, illness, zip"),
        ("attributes.other={weight: 2}", "attributes.other.role: missing"),
        ("algorithm={name:lattice}", "a colon needs a blank after it; write {name: lattice}"),
    ],
)
def test_refusals_name_the_path(override: str, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(small(), [override])
    assert what in str(caught.value)


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
