"""Queries that would do more than read the database: none writes, attaches, sets, loads or reads a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.databases.jobs import contents, filled, run
from tests.databases.server import Server
from tests.helpers.slow import slow_but
from tests.run.commands import snapshot

ROUND = "SELECT * FROM people) ; {} ; SELECT * FROM (SELECT * FROM people"
"""Closes the parentheses that come around a query, and opens them again."""

STATEMENTS = (
    "COPY (SELECT 42 AS gone) TO 'FOLDER/precious.csv'",
    "COPY people TO 'FOLDER/new.parquet'",
    "EXPORT DATABASE 'FOLDER/exported'",
    "ATTACH 'FOLDER/other.duckdb' AS o (READ_WRITE)",
    "ATTACH 'FOLDER/new.duckdb' AS n; CREATE TABLE n.main.t AS SELECT 1 AS a",
    "SET enable_external_access = true",
    "SET temp_directory = 'FOLDER'",
    "PRAGMA threads = 1",
    "INSTALL httpfs",
    "LOAD 'FOLDER/evil.duckdb_extension'",
    "DETACH source",
    "DROP TABLE people",
    "CREATE TABLE memory.main.mine AS SELECT 1 AS a",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
    "CHECKPOINT",
    "IMPORT DATABASE 'FOLDER'",
    "UPDATE people SET age = 1",
)

DUCKDB_WRITES = (
    *(ROUND.format(each) for each in STATEMENTS),
    *STATEMENTS,
    *(f"SELECT * FROM people; {each}" for each in STATEMENTS[:3]),
    "SELECT * FROM people /*) */ ) ; COPY (SELECT 1) TO 'FOLDER/precious.csv'; SELECT 1 FROM (SELECT 1",
    "SELECT * FROM people --\n) ; COPY (SELECT 1) TO 'FOLDER/precious.csv'; --",
    "SELECT * FROM people /*",
    "SELECT * FROM people WHERE note = '",
    "SELECT * FROM people WHERE note = $$",
    "WITH gone AS (COPY people TO 'FOLDER/precious.csv') SELECT * FROM people",
    "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
    "WITH more AS (INSERT INTO people SELECT * FROM people RETURNING *) SELECT * FROM more",
    "SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_path = 'FOLDER/logs')",
    "SELECT * FROM enable_profiling(format = 'json', save_location = 'FOLDER/profile.json')",
    "SELECT * FROM query('COPY people TO ''FOLDER/precious.csv''')",
    "EXPLAIN ANALYZE SELECT * FROM people",
    "CALL duckdb_tables()",
    "",
)

DUCKDB_FILES = (
    "SELECT * FROM read_csv('FOLDER/precious.csv')",
    "SELECT * FROM 'FOLDER/precious.csv'",
    'SELECT * FROM "FOLDER/precious.csv"',
    "SELECT * FROM read_text('FOLDER/precious.csv')",
    "SELECT * FROM read_blob('FOLDER/precious.csv')",
    "SELECT * FROM glob('FOLDER/*')",
    "SELECT * FROM sniff_csv('FOLDER/precious.csv')",
    "SELECT * FROM read_json('FOLDER/precious.csv')",
    "SELECT * FROM parquet_schema('FOLDER/precious.csv')",
    "SELECT * FROM read_parquet('FOLDER/precious.csv')",
    "SELECT * FROM 'FOLDER/other.duckdb'",
    "SELECT p.* FROM people p, (SELECT count(*) FROM read_csv('FOLDER/precious.csv')) c",
    "SELECT (SELECT max(c) FROM read_csv('FOLDER/precious.csv')) AS c FROM people",
    "SELECT * FROM query('FROM read_csv(''FOLDER/precious.csv'')')",
    "SELECT * FROM query_table(['FOLDER/precious.csv'])",
    "WITH c AS (FROM read_csv('FOLDER/precious.csv')) SELECT * FROM c",
    "DESCRIBE FROM read_csv('FOLDER/precious.csv')",
    "SUMMARIZE FROM 'FOLDER/precious.csv'",
    "SELECT * FROM reading",
    "SELECT * FROM 'https://127.0.0.1:1/x.csv'",
)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a second database, as a file."""
    path = tmp_path_factory.mktemp("other") / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path: Path, other: bytes) -> Path:
    (tmp_path / "precious.csv").write_text("c\nkept\n")
    filled(tmp_path / "in.duckdb")
    (tmp_path / "other.duckdb").write_bytes(other)
    with duckdb.connect(str(tmp_path / "in.duckdb")) as connection:
        connection.execute(f"CREATE VIEW reading AS FROM read_csv('{tmp_path / 'precious.csv'}')")
    return tmp_path


