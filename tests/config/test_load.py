"""From a file to a config: formats, lines, exact decimals, the way back."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.config.load import check_columns, load_config
from anonymizer.errors import ConfigError
from tests.config.examples import CONTRACT, SMALL, constrained, small
from tests.helpers.messages import exchange

WRONG = """\
attributes:
  age: {role: quasi-identifier, hierachy: {auto: {}}}
  zip:
    role: quasi-identifer
constraints:
  - {model: k-anonymity, k: 0}
  - model: l-diversity
    l: 1.5
suppression:
  limit: 2
  methd: classes
"""

TOML = """\
reference = "input"
seed = 7
[attributes]
age = {role = "quasi-identifier", hierarchy = {intervals = {width = [2.5, 5]}}}
"a.b" = {role = "sensitive"}
[[constraints]]
model = "t-closeness"
t = 0.1000000000000000055
[[constraints]]
model = "k-anonymity"
k = 5
[suppression]
limit = 0.02
"""

YAML = """\
reference: input
seed: 7
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: {width: [2.5, 5]}}}
  a.b: {role: sensitive}
constraints:
  - {model: t-closeness, t: 0.1000000000000000055}
  - {model: k-anonymity, k: 5}
suppression: {limit: 0.02}
"""

JSON = """\
{"reference": "input", "seed": 7,
 "attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [2.5, 5]}}},
                "a.b": {"role": "sensitive"}},
 "constraints": [{"model": "t-closeness", "t": 0.1000000000000000055}, {"model": "k-anonymity", "k": 5}],
 "suppression": {"limit": 0.02}}
