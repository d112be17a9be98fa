"""Releases in every format are read again by each command as they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.config.load import load_config
from anonymizer.job.source import open_described, open_foreign_release
from tests.helpers.covering import covering
from tests.run.commands import Done, call

OPTIONS = (
    [".", ","],
    [None, ";", "\t"],
    ["utf-8", "latin-1", "utf-16"],
    [None, "", "NA"],
    ["range", "midpoint", "low-high"],
    ["release.csv", "release.csv.gz", "release.parquet"],
)
"""Decimal separators, separators, encodings, missing values, labels and files."""

PAIRS = covering(OPTIONS)

NUMBERS = ["8.5", "9", "11", "12.25", "1", "2.5"]
ROWS = [f"{number},é{place % 2},{number}" for place, number in enumerate(NUMBERS)]


def write(folder: Path, rows: list[str], labels: str, output: dict[str, Any], **sections: Any) -> Path:
    (folder / "in.csv").write_text("\n".join(["x,s,n", *rows, ""]), encoding="utf-8")
    hierarchy = {"intervals": {"width": [2.5, 5]}}
    config = {
        "input": {"path": "in.csv"},
        "attributes": {
            "x": {"role": "quasi-identifier", "type": "number", "hierarchy": hierarchy, "labels": labels},
            "s": {"role": "sensitive"},
            "n": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2}],
        "suppression": {"limit": 0.5},
        "attacks": [],
        "output": output,
        **sections,
    }
    (folder / "c.json").write_text(json.dumps(config), encoding="utf-8")
    return folder / "c.json"


def classes(done: Done) -> Any:
    assert done.code == 0, done.err
    found = [each for each in done.json["measures"] if each["model"] == "k-anonymity"]
    return done.json["rows"], done.json["classes"], found[0]["measured"]


def output_of(decimal: str, separator: str | None, encoding: str, missing: str | None, name: str) -> Any:
    output: dict[str, Any] = {"path": name}
    if not name.endswith(".parquet"):
        output |= {"decimal": decimal, "encoding": encoding}
        output |= {} if separator is None else {"separator": separator}
    return output if missing is None else {**output, "missing": missing}


@pytest.mark.quick(4)
@pytest.mark.parametrize("choice", PAIRS)
def test_audit_check_and_attack_read_what_run_wrote(choice: tuple[Any, ...], tmp_path: Path) -> None:
    decimal, separator, encoding, missing, labels, name = choice
    if missing == "NA" and (labels != "range" or name.endswith(".parquet")):
        missing = ""
    output = output_of(decimal, separator, encoding, missing, name)
    config = write(tmp_path, ROWS, labels, output)
    done = call("run", config, "-q", "--json")
    assert done.code == 0, done.err
    report = done.json
    release = tmp_path / "c-release" / "share" / name
    audited = call("audit", release)
    assert audited.code == 0, audited.out + audited.err
    measured = {each["model"]: each["measured"] for each in report["constraints"]}
    facts = report["release"]["rows"], report["release"]["classes"], measured["k-anonymity"]
    assert classes(call("check", release, "-c", config, "--json", "-q")) == facts
    attacked = call("attack", release, "-c", config, "--original", tmp_path / "in.csv", "--json", "-q")
    assert attacked.code == 0, attacked.err
    singled = [each["success"] for each in attacked.json["attacks"] if each["attack"] == "uniqueness"]
    assert singled == [0.0] * len(singled)


@pytest.mark.quick(1)
@pytest.mark.parametrize("encoding", ["utf-7", "iso2022_jp_2", "cp037"])
def test_a_release_is_read_by_its_report_even_if_it_could_be_utf_8(encoding: str, tmp_path: Path) -> None:
    config = write(tmp_path, ROWS, "range", {"path": "release.csv", "encoding": encoding})
    assert call("run", config, "-q").code == 0
    release = tmp_path / "c-release" / "share" / "release.csv"
    loaded = load_config(config)
    for opened in (open_described(loaded, release), open_foreign_release(release, loaded)):
        with opened as relation:
            assert {text for text, _ in relation.dictionary("s")} == {"é0", "é1"}
    with open_foreign_release(release) as relation:
        assert {text for text, _ in relation.dictionary("s")} == {"é0", "é1"}


EMPTY = {
    "star": ["8.5,a,1", "1000,b,1", "-500,a,1", "77,b,1"],
    "missing": ["8.5,a,1", "9,b,1", ",a,1", ",b,1"],
    "neither": ["8.5,a,1", "9,b,1", "1,a,1", "2,b,1"],
}
"""Records whose release has `*`, a missing value, or neither in the column of numbers."""


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("labels", "missing", "empty", "name"),
    covering(
        (
            ["midpoint", "low-high"],
            [None, ""],
            list(EMPTY),
            ["release.csv", "release.csv.gz", "release.parquet", None],
        )
    ),
)
def test_an_empty_field_in_place_of_a_label_is_what_the_report_says(
    labels: str, missing: str | None, empty: str, name: str | None, tmp_path: Path
) -> None:
    output: dict[str, Any] = {"path": name} if name else {"database": "out.duckdb", "table": "t"}
    output |= {} if missing is None else {"missing": missing}
    config = write(tmp_path, EMPTY[empty], labels, output)
    done = call("run", config, "-q", "--json")
    assert done.code == 0, done.err
    stated = done.json["release"]["numbers"]["x"]["empty"]
    assert stated == ("<missing>" if empty == "missing" else "*")
    if name:
        audited = call("audit", tmp_path / "c-release" / "share" / name)
        assert audited.code == 0, audited.out + audited.err
