"""Releases to a real PostgreSQL server, and what failures leave."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer.job.assessment as assessment
import anonymizer.job.report as flow
import anonymizer.job.sinks as sinks
from tests.databases.jobs import config, contents, expected, filled, report, run
from tests.databases.server import Server
from tests.run.commands import Done, call, snapshot, spawn

pytestmark = [pytest.mark.postgres, pytest.mark.usefixtures("clean")]


def released(server: Server, table: str = "released") -> list[tuple[Any, ...]]:
    return server.run(f"SELECT * FROM {table}")


def comment(server: Server, table: str = "released") -> Any:
    return server.run(f"SELECT obj_description('{table}'::regclass)")[0][0]


def test_a_released_table_is_the_released_file(server: Server, tmp_path: Path) -> None:
    digest, rows = expected(tmp_path)
    done = run(tmp_path, input=server.source, output=server.target())
    assert done.code == 0, done.err
    assert released(server) == [
        tuple(str(value) if isinstance(value, Decimal) else value for value in row) for row in rows
    ]
    content = report(tmp_path)
    assert content["release"]["sha256"] == digest
    assert content["release"]["path"] == f"{server.url()}#released"
    assert content["input"]["path"] == f"{server.url()}#people"
    assert content["input"]["rows"] == 60
    assert comment(server) == f"anonymizer release, SHA-256 of its sorted CSV {digest}"
    types = server.run(
        "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute "
        "WHERE attrelid = 'released'::regclass AND attnum > 0 ORDER BY attnum"
    )
    kinds = dict(types)
    assert (kinds["age"], kinds["wage"], kinds["born"]) == ("text", "numeric", "date")
    assert kinds["seen"] == "timestamp without time zone"
    assert (kinds["score"], kinds["member"]) == ("double precision", "boolean")
    public = (tmp_path / "job-release" / "share" / "report.public.json").read_text(encoding="utf-8")
    assert json.loads(public)["release"]["path"] == "released"
    assert str(server.folder) not in public


def test_missing_values_are_nulls_in_all_columns(server: Server, tmp_path: Path) -> None:
    server.run("CREATE TABLE gaps AS SELECT '?' AS zip, -9 AS score, '?' AS note FROM generate_series(1, 5)")
    config = {
        "input": {"url": server.url(), "table": "gaps", "missing": ["?", -9]},
        "attributes": {
            "zip": {"role": "quasi-identifier"},
            "score": {"role": "insensitive"},
            "note": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "output": {**server.target(), "missing": ""},
    }
    (tmp_path / "job.json").write_text(json.dumps(config))
    done = call("run", tmp_path / "job.json", "--quiet")
    server.run("DROP TABLE gaps")
    assert done.code == 0, done.err
    assert released(server) == [(None, None, None)] * 5


def test_numbers_in_place_of_labels_are_numbers(server: Server, tmp_path: Path) -> None:
    attributes = config()["attributes"]
    attributes["age"] = {**attributes["age"], "labels": "low-high"}
    done = run(tmp_path, input=server.source, output=server.target(), attributes=attributes)
    assert done.code == 0, done.err
    types = server.run(
        "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute "
        "WHERE attrelid = 'released'::regclass AND attname LIKE 'age%' ORDER BY attnum"
    )
    assert types == [("age_low", "double precision"), ("age_high", "double precision")]
    assert report(tmp_path)["release"]["numbers"]["age"]["columns"] == ["age_low", "age_high"]


def test_a_query_and_names_to_be_quoted(server: Server, tmp_path: Path) -> None:
    server.run('CREATE SCHEMA IF NOT EXISTS "My data"')
    source = {"url": server.url(), "query": "SELECT * FROM people WHERE age < 100 -- all\n;"}
    done = run(tmp_path, input=source, output=server.target('"My data"."a.b ""c"""'))
    assert done.code == 0, done.err
    digest, _ = expected(tmp_path)
    assert report(tmp_path)["release"]["sha256"] == digest
    assert len(released(server, '"My data"."a.b ""c"""')) == report(tmp_path)["release"]["rows"]
    server.run('DROP SCHEMA "My data" CASCADE')


