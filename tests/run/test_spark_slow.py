"""Runs by Spark against the same runs in memory, and its releases in the hands of others; slow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import anonymizer as an
from anonymizer.audit.audit import audit_release
from anonymizer.config.load import load_config
from anonymizer.data_spark.session import Session
from anonymizer.errors import ConfigError, InputError
from tests.run.spark_runs import config, facts, people, ran, released
from tests.shared import shared
from tests.spark import engine, running

pytestmark = pytest.mark.spark

SHARED = "share/release.parquet"


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


@pytest.mark.parametrize(
    "others",
    [
        {"note": "insensitive", "suppression": {"limit": 0.2, "method": "records"}},
        {"suppression": {"limit": 0.2, "keep_rows": True}, "reference": "input"},
    ],
)
def test_it_tells_the_same(spark: Session, tmp_path: Path, others: dict[str, Any]) -> None:
    data = people(tmp_path / "people.parquet")
    by_spark = ran(config(data, engine(), **others), tmp_path / "spark")
    in_memory = ran(config(data, **others), tmp_path / "memory")
    assert facts(by_spark) == facts(in_memory)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


def test_files_begin_at_the_same_records_every_time(
    spark: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymizer.data_spark.files.PART_RECORDS", 90)
    data = people(tmp_path / "people.parquet")
    asked = config(data, engine(), note="insensitive", attacks=[])
    for name in ("one", "other"):
        ran(asked, tmp_path / name)
    in_memory = config(data, note="insensitive", attacks=[])
    ran(in_memory, tmp_path / "memory")
    files, others = (sorted((tmp_path / name / SHARED).iterdir()) for name in ("one", "other"))
    assert [path.name for path in files] == [f"part-{number:05}.parquet" for number in range(5)]
    assert [path.read_bytes() for path in files] == [path.read_bytes() for path in others]
    assert [duckdb.sql(f"FROM '{path}'").shape[0] for path in files[:-1]] == [90] * 4
    assert released(tmp_path / "one") == released(tmp_path / "memory")


def test_tables_are_asked_for_where_memory_is_short(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    by_spark = ran(config(data, engine(combinations=200), note="insensitive"), tmp_path / "spark")
    in_memory = ran(config(data, note="insensitive"), tmp_path / "memory")
    assert facts(by_spark)["recoding"] == facts(in_memory)["recoding"]
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


@pytest.mark.parametrize(
    "others",
    [
        {"algorithm": {"name": "mondrian", "labels": "interval"}, "budget": {"steps": 4}},
        {"algorithm": {"name": "mondrian"}, "note": "insensitive"},
        {
            "algorithm": {"name": "mondrian", "labels": "set"},
            "note": "insensitive",
            "budget": {"steps": 3},
            "suppression": {"limit": 0.1, "keep_rows": True},
        },
    ],
)
def test_regions_are_cut_by_spark_where_memory_is_short(
    spark: Session, tmp_path: Path, others: dict[str, Any]
) -> None:
    data = people(tmp_path / "people.parquet", 3000)
    few = ran(config(data, engine(combinations=300), **others), tmp_path / "spark")
    in_memory = ran(config(data, **others), tmp_path / "memory")
    assert facts(few) == facts(in_memory)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


def test_moments_are_released_as_they_came(spark: Session, tmp_path: Path) -> None:
    """Without a zone, with one, and of 96 bits."""
    moments = [datetime(2020, 1, 1, hour % 3) for hour in range(12)]
    kinds = {"plain": pa.timestamp("us"), "zoned": pa.timestamp("us", "UTC")}
    table = pa.table({"q": ["a", "b"] * 6, **{name: pa.array(moments, kind) for name, kind in kinds.items()}})
    attributes = {name: {"role": "insensitive"} for name in kinds} | {"q": {"role": "quasi-identifier"}}
    for long in (False, True):
        data = tmp_path / f"{long}.parquet"
        pq.write_table(table, data, use_deprecated_int96_timestamps=long)
        tables = []
        for each in ({"name": "memory"}, engine()):
            asked = config(data, each, attributes=attributes, constraints=[{"model": "k-anonymity", "k": 2}])
            ran(asked, tmp_path / f"{long}-{each['name']}")
            release = tmp_path / f"{long}-{each['name']}" / SHARED
            tables.append(pq.read_table(release).replace_schema_metadata())
        assert tables[0] == tables[1]


def test_a_recipient_audits_the_folder_without_spark_and_its_files_tell_nothing_else(
    spark: Session, tmp_path: Path
) -> None:
    data = people(tmp_path / "secret-name.parquet")
    ran(config(data, engine()), tmp_path / "out")
    release = tmp_path / "out" / "share" / "release.parquet"
    (part,) = release.iterdir()
    content = part.read_bytes()
    assert not any(word in content for word in (b"secret-name", str(tmp_path).encode(), b"note", b"id1"))
    found = audit_release(release)
    assert (found.verified, found.findings) == (True, [])
    (release / "part-00001.parquet").write_bytes(content)
    assert not audit_release(release).verified


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"output": {"path": "release.csv"}}, "output.path: release.csv: spark writes Parquet"),
        ({"output": {"path": "r.parquet", "order": "shuffled"}}, "accepted with spark: sorted"),
        ({"algorithm": {"name": "anatomy"}}, "releases two tables, which spark does not write"),
        ({"engine": {"name": "spark", "options": {"masters": "local"}}}, "engine.options.masters"),
    ],
)
def test_what_spark_cannot_is_refused_before_it_starts(
    tmp_path: Path, others: dict[str, Any], message: str
) -> None:
    data = people(tmp_path / "people.parquet")
    with pytest.raises(ConfigError) as refused:
        ran({**config(data, engine()), **others}, tmp_path / "out")
    assert message in str(refused.value)


def test_a_data_frame_is_refused() -> None:
    asked = {
        "attributes": {"a": {"role": "quasi-identifier"}},
        "constraints": [{"model": "k-anonymity", "k": 1}],
    }
    with pytest.raises(InputError, match="spark reads files"):
        an.anonymize(
            pd.DataFrame({"a": ["x"]}), {**asked, "engine": engine(), "output": {"path": "r.parquet"}}
        )


ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "occupation")


def adult(folder: Path) -> dict[str, Any]:
    """Write a fifth of Adult as a folder of two files, and return the config of a run."""
    source = shared("data", "adult", "data.csv.gz")
    (folder / "adult").mkdir()
    columns = ", ".join(f'"{name}"' for name in ADULT)
    for part in (0, 1):
        duckdb.sql(
            f"COPY (SELECT {columns} FROM (SELECT *, row_number() OVER () AS i FROM read_csv('{source}')) "
            f"WHERE i % 10 = {part}) TO '{folder}/adult/part-{part}.parquet' (FORMAT parquet)"
        )
    flat = {name: {"role": "quasi-identifier"} for name in ADULT[1:-1]}
    age = {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5, 10, 20], "origin": 0}}}
    return {
        "input": {"path": "adult", "missing": ["?"]},
        "attributes": {"age": age, **flat, "occupation": {"role": "sensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 10}],
        "suppression": {"limit": 0.05},
        "output": {"path": "release.parquet"},
        "algorithm": "lattice",
        "attacks": [],
    }


def command(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "anonymizer", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_command_releases_adult(tmp_path: Path) -> None:
    asked = adult(tmp_path)
    (tmp_path / "spark.yaml").write_text(yaml.safe_dump({**asked, "engine": engine()}))
    report = command("run", str(tmp_path / "spark.yaml"), "-o", str(tmp_path / "spark"), "--quiet")
    asked["input"]["path"] = str(tmp_path / "adult.parquet")
    duckdb.sql(f"COPY (FROM '{tmp_path}/adult/*.parquet') TO '{tmp_path}/adult.parquet' (FORMAT parquet)")
    in_memory = ran(load_config(asked).to_dict(), tmp_path / "memory").to_dict()
    for key in ("status", "recoding", "constraints", "loss"):
        assert report[key] == in_memory[key], key
    assert released(tmp_path / "spark") == released(tmp_path / "memory")
    release = str(tmp_path / "spark" / "share" / "release.parquet")
    checked = command("check", release, "-c", str(tmp_path / "spark.yaml"))
    assert [each["satisfied"] for each in checked["constraints"]] == [True]
    assert checked["rows"] == report["release"]["rows"]


def test_adult_is_cut_as_in_memory(spark: Session, tmp_path: Path) -> None:
    asked = {**adult(tmp_path), "algorithm": {"name": "mondrian"}}
    asked["input"]["path"] = str(tmp_path / "adult")
    few = ran(load_config({**asked, "engine": engine(combinations=2000)}).to_dict(), tmp_path / "spark")
    in_memory = ran(load_config(asked).to_dict(), tmp_path / "memory")
    for key in ("status", "recoding", "constraints", "loss"):
        assert few.to_dict()[key] == in_memory.to_dict()[key], key
    assert released(tmp_path / "spark") == released(tmp_path / "memory")