"""


def written(folder: Path, text: str, name: str = "c.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_contracts_example_loads(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, CONTRACT))
    assert list(config.attributes) == ["name", "age", "zip", "education", "country", "occupation", "notes"]
    assert config.attributes["education"].weight == 2
    assert config.constraints[1].attribute == "occupation"
    assert (config.folder, config.source) == (tmp_path, str(tmp_path / "c.yaml"))


def test_yaml_toml_and_json_of_one_content_are_one_config(tmp_path: Path) -> None:
    texts = {"c.yaml": YAML, "c.yml": YAML, "c.toml": TOML, "c.json": JSON}
    configs = [load_config(written(tmp_path, text, name)) for name, text in texts.items()]
    assert all(config == configs[0] for config in configs)
    assert configs[0] != load_config(small())


def test_all_problems_come_at_once_with_their_lines(tmp_path: Path, message: SnapshotAssertion) -> None:
    path = written(tmp_path, WRONG)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert exchange(WRONG, caught.value, tmp_path) == message


def test_a_missing_key_is_reported_on_the_line_of_its_section(tmp_path: Path) -> None:
    path = written(
        tmp_path, "attributes:\n  age: {role: quasi-identifier}\nconstraints:\n  - model: k-anonymity\n"
    )
    with pytest.raises(ConfigError, match=r"line 4  constraints\[0\].k: missing"):
        load_config(path)


def test_json_problems_have_lines(tmp_path: Path) -> None:
    path = written(tmp_path, JSON.replace('"k": 5', '"k": 0'), "c.json")
    with pytest.raises(ConfigError, match=r"line 4  constraints\[1\].k: 0; accepted"):
        load_config(path)


@pytest.mark.parametrize(("name", "text"), [("c.yaml", YAML), ("c.toml", TOML), ("c.json", JSON)])
def test_thresholds_keep_every_digit(tmp_path: Path, name: str, text: str) -> None:
    config = load_config(written(tmp_path, text, name))
    assert config.constraints[0].settings.t == Decimal("0.1000000000000000055")
    assert config.constraints[0].settings.t != Decimal("0.1")


@pytest.mark.parametrize("text", [CONTRACT, YAML])
def test_what_a_report_shows_loads_again(tmp_path: Path, text: str) -> None:
    config = load_config(written(tmp_path, text))
    shown = json.loads(json.dumps(config.to_dict(), allow_nan=False))
    assert load_config(shown) == config
    assert load_config(shown).to_dict() == config.to_dict()


def test_a_report_shows_defaults_and_plain_numbers() -> None:
    shown = load_config(small(suppression={"limit": Decimal("0.020")})).to_dict()
    assert shown["suppression"] == {"limit": 0.02, "method": "classes", "keep_rows": False}
    assert shown["attributes"]["age"] == {"role": "quasi-identifier", "type": "integer", "weight": 1}
    assert shown["attributes"]["illness"] == {"role": "sensitive"}
    assert shown["constraints"] == [{"model": "k-anonymity", "k": 2}]
    assert shown["objective"] == {"metric": "loss", "aggregate": "arithmetic-mean"}
    assert "separator" not in shown["input"]


def test_a_report_shows_no_aggregate_where_the_metric_has_none() -> None:
    assert load_config(small(objective={"metric": "height"})).to_dict()["objective"] == {"metric": "height"}


@given(st.decimals(min_value=0, max_value=1, allow_nan=False, places=None))
def test_every_threshold_survives_the_report(limit: Decimal) -> None:
    config = load_config(small(suppression={"limit": limit}))
    again = load_config(json.loads(json.dumps(config.to_dict())))
    assert again.suppression.limit == limit


@given(st.floats(min_value=0, max_value=1))
def test_every_float_survives_the_report_as_a_number(limit: float) -> None:
    shown = load_config(small(suppression={"limit": limit})).to_dict()["suppression"]["limit"]
    assert isinstance(shown, int | float)
    assert shown == limit


def test_a_config_is_returned_as_it_is() -> None:
    config = load_config(small())
    assert load_config(config) is config


def test_a_mapping_starts_from_the_current_folder() -> None:
    assert load_config(small()).folder.resolve() == Path.cwd()


def test_a_mapping_is_left_as_it_was_and_may_hold_numpy_numbers() -> None:
    given_config = constrained({"model": "k-anonymity", "k": np.int64(3)})
    config = load_config({**given_config, "suppression": {"limit": np.float64(0.2)}}, ["seed=4"])
    assert (config.constraints[0].settings.k, config.suppression.limit, config.seed) == (3, Decimal("0.2"), 4)
    assert "seed" not in given_config


def test_overrides_apply_to_a_config_that_is_loaded() -> None:
    assert load_config(load_config(small()), ["constraints.0.k=9"]).constraints[0].settings.k == 9


def test_column_names_are_text_whatever_they_look_like(tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        name: {"role": "quasi-identifier"} for name in ("2020", "no", "true", "1.0", "~", "a.b")
    }
    text = "attributes:\n" + "".join(f"  {name}: {{role: quasi-identifier}}\n" for name in columns)
    text += "constraints: [{model: k-anonymity, k: 2}]\n"
    assert list(load_config(written(tmp_path, text)).attributes) == list(columns)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip))
def test_any_column_name_survives(name: str) -> None:
    config = load_config(small(attributes={name: {"role": "quasi-identifier"}}))
    assert list(load_config(config.to_dict()).attributes) == [name]


def test_check_columns_accepts_the_columns_of_the_config_in_any_order() -> None:
    check_columns(load_config(SMALL).attributes, ["illness", "zip", "age"], "adult.csv")


def test_check_columns_names_every_difference(message: SnapshotAssertion) -> None:
    columns = ["age", "zipp", "illness", "na.me"]
    with pytest.raises(ConfigError) as caught:
        check_columns(load_config(SMALL).attributes, columns, "adult.csv")
    assert exchange(columns, caught.value) == message


def test_the_library_reads_the_example_as_any_yaml_reader_does() -> None:
    assert list(yaml.safe_load(CONTRACT)["attributes"]) == list(
        load_config(yaml.safe_load(CONTRACT)).attributes
    )
