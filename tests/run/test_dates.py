"""Dates in any format: the same run as with ISO 8601."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import anonymizer as an
from tests.helpers.slow import slow_but
from tests.run.commands import call
from tests.run.spark_runs import released
from tests.spark import engine as spark_engine
from tests.spark import running

ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {"name": "lattice"},
    "mondrian": {"name": "mondrian"},
    "intervals": {"name": "mondrian", "labels": "interval"},
    "sets": {"name": "mondrian", "labels": "set"},
    "local": {"name": "local"},
    "means": {"name": "microaggregation", "k": 4},
}
PERIODS = {"date": {"levels": ["month", "quarter", "year", "decade"]}}
ISO, AMERICAN, GERMAN = "%Y-%m-%d", "%m/%d/%Y", "%d.%m.%y"
MINUTE = "%Y-%m-%dT%H:%M:%S"


def times(number: int = 120, seed: int = 11) -> list[tuple[datetime, datetime, datetime]]:
    """Return when persons were born, were seen, and were discharged."""
    draw = Random(seed)
    found = []
    for _ in range(number):
        seen = datetime(2014, 1, 1) + timedelta(minutes=draw.randrange(2 * 365 * 24 * 60))
        born = datetime(1970, 1, 1) + timedelta(days=draw.randrange(12_000))
        found.append((born, seen, seen + timedelta(days=draw.randrange(3, 60))))
    return found


def settings(algorithm: dict[str, Any], day: str, minute: str, **others: Any) -> dict[str, Any]:
    """Return a config for dates in two formats, ``day`` and ``minute``."""
    levels = {"hierarchy": PERIODS} if algorithm["name"] in ("lattice", "local") else {}
    if algorithm.get("labels") is None and algorithm["name"] == "mondrian":
        levels = {"hierarchy": PERIODS}
    dated = {"type": "date", **({} if day == ISO else {"format": day})}
    timed = {"type": "date", **({} if minute == MINUTE else {"format": minute})}
    return {
        "attributes": {
            "born": {"role": "quasi-identifier", **dated, **levels},
            "seen": {"role": "quasi-identifier", **timed, **levels},
            "left": {"role": "sensitive", **dated},
        },
        "constraints": [
            {"model": "k-anonymity", "k": 4},
            {"model": "t-closeness", "t": 0.5, "attribute": "left"},
        ],
        "suppression": {"limit": 0.1},
        "algorithm": algorithm,
        "budget": {"steps": 20},
        "attacks": ["vulnerability", {"attack": "linkage", "linkage": "nearest"}, "interval"],
        **others,
    }


def write(path: Path, day: str, minute: str) -> Path:
    """Write the persons into a CSV file."""
    lines = [f"{born:{day}},{seen:{minute}},{left:{day}}" for born, seen, left in times()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["born,seen,left", *lines, ""]), encoding="utf-8")
    return path


def run(folder: Path, config: dict[str, Any]) -> tuple[list[list[str]], dict[str, Any]]:
    """Return the records of a release, and its report."""
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = call("run", folder / "config.json", "-o", folder / "out")
    assert done.code == 0, done.err
    release = folder / "out" / "share" / "release.csv"
    audit = call("audit", release)
    assert audit.code == 0, audit.out + audit.err
    report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    return list(csv.reader(io.StringIO(release.read_text(encoding="utf-8"))))[1:], report


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", slow_but(2, ALGORITHMS))
def test_the_release_is_that_of_iso_dates(name: str, tmp_path: Path) -> None:
    """Quasi-identifiers are published in ISO 8601, sensitive dates as they were; all measures are equal."""
    found = []
    for number, (day, minute) in enumerate([(ISO, MINUTE), (AMERICAN, "%d.%m.%Y %H:%M")]):
        data = write(tmp_path / str(number) / "list.csv", day, minute)
        config = settings(ALGORITHMS[name], day, minute, input={"path": data.name})
        found.append(run(data.parent, config))
    (plain, before), (other, after) = found
    expected = [[born, seen, f"{datetime.fromisoformat(left):{AMERICAN}}"] for born, seen, left in plain]
    assert sorted(other) == sorted(expected)
    assert after["loss"] == before["loss"]
    for key, part in (("constraints", "measured"), ("attacks", "success")):
        assert [each[part] for each in after[key]] == [each[part] for each in before[key]]
    assert {each["type"] for each in after["attributes"].values()} == {"date"}


@pytest.mark.quick(3)
@pytest.mark.parametrize("form", ["%b %Y", "%G-W%V", "%G-W%V-%u", "%d.%m.%y", "%Y%m%d", "%B %d, %Y", "%Y-%j"])
@pytest.mark.parametrize("name", slow_but(1, ["mondrian", "intervals", "means"]))
def test_periods_and_years_of_two_digits(form: str, name: str, tmp_path: Path) -> None:
    """A run ends with a verified release, in which groups of dates sort by time."""
    lines = [f'"{born:{form}}",{left.year}' for born, _, left in times(200)]
    (tmp_path / "list.csv").write_text("\n".join(["born,left", *lines, ""]), encoding="utf-8")
    more = {"hierarchy": PERIODS} if name == "mondrian" else {}
    config = {
        "input": {"path": "list.csv"},
        "attributes": {
            "born": {"role": "quasi-identifier", "type": "date", "format": form, **more},
            "left": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 4}],
        "algorithm": ALGORITHMS[name],
        "attacks": ["vulnerability", {"attack": "linkage", "linkage": "nearest"}, "uniqueness"],
    }
    records, _ = run(tmp_path, config)
    assert {row[0].lstrip("[")[:2] for row in records} <= {"19", "20"}


@pytest.mark.parametrize("name", slow_but(1, ["intervals", "sets", "means"]))
def test_months_are_their_first_days(name: str, tmp_path: Path) -> None:
    """Months are grouped and attacked like the first days of them."""
    reports = []
    for form, day in (("%b %Y", "%b %Y"), ("%Y-%m-%d", "%Y-%m-01")):
        folder = tmp_path / day.replace(" ", "")
        folder.mkdir()
        lines = [f"{born:{day}},{left.year}" for born, _, left in times(200)]
        (folder / "list.csv").write_text("\n".join(["born,left", *lines, ""]), encoding="utf-8")
        attribute = {"role": "quasi-identifier", "type": "date", "format": form}
        config = {
            "input": {"path": "list.csv"},
            "attributes": {"born": attribute, "left": {"role": "sensitive"}},
            "constraints": [{"model": "k-anonymity", "k": 4}],
            "algorithm": ALGORITHMS[name],
            "attacks": ["vulnerability", {"attack": "linkage", "linkage": "nearest"}, "uniqueness"],
        }
        reports.append(run(folder, config)[1])
    months, days = reports
    assert months["loss"] == days["loss"]
    assert [each["success"] for each in months["attacks"]] == [each["success"] for each in days["attacks"]]


def test_all_sources_give_one_release(tmp_path: Path) -> None:
    """DuckDB, memory and a DataFrame read one format alike."""
    pandas = pytest.importorskip("pandas")
    data = write(tmp_path / "list.csv", AMERICAN, GERMAN)
    config = settings(ALGORITHMS["mondrian"], AMERICAN, GERMAN, input={"path": "list.csv"})
    releases = []
    for name in ("memory", "duckdb"):
        releases.append(run(tmp_path, {**config, "engine": {"name": name}})[0])
        (tmp_path / "out").rename(tmp_path / name)
    frame = pandas.read_csv(data, dtype=str)
    config.pop("input")
    released = an.anonymize(frame, config).data
    assert releases[0] == releases[1]
    assert sorted(releases[0]) == sorted(released.astype(str).to_numpy().tolist())


def test_dates_of_a_frame_need_no_format() -> None:
    """A column of dates has no text that a format could read, so a config for text serves as well."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(times(), columns=["born", "seen", "left"]).astype("datetime64[ns]")
    texts = pandas.DataFrame({"born": [f"{born:{AMERICAN}}" for born in frame["born"]]})
    config = settings(ALGORITHMS["mondrian"], AMERICAN, GERMAN)
    config["attributes"] = {"born": config["attributes"]["born"]}
    config |= {"constraints": [{"model": "k-anonymity", "k": 4}], "attacks": []}
    stored = an.anonymize(frame[["born"]], config).data
    assert stored["born"].astype(str).tolist() == an.anonymize(texts, config).data["born"].tolist()


