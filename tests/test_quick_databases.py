"""Databases of tests share one DuckDB, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.helpers.databases import quick_connect


def opened(folder: Path) -> Any:
    return quick_connect(config={"temp_directory": str(folder)})


def attached(connection: Any) -> set[str]:
    return {
        str(name) for (name,) in connection.execute("SELECT database_name FROM duckdb_databases()").fetchall()
    }


def test_each_has_tables_of_its_own(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    for connection, value in ((one, 1), (other, 2)):
        connection.execute(f"CREATE TABLE records AS SELECT {value} AS x")
    assert one.execute("FROM records").fetchall() == [(1,)]
    known = attached(other)
    one.close()
    assert len(known - attached(other)) == 1
    assert other.execute("FROM records").fetchall() == [(2,)]
    other.close()
    third = opened(tmp_path)
    with pytest.raises(duckdb.CatalogException, match="records"):
        third.execute("FROM records")
    third.close()


def test_settings_are_of_one_alone(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    one.execute("SET enable_external_access = false")
    asked = "SELECT current_setting('enable_external_access')"
    assert [each.execute(asked).fetchall() for each in (one, other)] == [[(False,)], [(True,)]]
    with pytest.raises(AssertionError, match="not the first statement"):
        other.execute("SET threads = 1")
    one.close()
    other.close()


def test_a_limit_of_memory_is_of_the_process(tmp_path: Path) -> None:
    limited = quick_connect(config={"temp_directory": str(tmp_path), "memory_limit": "1GB"})
    assert isinstance(limited, duckdb.DuckDBPyConnection)
    limited.close()