def first_release(server: Server, folder: Path) -> tuple[dict[str, bytes], list[tuple[Any, ...]], str]:
    """Make a release, and return its folder's content, its rows and its comment."""
    done = run(folder, input=server.source, output=server.target())
    assert done.code == 0, done.err
    return snapshot(folder / "job-release"), released(server), comment(server)


def again(server: Server, folder: Path, *args: str, **sections: Any) -> Done:
    """Run with another k, to replace the release."""
    given = {"input": server.source, "output": server.target(), **sections}
    return run(folder, "--overwrite", "--set", "constraints.0.k=8", *args, **given)


def assert_as_before(
    server: Server, folder: Path, before: tuple[dict[str, bytes], list[tuple[Any, ...]], str]
) -> None:
    assert (snapshot(folder / "job-release"), released(server), comment(server)) == before


def test_an_earlier_release_is_replaced_when_asked(server: Server, tmp_path: Path) -> None:
    before = first_release(server, tmp_path)
    done = run(tmp_path, "-o", tmp_path / "two", input=server.source, output=server.target())
    assert (done.code, "replace it with --overwrite" in done.err) == (2, True)
    assert_as_before(server, tmp_path, before)
    assert not (tmp_path / "two").exists()
    assert again(server, tmp_path).code == 0
    assert report(tmp_path)["release"]["sha256"] in comment(server)
    assert comment(server) != before[2]


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE mine AS SELECT 1 AS a", "CREATE VIEW mine AS SELECT 1 AS a"]
)
def test_what_is_no_release_is_never_replaced(statement: str, server: Server, tmp_path: Path) -> None:
    server.run(statement)
    done = again(server, tmp_path, output=server.target("mine"))
    assert (done.code, "exists and is not a release" in done.err) == (2, True)
    assert released(server, "mine") == [(1,)]
    server.run(f"DROP {statement.split()[1]} mine")
    done = again(server, tmp_path, output=server.target("people"))
    assert (done.code, "is the input" in done.err) == (2, True)


def test_a_failure_after_part_of_the_rows(server: Server, tmp_path: Path) -> None:
    """The server takes no NUL character: the last row in order has one, after all others were sent."""
    before = first_release(server, tmp_path)
    with duckdb.connect(str(filled(tmp_path / "in.duckdb"))) as connection:
        connection.execute("UPDATE people SET note = 'z' || chr(0) WHERE age = (SELECT max(age) FROM people)")
    source = {"database": "in.duckdb", "table": "people"}
    done = again(server, tmp_path, input=source)
    assert (done.code, done.out) == (2, "")
    assert "table 'released' cannot be written: invalid byte sequence" in done.err
    assert "Traceback" not in done.err
    assert_as_before(server, tmp_path, before)