def refused(folder: Path, source: dict[str, Any], key: str = "input.query") -> str:
    """Run a config, see it refused without a trace, and return the message."""
    before = snapshot(folder)
    done = run(folder, input=source)
    assert (done.code, done.out) == (2, "")
    assert "job.json" in done.err
    assert f"{key}:" in done.err
    assert "Traceback" not in done.err
    assert {name: found for name, found in snapshot(folder).items() if name != "job.json"} == before
    (folder / "job.json").unlink()
    return done.err


@pytest.mark.quick(5)
@pytest.mark.parametrize(
    ("query", "allow_files"),
    # Without leave DuckDB itself refuses many of them: some show that nothing else comes first.
    [
        *((query, True) for query in DUCKDB_WRITES[:8]),
        *((query, False) for query in DUCKDB_WRITES[:8:4]),
        *(pytest.param(query, True, marks=pytest.mark.slow) for query in DUCKDB_WRITES[8:]),
        *(pytest.param(query, False, marks=pytest.mark.slow) for query in DUCKDB_WRITES[8::4]),
    ],
)
def test_duckdb_runs_nothing_but_one_select(query: str, allow_files: bool, folder: Path) -> None:
    text = query.replace("FOLDER", str(folder))
    refused(folder, {"database": "in.duckdb", "query": text, "allow_files": allow_files})


@pytest.mark.quick(3)
@pytest.mark.parametrize("query", slow_but(8, DUCKDB_FILES))
def test_duckdb_reads_no_file_without_leave(query: str, folder: Path) -> None:
    refused(folder, {"database": "in.duckdb", "query": query.replace("FOLDER", str(folder))})


def test_a_file_that_a_query_reads_is_named_with_the_key_that_permits_it(folder: Path) -> None:
    source = {"database": "in.duckdb", "query": f"FROM read_csv('{folder}/precious.csv')"}
    message = refused(folder, source)
    assert f"reads the file '{folder}/precious.csv'" in message
    assert "set input.allow_files: true if you trust the query" in message


@pytest.mark.parametrize("table", ["reading", '"{}/precious.csv"'])
def test_a_table_is_not_a_file_either(table: str, folder: Path) -> None:
    done = run(folder, input={"database": "in.duckdb", "table": table.format(folder)})
    assert done.code == 2
    assert "set input.allow_files: true" in done.err


@pytest.mark.parametrize("selected", [{"query": "FROM reading"}, {"table": "reading"}])
def test_files_are_read_where_the_config_allows_it(selected: dict[str, str], folder: Path) -> None:
    with duckdb.connect(str(folder / "in.duckdb")) as connection:
        connection.execute(f"COPY people TO '{folder / 'people.parquet'}'")
        connection.execute(f"CREATE OR REPLACE VIEW reading AS FROM '{folder / 'people.parquet'}'")
    source = {"database": "in.duckdb", "allow_files": True, **selected}
    done = run(folder, input=source)
    assert done.code == 0, done.err
    report = json.loads((folder / "job-release" / "report.json").read_text(encoding="utf-8"))
    assert report["input"]["rows"] == 60
    assert report["config"]["input"]["allow_files"] is True


def test_a_variable_of_this_program_is_no_table(folder: Path) -> None:
    import pandas as pd

    people = pd.DataFrame({"a": [1]})
    assert "no_such" in refused(folder, {"database": "in.duckdb", "query": "FROM no_such"})
    assert len(people) == 1


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM people;;\n",
        "(SELECT * FROM people)",
        "WITH p AS (SELECT * FROM people) FROM p ORDER BY age -- ; done",
        "SELECT * FROM people WHERE note <> '; COPY people TO ''x''' OR note IS NULL",
    ],
)
def test_one_select_of_any_shape_is_read(query: str, folder: Path) -> None:
    assert run(folder, input={"database": "in.duckdb", "query": query}).code == 0
    assert len(contents(folder / "in.duckdb", "people")) == 60


