"""Labels and texts of cells in YAML, TOML, JSON and overrides: as they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.config.load import load_config
from anonymizer.errors import ConfigError
from anonymizer.hierarchy.source import compile_tree
from tests.hierarchy.columns import NOWHERE, chains, column

WRITTEN = ["0.5", "1.50", "1e3", "012", "NO", "12:30", "null", "true", "True", "-9", "2024-05-01", "1_0"]
ALL_JSON = ["0.5", "1.50", "1e3", "null", "true", "-9", "1E+2"]


def config(folder: Path, name: str, text: str, *overrides: str) -> Any:
    (folder / name).write_text(text, encoding="utf-8")
    return load_config(folder / name, overrides)


def yaml_text(labels: str) -> str:
    return f"""
input: {{missing: [{labels}]}}
attributes:
  a: {{role: quasi-identifier, hierarchy: {{tree: {{"*": {{lo: [{labels}], 7.0: 8.0, 9.0: }}}}}}}}
  b: {{role: quasi-identifier, hierarchy: {{order: {{sizes: [2], values: [{labels}]}}}}}}
constraints: [{{model: k-anonymity, k: 2}}]
"""


def leaves(loaded: Any) -> dict[str, list[str]]:
    source = loaded.attributes["a"].hierarchy.build()
    return chains(compile_tree(source.build(column([]), NOWHERE), "t"))


def ordered(loaded: Any) -> list[str]:
    return [*loaded.attributes["b"].hierarchy.settings.values]


def test_yaml(tmp_path: Path) -> None:
    loaded = config(tmp_path, "c.yaml", yaml_text(", ".join(WRITTEN)))
    assert [*loaded.input.missing] == ordered(loaded) == WRITTEN
    assert [*leaves(loaded)] == [*WRITTEN, "8.0", "9.0"]
    assert leaves(loaded)["8.0"] == ["8.0", "7.0", "*"]


def test_json(tmp_path: Path) -> None:
    flow = yaml_text(", ".join(ALL_JSON))
    loaded = config(tmp_path, "c.yaml", flow)
    labels = "[" + ", ".join(ALL_JSON) + "]"
    text = f"""{{
      "input": {{"missing": {labels}}},
      "attributes": {{
        "a": {{"role": "quasi-identifier",
               "hierarchy": {{"tree": {{"*": {{"lo": {labels}, "7.0": 8.0, "9.0": null}}}}}}}},
        "b": {{"role": "quasi-identifier",
               "hierarchy": {{"order": {{"sizes": [2], "values": {labels}}}}}}}}},
      "constraints": [{{"model": "k-anonymity", "k": 2}}]}}"""
    other = config(tmp_path, "c.json", text)
    assert [*other.input.missing] == ordered(other) == ALL_JSON
    assert leaves(other) == leaves(loaded)


def test_toml(tmp_path: Path) -> None:
    text = """
[input]
missing = [0.5, 1.50, 1e3, -9, true, 2024-05-01]
[attributes.a]
role = "quasi-identifier"
hierarchy.tree."*" = {lo = [0.5, 1.50, 1e3], hi = [true, 2]}
[[constraints]]
model = "k-anonymity"
k = 2
"""
    loaded = config(tmp_path, "c.toml", text)
    assert [*loaded.input.missing] == ["0.5", "1.50", "1e3", "-9", "true", "2024-05-01"]
    assert [*leaves(loaded)] == ["0.5", "1.50", "1e3", "true", "2"]


def test_numbers_elsewhere_are_numbers(tmp_path: Path) -> None:
    text = json.dumps({"attributes": {"a": {"role": "quasi-identifier", "weight": 1.5}}, "seed": 7})
    loaded = config(tmp_path, "c.json", text, "constraints.+={model: k-anonymity, k: 2}")
    assert (loaded.seed, float(loaded.attributes["a"].weight)) == (7, 1.5)


@pytest.mark.parametrize("key", ["input.missing=[-9.0, null]", "input={missing: [-9.0, null]}"])
def test_overrides(tmp_path: Path, key: str) -> None:
    loaded = config(tmp_path, "c.yaml", yaml_text("a"), key, "input.missing.+=NO", "input.missing.0=1e3")
    assert [*loaded.input.missing] == ["1e3", "null", "NO"]


def test_a_missing_text_of_the_release_is_as_written(tmp_path: Path) -> None:
    assert config(tmp_path, "c.yaml", yaml_text("a"), "output.missing=-9.0").output.missing == "-9.0"
    assert config(tmp_path, "c.yaml", yaml_text("a"), "output.missing=NULL").output.missing == "NULL"


def test_messages_show_labels_as_written(tmp_path: Path) -> None:
    text = yaml_text("a").replace('{"*": {lo', "{1.50: {lo").replace("9.0: }", "9.0: }, 2e3: x")
    with pytest.raises(ConfigError, match=r"2 roots: '1.50', '2e3'"):
        config(tmp_path, "c.yaml", text)
    with pytest.raises(ConfigError, match=r"'1.50' is listed 2 times"):
        config(tmp_path, "c.yaml", yaml_text("1.50, 1.50"))


@pytest.mark.parametrize("label", [0.5, 7])
def test_labels_from_python(label: float) -> None:
    tree = {"*": {"lo": [label], "hi": ["x"]}}
    attributes = {"a": {"role": "quasi-identifier", "hierarchy": {"tree": tree}}}
    loaded = load_config({"attributes": attributes, "constraints": [{"model": "k-anonymity", "k": 2}]})
    assert [*leaves(loaded)] == [str(label), "x"]