def test_a_second_file_in_another_format(tmp_path: Path) -> None:
    data = write(tmp_path / "list.csv", AMERICAN, MINUTE)
    config = settings(ALGORITHMS["lattice"], AMERICAN, MINUTE, input={"path": data.name})
    config["attributes"]["left"] = {"role": "insensitive"}
    config["constraints"] = [{"model": "k-anonymity", "k": 4}]
    config["attacks"] = []
    first, _ = run(tmp_path, config)
    write(tmp_path / "june.csv", GERMAN, MINUTE)
    config["input"] = {"path": "june.csv"}
    config["attributes"]["born"]["format"] = GERMAN
    config["apply"] = "out/report.json"
    (tmp_path / "june.json").write_text(json.dumps(config), encoding="utf-8")
    done = call("run", tmp_path / "june.json", "-o", tmp_path / "june")
    assert done.code == 0, done.err
    with (tmp_path / "june" / "share" / "release.csv").open(encoding="utf-8") as stream:
        second = list(csv.reader(stream))[1:]
    assert sorted(row[:2] for row in second) == sorted(row[:2] for row in first * 2)


def test_sensitive_dates_keep_their_format(tmp_path: Path) -> None:
    """A second spelling would reveal which records are new."""
    data = write(tmp_path / "list.csv", AMERICAN, MINUTE)
    config = settings(ALGORITHMS["lattice"], AMERICAN, MINUTE, input={"path": data.name}, attacks=[])
    run(tmp_path, config)
    write(tmp_path / "june.csv", GERMAN, MINUTE)
    config |= {"input": {"path": "june.csv"}, "apply": "out/report.json"}
    config["attributes"]["left"]["format"] = [GERMAN, AMERICAN]
    (tmp_path / "june.json").write_text(json.dumps(config), encoding="utf-8")
    done = call("run", tmp_path / "june.json", "-o", tmp_path / "june")
    assert done.code == 2
    assert "attributes.left.format" in done.err
    assert "the earlier run has '%m/%d/%Y'" in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("form", "attribute", "words"),
    [
        (
            AMERICAN,
            {},
            ["are not dates in the format YYYY-MM-DD", "'99/99/9999' (120)", 'set `format: "%m/%d/%Y"`'],
        ),
        (
            GERMAN,
            {"format": AMERICAN},
            ['in the format "%m/%d/%Y"', "'99.99.99' (120)", 'set `format: "%d.%m.%y"`'],
        ),
    ],
)
def test_dates_in_another_format(
    form: str, attribute: dict[str, Any], words: list[str], tmp_path: Path
) -> None:
    """The error names the forms of the values, no value, and the format that fits."""
    write(tmp_path / "list.csv", form, MINUTE)
    config = settings(ALGORITHMS["mondrian"], ISO, MINUTE, input={"path": "list.csv"})
    config["attributes"] = {
        "born": {"role": "quasi-identifier", "type": "date", **attribute},
        "left": {"role": "insensitive"},
        "seen": {"role": "drop"},
    }
    config["constraints"] = [{"model": "k-anonymity", "k": 4}]
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    done = call("run", tmp_path / "config.json")
    assert done.code == 2
    message = " ".join(done.err.split())
    assert [word for word in words if word not in message] == []
    assert not any(f"{born:{form}}" in message for born, _, _ in times())


