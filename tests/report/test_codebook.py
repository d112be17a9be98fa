"""The codebook of a release against the release: its published values, and shares counted by pandas."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyreadstat
import pytest
from csvw import CSVW
from hypothesis import given, settings
from hypothesis import strategies as st

import anonymizer as an
from anonymizer.cli.main import main
from anonymizer.release.folder import CODEBOOK, CODEBOOK_HEAD, METADATA_HEAD
from anonymizer.report.codebook import HEAD
from tests.run.commands import COLUMNS, ROOT, Job, call, csv_bytes, people, shared_files
from tests.run.test_office import LABELS, TITLES, survey

LEAST = 3
"""Fewer records are not shown in the jobs of this module."""

Rows = list[dict[str, str]]


def read_book(share: Path) -> Rows:
    """Return the rows of a codebook."""
    frame = pd.read_csv(share / CODEBOOK, dtype=str, keep_default_na=False)
    assert tuple(frame.columns) == HEAD
    return frame.to_dict("records")


def tables_of(share: Path) -> dict[str, pd.DataFrame]:
    """Return the released CSV files as texts, by their names."""
    release = json.loads((share / "report.public.json").read_text(encoding="utf-8"))["release"]
    paths = [release["path"], *([release["sensitive_table"]["path"]] if "sensitive_table" in release else [])]
    form = {"sep": release["separator"], "encoding": release["encoding"]}
    names = [Path(path).name for path in paths]
    return {name: pd.read_csv(share / name, dtype=str, keep_default_na=False, **form) for name in names}


def says(share: str, number: int, rows: int, least: int) -> bool:
    """Return whether a share in words is true of a number of records, and shows no small one."""
    if share == "some":
        return 0 < number < rows
    figure = float(share.split()[-2])
    if share.startswith("under"):
        return 0 < number < least <= figure * rows / 99.5
    if share.startswith("over"):
        return 0 < rows - number < least
    exact = min(number, rows - number) in (0, *range(least, rows))
    return exact and abs(100 * number / rows - figure) <= figure / 100


def check_agrees(
    share: Path,
    original: Mapping[str, Collection[str]],
    absent: Collection[str] = (),
    least: int = LEAST,
    not_counted: Collection[str] = (),
) -> Rows:
    """Check a codebook against the files beside it.

    Parameters
    ----------
    not_counted: columns without values.
    original: values of the input by quasi-identifier; other texts of the release are groups.
    absent: texts of missing values beside ``<missing>`` and the empty one.
    """
    book, gone = read_book(share), {"", "<missing>", *absent}
    for name, frame in tables_of(share).items():
        own = [row for row in book if row["table"] == name]
        columns = [row["column"] for row in own if row["entry"] == "column"]
        assert columns == list(frame.columns)
        weights = frame["count"].astype(int) if "count" in frame and "group" in frame else 1
        for column in columns:
            counts = frame.assign(records=weights).groupby(column)["records"].sum().to_dict()
            rows = [row for row in own if row["column"] == column]
            hides = rows[0]["role"] == "quasi-identifier"
            if column not in not_counted:
                check_column(rows, counts, {*gone, *(["*"] if hides else [])}, least)
            if hides and rows[0]["suppressed"]:
                check_shares(rows[0], counts, original.get(column, ()), gone, least)
    return book


def check_column(rows: Rows, counts: Mapping[str, int], always: Collection[str], least: int) -> None:
    """Check which values are listed: those of enough records, hidden and missing ones."""
    listed = [row["value"] for row in rows if row["entry"] == "value"]
    others = [row for row in rows if row["entry"] == "other values"]
    if not listed:
        keys = rows[0]["role"] in ("group", "count", "pseudonym")
        assert keys or len(counts) > 20 or rows[0]["column"].endswith(("_low", "_high"))
        return
    assert len(set(listed)) == len(listed)
    assert set(listed) == {text for text, number in counts.items() if number >= least or text in always}
    rare = [text for text, number in counts.items() if number < least and text not in always]
    assert len(others) == bool(rare)


def check_shares(
    row: dict[str, str], counts: Mapping[str, int], values: Collection[str], gone: Collection[str], least: int
) -> None:
    """Check the shares of a quasi-identifier, and that none tells another that is small."""
    total = sum(counts.values())
    parts = Counter(
        {"missing": sum(counts.get(each, 0) for each in gone), "suppressed": counts.get("*", 0), "exact": 0}
    )
    for text, number in counts.items():
        if text not in (*gone, "*"):
            parts["exact" if text in values else "generalized"] += number
    for part in ("suppressed", "missing", *(["generalized"] if row["generalized"] else [])):
        assert says(row[part], parts[part], total, least), (row, parts)
    known = [part for part in ("generalized", "suppressed", "missing") if row[part][:1].isdigit()]
    hidden = total - sum(parts[part] for part in known)
    assert hidden == 0 or hidden >= least or len(known) < 2 or not row["generalized"], (row, parts)


def values_of(job: Job, missing: str = "") -> dict[str, set[str]]:
    frame = pd.read_csv(job.input, dtype=str, keep_default_na=False)
    return {name: set(frame[name]) - {missing} for name in frame}


def with_gaps(records: int = 90, seed: int = 1) -> bytes:
    """Return records some of whose values are missing or rare."""
    random = Random(seed)
    rows = [list(row) for row in people(records, seed)]
    for row in rows:
        for place in (1, 2, 3, 5):
            if random.random() < 0.05:
                row[place] = "?"
        if random.random() < 0.03:
            row[5] = f"rare {random.random()}"
    return csv_bytes(rows)


FILE = {"hierarchy": {"file": "sex.csv"}}
TREE = {"hierarchy": {"tree": {"*": {"person": ["F", "M"]}}}}

WAYS: dict[str, dict[str, Any]] = {
    "local": {"algorithm": {"name": "local"}},
    "lattice": {"algorithm": {"name": "lattice"}},
    "records": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.1, "method": "records"}},
    "cells": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.1, "method": "cells"}},
    "kept": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.1, "keep_rows": True}},
    "mondrian": {"algorithm": {"name": "mondrian"}},
    "sets": {"algorithm": {"name": "mondrian", "labels": "set"}},
    "intervals": {"algorithm": {"name": "mondrian", "labels": "interval"}},
    "anatomy": {"algorithm": {"name": "anatomy"}, "constraints": [{"model": "l-diversity", "l": 2}]},
    "marker": {"output": {"missing": "NA", "separator": ";", "encoding": "cp1252"}},
    "compressed": {"output": {"path": "release.csv.gz"}},
}


def job_of(folder: Path, way: Mapping[str, Any], data: bytes, **attributes: Any) -> Job:
    job = Job(folder, data=data).set("input", missing=["?"])
    job.config |= way
    for name, own in attributes.items():
        job.config["attributes"][name] = {"role": "quasi-identifier", **own}
    (folder / "sex.csv").write_text("F,person,*\nM,person,*\n", encoding="utf-8")
    return job


@pytest.mark.quick(4)
@pytest.mark.parametrize("way", WAYS)
def test_the_codebook_is_that_of_the_release(way: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, WAYS[way], with_gaps())
    done = job.run("--quiet")
    assert done.code == 0, done.err
    share = job.output / "share"
    book = check_agrees(share, values_of(job, "?"), ["?", *(["NA"] if way == "marker" else [])])
    released = ["release.qit.csv", "release.st.csv"] if way == "anatomy" else [job.release.name]
    assert {path.name for path in share.iterdir()} == shared_files(*released)
    assert not any(row["column"] == "name" for row in book)
    audited = call("audit", share / released[0], "--json").json
    assert not [each for each in audited["findings"] if "codebook" in each or "metadata" in each]


@pytest.mark.parametrize("own", [FILE, TREE], ids=["file", "tree"])
@pytest.mark.parametrize("algorithm", ["lattice", "local"])
def test_only_a_hierarchy_in_the_public_report_shows_its_values(
    own: dict[str, Any], algorithm: str, tmp_path: Path
) -> None:
    age = {"type": "integer", "hierarchy": {"auto": {}}}
    zips = {"type": "text", "hierarchy": {"frequency": {"rare": 12}}}
    way = {"algorithm": {"name": algorithm}, "constraints": [{"model": "k-anonymity", "k": 12}]}
    job = job_of(tmp_path, way, csv_bytes(people(120)), sex=own, age=age, zip=zips)
    job.config["attributes"]["sex"]["levels"] = {"min": 1, "max": 1}
    assert job.run("--quiet").code == 0
    book = check_agrees(job.output / "share", values_of(job), least=12)
    (row,) = [each for each in book if each["column"] == "sex" and each["value"] == "person"]
    means = "one of F and M, unknown which" if own is TREE else "a group of the hierarchy file sex.csv"
    assert (row["meaning"], row["level"]) == (means, "1")
    for each in book:
        if each["value"].startswith("all but"):
            assert each["meaning"].startswith("another value than ")
        if each["column"] == "age" and "-" in each["value"]:
            low, high = each["value"].split("-")
            assert each["meaning"] == f"whole numbers from {low} to {high}, both included"
            assert each["level"] == ""
            assert float(each["use"].removeprefix("its middle is ")) == (int(low) + int(high)) / 2


def test_numbers_in_place_of_intervals(tmp_path: Path) -> None:
    age = {"type": "integer", "labels": "low-high", "hierarchy": {"intervals": {"width": [10, 20]}}}
    job = job_of(tmp_path, WAYS["lattice"], csv_bytes(people(300)), age={**age, "levels": {"max": 2}})
    assert job.run("--quiet").code == 0
    book = check_agrees(job.output / "share", values_of(job))
    own = [row for row in book if row["column"].startswith("age_")]
    assert [(row["column"], row["entry"], row["type"]) for row in own] == [
        ("age_low", "column", "integer"),
        ("age_high", "column", "integer"),
    ]
    assert "bounds of a mean" in own[0]["use"]


def test_the_sample_has_a_codebook(tmp_path: Path) -> None:
    done = call("run", ROOT / "examples" / "sample.yaml", "-o", tmp_path, "--quiet")
    assert done.code == 0, done.err
    least = max(3, json.loads((tmp_path / "report.json").read_text("utf-8"))["config"]["constraints"][0]["k"])
    frame = pd.read_csv(ROOT / "examples" / "sample.csv", dtype=str, keep_default_na=False)
    book = check_agrees(tmp_path / "share", {name: set(frame[name]) for name in frame}, least=least)
    assert {row["entry"] for row in book} == {"column", "value"}
    assert all(row["meaning"] for row in book)
    assert all(row["use"] for row in book if row["entry"] == "column")
    release = next(name for name in tables_of(tmp_path / "share"))
    assert call("audit", tmp_path / "share" / release).code == 0


def test_labels_of_a_file_of_spss_are_in_the_codebook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        survey(), path, column_labels=TITLES, variable_value_labels=LABELS, missing_ranges={"q1": [999]}
    )
    assert main(["init", str(path), "--quiet"]) == 0
    assert main(["run", str(path.with_suffix(".yaml")), "--quiet"]) == 0
    capsys.readouterr()
    share = tmp_path / "survey-release" / "share"
    assert {each.name for each in share.iterdir()} == shared_files("release.sav")
    found, facts = pyreadstat.read_sav(share / "release.sav", user_missing=True)
    book = read_book(share)
    assert {row["column"]: row["label"] for row in book} == TITLES
    for name in ("q1", "q2", "q3"):
        codes = {float(row["code"]): row["value"] for row in book if row["column"] == name and row["code"]}
        published = found[name].value_counts()
        labels = facts.variable_value_labels[name]
        rare = {code for code, number in published.items() if number < LEAST and labels[code] != "*"}
        assert codes == {code: labels[code] for code in published.index if code not in rare}
    public = json.loads((share / "report.public.json").read_text(encoding="utf-8"))
    assert {name: own["label"] for name, own in public["attributes"].items()} == TITLES
    assert call("audit", share / "release.sav").code == 0


@pytest.mark.parametrize("way", ["local", "lattice", "sets", "kept"])
@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 10**6), records=st.integers(20, 90))
def test_any_release_agrees_with_its_codebook(way: str, seed: int, records: int) -> None:
    with TemporaryDirectory() as folder:
        job = job_of(Path(folder), WAYS[way], with_gaps(records, seed))
        job.config |= {"constraints": [{"model": "k-anonymity", "k": 2}], "suppression": {"limit": 1}}
        if way == "kept":
            job.set("suppression", keep_rows=True)
        done = job.run("--quiet")
        if done.code == 0:
            check_agrees(job.output / "share", values_of(job, "?"), ["?"])


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".jsonl", ".feather"])
def test_other_formats_have_no_metadata_of_csv(suffix: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, {"output": {"path": f"release{suffix}"}}, with_gaps())
    assert job.run("--quiet").code == 0
    share = job.output / "share"
    assert {path.name for path in share.iterdir()} == shared_files(f"release{suffix}")
    other = Job(tmp_path, config=job.config, data=job.data, path="other.json").set("output", path="r.csv")
    assert other.run("--quiet").code == 0
    own, csv = (read_book(each) for each in (share, other.output / "share"))
    assert [row["value"] for row in own if row["column"] == "age"] == [
        row["value"] for row in csv if row["column"] == "age"
    ]
    assert call("audit", other.release).code == 0


def test_a_release_saved_from_python_has_the_same_codebook(tmp_path: Path) -> None:
    frame = pd.DataFrame(people(90), columns=COLUMNS).astype({"age": int})
    result = an.anonymize(
        frame, qi=["age", "zip", "sex"], sensitive=["diagnosis"], identifier=["name"], drop=["note"], k=3
    )
    result.save(tmp_path / "saved")
    share = tmp_path / "saved" / "share"
    values = {name: set(frame[name].astype(str)) for name in frame}
    assert check_agrees(share, values)
    assert an.audit(share / "release.csv").verified


CHANGES = [
    (",value,01**,", ",value,00**,", "value '01**' is missing"),
    ("begins with 01;", "begins with 00;", "value '01**': meaning is 'a text that begins with 00"),
    (",value,F,", ",value,X,", "column 'sex', value 'F' is missing"),
    (",quasi-identifier,column", ",insensitive,column", "role is 'insensitive', found 'quasi-identifier'"),
    ("release.csv,note,", "release.csv,income,", "column 'note' is missing"),
]


@pytest.mark.parametrize(("text", "other", "finding"), CHANGES)
def test_an_altered_codebook_is_named(text: str, other: str, finding: str, tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    path = job.output / "share" / CODEBOOK
    content = path.read_text(encoding="utf-8")
    assert text in content
    path.write_text(content.replace(text, other), encoding="utf-8")
    done = call("audit", job.release, "--json")
    assert done.code == 1
    assert any(each.startswith("codebook.csv: ") and finding in each for each in done.json["findings"])
    path.write_text(f'{content}"', encoding="utf-8")
    assert "codebook.csv" in call("audit", job.release).out
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    done = call("audit", job.release, "--json")
    assert done.code == 0
    assert any("another version" in each for each in done.json["not_checked"])
    path.unlink()
    assert call("audit", job.release).code == 0


def test_altered_metadata_are_named(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    path = job.output / "share" / "release.csv-metadata.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"string"', '"integer"'), encoding="utf-8")
    findings = call("audit", job.release, "--json").json["findings"]
    assert any(each.startswith("release.csv-metadata.json: does not describe") for each in findings)


@pytest.mark.parametrize("name", ["codebook.csv", "release.csv-metadata.json"])
def test_a_file_that_no_run_wrote_is_not_replaced(name: str, tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    path = job.output / "share" / name
    content = path.read_bytes()
    assert content.startswith({"codebook.csv": CODEBOOK_HEAD}.get(name, METADATA_HEAD).encode())
    assert job.run("--overwrite", "--quiet").code == 0
    path.write_text("my notes", encoding="utf-8")
    done = job.run("--overwrite", "--quiet")
    assert done.code == 2
    assert f"contains '{name}', which is not part of a release" in done.err
    assert path.read_text(encoding="utf-8") == "my notes"


def test_no_release_has_the_name_of_the_codebook(tmp_path: Path) -> None:
    job = Job(tmp_path).set("output", path="Codebook.csv")
    done = job.run("--quiet")
    assert done.code == 2
    assert "output.path 'Codebook.csv': accepted: a plain file name" in done.err


FORMS = {
    "plain": {},
    "comma": {"separator": ";", "decimal": ",", "encoding": "cp1252", "missing": "NA"},
    "mark": {"encoding": "utf-8-sig"},
    "tab": {"separator": "\t", "encoding": "latin-1"},
    "compressed": {"path": "release.csv.gz"},
    "anatomy": {},
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("form", FORMS)
def test_the_metadata_are_valid_csvw(form: str, tmp_path: Path) -> None:
    rows = [[*row[:5], f"{place % 7}.5" if place % 5 else ""] for place, row in enumerate(people(90))]
    names = ["name", "age", "zip", "sex", "diagnosis", "dose in mg, daily"]
    job = Job(tmp_path, data=csv_bytes(rows, names)).set("output", **FORMS[form])
    job.config["attributes"][names[5]] = job.config["attributes"].pop("note")
    if form == "comma":
        job.data = csv_bytes([[cell.replace(".", ",") for cell in row] for row in rows], names)
    if form == "anatomy":
        job.set("algorithm", name="anatomy")
    assert job.run("--quiet").code == 0
    share = job.output / "share"
    if form == "compressed":
        job.release.write_bytes(gzip.decompress(job.release.read_bytes()))
    described = sorted(share.glob("*-metadata.json"))
    assert len(described) == (2 if form == "anatomy" else 1)
    for path in described:
        table = CSVW(str(path), validate=True)
        assert table.is_valid, table.warnings
        read = list(table.tables[0].iterdicts())
        frame = tables_of(share)[path.name.removesuffix("-metadata.json")] if form != "compressed" else None
        if frame is not None:
            assert len(read) == len(frame)
            columns = table.tables[0].tableSchema.columns
            assert [str(each.titles) for each in columns] == list(frame.columns)
    if form == "comma":
        (key,) = [each for each in read[0] if each.startswith("dose")]
        doses = Counter(None if row[key] is None else float(row[key]) for row in read)
        assert doses[None] == sum(frame[names[5]] == "NA")
        assert doses[2.5] == sum(frame[names[5]] == "2,5")


def test_records_that_are_appended_are_in_the_codebook(tmp_path: Path) -> None:
    first = Job(tmp_path, data=csv_bytes(people(90))).set("algorithm", name="lattice")
    assert first.run("--quiet").code == 0
    before = read_book(first.output / "share")
    second = Job(tmp_path, config=first.config, data=csv_bytes(people(40, seed=2)), path="second.json")
    second.config |= {"input": {"path": "more.csv"}, "apply": {"report": "job-release/report.json"}}
    done = second.run("--quiet")
    assert done.code == 0, done.err
    frame = pd.concat([pd.read_csv(each.input, dtype=str) for each in (first, second)])
    book = check_agrees(second.output / "share", {name: set(frame[name]) for name in frame})
    assert {row["column"] for row in book} == {row["column"] for row in before}
    assert call("audit", second.release).code == 0


def test_out_of_core_only_what_was_counted_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.job.columns.fits_in_memory", lambda *_: False)
    job = Job(tmp_path)
    assert job.run("--quiet").code == 0
    book = check_agrees(job.output / "share", values_of(job), not_counted=("diagnosis", "note"))
    assert {row["column"] for row in book if row["entry"] == "value"} == {"age", "zip", "sex"}
    (note,) = [row for row in book if row["column"] == "note"]
    assert "did not fit into memory" in note["meaning"]
    assert note["missing"] == ""
    assert call("audit", job.release).code == 0


def test_pseudonyms_are_no_values(tmp_path: Path) -> None:
    job = Job(tmp_path).set("input", person={"column": "name", "release_as": "pseudonym"})
    assert job.run("--quiet").code == 0
    book = check_agrees(job.output / "share", values_of(job))
    (name,) = [row for row in book if row["column"] == "name"]
    assert (name["role"], name["entry"], name["value"]) == ("pseudonym", "column", "")
    assert name["use"] == "tells which rows are of one person; nothing else"
