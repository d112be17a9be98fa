"""Presets: what `init --for` drafts, and what a run names that departs from its preset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from anonymizer.hierarchy.ready import ready_folder
from anonymizer.presets.hipaa_safe_harbor import SMALL
from anonymizer.presets.preset import PRESETS
from tests.helpers.identified import SECTIONS, patients
from tests.run.commands import call

SAFE = "hipaa-safe-harbor"


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return patients(300)


def released(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "share" / "release.csv", dtype=str, keep_default_na=False)


def departures(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return {each["column"]: each for each in content["preset"]["departures"]}


def config_of(columns: dict[str, Any], preset: str = SAFE, k: int = 5) -> dict[str, Any]:
    return {
        "input": {"path": "people.csv"},
        "preset": preset,
        "attributes": columns,
        "constraints": [{"model": "k-anonymity", "k": k}],
        "suppression": {"limit": 0.02},
        "algorithm": {"name": "mondrian"},
        "bound": "none",
    }


def run(folder: Path, frame: pd.DataFrame, config: dict[str, Any], *options: str) -> Any:
    frame.to_csv(folder / "people.csv", index=False)
    (folder / "people.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return call("run", folder / "people.yaml", *options)


@pytest.mark.quick(1)
@pytest.mark.parametrize("named", [True, False], ids=["names", "c1, c2, ..."])
def test_no_identifier_is_in_the_release_of_a_draft(tmp_path: Path, table: pd.DataFrame, named: bool) -> None:
    names = list(table.columns) if named else [f"c{place}" for place in range(len(table.columns))]
    table.set_axis(names, axis=1).to_csv(tmp_path / "people.csv", index=False)
    config = tmp_path / "people.yaml"
    done = call("init", tmp_path / "people.csv", "-o", config, "--for", SAFE)
    assert done.code == 0, done.err
    done = call("run", config)
    assert done.code == 0, done.err
    assert departures(tmp_path / "people-release") == {}
    shown = released(tmp_path / "people-release")
    coarsened = {"zip", "admission_date", "discharge_date", "death_date", "age", "birth_date"}
    for column in SECTIONS:
        values = set(table[column]) - {""}
        if column not in coarsened:
            assert all(values.isdisjoint(shown[each]) for each in shown.columns), column
    cells = {cell for each in shown.columns for cell in shown[each]}
    assert not {cell for cell in cells if cell[:4].isdigit() and cell[4:5] == "-" and len(cell) == 10}
    assert "036" not in cells


IN_DRAFT = {"sex": "quasi-identifier", "state": "insensitive", "diagnosis": "insensitive"}


@pytest.mark.quick(1)
@pytest.mark.parametrize("unprotected", [list(SECTIONS)[:1], list(SECTIONS)], ids=["one", "all"])
def test_each_departure_is_named_with_its_section(
    tmp_path: Path, table: pd.DataFrame, unprotected: list[str]
) -> None:
    columns = dict.fromkeys(table.columns, "drop") | IN_DRAFT | dict.fromkeys(unprotected, "insensitive")
    done = run(tmp_path, table, config_of(columns))
    assert done.code == 0, done.err
    found = departures(tmp_path / "people-release")
    assert sorted(found) == sorted(unprotected)
    for column in unprotected:
        assert f"164.514(b)(2)(i)({SECTIONS[column]})" in found[column]["source"]
    assert f"Departs from {SAFE} in {len(unprotected)} place" in done.out
    public = json.loads((tmp_path / "people-release/share/report.public.json").read_text(encoding="utf-8"))
    assert public["preset"] == {"name": SAFE, "departs": True}


def test_strict_leaves_no_release_that_departs(tmp_path: Path, table: pd.DataFrame) -> None:
    columns = dict.fromkeys(table.columns, "drop") | IN_DRAFT | {"phone": "insensitive"}
    config = config_of(columns) | {"exposure": {"unique": 1, "rare_values": 1}}
    done = run(tmp_path, table, config, "--strict")
    assert done.code == 1
    assert "phone" in done.err
    assert not (tmp_path / "people-release").exists()


@pytest.mark.quick(2)
@pytest.mark.parametrize("preset", [name for name in PRESETS if PRESETS[name].least_class()])
def test_a_smaller_class_than_asked_departs(tmp_path: Path, table: pd.DataFrame, preset: str) -> None:
    columns = dict.fromkeys(table.columns, "drop") | {"sex": "quasi-identifier", "age": "quasi-identifier"}
    rule = PRESETS[preset].least_class()
    assert rule is not None
    few = table[["sex", "age"]].drop_duplicates("age").head(4)
    frame = pd.concat([few.iloc[[0]]] * 3 + [few.iloc[[1]]] * 30).reindex(
        columns=table.columns, fill_value=""
    )
    assert run(tmp_path, frame, config_of(columns, preset, 2)).code == 0
    (only,) = departures(tmp_path / "people-release").values()
    assert (only["column"], only["has"]) == (None, f"classes of fewer than {rule.k}")
    assert only["source"] == rule.source


def test_the_k_of_the_user_stays_and_departs(tmp_path: Path, table: pd.DataFrame) -> None:
    table[["sex", "age", "diagnosis"]].to_csv(tmp_path / "people.csv", index=False)
    config = tmp_path / "people.yaml"
    assert call("init", tmp_path / "people.csv", "-o", config, "--for", "hipaa-expert", "--k", "2").code == 0
    drafted = yaml.safe_load(config.read_text(encoding="utf-8"))
    assert drafted["preset"] == "hipaa-expert"
    assert drafted["constraints"][0]["k"] == 2
    assert call("init", tmp_path / "people.csv", "-o", config, "--for", "ema-0070", "--overwrite").code == 0
    assert yaml.safe_load(config.read_text(encoding="utf-8"))["constraints"][0]["k"] == 12


def test_unknown_presets_are_refused_with_the_names(tmp_path: Path, table: pd.DataFrame) -> None:
    table.to_csv(tmp_path / "people.csv", index=False)
    done = call("init", tmp_path / "people.csv", "--for", "hipaa")
    assert done.code == 2
    assert "unknown preset 'hipaa'" in done.err
    config = config_of(dict.fromkeys(table.columns, "drop") | IN_DRAFT, "gdpr")
    assert "unknown preset 'gdpr'; accepted: ema-0070" in run(tmp_path, table, config).err


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": ["x"] * 9, "b": [""] * 9}),
        pd.DataFrame({"a": ["x"], "b": ["1"]}),
        pd.DataFrame({"a": ["x", "y"] * 20, "b": ["1"] * 40}),
    ],
    ids=["an empty column", "one record", "all equal"],
)
def test_files_with_nothing_that_a_rule_concerns(tmp_path: Path, frame: pd.DataFrame) -> None:
    config = config_of({"a": "quasi-identifier", "b": "insensitive"}, k=1)
    assert run(tmp_path, frame, config).code == 0
    assert departures(tmp_path / "people-release") == {}


@pytest.mark.parametrize("name", PRESETS)
def test_every_rule_has_a_source_with_a_date(name: str) -> None:
    for rule in PRESETS[name].rules:
        assert any(year in rule.source for year in ("2002", "2012", "2013", "2016", "2024")), rule
        assert rule.asks


def test_small_areas_are_those_of_the_ready_made_hierarchy() -> None:
    ready = yaml.safe_load((ready_folder() / "us-zip3.yaml").read_text(encoding="utf-8"))
    assert ready["hierarchy"]["prefixes"]["merge"] == {"000": list(SMALL)}
