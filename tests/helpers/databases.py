"""DuckDB databases in memory without the 30 ms of CPU that each takes to start: a third of a small run."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

connect = duckdb.connect
"""The real one."""

_numbers = count()
_OF_ALL = re.compile(
    r"(SET(?! memory_limit)|ATTACH(?! '[^']*' AS staged \(STORAGE)|USE|LOAD|INSTALL)\b", re.IGNORECASE
)
"""Statements about the whole process of DuckDB rather than one database in it. A staged file is detached."""


@cache
def _process(config: frozenset[tuple[str, Any]]) -> duckdb.DuckDBPyConnection:
    """Return DuckDB with some settings, started once."""
    spilled = Path(tempfile.gettempdir()) / "spilled-by-tests"
    return connect(":memory:", config={**dict(config), "temp_directory": str(spilled)})


class _Attached:
    """A connection to a database of its own, in a DuckDB that goes on or, where it must be, one of its own.

    It changes before the first statement or never.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._config, self._asked = config, False
        self._process = _process(frozenset((k, v) for k, v in config.items() if k != "temp_directory"))
        self._name = f"own{next(_numbers)}"
        self._connection = self._process.cursor()
        self._connection.execute(f"ATTACH ':memory:' AS {self._name}").execute(f"USE {self._name}")
        self._attached = True

    def __getattr__(self, name: str) -> Any:
        self._asked = True
        return getattr(self._connection, name)

    def execute(self, statement: str, *parameters: Any) -> duckdb.DuckDBPyConnection:
        if self._attached and _OF_ALL.match(statement):
            assert not self._asked, f"{statement}: not the first statement"
            self.close()
            self._connection = connect(":memory:", config=self._config)
        self._asked = True
        return self._connection.execute(statement, *parameters)

    def close(self) -> None:
        self._connection.close()
        if self._attached:
            self._attached = False
            self._process.execute(f"DETACH {self._name}")


def quick_connect(database: Any = ":memory:", *others: Any, **settings: Any) -> Any:
    """Connect to a database of the program in a DuckDB that goes on, unless its memory is limited."""
    config = settings.get("config", {})
    if database == ":memory:" and "temp_directory" in config and "memory_limit" not in config:
        return _Attached(config)
    return connect(database, *others, **settings)
