"""Releases to a file system of Hadoop: they take their name last, or nothing is left; slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from anonymizer.config.load import load_config
from anonymizer.engines.spark.session import Session
from anonymizer.errors import ConfigError, OutputError
from anonymizer.flow.run import run
from anonymizer.flow.watch import Watch
from tests.flow.spark_runs import config, people, ran, released
from tests.spark import engine, running


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


def rows(folder: Path) -> list[tuple[object, ...]]:
    return duckdb.sql(f"SELECT * FROM '{folder}/part-*.parquet'").fetchall()


@pytest.mark.slow
def test_a_release_takes_its_name_last(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    there = tmp_path / "there"
    there.mkdir()
    url = f"file://{there}/release.parquet"
    asked = config(data, engine(), output={"path": url}, attacks=[])
    seen: list[list[str]] = []
    watch = Watch(phase=lambda _: seen.append(sorted(path.name for path in there.glob("[!.]*"))))
    report = run(load_config(asked), tmp_path / "out", watch=watch).to_dict()
    assert all(names == [] for names in seen)
    assert [path.name for path in there.iterdir()] == ["release.parquet"]
    assert report["release"]["path"] == url
    assert [path.name for path in (tmp_path / "out" / "share").iterdir()] == ["report.public.json"]
    public = (tmp_path / "out" / "share" / "report.public.json").read_text()
    assert '"path": "release.parquet"' in public
    assert str(there) not in public
    ran(config(data, attacks=[]), tmp_path / "memory")
    assert rows(there / "release.parquet") == released(tmp_path / "memory")
    with pytest.raises(OutputError, match="holds a release; replace it with --overwrite"):
        ran(asked, tmp_path / "other")
    run(load_config(asked), tmp_path / "out", overwrite=True)
    assert [path.name for path in there.iterdir()] == ["release.parquet"]


@pytest.mark.slow
def test_what_is_no_release_is_not_replaced(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    (tmp_path / "d.parquet").mkdir()
    (tmp_path / "d.parquet" / "mine.txt").touch()
    asked = config(data, engine(), output={"path": f"file://{tmp_path}/d.parquet"})
    with pytest.raises(OutputError, match="is no release, and is not replaced"):
        run(load_config(asked), tmp_path / "out", overwrite=True)
    asked = config(data, engine(), output={"path": f"file://{data}"})
    with pytest.raises(OutputError, match="is the input"):
        run(load_config(asked), tmp_path / "out", overwrite=True)
    assert not (tmp_path / "out").exists()


def test_other_engines_do_not_reach_it(tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    asked = config(data, output={"path": "hdfs://host/release.parquet"})
    with pytest.raises(ConfigError, match="is on another file system"):
        ran(asked, tmp_path / "out")
