"""Names of columns in other spellings than in the input: in every place where a name can stand."""

from __future__ import annotations

import csv
import json
import unicodedata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.errors import ConfigError, InputError
from tests.run.commands import call

NAMES = ["gr\u00f6\u00dfe", "l\u00e4nd", "\u00fcbel", "schl\u00fcssel", "gewicht\u00e9"]
SIZE, LAND, ILL, KEY, WEIGHT = NAMES


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def records() -> pd.DataFrame:
    rows = [(str(n % 3), "ab"[n % 2], "xyz"[n % 3 - n % 2], f"p{n}", "2") for n in range(24)]
    return pd.DataFrame(rows, columns=list(map(nfd, NAMES)))


def settings(*, population: bool) -> dict[str, Any]:
    """A config with names in NFC, in every place that takes one; with a population or with a scenario."""
    content = everywhere()
    if population:
        del content["scenarios"]
    else:
        del content["input"]["population"], content["constraints"][2]
    return content


def everywhere() -> dict[str, Any]:
    return {
        "input": {
            "person": KEY,
            "population": {"path": "census.csv", "weight": WEIGHT},
            "missing": [""],
        },
        "attributes": {
            SIZE: {"role": "quasi-identifier"},
            f" {LAND}": "quasi-identifier",
            ILL: "sensitive",
            KEY: "identifier",
            nfd(WEIGHT): "weight",
        },
        "constraints": [
            {"model": "k-anonymity", "k": 2, "unit": "record"},
            {"model": "l-diversity", "l": 1, "attribute": nfd(ILL)},
            {"model": "k-map", "k": 1},
        ],
        "scenarios": {"neighbour": {"known": [LAND], "models": [{"model": "k-anonymity", "k": 2}]}},
        "attacks": [
            {"attack": "vulnerability", "knowledge": [LAND]},
            {"attack": "uniqueness", "weights": WEIGHT},
        ],
        "objective": {"metric": "loss", "weights": WEIGHT},
        "algorithm": {"name": "lattice"},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records().to_csv(tmp_path / "a.csv", index=False)
    records().rename(columns=dict(zip(map(nfd, NAMES), NAMES, strict=True))).to_csv(
        tmp_path / "census.csv", index=False
    )
    for name, population in (("c.json", False), ("p.json", True)):
        content = settings(population=population)
        content["input"]["path"] = "a.csv"
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))


@pytest.mark.parametrize("name", ["c.json", "p.json"])
def test_a_run_publishes_the_names_of_the_data(folder: Path, name: str) -> None:
    loaded = load_config(folder / name)
    assert list(loaded.attributes) == [SIZE, f" {LAND}", ILL, KEY, nfd(WEIGHT)]
    assert loaded.objective.weights == nfd(WEIGHT)
    report = run(loaded, folder / "out").to_dict()
    assert header(folder / "out" / "share" / "release.csv") == list(map(nfd, [SIZE, LAND, ILL, WEIGHT]))
    assert list(report["attributes"]) == list(map(nfd, NAMES))
    assert report["status"] == "satisfied"
    assert call("audit", str(folder / "out" / "share" / "release.csv")).code == 0
    assert call("attack", str(folder / "out/share/release.csv"), "-c", str(folder / name)).code == 0
    assert call("check", str(folder / "a.csv"), "-c", str(folder / name)).code == 0


def test_a_release_stored_in_another_form_is_read(folder: Path) -> None:
    run(load_config(folder / "c.json"), folder / "out")
    release = folder / "out" / "share" / "release.csv"
    other = folder / "other.csv"
    other.write_text(unicodedata.normalize("NFC", release.read_text(encoding="utf-8")), encoding="utf-8")
    original = str(folder / "a.csv")
    done = call("attack", str(other), "-c", str(folder / "c.json"), "--original", original)
    assert done.code == 0, done.err


def test_later_records_take_the_names_of_the_release(folder: Path) -> None:
    content = settings(population=False)
    del content["input"]["person"], content["scenarios"], content["attacks"], content["objective"]
    content["attributes"][KEY] = "drop"
    content["constraints"] = [{"model": "k-anonymity", "k": 2}]
    content["input"]["path"] = "a.csv"
    run(load_config(content | {"input": {"path": str(folder / "a.csv")}}), folder / "out")
    (folder / "b.csv").write_text(
        unicodedata.normalize("NFC", (folder / "a.csv").read_text(encoding="utf-8")), encoding="utf-8"
    )
    later = content | {
        "input": {"path": str(folder / "b.csv")},
        "apply": str(folder / "out" / "report.json"),
    }
    run(load_config(later), folder / "more")
    assert header(folder / "more" / "share" / "release.csv") == list(map(nfd, [SIZE, LAND, ILL, WEIGHT]))


