"""The example configs: each is read without a problem and ends in a verified release."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymizer.config.load import check_columns, load_config
from anonymizer.config.model import Config
from anonymizer.config.sections import ApplySettings, ScenarioSettings
from anonymizer.hierarchy.source import HIERARCHY_SOURCES
from anonymizer.privacy.base import PRIVACY_MODELS
from tests.run.commands import read_rows

EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIGS = sorted(path.name for path in EXAMPLES.glob("*.yaml"))

INSTEAD_OF_A_PATH = {"database", "url", "table", "query", "allow_files"}
"""Keys that no config has beside a path; the file shows them in comments."""

OF_UNITS = {"person", "household", "units", "missing_person", "population", "control", "whole", "unit"}
"""Keys of people beyond the file, or without which records are counted; they are in comments too."""


def header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        return next(csv.reader(stream))


def test_the_examples_are_there() -> None:
    assert {"minimal.yaml", "sample.yaml", "hospital.yaml", "everything.yaml"} <= set(CONFIGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_config_is_read(name: str) -> None:
    config = load_config(EXAMPLES / name)
    assert config.input.path is not None
    data = config.folder / config.input.path
    check_columns(config.attributes, header(data), data.name)


@pytest.mark.parametrize("name", CONFIGS)
def test_readme_says_what_it_shows(name: str) -> None:
    assert f"`{name}`" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_minimal_has_five_lines() -> None:
    assert len((EXAMPLES / "minimal.yaml").read_text(encoding="utf-8").splitlines()) == 5


def test_everything_has_every_key() -> None:
    raw = yaml.safe_load((EXAMPLES / "everything.yaml").read_text(encoding="utf-8"))
    config = load_config(EXAMPLES / "everything.yaml")
    # No rule asks for all that it shows, and no key is in the examples.
    assert set(raw) == set(Config.model_fields) - {"apply", "preset", "scenarios", "sign"}
    text = (EXAMPLES / "everything.yaml").read_text(encoding="utf-8")
    assert "# preset: " in text
    assert "# sign: " in text
    for key in ("apply", *ApplySettings.model_fields, "scenarios", *ScenarioSettings.model_fields):
        assert re.search(rf"^# +{key}:|^# {key}:", text, re.MULTILINE), key
    for section in ("input", "suppression", "budget", "engine", "output"):
        keys = set(type(getattr(config, section)).model_fields)
        beside = keys & (INSTEAD_OF_A_PATH | OF_UNITS)
        assert set(raw[section]) == keys - beside
        own = text[text.index(f"\n{section}:") :]
        assert all(f"# {key}:" in own for key in beside)
    given = {key for attribute in raw["attributes"].values() for key in attribute}
    assert given == set(type(config.attributes["age"]).model_fields) - {"release"}
    assert "#   release:" in text
    sources = {key for each in raw["attributes"].values() for key in each.get("hierarchy", {})} - {"unknown"}
    assert sources == set(HIERARCHY_SOURCES) - {"prefixes"}
    assert "# hierarchy: {prefixes: " in text
    counting = {
        name for name, model in PRIVACY_MODELS.items() if model.needs_population or model.needs_households
    }
    assert {constraint["model"] for constraint in raw["constraints"]} == set(PRIVACY_MODELS) - counting
    assert all(f"# - {{model: {name}," in text for name in counting)


LONG = ("everything.yaml", "full_domain.yaml", "hospital.yaml", "sample.yaml")
"""Configs that take more than a few seconds; the README runs the last one as well."""

UNPROVEN = ("hospital.yaml", "sample.yaml")
"""Configs whose algorithm proves nothing about its loss."""


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in CONFIGS],
)
def test_config_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "anonymizer", "run", str(EXAMPLES / name), "-o", str(tmp_path), "--json"]
    # A busy machine is no reason for a search to end before its proof.
    longer = ["--set", "budget.seconds=800", "--set", "budget.cpu_seconds=800"]
    has_budget = "budget" in yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))
    done = subprocess.run(
        [*command, *(longer if has_budget else [])],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "satisfied"
    assert report["release"]["verified"] is True
    assert report["search"]["optimal"] is (name not in UNPROVEN)
    assert all(constraint["satisfied"] for constraint in report["constraints"])
    assert 0 < report["loss"]["loss"] < 0.7
    assert (tmp_path / "share" / "release.csv").is_file()
    if name == "sample.yaml":
        check_sample(report, tmp_path / "share" / "release.csv")


def check_sample(report: dict[str, Any], release: Path) -> None:
    """The sample loses little, and shows what the attacks that nobody asked for find on it."""
    assert report["release"]["suppressed_records"] == 0
    assert report["loss"]["loss"] < 0.25
    unasked = {"linkage", "homogeneity", "inference", "uniqueness", "vulnerability"}
    assert {each["attack"] for each in report["attacks"]} == unasked
    assert all(set(values) != {"*"} for values in zip(*read_rows(release), strict=True))


def test_the_sample_is_the_whole_card() -> None:
    """The first run that anybody makes shows what the program can do, without a word on how."""
    config = yaml.safe_load((EXAMPLES / "sample.yaml").read_text(encoding="utf-8"))
    assert not {"algorithm", "attacks", "budget"} & set(config)
    models = [each["model"] for each in config["constraints"]]
    assert models == ["k-anonymity", "l-diversity", "t-closeness", "linkage-risk"]
    full = yaml.safe_load((EXAMPLES / "full_domain.yaml").read_text(encoding="utf-8"))
    fewer = {**config, "constraints": config["constraints"][:2]}
    assert full == {**fewer, "algorithm": {"name": "auto", "recoding": "full-domain"}}
