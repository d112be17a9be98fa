"""The database gives way to the user, keeps to its memory and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from anonymizer.engines.base import EngineOptions
from anonymizer.engines.duckdb_database import Database
from anonymizer.errors import InputError

LONG = "SELECT sum(hash(range)) FROM range(1000000000000)"


def test_the_user_can_stop_a_statement() -> None:
    database = Database(EngineOptions())
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        database.rows(LONG)
    timer.join()
    database.close()


def test_too_little_memory_is_an_error_that_names_the_key(tmp_path: Path) -> None:
    database = Database(EngineOptions(memory_limit="20MB", temp_directory=tmp_path))
    with pytest.raises(InputError, match=r"engine\.memory_limit: not enough"):
        database.run("CREATE TABLE t AS SELECT list(range::VARCHAR || repeat('x', 50)) FROM range(2000000)")
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
