"""Runs by Spark against the same runs in memory, and its releases in the hands of others; slow."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import yaml

import anonymizer as an
from anonymizer.config.load import load_config
from anonymizer.engines.spark.session import Session
from anonymizer.errors import ConfigError, InputError
from anonymizer.flow.audit import audit_release
from tests.flow.spark_runs import config, facts, people, ran, released
from tests.shared import shared
from tests.spark import engine, running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


@pytest.mark.parametrize(
    "others",
    [
        {"note": "insensitive"},
        {"note": "insensitive", "suppression": {"limit": 0.2, "method": "records"}},
        {"suppression": {"limit": 0.2, "keep_rows": True}, "reference": "input"},
        {"algorithm": {"name": "mondrian"}},
    ],
)
def test_it_tells_the_same(spark: Session, tmp_path: Path, others: dict[str, Any]) -> None:
    data = people(tmp_path / "people.parquet")
    by_spark = ran(config(data, engine(), **others), tmp_path / "spark")
    in_memory = ran(config(data, **others), tmp_path / "memory")
    assert facts(by_spark) == facts(in_memory)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


def test_tables_are_asked_for_where_memory_is_short(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    by_spark = ran(config(data, engine(combinations=200), note="insensitive"), tmp_path / "spark")
    in_memory = ran(config(data, note="insensitive"), tmp_path / "memory")
    assert facts(by_spark)["recoding"] == facts(in_memory)["recoding"]
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


def test_a_recipient_audits_the_folder_without_spark(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    ran(config(data, engine(), note="insensitive"), tmp_path / "out")
    release = tmp_path / "out" / "share" / "release.parquet"
    found = audit_release(release)
    assert (found.verified, found.findings) == (True, [])
    (release / "part-00001.parquet").write_bytes((release / "part-00000.parquet").read_bytes())
    assert not audit_release(release).verified


def test_the_files_tell_nothing_else(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "secret-name.parquet")
    ran(config(data, engine()), tmp_path / "out")
    (part,) = (tmp_path / "out" / "share" / "release.parquet").iterdir()
    content = part.read_bytes()
    assert not any(word in content for word in (b"secret-name", str(tmp_path).encode(), b"note", b"id1"))


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
    """Write Adult as a folder of two files, and return the config of a run."""
    source = shared("data", "adult", "data.csv.gz")
    (folder / "adult").mkdir()
    columns = ", ".join(f'"{name}"' for name in ADULT)
    for part in (0, 1):
        duckdb.sql(
            f"COPY (SELECT {columns} FROM (SELECT *, row_number() OVER () AS i FROM read_csv('{source}')) "
            f"WHERE i % 2 = {part}) TO '{folder}/adult/part-{part}.parquet' (FORMAT parquet)"
        )
    flat = {name: {"role": "quasi-identifier"} for name in ADULT[1:-1]}
    age = {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [5, 10, 20], "origin": 0}}}
    return {
        "input": {"path": "adult", "missing": ["?"]},
        "attributes": {"age": age, **flat, "occupation": {"role": "sensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 10}],
        "suppression": {"limit": 0.05},
        "output": {"path": "release.parquet"},
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
