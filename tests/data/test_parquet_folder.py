"""Folders of Parquet files that DuckDB reads as one table."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb
import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.open import open_file
from anonymizer.data.source import sha256_of
from anonymizer.errors import DataError
from tests.helpers.messages import exchange


def written(path: Path, query: str) -> None:
    path.parent.mkdir(exist_ok=True)
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def test_a_folder_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "a [b].parquet"
    written(tmp_path / "one", "SELECT 1 AS a, 'x' AS b")
    written(tmp_path / "two", "SELECT 2 AS a, 'y' AS b")
    folder.mkdir()
    for name, part in (("one", "part-00001.parquet"), ("two", "part-00000.parquet")):
        (tmp_path / name).rename(folder / part)
    (folder / "_SUCCESS").touch()
    (folder / ".part-00000.parquet.crc").touch()
    with open_file(folder) as relation:
        assert relation.columns == ("a", "b")
        assert relation.dictionary("a") == [("1", 1), ("2", 1)]
        assert relation.codes("b").tolist() == [1, 0]
        assert relation.sha256 == sha256_of(folder)


def test_its_hash_is_that_of_a_list_of_sums(tmp_path: Path) -> None:
    folder = tmp_path / "d.parquet"
    written(folder / "part-00000.parquet", "SELECT 1 AS a")
    written(folder / "part-00001.parquet", "SELECT 2 AS a")
    command = "LC_ALL=C sha256sum part-* | sha256sum"
    listed = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=True)
    assert listed.stdout.split()[0] == sha256_of(folder)


def test_files_of_two_schemas_are_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    folder = tmp_path / "d.parquet"
    written(folder / "one.parquet", "SELECT 1 AS a")
    written(folder / "two.parquet", "SELECT 'x' AS a")
    with pytest.raises(DataError) as refused:
        open_file(folder)
    assert exchange("two schemas", refused.value, tmp_path) == message


def test_a_folder_without_files_is_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    (tmp_path / "d.parquet").mkdir()
    with pytest.raises(DataError) as refused:
        open_file(tmp_path / "d.parquet")
    assert exchange("an empty folder", refused.value, tmp_path) == message


def test_a_file_in_it_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records and its hash would be of different files; no name in the folder changes."""
    folder, part = tmp_path / "people.parquet", tmp_path / "people.parquet" / "part-0.parquet"
    written(part, "SELECT 1 AS a")
    written(tmp_path / "other", "SELECT 2 AS a")

    def changed(path: Path) -> str:
        part.write_bytes((tmp_path / "other").read_bytes())
        return sha256_of(path)

    monkeypatch.setattr("anonymizer.data.duckdb.parquet.sha256_of", changed)
    with pytest.raises(DataError, match=r"part-0\.parquet: changed while"):
        open_file(folder)