def interrupted(*args: object) -> Any:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("room", "phase"), [(sinks, "table_digest"), (assessment, "verify"), (flow, "public_report")]
)
def test_an_interrupt_leaves_all_as_it_was(
    room: Any, phase: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = first_release(server, tmp_path)
    monkeypatch.setattr(room, phase, interrupted)
    assert again(server, tmp_path).code == 130
    assert_as_before(server, tmp_path, before)


def test_nobody_sees_a_table_that_is_not_verified_yet(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = first_release(server, tmp_path)
    seen = []
    verify = assessment.verify

    def looking(*args: Any) -> Any:
        seen.append(
            (released(server), server.run("SELECT relname FROM pg_class WHERE relname ~ '^anonymizer'"))
        )
        return verify(*args)

    monkeypatch.setattr(assessment, "verify", looking)
    assert again(server, tmp_path).code == 0
    assert seen == [(before[1], [])]


def test_a_row_that_is_not_as_decided_is_found_out(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymizer.release.postgres import PostgresTable

    before = first_release(server, tmp_path)
    write = PostgresTable.write

    def tampering(self: PostgresTable, *args: Any) -> None:
        write(self, *args)
        self._opened.run(f"UPDATE {self._staged.sql} SET diagnosis = 'flu' WHERE diagnosis = 'cancer'")

    monkeypatch.setattr(PostgresTable, "write", tampering)
    done = again(server, tmp_path)
    assert done.code == 1, done.err
    assert_as_before(server, tmp_path, before)


def test_a_table_that_others_depend_on_stays_with_its_reports(server: Server, tmp_path: Path) -> None:
    before = first_release(server, tmp_path)
    server.run("CREATE VIEW dependent AS SELECT * FROM released")
    done = again(server, tmp_path)
    assert (done.code, "other objects depend on it" in done.err) == (2, True), done.err
    assert_as_before(server, tmp_path, before)


def test_a_server_that_goes_away_leaves_all_as_it_was(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = first_release(server, tmp_path)
    public_report = flow.public_report

    def losing(*args: Any) -> Any:
        server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        )
        return public_report(*args)

    monkeypatch.setattr(flow, "public_report", losing)
    done = again(server, tmp_path)
    assert (done.code, "cannot be written" in done.err) == (2, True), done.err
    assert_as_before(server, tmp_path, before)


def test_who_may_not_write_is_told_before_the_search(server: Server, tmp_path: Path) -> None:
    output = {"url": server.url("reader"), "table": "released"}
    done = run(tmp_path, input=server.source, output=output)
    assert (done.code, "permission denied for schema 'public'" in done.err) == (2, True), done.err
    done = run(tmp_path, input=server.source, output=server.target("no.released"))
    assert (done.code, "there is no schema 'no'" in done.err) == (2, True), done.err
    assert {path.name for path in tmp_path.iterdir()} == {"job.json"}


def test_passwords_come_from_the_environment_and_are_shown_nowhere(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    plain = {"url": server.url("guarded"), "table": "people"}
    variable = {**plain, "url": f"postgresql://guarded:${{DB_PASSWORD}}@/postgres?host={server.folder}"}
    whole = {**plain, "url": "${DATABASE_URL}"}
    assert run(tmp_path, input=plain).code == 2
    monkeypatch.setenv("DB_PASSWORD", "wrong secret")
    monkeypatch.setenv("DATABASE_URL", f"postgresql://guarded:wrong%20secret@/postgres?host={server.folder}")
    for source in (variable, whole):
        done = run(tmp_path, input=source)
        assert (done.code, "password authentication failed" in done.err) == (2, True), done.err
        assert "wrong" not in done.err
    monkeypatch.setenv("DB_PASSWORD", "ge:h@i/m")
    quoted = f"postgresql://guarded:ge%3Ah%40i%2Fm@/postgres?host={server.folder}"
    monkeypatch.setenv("DATABASE_URL", quoted)
    monkeypatch.setenv("PGPASSWORD", "ge:h@i/m")
    for number, source in enumerate((plain, variable, whole)):
        if source is not plain:
            monkeypatch.delenv("PGPASSWORD", raising=False)
        folder = tmp_path / f"out{number}"
        done = run(tmp_path, "-o", folder, "--json", input=source)
        assert done.code == 0, done.err
        said = (
            done.out + done.err + "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.json"))
        )
        assert "ge:h@i/m" not in said
        assert "ge%3Ah" not in said


def test_a_shell_sees_the_same(server: Server, tmp_path: Path) -> None:
    run(tmp_path, "-o", tmp_path / "first", input=server.source)
    done = spawn("run", tmp_path / "job.json", "-o", tmp_path / "second", "--quiet")
    assert done.code == 0, done.err
    one, other = ((tmp_path / name / "share" / "release.csv").read_bytes() for name in ("first", "second"))
    assert one == other


def test_types_of_a_file_become_types_of_a_table(server: Server, tmp_path: Path) -> None:
    filled(tmp_path / "in.duckdb")
    source = {"database": "in.duckdb", "table": "people"}
    assert run(tmp_path, input=source, output=server.target()).code == 0
    row = next(row for row in released(server) if row[5] is not None and row[9] is not None)
    assert isinstance(row[6], date)
    assert isinstance(row[7], datetime)
    assert (
        run(
            tmp_path, "-o", tmp_path / "two", input=source, output={"database": "o.duckdb", "table": "t"}
        ).code
        == 0
    )
    assert len(contents(tmp_path / "o.duckdb", "t")) == len(released(server))
