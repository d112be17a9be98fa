"""``output.missing``: one marker for missing values in all columns, whatever writes and reads a release."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from tests.helpers.messages import exchange
from tests.run.commands import COLUMNS, Job, call, people, read_rows
from tests.run.spark_runs import ran
from tests.spark import engine, running

ABSENT = ("?", "", "<missing>")
"""Texts of missing values in the input, nulls in typed columns."""

Row = tuple[str | None, ...]


def with_gaps(records: int = 120, seed: int = 1) -> list[tuple[str, ...]]:
    """Return made-up records in which values of every column are missing."""
    return [
        (
            name,
            *(
                ABSENT[(row + place) % 3] if (row * place) % 7 == 3 else cell
                for place, cell in enumerate(cells)
            ),
        )
        for row, (name, *cells) in enumerate(people(records, seed))
    ]


def gaps(folder: Path, marker: str | None, **sections: Any) -> Job:
    """Return a job on such records, with a marker or without."""
    folder.mkdir(exist_ok=True)
    job = Job(folder).rows(with_gaps()).set("input", missing=["?", ""])
    job.attribute(
        "age", role="quasi-identifier", type="integer", hierarchy={"intervals": {"width": [10, 20, 40]}}
    )
    job.set("suppression", limit=0.3).config["bound"] = "none"
    for name, values in sections.items():
        job.set(name, **values)
    return job if marker is None else job.set("output", missing=marker)


def marked(rows: list[list[str]], marker: str | None) -> list[Row]:
    """Return rows with a marker for every text of a missing value, by the words of the documentation."""
    return [tuple(marker if cell in ABSENT else cell for cell in row) for row in rows]


def in_order(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: [cell or "" for cell in row])


def plain(folder: Path, **sections: Any) -> list[list[str]]:
    """Return the rows of the same release without a marker."""
    job = gaps(folder, None, **sections)
    done = job.run("--quiet")
    assert done.code == 0, done.err
    return read_rows(job.release)


ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {},
    "rows kept": {"suppression": {"limit": 0.3, "keep_rows": True}},
    "cells": {"suppression": {"limit": 0.3, "method": "cells"}, "algorithm": {"name": "lattice"}},
    "mondrian": {"algorithm": {"name": "mondrian"}},
    "sets": {"algorithm": {"name": "mondrian", "labels": "set"}},
    "local": {"algorithm": {"name": "local"}, "budget": {"steps": 20}},
    "duckdb": {"engine": {"name": "duckdb"}},
}
QUICK = (("lattice", ""), ("sets", "-"))
OTHERS = ("rows kept", "cells", "mondrian", "local", "duckdb")
"""Each has one marker, as all are written alike; the searches of ``cells`` and ``local`` take seconds."""


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("name", "marker"),
    [
        pytest.param(name, marker, marks=[] if (name, marker) in QUICK else pytest.mark.slow)
        for name, marker in (*QUICK, *zip(OTHERS, ("NA", "", 'n, "a"', "", "NA"), strict=True))
    ],
)
@pytest.mark.usefixtures("short_chains")
def test_all_columns_have_one_marker_and_recipients_read_it(name: str, marker: str, tmp_path: Path) -> None:
    sections = ALGORITHMS[name]
    job = gaps(tmp_path / "marked", marker, **sections)
    done = job.run("--quiet")
    assert done.code == 0, done.err
    found = list(map(tuple, read_rows(job.release)))
    assert found == in_order(marked(plain(tmp_path / "plain", **sections), marker))
    places = {place for row in found for place, cell in enumerate(row) if cell == marker}
    assert places & {0, 1, 2}
    assert places >= {3, 4}
    internal = call("audit", job.release, "--report", job.output / "report.json", "--json")
    for audited in (call("audit", job.release, "--json"), internal):
        assert audited.code == 0, audited.out
        assert "bytes of the files around their values" not in audited.json["not_checked"]
    (tmp_path / "plain" / "job-release" / "share" / "release.csv").rename(tmp_path / "plain.csv")
    checked, same = (
        call("check", path, "-c", folder / "job.json", "--json").json
        for path, folder in ((job.release, job.folder), (tmp_path / "plain.csv", tmp_path / "plain"))
    )
    assert checked == same
    assert call("attack", job.release, "-c", job.file, "--original", job.input, "--quiet").code == 0


def test_the_public_report_and_the_legend_say_the_marker(tmp_path: Path) -> None:
    job = gaps(tmp_path, "NA")
    assert job.run("--quiet").code == 0
    assert json.loads(job.public_report.read_text())["config"]["output"]["missing"] == "NA"
    legend = (job.output / "share" / "README.txt").read_text()
    assert "  NA: the value was missing in the original\n" in legend
    assert "<missing>" not in legend
    job.set("output", missing="").run("--quiet", "--overwrite")
    assert "  an empty field: the value" in (job.output / "share" / "README.txt").read_text()


def typed(job: Job) -> Job:
    """Write the records as Parquet: ages and notes as numbers, with -9 and nulls for missing ones."""
    rows = with_gaps()
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).replace("<missing>", None)
    for name in ("age", "note"):
        numbers = (
            frame[name].astype("object").where(~frame[name].isin(["?", ""]), "-9").str.removeprefix("note ")
        )
        frame[name] = pd.to_numeric(numbers).astype("Int64")
    frame.to_parquet(job.folder / "people.parquet", index=False)
    return job.set("input", path="people.parquet", missing=["?", "", -9])


def no_text(rows: list[Any]) -> list[Row]:
    """Return rows as texts, None for nulls."""
    return [tuple(None if cell is None or pd.isna(cell) else str(cell) for cell in row) for row in rows]


@pytest.mark.slow
def test_tables_and_typed_files_have_nulls(tmp_path: Path) -> None:
    job = typed(gaps(tmp_path, "NA"))
    assert call("run", job.write_config(), "--quiet").code == 0
    expected = [tuple(None if cell == "NA" else cell for cell in row) for row in read_rows(job.release)]
    assert {place for row in expected for place, cell in enumerate(row) if cell is None} >= {3, 4}
    assert {row[4] for row in expected} <= {*"123456789", None}
    job.set("output", path="release.parquet", missing="")
    done = call("run", job.write_config(), "--overwrite", "--quiet")
    assert done.code == 0, done.err
    found = duckdb.sql(f"SELECT * FROM '{job.release}'")
    assert [str(each) for each in found.types] == ["VARCHAR"] * 4 + ["BIGINT"]
    rows = no_text(found.fetchall())
    assert rows == in_order(expected)
    audited = call("audit", job.release, "--report", job.output / "report.json", "--json")
    assert audited.code == 0, audited.out
    assert "null: the value was missing" in (job.output / "share" / "README.txt").read_text()
    job.config["output"] = {"database": "released.duckdb", "table": "t", "missing": ""}
    done = call("run", job.write_config(), "--overwrite", "--quiet")
    assert done.code == 0, done.err
    with duckdb.connect(str(tmp_path / "released.duckdb")) as connection:
        assert no_text(connection.execute("SELECT * FROM t").fetchall()) == rows


def test_a_column_without_any_value_is_still_a_text(tmp_path: Path) -> None:
    job = gaps(tmp_path, "", output={"path": "release.parquet"})
    job.rows([(*row[:2], "?", "", *row[4:5], "?") for row in people()])
    done = job.run("--quiet")
    assert done.code == 0, done.err
    found = duckdb.sql(f"SELECT * FROM '{job.release}'")
    assert [str(each) for each in found.types] == ["VARCHAR"] * 5
    assert {row[1:3] + row[4:] for row in found.fetchall()} == {(None, None, None)}


@pytest.mark.slow
def test_a_data_frame_has_nulls_and_types_that_tell_of_released_values_only(tmp_path: Path) -> None:
    job = typed(gaps(tmp_path, "NA"))
    assert call("run", job.write_config(), "--quiet").code == 0
    expected = [tuple(None if cell == "NA" else cell for cell in row) for row in read_rows(job.release)]
    frame = pd.read_parquet(tmp_path / "people.parquet")
    frame["note"] = frame["note"].fillna(-9).astype("int64")
    frame["sex"] = frame["sex"].astype("category")
    result = an.anonymize(frame, job.config)
    assert no_text(result.data.to_numpy().tolist()) == in_order(expected)
    assert (result.data["note"].dtype, result.data["sex"].dtype) == ("Int64", "category")
    attacked = an.attack(result.data, frame, job.config)
    assert set(attacked["attack"]) >= {"linkage", "uniqueness"}
    lone = pd.DataFrame({"age": [1] * 6 + [2], "note": [1] * 6 + [-9]})
    config = {
        "input": {"missing": [-9]},
        "attributes": {
            "age": {"role": "quasi-identifier", "levels": {"max": 0}},
            "note": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "suppression": {"limit": 0.2},
        "output": {"missing": ""},
    }
    assert str(an.anonymize(lone, config).data["note"].dtype) == "int64"


@pytest.mark.slow
@pytest.mark.parametrize("note", ["insensitive", "identifier"])
@pytest.mark.parametrize("marker", ["NA", ""])
def test_records_are_appended_under_the_marker(marker: str, note: str, tmp_path: Path) -> None:
    job = gaps(tmp_path, marker).attribute("note", role=note)
    assert job.run("--quiet").code == 0
    job.rows(with_gaps(200, 5)).set("apply", report="job-release/report.json")
    done = job.run("-o", tmp_path / "second", "--quiet")
    assert done.code == 0, done.err
    appended = tmp_path / "second" / "share" / "release.csv"
    rows = list(map(tuple, read_rows(appended)))
    assert rows == sorted(rows)
    assert not Counter(map(tuple, read_rows(job.release))) - Counter(rows)
    assert not {cell for row in rows for cell in row} & set(ABSENT) - {marker}
    audited = call("audit", appended, "--json")
    assert audited.code == 0, audited.out


def test_another_marker_is_not_appended_under(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = gaps(tmp_path, "NA")
    assert job.run("--quiet").code == 0
    done = (
        job.set("output", missing="")
        .set("apply", report="job-release/report.json")
        .run("-o", tmp_path / "second")
    )
    assert done.code == 2
    assert exchange("output: {missing: ''}", done.err.replace(str(tmp_path), "FOLDER")) == message


def test_out_of_core_writes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only in memory are regions merged.
    monkeypatch.setattr("anonymizer.search.mondrian.merging.ROWS", 0)
    job = gaps(tmp_path, "NA", algorithm={"name": "mondrian"})
    assert job.run("--quiet").code == 0
    within = job.release.read_bytes()
    job.set("engine", name="duckdb", options={"combinations": 30})
    done = job.run("--quiet", "--overwrite")
    assert done.code == 0, done.err
    assert job.report()["engine"]["because"] != "it fits in memory"
    assert job.release.read_bytes() == within


def test_anatomy_marks_both_tables(tmp_path: Path) -> None:
    job = gaps(tmp_path, "NA", algorithm={"name": "anatomy"}).constraints({"model": "l-diversity", "l": 2})
    done = job.run("--quiet")
    assert done.code == 0, done.err
    files = [job.output / "share" / f"release.{half}.csv" for half in ("qit", "st")]
    cells = [{cell for row in read_rows(path) for cell in row} for path in files]
    assert all("NA" in own and not own & set(ABSENT) for own in cells)
    assert call("audit", files[0], "--report", job.output / "report.json").code == 0


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ({"missing": "*"}, None),
        ({"missing": "a\nb"}, None),
        ({"missing": ["-"]}, None),
        ({"missing": "NA", "path": "release.parquet"}, None),
        ({"missing": "F"}, None),
        ({"missing": "30-39"}, None),
        ({"missing": "note 3"}, None),
        ({"missing": "flu"}, None),
        ({"missing": ""}, ["?"]),
    ],
)
def test_markers_that_are_refused(
    output: dict[str, Any], value: Any, tmp_path: Path, message: SnapshotAssertion
) -> None:
    job = gaps(tmp_path, None).set("output", **output)
    if value:
        job.set("input", missing=value)
    done = job.run()
    assert done.code == 2, done.out
    assert not job.output.exists()
    assert exchange(f"output: {output}", done.err.replace(str(tmp_path), "FOLDER")) == message


def test_a_marker_is_read_as_it_is_written(tmp_path: Path) -> None:
    job = gaps(tmp_path, None).set("output", missing=True)
    done = job.run()
    assert done.code == 0, done.err
    released = read_rows(job.release)
    cells = {cell for row in released for cell in row}
    assert "true" in cells
    assert not {"", "?", "True"} & cells


def test_a_marker_may_not_be_a_label_that_only_the_search_makes(tmp_path: Path) -> None:
    job = gaps(tmp_path, "20", algorithm={"name": "mondrian", "labels": "interval"})
    done = job.run("--quiet")
    assert (done.code, "output.missing: '20'" in done.err) == (2, True), done.err
    ages = ("20", "22", "?", "?")
    job.rows([(str(row), ages[row % 4], f"{row % 4 // 2}", "F", "xy"[row % 2], "n") for row in range(24)])
    done = job.set("output", missing="[20, 22]").run("--quiet")
    assert done.code == 2, (done.out, job.release.read_text() if job.release.exists() else "")
    assert "output.missing: '[20, 22]' is also a value or a label of column 'age'" in done.err


SPELLINGS = [("NA", "NA "), ("NA", "\u00a0NA"), ("k\u00e9", "ke\u0301"), ("-9", "-9.0"), ("", " ")]


@pytest.mark.parametrize(
    ("role", "marker", "spelled", "engine"),
    [
        (role, *texts, ("memory", "duckdb")[(row + place) % 2])
        for row, role in enumerate(("sensitive", "insensitive", "quasi-identifier"))
        for place, texts in enumerate(SPELLINGS)
    ],
)
def test_a_marker_may_not_be_a_value_in_another_spelling(
    role: str, marker: str, spelled: str, engine: str, tmp_path: Path
) -> None:
    others = ["1", "2"] if marker == "-9" else ["flu", "cold"]
    rows = [["dx", "age"], *([dx, "20"] for dx in (*others, *others, spelled, spelled))]
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    config = {
        "input": {"path": "a.csv", "missing": ["none"]},
        "output": {"missing": marker},
        "engine": {"name": engine},
        "attributes": {"dx": role, "age": "quasi-identifier"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
    done = call("run", tmp_path / "c.json", "-q")
    assert done.code == 2, done.out
    assert f"output.missing: {marker!r} is also a value or a label of column 'dx'" in done.err


def test_a_marker_may_look_like_another_value(tmp_path: Path) -> None:
    rows = [{"dx": dx, "age": "20"} for dx in ("flu", "NAN", "-90", "n.a.")]
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    config = {
        "input": {"path": "a.csv"},
        "output": {"missing": "-9"},
        "attributes": {"dx": "sensitive", "age": "quasi-identifier"},
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    (tmp_path / "c.json").write_text(json.dumps(config), encoding="utf-8")
    assert call("run", tmp_path / "c.json", "-q").code == 0
    assert call("run", tmp_path / "c.json", "-q", "--overwrite", "--set", "output.missing=NA").code == 0


CELLS = st.sampled_from(["1", "2", "a", "?", "", "NA", "<missing>"])


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=4, max_size=12),
    marker=st.sampled_from(["-", "", "?"]),
    texts=st.sampled_from([["?", ""], ["", "NA"], ["?", "", "NA"], []]),
    suffix=st.sampled_from(["csv", "parquet"]),
)
@example(
    rows=[("", "1", "1"), ("", "1", "2"), *[("<missing>", "1", "1")] * 2],
    marker="-",
    texts=[],
    suffix="parquet",
)
def test_a_release_has_the_classes_that_were_found(
    rows: list[tuple[str, ...]],
    marker: str,
    texts: list[str],
    suffix: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("marked")
    with (folder / "d.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("q", "s", "n"), *rows])
    config = {
        "input": {"path": "d.csv", "missing": texts},
        "attributes": {
            "q": {"role": "quasi-identifier", "type": "text"},
            "s": {"role": "sensitive", "type": "text"},
            "n": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 1}],
        "suppression": {"limit": 0.5},
        "output": {"path": f"release.{suffix}", "missing": marker if suffix == "csv" else ""},
    }
    (folder / "job.json").write_text(json.dumps(config))
    done = call("run", folder / "job.json", "--quiet")
    other = {cell for row in rows for cell in row} - {*texts, "<missing>"}
    if suffix == "csv" and marker in other:
        assert done.code == 2, done.out
        return
    assert done.code in (0, 1), done.err
    if done.code == 0:
        share = folder / "job-release" / "share"
        audited = call(
            "audit", share / f"release.{suffix}", "--report", share.parent / "report.json", "--json"
        )
        assert audited.code == 0, audited.out
        assert audited.json["findings"] == []


@pytest.mark.spark
def test_spark_writes_nulls(tmp_path: Path) -> None:
    job = typed(gaps(tmp_path, "", output={"path": "release.parquet"}))
    assert call("run", job.write_config(), "--quiet").code == 0
    expected = duckdb.sql(f"SELECT * FROM '{job.release}'").fetchall()
    with running():
        job.config["engine"] = engine()
        job.config["input"]["path"] = str(tmp_path / "people.parquet")
        ran(job.config, tmp_path / "spark")
    found = duckdb.sql(f"SELECT * FROM '{tmp_path}/spark/share/release.parquet/*.parquet'").fetchall()
    assert found == expected


@pytest.mark.quick(1)
@pytest.mark.parametrize(("text", "marker"), [("NA", "NA"), ("", ""), ("-", "")])
def test_a_drafted_config_has_one_marker_in_all_columns(text: str, marker: str, tmp_path: Path) -> None:
    """That of the input if it is a word."""
    rows = [f"{20 + place % 40},T{place % 3},{place % 9 if place % 7 else text}" for place in range(60)]
    rows += [f"{text},T1,3"] * 12
    (tmp_path / "people.csv").write_text("\n".join(["age,town,score", *rows]) + "\n", encoding="utf-8")
    assert call("init", tmp_path / "people.csv", "--quiet").code == 0
    done = call("run", tmp_path / "people.yaml", "--quiet")
    assert done.code == 0, done.err
    release = tmp_path / "people-release" / "share" / "release.csv"
    cells = [cell for row in read_rows(release) for cell in row]
    assert marker in cells
    assert not {"<missing>", *({text} - {marker})} & set(cells)
    assert call("audit", release).code == 0
