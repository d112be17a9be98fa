"""Parquet as pandas writes it: the index of the frame is no column of the data, unless the config says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from anonymizer.job import source as sources
from tests.run.commands import COLUMNS, CONFIG, assert_message, call, people
from tests.spark import engine

LEVEL = "__index_level_0__"


def frame() -> pd.DataFrame:
    return pd.DataFrame(people(), columns=list(COLUMNS))


def written(folder: Path, kind: str) -> tuple[Path, str]:
    """Write a file with an index; return it with the index's name as a column."""
    path = folder / "people.parquet"
    data = frame()
    if kind == "named":
        data.index = pd.Index([f"P{row:03}" for row in range(len(data))], name="pid")
        data.to_parquet(path)
        return path, "pid"
    data.index = pd.Index([f"P{row:03}" for row in range(len(data))])
    data.to_parquet(path)
    if kind == "rewritten":
        # Other programs keep the column, first or last, and not what pandas says of it.
        plain = folder / "plain.parquet"
        duckdb.sql(f"COPY (SELECT {LEVEL}, * EXCLUDE ({LEVEL}) FROM '{path}') TO '{plain}'")
        plain.replace(path)
    return path, LEVEL


def job(folder: Path, attributes: Any = None, **sections: Any) -> Path:
    path = folder / "job.json"
    given = {**CONFIG, "input": {"path": "people.parquet"}, **sections}
    given["attributes"] = {**CONFIG["attributes"], **(attributes or {})}
    path.write_text(json.dumps(given))
    return path


KINDS = ("unnamed", "named", "rewritten")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_left_out_and_said(kind: str, tmp_path: Path) -> None:
    path, name = written(tmp_path, kind)
    warning = f"column '{name}' is the index of pandas and is left out"
    done = call("run", job(tmp_path, output={"path": "release.csv"}), "--quiet")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "job-release" / "report.json").read_text(encoding="utf-8"))
    assert [each for each in report["warnings"] if warning in each]
    assert report["input"]["columns"] == len(COLUMNS)
    frame().to_csv(tmp_path / "people.csv", index=False)
    config = job(tmp_path, input={"path": "people.csv"})
    assert call("run", config, "-o", tmp_path / "csv", "--quiet").code == 0
    released = [tmp_path / each / "share" / "release.csv" for each in ("job-release", "csv")]
    assert released[0].read_bytes() == released[1].read_bytes()
    done = call("check", path, "--qi", "age,zip", "--sensitive", "diagnosis")
    assert done.code == 0
    assert f"Warning: {warning}" in done.out
    done = call("check", path, "--qi", "age,zip", "--sensitive", "diagnosis", "--json")
    assert json.loads(done.out)["rows"] == 60
    assert f"Warning: {warning}" in done.err
    done = call("check", path, "-c", job(tmp_path))
    assert f"Warning: {warning}" in done.out
    done = call("init", path)
    assert done.code == 0
    assert f"Warning: {warning}" in done.out
    assert name not in json.dumps(list(_attributes(tmp_path / "people.yaml")))
    done = call("run", tmp_path / "people.yaml", "-o", tmp_path / "drafted", "--quiet")
    assert done.code == 0, done.err


def _attributes(path: Path) -> Any:
    from anonymizer.config.load import load_config

    return load_config(path).attributes


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", KINDS)
def test_an_index_with_a_role_is_a_column(kind: str, tmp_path: Path) -> None:
    path, name = written(tmp_path, kind)
    output = {"path": "release.parquet"}
    done = call("run", job(tmp_path, {name: {"role": "insensitive"}}, output=output), "--quiet")
    assert done.code == 0, done.err
    assert "index of pandas" not in done.out
    released = tmp_path / "job-release" / "share" / "release.parquet"
    assert name in [row[0] for row in duckdb.sql(f"DESCRIBE FROM '{released}'").fetchall()]
    assert call("audit", released).code == 0
    done = call("check", path, "--qi", f"{name},age", "--sensitive", "diagnosis")
    assert done.code == 0, done.err


def test_a_file_of_an_index_alone_keeps_it(tmp_path: Path) -> None:
    pd.DataFrame(index=pd.Index(["a", "b"], name="pid")).to_parquet(tmp_path / "people.parquet")
    done = call("run", job(tmp_path))
    assert_message(done.err, ("attributes.pid", "has no role"))


@pytest.mark.parametrize("shape", ["file", "folder", "column in the folder's name"])
def test_columns_are_compared_before_spark_starts(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*_: Any) -> Any:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(sources, "open_by_engine", started)
    part = tmp_path / "people.parquet"
    if shape != "file":
        folder = part / "zip=01" if shape.startswith("column") else part
        folder.mkdir(parents=True)
        part = folder / "part-0.parquet"
    data = frame().drop(columns=["zip"]) if shape.startswith("column") else frame()
    data.to_parquet(part)
    config = job(tmp_path, {"shoe": {"role": "identifier"}}, engine=engine(), output={"path": "r.parquet"})
    done = call("run", config)
    assert done.code == 2
    assert_message(done.err, ("job.json has 1 problem", "attributes.shoe", "no such column"))
    with pytest.raises(AssertionError, match="Spark was started"):
        call("run", job(tmp_path, engine=engine(), output={"path": "r.parquet"}))


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["unnamed", "named"])
def test_spark_leaves_the_index_out_too(kind: str, tmp_path: Path) -> None:
    _, name = written(tmp_path, kind)
    config = job(tmp_path, engine=engine(), output={"path": "release.parquet"})
    done = call("run", config, "--quiet")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "job-release" / "report.json").read_text(encoding="utf-8"))
    assert [each for each in report["warnings"] if f"column '{name}' is the index" in each]
    assert report["input"]["columns"] == len(COLUMNS)
