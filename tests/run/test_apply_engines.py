"""Further records whose combinations stay in DuckDB join a release as they do in memory, byte by byte."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.duckdb.writers import DuckRecodedQuery
from tests.helpers.messages import exchange
from tests.helpers.reports import without_times
from tests.run.applied import first_run, go_on
from tests.run.commands import Done, Job, call, people, spawn
from tests.run.joined_runs import swapping
from tests.shared import shared

MODELS: dict[str, list[dict[str, Any]]] = {
    "k": [{"model": "k-anonymity", "k": 3}],
    "l": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2}],
    "t": [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.4}],
    "whole": [{"model": "vulnerability", "max": 0.4, "target": "re-identification"}],
}
LEVELS: dict[str, Any] = {"any": {}, "age": {"age": {"min": 1}}, "zip": {"zip": {"min": 2, "max": 3}}}


def engine(name: str, most: int | None = None) -> dict[str, Any]:
    """Return the section ``engine`` of a config."""
    return {"name": name, "options": {"threads": 1, **({} if most is None else {"combinations": most})}}


def told(folder: Path) -> dict[str, Any]:
    """Return what a report says but for the engine and the time that it took."""
    report: dict[str, Any] = without_times(json.loads((folder / "report.json").read_text(encoding="utf-8")))
    for key in ("engine", "environment"):
        report.pop(key)
    report["config"].pop("engine")
    return report


def in_both(job: Job, rows: list[tuple[str, ...]], most: int, *args: str, **apply: str) -> dict[str, Done]:
    """Let further records join in memory, and where there is room for fewer combinations than they have."""
    found = {}
    for name, asked in (("memory", engine("memory")), ("duckdb", engine("duckdb", most))):
        job.config["engine"] = asked
        found[name] = go_on(job, rows, *args, to=name, **apply)
    return found


def assert_same(folder: Path, release: str = "release.csv") -> None:
    """Check that both wrote the same and say the same of it."""
    one, other = (folder / name for name in ("memory", "duckdb"))
    assert told(other) == told(one)
    for name in (f"share/{release}", "recoding.json"):
        assert (other / name).read_bytes() == (one / name).read_bytes()


def distinct(rows: list[tuple[str, ...]]) -> int:
    return len({row[1:5] for row in rows})


@pytest.mark.slow
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.generate],
)
@given(
    seed=st.integers(0, 10**6),
    models=st.sampled_from(sorted(MODELS)),
    levels=st.sampled_from(sorted(LEVELS)),
    algorithm=st.sampled_from(["lattice", "lattice", "mondrian"]),
    note=st.sampled_from(["identifier", "insensitive"]),
    apply=st.fixed_dictionaries(
        {"batch": st.sampled_from(["warn", "require"]), "otherwise": st.sampled_from(["refuse", "search"])}
    ),
)
def test_they_tell_and_release_the_same(
    seed: int,
    models: str,
    levels: str,
    algorithm: str,
    note: str,
    apply: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder, rows = tmp_path_factory.mktemp("engines"), people(300, seed)
    job = Job(folder).attribute("note", role=note).constraints(*MODELS[models])
    job.config["algorithm"] = {"name": algorithm}
    for name, range_ in LEVELS[levels].items():
        job.config["attributes"][name]["levels"] = range_
    if job.rows(rows[:120]).run("-o", folder / "first", "--quiet").code:
        return
    new = rows[120:]
    done = in_both(job, new, distinct(new) - 1, "--set", "suppression.limit=0.9", **apply)
    if done["duckdb"].code == 2:
        assert algorithm == "mondrian" or apply["otherwise"] == "search", done["duckdb"].err
        assert "engine.options.combinations" in done["duckdb"].err
        assert not (folder / "duckdb").exists()
        return
    assert [each.code for each in done.values()] == [done["memory"].code] * 2, done["duckdb"].err
    if done["memory"].code == 0:
        assert_same(folder)


def typed(folder: Path, name: str, first: int, last: int, note: str) -> Path:
    """Write records whose columns have types of their own, and nulls."""
    path = folder / f"{name}.parquet"
    duckdb.sql(
        "COPY (SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 7 % 40)::DECIMAL(6, 1) END AS weight, "
        "CASE WHEN i % 13 = 0 THEN NULL ELSE 'z' || (i % 3) END AS zip, (i % 5)::SMALLINT AS illness, "
        f"{note} AS note FROM range({first}, {last}) t(i)) TO '{path}' (FORMAT parquet)"
    )
    return path


NOTES = {
    "number": "CASE WHEN i % 7 = 0 THEN NULL ELSE i / 4.0 END::DOUBLE",
    "moment": "TIMESTAMP '2026-01-01' + INTERVAL (i % 48) HOUR",
    "text": "CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'x' END",
}


def records(path: Path) -> list[tuple[Any, ...]]:
    """Return the types and then the records of a file."""
    found = duckdb.sql(f"SELECT * FROM '{path}'")
    return [tuple(map(str, found.types)), *found.fetchall()]


@pytest.mark.parametrize(
    ("note", "algorithm"),
    [
        ("number", "lattice"),
        pytest.param("moment", "mondrian", marks=pytest.mark.slow),
        pytest.param("text", "lattice", marks=pytest.mark.slow),
    ],
)
def test_stored_types_and_nulls_stay(note: str, algorithm: str, tmp_path: Path) -> None:
    width = {"intervals": {"width": [10, 20], "origin": 0}}
    job = Job(tmp_path).set("input", path="d.parquet").set("output", path="release.parquet")
    job.constraints({"model": "k-anonymity", "k": 2}).set("algorithm", name=algorithm)
    job.config["attributes"] = {
        "weight": {"role": "quasi-identifier", "type": "number", "hierarchy": width, "levels": {"min": 1}},
        "zip": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    }
    job.data = typed(tmp_path, "first", 0, 120, NOTES[note]).read_bytes()
    assert job.run("-o", tmp_path / "first", "--quiet").code == 0
    job.data = typed(tmp_path, "second", 120, 700, NOTES[note]).read_bytes()
    job.set("apply", report="first/report.json")
    for name, asked in (("memory", engine("memory")), ("duckdb", engine("duckdb", 190))):
        job.config["engine"] = asked
        done = job.run("-o", tmp_path / name, "--quiet", "--set", "suppression.limit=0.9")
        assert done.code == 0, done.err
    assert_same(tmp_path, "release.parquet")
    kinds, *rows = records(tmp_path / "duckdb" / "share" / "release.parquet")
    before = records(tmp_path / "first" / "share" / "release.parquet")
    assert kinds == before[0]
    assert kinds[2] == "SMALLINT"
    assert not Counter(before[1:]) - Counter(rows)
    given = Counter(
        row[2:] for name in ("first", "second") for row in records(tmp_path / f"{name}.parquet")[1:]
    )
    assert not Counter(row[2:] for row in rows) - given


def test_decimal_commas_are_spelled_as_before(tmp_path: Path) -> None:
    job = Job(tmp_path).set("input", decimal=",", separator=";")
    job.constraints({"model": "k-anonymity", "k": 2}).set("output", path="release.csv")
    job.config["attributes"] = {
        "weight": {"role": "quasi-identifier", "type": "number"},
        "zip": {"role": "quasi-identifier", "levels": {"max": 0}},
        "dose": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    }

    def lines(spelling: str, number: int) -> bytes:
        own = [f"{spelling};z{i % 2};0,{i % 3};{i},5" for i in range(number)]
        return "\n".join(["weight;zip;dose;note", *own, ""]).encode()

    job.data = lines("1,50", 12)
    assert job.run("-o", tmp_path / "first", "--quiet").code == 0
    job.data = lines("1,5", 12)
    job.set("apply", report="first/report.json")
    for name, asked in (("memory", engine("memory")), ("duckdb", engine("duckdb", 6))):
        job.config["engine"] = asked
        done = job.run("-o", tmp_path / name, "--quiet")
        assert done.code == 0, done.err
    assert_same(tmp_path)
    lines_of_release = (
        (tmp_path / "duckdb" / "share" / "release.csv").read_text(encoding="utf-8").splitlines()
    )
    rows = [line.split(";") for line in lines_of_release[1:]]
    assert {row[0] for row in rows} == {"1,50"}
    assert Counter(row[3] for row in rows) == {f"{i},5": 2 for i in range(12)}


ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


@pytest.mark.slow
@pytest.mark.parametrize("role", ["insensitive"])
def test_adult_through_the_command(role: str, tmp_path: Path) -> None:
    hierarchies = shared("data", "adult", "hierarchies")
    source = shared("data", "adult", "data.csv.gz")
    names = ", ".join(f'"{name}"' for name in (*ADULT, "occupation", "salary-class"))
    for part, which in (("first", "LIMIT 3000"), ("second", "LIMIT 6000 OFFSET 3000")):
        every = f"SELECT {names} FROM read_csv('{source}', all_varchar = true, header = true) {which}"
        duckdb.sql(f"COPY ({every}) TO '{tmp_path}/{part}.csv' (HEADER)")
    job: dict[str, Any] = {
        "attributes": {
            **{
                name: {"role": "quasi-identifier", "hierarchy": {"file": str(hierarchies / f"{name}.csv")}}
                for name in ADULT
            },
            "occupation": {"role": "sensitive"},
            "salary-class": {"role": role},
        },
        "constraints": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}],
        "suppression": {"limit": 0.05},
    }

    def ran(to: str, part: str, **others: Any) -> None:
        path = tmp_path / "job.json"
        path.write_text(json.dumps({**job, "input": {"path": f"{part}.csv"}, **others}), encoding="utf-8")
        done = spawn("run", path, "-o", tmp_path / to, "--quiet")
        assert done.code == 0, done.err

    ran("first", "first")
    beyond = {"name": "duckdb", "memory_limit": "300MB", "options": {"combinations": 2000}}
    for name, asked in (("memory", engine("memory")), ("duckdb", beyond)):
        ran(name, "second", engine=asked, apply="first/report.json")
    assert_same(tmp_path)
    assert call("audit", tmp_path / "duckdb" / "share" / "release.csv").code == 0


def test_what_does_not_fit_is_refused_by_name(tmp_path: Path, message: SnapshotAssertion) -> None:
    rows = people(300, 2)
    job = first_run(tmp_path, rows[:60], algorithm={"name": "mondrian"})
    done = in_both(job, rows[60:], 30, "--set", "suppression.limit=0.9")["duckdb"]
    assert done.code == 2
    assert exchange("room for 30 distinct rows", done.err.strip(), tmp_path) == message
    assert not (tmp_path / "duckdb").exists()


def test_a_join_that_swaps_two_combinations_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people(300, 5)
    job = first_run(tmp_path, rows[:120])
    job.config["engine"] = engine("duckdb", distinct(rows[120:]) - 1)
    monkeypatch.setattr(DuckRecodedQuery, "copy", swapping(DuckRecodedQuery.copy))
    done = go_on(job, rows[120:], "--set", "suppression.limit=0.9")
    assert done.code == 1
    assert "a record is not a recoded record of the input" in done.err
    assert not (tmp_path / "second").exists()