POSTGRES_WRITES = (
    ROUND.format("COPY (SELECT 42) TO 'FOLDER/precious.csv'"),
    ROUND.format("COPY (SELECT 42) TO PROGRAM 'cat > FOLDER/precious.csv'"),
    ROUND.format("DROP TABLE people"),
    ROUND.format("COMMIT; DELETE FROM people"),
    ROUND.format("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"),
    ROUND.format("LOAD 'evil'"),
    "SELECT 1 AS a; DROP TABLE people",
    "DELETE FROM people RETURNING *",
    "DROP TABLE people",
    "COPY (SELECT 42) TO 'FOLDER/precious.csv'",
    "DO $$ BEGIN DELETE FROM people; END $$",
    "CREATE EXTENSION dblink",
    "SET work_mem = '1MB'",
    "SHOW ALL",
    "EXPLAIN ANALYZE SELECT * FROM people",
    "SELECT * INTO mine FROM people",
    "SELECT * FROM people FOR UPDATE",
    "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
    "SELECT * FROM people /*",
    "SELECT * FROM people WHERE note = $a$",
    "SELECT setval('counted', 5) AS a",
    "SELECT nextval('counted') AS a",
    "SELECT set_config('default_transaction_read_only', 'off', false) AS a",
    "SELECT * FROM people LIMIT (SET_CONFIG('work_mem', '1MB', false) = '1MB')::int",
    "SELECT * FROM (VALUES (\"set_config\"('work_mem', '1MB', false)), ('x')) AS v(a)",
    "SELECT U&\"set\\005Fconfig\"('work_mem', '1MB', false) AS a",
    "SELECT pg_catalog . /* x */ set_config ('role', 'tester', false) AS a",
    "SELECT lo_export(1, 'FOLDER/precious.csv') AS a",
    "SELECT lo_import('FOLDER/precious.csv') AS a",
    "SELECT lo_create(0) AS a",
    "SELECT pg_reload_conf() AS a",
    "SELECT pg_notify('x', 'y')::text AS a",
    "SELECT pg_advisory_lock(1)::text AS a",
    "SELECT pg_terminate_backend(pid) AS a FROM pg_stat_activity",
    "SELECT query_to_xml('SELECT lo_create(0)', true, true, '')::text AS a",
    "SELECT * FROM ts_stat('SELECT set_config(''work_mem'', ''1MB'', false)::tsvector')",
    "SELECT dblink_exec('dbname=postgres', 'DELETE FROM people') AS a",
    "SELECT * FROM dblink('dbname=postgres', 'DELETE FROM people RETURNING 1') AS t(a int)",
    "SELECT * FROM crosstab('SELECT lo_create(0)::text, 1, 1') AS t(a text, b int)",
)

POSTGRES_FILES = (
    "SELECT pg_read_file('FOLDER/precious.csv') AS a",
    "SELECT * FROM people WHERE note = PG_READ_FILE('FOLDER/precious.csv')",
    "SELECT length(pg_read_binary_file('FOLDER/precious.csv')) AS a",
    "SELECT * FROM pg_ls_dir('FOLDER') AS a",
    "SELECT * FROM pg_stat_file('FOLDER/precious.csv')",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT * FROM pg_file_settings",
    "SELECT * FROM people LIMIT length(pg_read_file('FOLDER/precious.csv'))",
)


@pytest.fixture(scope="module")
def extended(server: Server) -> Server:
    """Return the server with extensions that reach further, as its superuser may have installed."""
    server.run("CREATE SEQUENCE IF NOT EXISTS counted")
    for each in ("dblink", "tablefunc"):
        server.run(f"CREATE EXTENSION IF NOT EXISTS {each}")
    return server


STATE = """
SELECT (SELECT count(*)::int FROM people) AS people,
       (SELECT string_agg(relname::text, ',' ORDER BY relname) FROM pg_class WHERE relkind = 'r') AS tables,
       (SELECT last_value FROM counted) AS counted,
       (SELECT count(*)::int FROM pg_largeobject_metadata) AS objects,
       (SELECT string_agg(extname::text, ',' ORDER BY extname) FROM pg_extension) AS extensions
"""


def state(server: Server) -> Any:
    """Return what a query could have changed on the server."""
    return server.run(STATE)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("query", "allow_files"),
    [*((query, True) for query in POSTGRES_WRITES), *((query, False) for query in POSTGRES_WRITES[::4])],
)
def test_postgres_runs_nothing_but_one_select(
    query: str, allow_files: bool, extended: Server, tmp_path: Path
) -> None:
    tmp_path.chmod(0o777)
    (tmp_path / "precious.csv").write_text("c\nkept\n")
    (tmp_path / "precious.csv").chmod(0o666)
    before = state(extended)
    text = query.replace("FOLDER", str(tmp_path))
    refused(tmp_path, {"url": extended.url(), "query": text, "allow_files": allow_files})
    assert state(extended) == before


@pytest.mark.postgres
@pytest.mark.parametrize("query", POSTGRES_FILES)
def test_postgres_reads_no_file_without_leave(query: str, extended: Server, tmp_path: Path) -> None:
    source = {"url": extended.url(), "query": query.replace("FOLDER", str(extended.folder))}
    assert "set input.allow_files: true if you trust the query" in refused(tmp_path, source)


@pytest.mark.postgres
def test_postgres_reads_files_where_the_config_allows_it(extended: Server, tmp_path: Path) -> None:
    query = "SELECT * FROM people WHERE length(pg_read_file('PG_VERSION')) > 0"
    source = {"url": extended.url(), "query": query, "allow_files": True}
    assert run(tmp_path, input=source).code == 0


@pytest.mark.postgres
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM people WHERE random() < 2 AND now() < clock_timestamp();;",
        "(TABLE people) -- ; done",
        "WITH p AS (SELECT * FROM people TABLESAMPLE system (100)) SELECT * FROM p ORDER BY age",
    ],
)
def test_postgres_reads_one_select_of_any_shape(query: str, extended: Server, tmp_path: Path) -> None:
    done = run(tmp_path, input={"url": extended.url(), "query": query})
    assert done.code == 0, done.err
