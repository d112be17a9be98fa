"""Quasi-identifiers released as numbers: midpoints, or both ends, instead of the labels of intervals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.audit.against_input import AGAINST_THE_INPUT
from anonymizer.audit.audit import audit_release
from tests.helpers.messages import exchange
from tests.run.commands import Job, call, people

AGES = {"intervals": {"width": [10, 20, 40]}}
WIDE = {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [10, 20]}}, "levels": {"min": 1}}
"""No two nodes have one midpoint."""

ENDS = {
    "lattice": {},
    "local": {},
    "mondrian": {},
    "auto": {"name": "auto", "recoding": "full-domain"},
    "interval": {"name": "mondrian", "labels": "interval"},
}


def job_of(folder: Path, labels: str, by: str = "lattice", **sections: Any) -> Job:
    job = Job(folder)
    job.attribute("age", **WIDE, **({} if labels == "range" else {"labels": labels}))
    job.config["algorithm"] = ENDS[by] or {"name": by}
    job.config.update(sections)
    return job


def released(job: Job) -> list[dict[str, str]]:
    done = job.run()
    assert done.code == 0, done.err
    with job.release.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ends(label: str) -> tuple[str, str]:
    """Return the ends of an interval of whole numbers as texts."""
    if label == "*":
        return "", ""
    low, _, high = label.strip("[]").replace(", ", "-").partition("-")
    return low, high or low


def middle(label: str) -> str:
    low, high = ends(label)
    return f"{(int(low) + int(high)) / 2:g}" if low else ""


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("algorithm", "labels"),
    [
        *((name, "low-high") for name in ("lattice", "interval")),
        ("local", "midpoint"),
        *(pytest.param(name, "low-high", marks=pytest.mark.slow) for name in ("local", "mondrian", "auto")),
        *(pytest.param(name, "midpoint", marks=pytest.mark.slow) for name in ("lattice", "mondrian")),
    ],
)
def test_a_release_differs_from_that_of_labels_in_nothing_else(
    algorithm: str, labels: str, tmp_path: Path
) -> None:
    (tmp_path / "range").mkdir()
    (tmp_path / "numbers").mkdir()
    usual, numbers = (
        released(job_of(tmp_path / folder, own, algorithm))
        for folder, own in (("range", "range"), ("numbers", labels))
    )
    assert len({row["age"] for row in usual}) > 1
    expected = []
    for row in usual:
        low, high = ends(row["age"])
        shown = {"age": middle(row["age"])} if labels == "midpoint" else {"age_low": low, "age_high": high}
        expected.append(shown | {name: text for name, text in row.items() if name != "age"})
    assert list(numbers[0]) == list(expected[0])
    assert sorted(row.items() for row in numbers) == sorted(row.items() for row in expected)
    job = job_of(tmp_path / "numbers", labels, algorithm)
    for report in (job.public_report, job.output / "report.json"):
        found = audit_release(job.release, report)
        assert (found.verified, found.findings) == (True, [])
        assert (AGAINST_THE_INPUT in found.not_checked) is (report == job.public_report)


@pytest.mark.quick(2)
@pytest.mark.parametrize("labels", ["midpoint", "low-high"])
@pytest.mark.parametrize(
    ("by", "combinations"),
    [
        ("lattice", 50),
        *(pytest.param(*own, marks=pytest.mark.slow) for own in (("lattice", None), ("mondrian", 30))),
    ],
)
@pytest.mark.parametrize("table", [False, True])
def test_files_and_tables_with_types_have_numbers(
    labels: str, by: str, combinations: int | None, table: bool, tmp_path: Path
) -> None:
    job = job_of(tmp_path, labels, by, suppression={"limit": 0.1, "keep_rows": combinations is None})
    job.config["output"] = {"database": "out.duckdb", "table": "t"} if table else {"path": "release.parquet"}
    if combinations is not None:
        job.config["engine"] = {"name": "duckdb", "options": {"combinations": combinations}}
    assert job.run().code == 0
    shared = f"'{job.release}'"
    with duckdb.connect(str(tmp_path / "out.duckdb") if table else ":memory:") as connection:
        types = connection.sql(f"SELECT * FROM {'t' if table else shared} LIMIT 0")
        found = dict(zip(types.columns, map(str, types.types), strict=True))
    columns = ["age"] if labels == "midpoint" else ["age_low", "age_high"]
    assert list(found)[: len(columns)] == columns
    assert {found[name] for name in columns} == {"DOUBLE"}
    assert found["zip"] == "VARCHAR"
    if not table:
        assert audit_release(job.release).verified
        assert audit_release(job.release, job.output / "report.json").verified


@pytest.mark.quick(1)
@pytest.mark.parametrize("labels", ["midpoint", "low-high"])
def test_data_frames_have_numbers(labels: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, labels, suppression={"limit": 0.1, "method": "cells"}, attacks=["linkage"])
    frame = pd.DataFrame(people(), columns=["name", "age", "zip", "sex", "diagnosis", "note"])
    frame["age"] = frame["age"].astype("int64")
    config = {key: value for key, value in job.config.items() if key != "input"}
    result = an.anonymize(frame, config)
    columns = ["age"] if labels == "midpoint" else ["age_low", "age_high"]
    assert list(result.data.columns[: len(columns)]) == columns
    assert {str(result.data[name].dtype) for name in columns} == {"float64"}
    attacked = an.attack(result.data, frame, config)
    assert attacked["success"].tolist() == [each["success"] for each in result.report["attacks"]]
    with_ends = an.anonymize(frame, config | {"algorithm": {"name": "lattice"}})
    assert with_ends.report["release"]["verified"]


def test_decimal_commas(tmp_path: Path) -> None:
    job = job_of(tmp_path, "midpoint")
    job.attribute("age", **{**WIDE, "hierarchy": {"intervals": {"width": [7.5, 30]}}}, labels="low-high")
    job.set("input", decimal=",", separator=";")
    rows = [(name, f"{age},5", *rest) for name, age, *rest in people()]
    job.data = "\n".join(
        ";".join(row) for row in [("name", "age", "zip", "sex", "diagnosis", "note"), *rows]
    ).encode()
    assert job.run().code == 0
    with job.release.open(encoding="utf-8", newline="") as file:
        found = {(row["age_low"], row["age_high"]) for row in csv.DictReader(file, delimiter=";")}
    assert ("22,5", "30") in found or ("30", "60") in found
    entry = json.loads(job.public_report.read_text(encoding="utf-8"))["release"]["numbers"]["age"]
    assert entry == {"columns": ["age_low", "age_high"], "empty": "*", "high": "excluded"}
    assert audit_release(job.release, job.output / "report.json").verified


def with_missing(share: float) -> list[tuple[str, ...]]:
    random = Random(5)
    return [(name, "" if random.random() < share else age, *rest) for name, age, *rest in people(200)]


def test_empty_fields_are_missing_values_or_hidden_ones(tmp_path: Path) -> None:
    job = job_of(tmp_path, "midpoint", attacks=["linkage"]).rows(with_missing(0.2))
    rows = released(job)
    assert {row["age"] for row in rows} >= {"", "24.5"} or {row["age"] for row in rows} >= {"", "29.5"}
    assert job.report()["release"]["numbers"]["age"]["empty"] == "<missing>"
    assert audit_release(job.release).verified
    assert audit_release(job.release, job.output / "report.json").verified
    done = call("attack", "-c", job.file, job.release, "--original", job.input, "--json")
    assert [each["success"] for each in done.json["attacks"]] == [
        each["success"] for each in job.report()["attacks"]
    ]
    lying = json.loads((job.output / "report.json").read_text(encoding="utf-8"))
    lying["release"]["numbers"]["age"]["empty"] = "*"
    (job.output / "lie.json").write_text(json.dumps(lying), encoding="utf-8")
    assert not audit_release(job.release, job.output / "lie.json").verified


def test_a_suppressed_record_with_a_missing_value_is_not_told(tmp_path: Path) -> None:
    rows = [
        (name, "", *rest) if place == 7 else (name, age, *rest)
        for place, (name, age, *rest) in enumerate(people(200))
    ]
    job = job_of(tmp_path, "midpoint").rows(rows)
    assert "" not in {row["age"] for row in released(job)}
    assert job.report()["release"]["numbers"]["age"]["empty"] == "*"


@pytest.mark.parametrize(
    ("labels", "algorithm", "line"),
    [
        ("midpoint", "lattice", "age: the middle of an interval that the value lies in; empty: any value,"),
        (
            "low-high",
            "local",
            "age_low, age_high: lower and upper end of an interval that the value lies in,",
        ),
    ],
)
def test_the_legend_says_what_the_numbers_are(labels: str, algorithm: str, line: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, labels, algorithm)
    released(job)
    assert line in (job.output / "share" / "README.txt").read_text(encoding="utf-8")


def test_check_takes_a_release_of_numbers(tmp_path: Path) -> None:
    job = job_of(tmp_path, "low-high")
    released(job)
    done = call("check", job.release, "-c", job.file, "--json")
    assert done.code == 0
    assert done.json["classes"] == job.report()["release"]["classes"]


def tree(first: str, second: str, cut: int = 40) -> dict[str, Any]:
    return {"tree": {"*": {first: [*range(20, cut)], second: [*range(cut, 60)]}}}


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("midpoint", {"hierarchy": {"intervals": {"width": [10, 30]}}}, {"algorithm": {"name": "local"}}),
    ("midpoint", {"hierarchy": {"intervals": {"width": [10, 30]}}}, {"algorithm": {"name": "mondrian"}}),
    ("midpoint", {"hierarchy": None}, {"algorithm": {"name": "mondrian", "labels": "interval"}}),
    ("midpoint", {"hierarchy": {"auto": {"levels": 3, "rare": 3}}}, {}),
    ("low-high", {"hierarchy": tree("young", "old")}, {}),
    ("low-high", {"hierarchy": tree("20-39", "40-59", cut=45)}, {}),
    ("low-high", {"hierarchy": tree("[20, 40)", "40-59"), "type": "number"}, {}),
    ("low-high", {"type": "text", "hierarchy": None}, {}),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int, tmp_path: Path, message: SnapshotAssertion) -> None:
    labels, settings, sections = REFUSED[number]
    job = job_of(tmp_path, labels, **sections)
    own = {key: value for key, value in settings.items() if value is not None}
    job.attribute("age", role="quasi-identifier", labels=labels, **own)
    done = job.run()
    assert done.code == 2
    shown = {each: own[each] for each in own if each != "hierarchy"} | {"source": [*own.get("hierarchy", ())]}
    assert exchange((labels, shown, sections), done.err, tmp_path) == message


@pytest.mark.parametrize("suppression", [{"keep_rows": True}, {"method": "cells", "limit": 0.1}], ids=str)
def test_missing_values_beside_hidden_ones_are_refused(
    suppression: dict[str, Any], tmp_path: Path, message: SnapshotAssertion
) -> None:
    job = job_of(tmp_path, "low-high", suppression=suppression).rows(with_missing(0.2))
    done = job.run()
    assert done.code == 2
    assert exchange(suppression, done.err, tmp_path) == message


@pytest.mark.slow
def test_missing_values_that_never_meet_hidden_ones_are_empty(tmp_path: Path) -> None:
    job = job_of(tmp_path, "low-high", "local", suppression={"limit": 0.2}).rows(with_missing(0.3))
    job.config["attributes"]["age"]["levels"] = {"max": 2}
    assert ("", "") in {(row["age_low"], row["age_high"]) for row in released(job)}
    assert job.report()["release"]["numbers"]["age"]["empty"] == "<missing>"
    assert audit_release(job.release, job.output / "report.json").verified


def test_a_group_of_one_value_above_the_lowest_level_is_that_number(tmp_path: Path) -> None:
    ages = [str(20 + place % 39) if place % 3 else "59" for place in range(60)]
    rows = [(name, age, *rest) for age, (name, _, *rest) in zip(ages, people(), strict=True)]
    job = job_of(tmp_path, "low-high", "local").rows(rows).constraints({"model": "k-anonymity", "k": 2})
    job.attribute(
        "age",
        role="quasi-identifier",
        hierarchy=tree("20-58", "59", cut=59),
        levels={"min": 1},
        labels="low-high",
    )
    assert ("59", "59") in {(row["age_low"], row["age_high"]) for row in released(job)}


def test_ends_that_may_be_included_or_not_are_refused(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = job_of(tmp_path, "low-high", "interval")
    job.config["algorithm"] = {"name": "mondrian"}
    job.attribute("age", role="quasi-identifier", type="number", hierarchy=AGES, labels="low-high")
    job.attribute("zip", role="quasi-identifier", type="number")
    done = job.run()
    assert done.code == 2
    assert exchange("auto, and another number without a hierarchy", done.err, tmp_path) == message


def test_nothing_is_appended_to_numbers(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = job_of(tmp_path, "midpoint")
    released(job)
    del job.config["attributes"]["age"]["labels"]
    job.config["apply"] = str(job.output / "report.json")
    job.path = "next.json"
    done = job.run()
    assert done.code == 2
    assert exchange("a release of midpoints, and a config of ranges", done.err, tmp_path) == message


def test_numbers_of_too_many_digits_are_refused(tmp_path: Path, message: SnapshotAssertion) -> None:
    rows = [(name, f"90071992547409{age}1", *rest) for name, age, *rest in people()]
    job = job_of(tmp_path, "low-high").rows(rows)
    job.attribute("age", role="quasi-identifier", labels="low-high")
    done = job.run()
    assert done.code == 2
    assert exchange("ages beyond 2**53", done.err.replace(str(tmp_path), "DIR"), tmp_path) == message


def test_one_marker_for_missing_values_and_numbers(tmp_path: Path) -> None:
    """The marker of texts beside columns of numbers is an empty field, which audits read."""
    job = job_of(tmp_path, "low-high", output={"path": "release.csv", "missing": ""})
    job.rows([(*row[:2], "" if place % 20 == 0 else row[2], *row[3:]) for place, row in enumerate(people())])
    rows = released(job)
    assert {row["zip"] for row in rows} & {"<missing>"} == set()
    assert audit_release(job.release).findings == []
    assert audit_release(job.release, job.output / "report.json").findings == []
