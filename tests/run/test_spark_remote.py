"""Releases to a file system of Hadoop: they take their name last, or nothing is left; slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.data_spark.engine import RemoteFolder
from anonymizer.data_spark.session import Session
from anonymizer.errors import ConfigError, OutputError
from anonymizer.job.clock import RunMonitor
from tests.run.spark_runs import config, people, ran, released
from tests.spark import engine, options, running


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


def rows(folder: Path) -> list[tuple[object, ...]]:
    return duckdb.sql(f"SELECT * FROM '{folder}/part-*.parquet'").fetchall()


@pytest.mark.spark
def test_a_release_takes_its_name_last(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    there = tmp_path / "there"
    there.mkdir()
    url = f"file://{there}/release.parquet"
    asked = config(data, engine(), output={"path": url}, attacks=[])
    seen: list[list[str]] = []
    watch = RunMonitor(phase=lambda _: seen.append(sorted(path.name for path in there.glob("[!.]*"))))
    report = run(load_config(asked), tmp_path / "out", watch=watch).to_dict()
    assert all(names == [] for names in seen)
    assert [path.name for path in there.iterdir()] == ["release.parquet"]
    assert report["release"]["path"] == url
    shared = {path.name for path in (tmp_path / "out" / "share").iterdir()}
    assert shared == {"report.public.json", "README.txt", "codebook.csv"}
    public = (tmp_path / "out" / "share" / "report.public.json").read_text()
    assert '"path": "release.parquet"' in public
    assert str(there) not in public
    ran(config(data, attacks=[]), tmp_path / "memory")
    assert rows(there / "release.parquet") == released(tmp_path / "memory")
    with pytest.raises(OutputError, match="holds a release; replace it with --overwrite"):
        ran(asked, tmp_path / "other")
    run(load_config(asked), tmp_path / "out", overwrite=True)
    assert [path.name for path in there.iterdir()] == ["release.parquet"]


@pytest.mark.spark
def test_what_is_no_release_is_not_replaced(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    (tmp_path / "d.parquet").mkdir()
    (tmp_path / "d.parquet" / "mine.txt").touch()
    asked = config(data, engine(), output={"path": f"file://{tmp_path}/d.parquet"})
    with pytest.raises(OutputError, match="is not a release, and is not replaced"):
        run(load_config(asked), tmp_path / "out", overwrite=True)
    asked = config(data, engine(), output={"path": f"file://{data}"})
    with pytest.raises(OutputError, match="is the input"):
        run(load_config(asked), tmp_path / "out", overwrite=True)
    assert not (tmp_path / "out").exists()


def killed_while_replacing(location: str, out: Path, data: Path) -> RemoteFolder:
    """Leave what a run leaves that is killed when the earlier release is not in its place."""
    made = RemoteFolder(location, out, f"file://{data}", options(), overwrite=True)
    Path(made.staged.removeprefix("file://")).mkdir()
    made._rename(location, made._earlier)
    assert made._note is not None
    made._note.leave()
    made._note = None
    return made


@pytest.mark.spark
def test_what_a_killed_run_left_goes_at_the_next_start(spark: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    there, out = tmp_path / "there", tmp_path / "out"
    there.mkdir()
    url = f"file://{there}/release.parquet"
    asked = load_config(config(data, engine(), output={"path": url}, attacks=[]))
    run(asked, out)
    before = rows(there / "release.parquet")
    alive = RemoteFolder(f"file://{there}/other.parquet", out, f"file://{data}", options(), overwrite=False)
    staged = Path(alive.staged.removeprefix("file://"))
    staged.mkdir()
    killed = killed_while_replacing(url, out, data)
    assert len(list(there.iterdir())) == 3
    with pytest.raises(OutputError, match="holds a release; replace it with --overwrite"):
        RemoteFolder(url, out, f"file://{data}", options(), overwrite=False)
    assert sorted(there.iterdir()) == [staged, there / "release.parquet"]
    assert rows(there / "release.parquet") == before
    alive.close()
    killed.close()
    assert list(there.iterdir()) == [there / "release.parquet"]
    assert list(out.glob(".*")) == []


def test_other_engines_do_not_reach_it(tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet")
    asked = config(data, output={"path": "hdfs://host/release.parquet"})
    with pytest.raises(ConfigError, match="is on another file system"):
        ran(asked, tmp_path / "out")