@pytest.mark.parametrize(
    ("hierarchy", "warned"),
    [({"auto": {}}, True), ({"order": {"sizes": [10]}}, True), ({"mask": {"from": "left"}}, False)],
)
def test_dates_grouped_by_spelling_are_named(
    hierarchy: dict[str, Any], tmp_path: Path, *, warned: bool
) -> None:
    write(tmp_path / "list.csv", AMERICAN, MINUTE)
    config = {
        "input": {"path": "list.csv"},
        "attributes": {
            "born": {"role": "quasi-identifier", "type": "text", "hierarchy": hierarchy},
            "seen": {"role": "drop"},
            "left": {"role": "drop"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
    }
    _, report = run(tmp_path, config)
    named = [each for each in report["warnings"] if "'born' looks like dates" in each]
    assert bool(named) == warned
    assert all('set `format: "%m/%d/%Y"`' in each for each in named)


def test_bands_are_grouped_by_their_numbers(tmp_path: Path) -> None:
    bands = ["<5", "5-9", "10-19", "20-29", "30-39", "100-109", "Not Reported"]
    lines = [f"{bands[n % len(bands)]},{n}" for n in range(140)]
    (tmp_path / "list.csv").write_text("\n".join(["band,note", *lines, ""]), encoding="utf-8")
    config = {
        "input": {"path": "list.csv"},
        "attributes": {
            "band": {"role": "quasi-identifier", "hierarchy": {"order": {"sizes": [2]}}},
            "note": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 30}],
    }
    records, _ = run(tmp_path, config)
    assert {row[0] for row in records} <= {"<10", "10-29", "30-109", "Not Reported", "*"}


@pytest.mark.spark
def test_spark_reads_formats_too(tmp_path: Path) -> None:
    data = write(tmp_path / "list.csv", AMERICAN, GERMAN)
    duckdb.sql(f"COPY (FROM read_csv('{data}', all_varchar = true)) TO '{tmp_path}/list.parquet'")
    config = settings(
        ALGORITHMS["lattice"],
        AMERICAN,
        GERMAN,
        input={"path": "list.parquet"},
        output={"path": "release.parquet"},
        attacks=[],
    )
    found = []
    with running():
        for name, engine in (("memory", {"name": "memory"}), ("spark", spark_engine())):
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps({**config, "engine": engine}), encoding="utf-8")
            done = call("run", path, "-o", tmp_path / name)
            assert done.code == 0, done.err
            found.append(released(tmp_path / name))
    assert found[0] == found[1]
