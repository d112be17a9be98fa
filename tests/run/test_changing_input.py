"""Inputs that change while they are read: a release is of the bytes that were hashed, or there is none."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import anonymizer.commands.compare as comparing
import anonymizer.data.duckdb.csv as reading
import anonymizer.job.job as running
from anonymizer.data.open import open_duckdb, open_file
from anonymizer.data.source import TableName, WholeTable
from anonymizer.errors import DataError
from tests.databases.jobs import filled
from tests.run.commands import COLUMNS, CONFIG, Done, assert_message, call, csv_bytes, people

FURTHER = "person 99,33,0317,F,flu,note 1"


def grown(path: Path) -> None:
    """Append a record, as a program does that is still writing the file."""
    separator = "\t" if ".tsv" in path.name else ","
    line = (FURTHER.replace(",", separator) + "\n").encode()
    with path.open("ab") as stream:
        stream.write(gzip.compress(line) if path.suffix == ".gz" else line)


def written(path: Path, content: bytes | None = None) -> Path:
    content = csv_bytes(people()) if content is None else content
    if ".tsv" in path.name:
        content = content.replace(b",", b"\t")
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def after_the_hash(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Callable[[Path], Any]], None]:
    """Return what lets a file change between the pass that hashes it and the one that reads its records."""
    scan = reading.scan

    def arrange(path: Path, change: Callable[[Path], Any]) -> None:
        def scanned(given: Path, *rest: Any) -> Any:
            found = scan(given, *rest)
            if given.name == path.name:
                change(path)
            return found

        monkeypatch.setattr(reading, "scan", scanned)

    return arrange


def job(folder: Path, name: str = "people.csv", **sections: Any) -> Path:
    path = folder / "job.json"
    path.write_text(json.dumps({**CONFIG, "input": {"path": name}, **sections}))
    return path


def refused(done: Done, name: str) -> None:
    assert (done.code, done.out) == (2, "")
    assert_message(done.err, (name, "changed while", "run again"))


NAMES = ("people.csv", "people.csv.gz", "people.tsv", "people.tsv.gz")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_grows_between_two_passes(name: str, tmp_path: Path, after_the_hash: Any) -> None:
    path = written(tmp_path / name)
    after_the_hash(path, grown)
    refused(call("run", job(tmp_path, name)), name)
    assert not (tmp_path / "job-release").exists()


def test_half_a_record_is_not_blamed_on_the_file(tmp_path: Path, after_the_hash: Any) -> None:
    path = written(tmp_path / "people.csv")

    def half(path: Path) -> None:
        with path.open("ab") as stream:
            stream.write(b"person 99,33")

    after_the_hash(path, half)
    refused(call("run", job(tmp_path)), "people.csv")


def test_a_change_that_keeps_size_and_times(
    tmp_path: Path, after_the_hash: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a tick of the clock of a file system two writes have the same time: then the bytes tell."""
    path = written(tmp_path / "people.csv")
    times = [time.time_ns()]
    monkeypatch.setattr("anonymizer.data.source._stamp", lambda path: (1, 1, 1, *times * 2))
    after_the_hash(path, lambda path: path.write_bytes(path.read_bytes().replace(b"flu", b"flx")))
    with pytest.raises(DataError, match="changed while"):
        open_file(path)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", [*NAMES, "people.parquet"])
def test_a_file_that_changes_before_the_release_takes_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    path = tmp_path / name
    if path.suffix == ".parquet":
        plain = written(tmp_path / "plain.csv")
        duckdb.sql(f"COPY (FROM read_csv('{plain}', all_varchar = true)) TO '{path}'")
    else:
        written(path)
    write = running.write_reports

    def changing(*args: Any) -> None:
        write(*args)
        grown(path)

    monkeypatch.setattr(running, "write_reports", changing)
    refused(call("run", job(tmp_path, name), "--quiet"), name)
    assert not (tmp_path / "job-release").exists()


def test_an_earlier_release_stays(tmp_path: Path, after_the_hash: Any) -> None:
    path = written(tmp_path / "people.csv")
    assert call("run", job(tmp_path)).code == 0
    before = (tmp_path / "job-release" / "report.json").read_bytes()
    after_the_hash(path, grown)
    refused(call("run", job(tmp_path), "--overwrite"), "people.csv")
    assert (tmp_path / "job-release" / "report.json").read_bytes() == before


@pytest.mark.quick(1)
@pytest.mark.parametrize("place", ["further.csv", "release.csv", "late"])
def test_further_records_and_the_release_that_goes_on(
    place: str, tmp_path: Path, after_the_hash: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "people.csv")
    assert call("run", job(tmp_path), "-o", tmp_path / "first").code == 0
    further = written(tmp_path / "further.csv", csv_bytes(people(40, seed=2)))
    path = tmp_path / "first" / "share" / "release.csv" if place == "release.csv" else further
    if place == "late":
        write = running.write_reports

        def changing(*args: Any) -> None:
            write(*args)
            grown(path)

        monkeypatch.setattr(running, "write_reports", changing)
    else:
        after_the_hash(path, grown)
    config = job(tmp_path, "further.csv", apply={"report": "first/report.json"})
    refused(call("run", config, "-o", tmp_path / "second", "--quiet"), path.name)
    assert not (tmp_path / "second").exists()


def test_commands_that_release_nothing(tmp_path: Path, after_the_hash: Any) -> None:
    path = written(tmp_path / "people.csv")
    config = job(tmp_path)
    assert call("run", config).code == 0
    after_the_hash(path, grown)
    refused(call("check", path, "--qi", "age,zip", "--sensitive", "diagnosis"), "people.csv")
    refused(call("init", path), "people.csv")
    assert not (tmp_path / "people.yaml").exists()
    release = tmp_path / "job-release" / "share" / "release.csv"
    refused(call("attack", release, "--original", path, "--config", config), "people.csv")


@pytest.mark.slow
def test_runs_that_are_compared_are_of_the_same_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "people.csv")
    results = comparing.WorkerPool.results

    def changing(*args: Any) -> Iterator[Any]:
        for number, each in enumerate(results(*args)):
            if number:
                grown(path)
            yield each

    monkeypatch.setattr(comparing.WorkerPool, "results", changing)
    config = job(tmp_path)
    done = call("compare", config, "-o", tmp_path / "c", "--vary", "constraints.0.k=3,4", "--workers", "1")
    assert done.code == 2
    assert "people.csv: changed while" in done.err
    assert not (tmp_path / "c" / "compare.csv").exists()


def test_a_database_that_is_replaced_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import anonymizer.data.duckdb.relation as room

    path = filled(tmp_path / "in.duckdb")
    check = room.name_columns

    def replacing(*args: Any, **options: Any) -> Any:
        os.utime(path, ns=(1, 1))
        return check(*args, **options)

    monkeypatch.setattr(room, "name_columns", replacing)
    with pytest.raises(DataError, match=r"in\.duckdb: changed while"):
        open_duckdb(path, WholeTable(TableName("people")))


def test_a_file_that_stays_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv")
    os.utime(path, ns=(10**18, 10**18))
    with open_file(path) as relation:
        assert relation.columns == COLUMNS
        relation.check_unchanged()