def test_frames() -> None:
    content = settings(population=False)
    result = an.anonymize(records(), content)
    assert list(result.data.columns) == list(map(nfd, [SIZE, LAND, ILL, WEIGHT]))
    assert len(an.check(records(), quasi_identifiers=[SIZE, LAND], sensitive=[ILL], person=KEY))
    attacked = an.attack(result.data, records(), content)
    assert len(attacked)
    draft = an.init(records(), qi=[SIZE], sensitive=[ILL], person=KEY)
    assert draft["attributes"][nfd(SIZE)]["role"] == "quasi-identifier"
    drafted = an.anonymize(records(), qi=[SIZE, LAND], sensitive=[ILL], k=2)
    assert not [
        text for text in drafted.report.to_dict()["warnings"] if nfd(SIZE) in text and "did not" in text
    ]


@pytest.mark.quick(1)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_commands_that_name_columns(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    records().to_parquet(path) if suffix == "parquet" else records().to_csv(path, index=False)
    done = call("check", str(path), "--qi", f"{SIZE},{LAND}", "--sensitive", ILL, "--person", KEY)
    assert done.code == 0, done.err
    options = ["--qi", SIZE, "--sensitive", ILL, "--person", KEY, "--drop", WEIGHT]
    done = call("init", str(path), "-o", str(tmp_path / "c.yaml"), *options)
    assert done.code == 0, done.err
    assert load_config(tmp_path / "c.yaml").attributes[nfd(SIZE)].role == "quasi-identifier"
    built = ["--data", str(path), "--column", SIZE, "--by", "order=2", "-o", str(tmp_path / "h.csv")]
    done = call("hierarchy", "build", *built)
    assert done.code == 0, done.err
    setting = f'attributes."{SIZE}".levels.max=1'
    assert load_config(tmp_path / "c.yaml", [setting]).attributes[nfd(SIZE)].levels is not None


def test_two_columns_of_one_identity_are_told_apart_by_their_exact_names() -> None:
    frame = pd.DataFrame({SIZE: list("aabb"), nfd(SIZE): list("xxyy")})
    content: dict[str, Any] = {
        "attributes": {SIZE: "quasi-identifier", nfd(SIZE): "insensitive"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    assert list(an.anonymize(frame, content).data.columns) == [SIZE, nfd(SIZE)]


@pytest.mark.parametrize(
    ("given", "said"),
    [("Age", "did you mean 'age'?"), ("\u0430ge", r"'age' \(U\+0061 where '\u0430ge' has U\+0430\)")],
)
def test_names_that_only_look_alike_are_told_apart(given: str, said: str) -> None:
    frame = pd.DataFrame({"age": list("aabb")})
    content: dict[str, Any] = {
        "attributes": {given: "quasi-identifier"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(ConfigError, match=said):
        an.anonymize(frame, content)
    with pytest.raises(InputError, match=said):
        an.check(frame, quasi_identifiers=[given])


BLANK: list[dict[str, Any]] = [
    {"scenarios": {"": {"known": ["a"], "models": [{"model": "k-anonymity", "k": 2}]}}},
    {"scenarios": {" \t": {"known": ["a"], "models": [{"model": "k-anonymity", "k": 2}]}}},
    {"input": {"units": {" ": "a"}}},
    {"input": {"units": {"ward": " "}}},
    {"input": {"person": " "}},
    {"input": {"household": "\u00a0"}},
    {"input": {"population": {"path": "p.csv", "weight": " "}}},
    {"attributes": {"a": "quasi-identifier", "": "drop"}},
    {"objective": {"weights": " "}},
    {"constraints": [{"model": "l-diversity", "l": 2, "attribute": " "}]},
    {"attacks": [{"attack": "vulnerability", "knowledge": [""]}]},
    {"attacks": [{"attack": "linkage", "key": " "}]},
    {"attacks": [{"attack": "linkage", "columns": {"a": ""}}]},
]


@pytest.mark.parametrize("wrong", BLANK, ids=str)
def test_blank_names_are_refused(wrong: dict[str, Any]) -> None:
    content = {
        "attributes": {"a": "quasi-identifier", "s": "sensitive"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    with pytest.raises(ConfigError, match="blank"):
        load_config(content | wrong)
