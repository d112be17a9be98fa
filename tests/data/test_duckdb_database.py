"""The database gives way to the user, keeps to its memory and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.duckdb.database import Database
from anonymizer.data.source import EngineOptions
from anonymizer.errors import InputError
from tests.helpers.messages import exchange

LONG = "SELECT sum(hash(range)) FROM range(1000000000000)"


def test_the_user_can_stop_a_statement() -> None:
    database = Database(EngineOptions())
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        database.rows(LONG)
    timer.join()
    database.close()


def test_the_user_is_heard_beside_libraries_that_catch_the_signal() -> None:
    script = """
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
import polars
from anonymizer.data.source import EngineOptions
from anonymizer.data.duckdb.database import Database
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    Database(EngineOptions()).rows("SELECT sum(hash(range)) FROM range(1000000000000)")
except KeyboardInterrupt:
    print("heard")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "heard"


def test_too_little_memory_is_an_error_that_names_the_key(tmp_path: Path, message: SnapshotAssertion) -> None:
    database = Database(EngineOptions(memory_limit="20MB", temp_directory=tmp_path))
    with pytest.raises(InputError) as refused:
        database.run("CREATE TABLE t AS SELECT list(range::VARCHAR || repeat('x', 50)) FROM range(2000000)")
    assert exchange("20MB", refused.value) == message
    database.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_that_names_the_folder(tmp_path: Path, message: SnapshotAssertion) -> None:
    database = Database(EngineOptions(memory_limit="30MB", threads=1, temp_directory=tmp_path))
    database.run("SET max_temp_directory_size = '1MB'")
    with pytest.raises(InputError) as refused:
        database.run("CREATE TABLE t AS SELECT hash(range) AS h FROM range(20000000) ORDER BY h")
    assert exchange("1MB on disk", refused.value, tmp_path) == message
    database.close()
    assert list(tmp_path.iterdir()) == []


def test_arrays_are_known_for_as_long_as_they_are_held() -> None:
    database = Database(EngineOptions())
    with database.holding("held", {"a": np.array([3, 1, 2])}):
        assert database.arrays("SELECT a FROM held ORDER BY a")["a"].tolist() == [1, 2, 3]
    with pytest.raises(Exception, match="held"):
        database.rows("SELECT a FROM held")
    database.close()


def test_a_database_that_is_not_closed_leaves_nothing(tmp_path: Path) -> None:
    database = Database(EngineOptions(temp_directory=tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
    del database
    assert list(tmp_path.iterdir()) == []
