"""Input from a real PostgreSQL server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.data.open import open_duckdb
from anonymizer.data.postgres import open_postgres
from anonymizer.data.source import EngineOptions, Query, TableName, WholeTable
from anonymizer.errors import DataError
from tests.data.files import rows
from tests.databases.jobs import filled
from tests.databases.server import Server

pytestmark = pytest.mark.postgres


def test_the_records_are_those_of_duckdb(server: Server, tmp_path: Path) -> None:
    people = WholeTable(TableName("people"))
    with (
        open_duckdb(filled(tmp_path / "x.duckdb"), people) as there,
        open_postgres(server.url(), people) as here,
    ):
        assert here.columns == there.columns
        assert sorted(rows(here), key=str) == sorted(rows(there), key=str)


VALUES = [
    ("1::int2", "1", "SMALLINT"),
    ("1.50::numeric", "1.50", "VARCHAR"),
    ("1.50::numeric(5,2)", "1.50", "DECIMAL(5,2)"),
    ("'NaN'::numeric", "NaN", "VARCHAR"),
    ("1e40::numeric(50,0)", "1" + "0" * 40, "VARCHAR"),
    ("'1.5'::money", "$1.50", "VARCHAR"),
    ("'x '::char(5)", "x", "VARCHAR"),
    ("'2020-01-31'::date", "2020-01-31", "DATE"),
    ("'infinity'::date", "infinity", "DATE"),
    ("'-infinity'::timestamp", "-infinity", "TIMESTAMP"),
    ("'2020-01-31'::timestamp", "2020-01-31", "TIMESTAMP"),
    ("'2020-01-31 12:00+02'::timestamptz", "2020-01-31 10:00:00+00", "TIMESTAMP WITH TIME ZONE"),
    ("'24:00'::time", "24:00:00", "TIME"),
    ("interval '1 month 2 days'", "1 mon 2 days", "VARCHAR"),
    ("'NaN'::float8", "nan", "DOUBLE"),
    ("0.1::float4", "0.1", "FLOAT"),
    ("true", "true", "BOOLEAN"),
    ("'{1,NULL}'::int[]", "{1,NULL}", "VARCHAR"),
    ("'{\"b\": 1}'::jsonb", '{"b": 1}', "VARCHAR"),
    ("'6ecd8c99-4036-403d-bf84-cf8400f67836'::uuid", "6ecd8c99-4036-403d-bf84-cf8400f67836", "VARCHAR"),
    ("'10.0.0.1'::inet", "10.0.0.1/32", "VARCHAR"),
    ("''::text", "", "VARCHAR"),
    ("NULL::text", None, "VARCHAR"),
    ("'Ünï\U0001d518'::text", "Ünï\U0001d518", "VARCHAR"),
    ("'\\x0102'::bytea", "\\x01\\x02", "BLOB"),
]


@pytest.mark.parametrize(("expression", "text", "kind"), VALUES)
def test_values(expression: str, text: str | None, kind: str, server: Server) -> None:
    with open_postgres(server.url(), Query(f'SELECT {expression} AS "A b"')) as relation:
        assert relation.columns == ("A b",)
        assert rows(relation) == [(text,)]
        assert relation._database.rows("DESCRIBE records")[0][1] == kind  # type: ignore[attr-defined]


def test_repeated_columns_of_a_query_are_named(server: Server) -> None:
    with open_postgres(server.url(), Query("SELECT 1 AS a, 2 AS a")) as relation:
        assert (relation.columns, rows(relation)) == (("a", "a_2"), [("1", "2")])
    strict = EngineOptions(strict_header=True)
    with pytest.raises(DataError, match="columns 1 and 2 are both named 'a'"):
        open_postgres(server.url(), Query("SELECT 1 AS a, 2 AS a"), strict)


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (WholeTable(TableName("persons")), 'relation "persons" does not exist'),
        (WholeTable(TableName("people", "no")), 'relation "no.people" does not exist'),
        (Query("SELECT 1; DROP TABLE people"), "cannot insert multiple commands"),
        (Query("WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone"), "data-modifying"),
        (Query("SELECT adding() AS a"), "read-only transaction"),
        (Query("SELECT * FROM people WHERE false"), "no records"),
        (Query("SELECT 1 / (age - age) AS a FROM people"), "division by zero"),
        (Query("SELECT 'NaN'::numeric(4, 1) AS a"), "cast unusual types to text"),
        (Query("SELECT '0044-03-15 BC'::date AS a"), "cast unusual types to text"),
    ],
)
def test_what_cannot_be_read(selection: Any, words: str, server: Server) -> None:
    insert = "INSERT INTO people (name) VALUES ($$x$$) RETURNING 1"
    server.run(f"CREATE OR REPLACE FUNCTION adding() RETURNS int LANGUAGE sql AS '{insert}'")
    with pytest.raises(DataError) as caught:
        open_postgres(server.url(), selection)
    assert words in str(caught.value)
    assert len(server.run("SELECT * FROM people")) == 60
