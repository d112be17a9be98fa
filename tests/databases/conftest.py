"""The server of the tests, with the records in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases.jobs import records
from tests.databases.server import Server, running

TYPES = (
    "name text, age integer, zip char(6), sex varchar, diagnosis text, note text, wage numeric(8, 2), "
    "born date, seen timestamp, score double precision, member boolean"
)


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    with running() as server:
        values = ", ".join(f"({', '.join(map(literal, row))})" for row in records())
        server.run(f"CREATE TABLE people ({TYPES})", f"INSERT INTO people VALUES {values}")
        server.run("CREATE ROLE reader LOGIN", "GRANT SELECT ON people TO reader")
        server.run("CREATE ROLE guarded LOGIN PASSWORD 'ge:h@i/m'", "GRANT SELECT ON people TO guarded")
        yield server


@pytest.fixture
def clean(server: Server) -> Iterator[None]:
    """Remove what a test released, and check that it left nothing else."""
    yield
    server.run("DROP TABLE IF EXISTS released CASCADE")
    left = "SELECT relname FROM pg_class WHERE relname LIKE 'anonymizer%'"
    assert server.run(left) == []


def literal(value: Any) -> str:
    return "NULL" if value is None else "'" + str(value) + "'"
