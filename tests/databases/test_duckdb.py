"""Input from and releases to DuckDB files."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import duckdb
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer.job.assessment as assessment
import anonymizer.job.report as flow
import anonymizer.job.sinks as sinks
import anonymizer.job.verify as verify
from anonymizer.data.open import open_duckdb, open_file
from anonymizer.data.source import EngineOptions, Query, TableName, WholeTable
from anonymizer.errors import DataError
from anonymizer.report.public import RECORDS
from tests.data.files import rows
from tests.databases.jobs import config, contents, expected, filled, report, run
from tests.helpers.messages import exchange
from tests.run.commands import call, shared_files, snapshot

PEOPLE = {"database": "in.duckdb", "table": "people"}
RELEASED = {"database": "out.duckdb", "table": "released"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    filled(tmp_path / "in.duckdb")
    return tmp_path


def comment(path: Path, table: str) -> Any:
    with duckdb.connect(str(path), read_only=True) as connection:
        query = "SELECT comment FROM duckdb_tables() WHERE table_name = ?"
        return connection.execute(query, [table]).fetchone()


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "selection",
    [
        WholeTable(TableName("people")),
        WholeTable(TableName("people", "main")),
        Query("SELECT * FROM people;\n"),
        Query("FROM people -- all of them"),
    ],
)
def test_a_table_reads_as_the_same_table_in_parquet(selection: Any, folder: Path) -> None:
    before = (folder / "in.duckdb").read_bytes()
    with duckdb.connect(str(folder / "in.duckdb"), read_only=True) as connection:
        connection.execute(f"COPY people TO '{folder / 'people.parquet'}'")
    with (
        open_duckdb(folder / "in.duckdb", selection) as here,
        open_file(folder / "people.parquet") as there,
    ):
        assert here.columns == there.columns
        assert sorted(rows(here), key=str) == sorted(rows(there), key=str)
        assert here.sha256 is None
    assert (folder / "in.duckdb").read_bytes() == before


def test_a_collation_makes_no_value_of_two(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        connection.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE, m ENUM('b', 'a'))")
        connection.execute("INSERT INTO t VALUES ('x', 'a'), ('X', 'b')")
    with open_duckdb(tmp_path / "c.duckdb", WholeTable(TableName("t"))) as relation:
        assert relation.dictionary("a") == [("X", 1), ("x", 1)]
        assert relation.dictionary("m") == [("a", 1), ("b", 1)]


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "selection",
    [
        WholeTable(TableName("persons")),
        Query("SELECT 1; DROP TABLE people"),
        Query("DELETE FROM people RETURNING *"),
        Query("SELECT nothing FROM people"),
        Query("FROM people WHERE false"),
    ],
)
def test_what_cannot_be_read(selection: Any, folder: Path, message: SnapshotAssertion) -> None:
    with pytest.raises(DataError) as caught:
        open_duckdb(folder / "in.duckdb", selection)
    assert exchange(selection, caught.value, folder) == message
    assert len(contents(folder / "in.duckdb", "people")) == 60


@pytest.mark.parametrize("content", [b"name,age\nx,1\n", b""])
def test_a_file_that_is_no_database(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be opened as a DuckDB database|is empty"):
        open_duckdb(path, WholeTable(TableName("t")))
    assert path.read_bytes() == content
    path.unlink()
    with pytest.raises(DataError, match=r"x\.duckdb"):
        open_duckdb(path, WholeTable(TableName("t")))
    assert not path.exists()


def test_a_released_table_is_the_released_file(folder: Path) -> None:
    digest, rows = expected(folder)
    done = run(folder, input=PEOPLE, output=RELEASED)
    assert done.code == 0, done.err
    assert contents(folder / "out.duckdb", "released") == rows
    assert {path.name for path in (folder / "job-release" / "share").iterdir()} == shared_files()
    content = report(folder)
    assert content["release"]["sha256"] == digest
    assert (content["release"]["path"], content["release"]["verified"]) == ("out.duckdb#released", True)
    assert (content["input"]["path"], content["input"]["sha256"]) == ("in.duckdb#people", None)
    assert comment(folder / "out.duckdb", "released") == (
        f"anonymizer release, SHA-256 of its sorted CSV {digest}",
    )
    assert "out.duckdb#released    the table" in done.out
    public = (folder / "job-release" / "share" / "report.public.json").read_text(encoding="utf-8")
    assert json.loads(public)["release"] == {**content["release"], "path": "released"}
    for secret in ("in.duckdb", "out.duckdb", "people"):
        assert secret not in public.replace(RECORDS, "")


@pytest.mark.page
@pytest.mark.slow
def test_the_page_of_a_table_speaks_of_a_table_and_repeats_it_as_a_file(folder: Path) -> None:
    assert run(folder, input=PEOPLE, output=RELEASED).code == 0
    page = unescape((folder / "job-release" / "report.html").read_text(encoding="utf-8"))
    assert "The table holds" in page
    assert "<code>out.duckdb#released</code>" in page
    assert not any(untrue in page for untrue in ("from disk", "the written file", "share/out.duckdb"))
    override = "output={path: release.csv}"
    assert f"anonymizer run again.yaml -o again --set '{override}'" in page
    again = config(input=PEOPLE, output=RELEASED)
    (folder / "again.json").write_text(json.dumps(again), encoding="utf-8")
    assert call("run", folder / "again.json", "-o", folder / "again", "--set", override).code == 0
    same = json.loads((folder / "again" / "report.json").read_text(encoding="utf-8"))
    assert same["release"]["sha256"] == report(folder)["release"]["sha256"]


def test_input_and_release_in_one_file(folder: Path) -> None:
    before = contents(folder / "in.duckdb", "people")
    output = {"database": "in.duckdb", "table": "released"}
    assert run(folder, input=PEOPLE, output=output).code == 0
    assert contents(folder / "in.duckdb", "people") == before
    assert "share the released table, never the database" in report(folder)["warnings"][0]
    done = run(folder, "--overwrite", input=PEOPLE, output={**output, "table": "People"})
    assert (done.code, "is the input" in done.err) == (2, True)


@pytest.mark.slow
def test_an_earlier_release_is_replaced_only_when_asked_and_nothing_else_ever(folder: Path) -> None:
    assert run(folder, input=PEOPLE, output=RELEASED).code == 0
    before = snapshot(folder)
    refused = run(folder, "-o", folder / "two", input=PEOPLE, output=RELEASED)
    assert (refused.code, "replace it with --overwrite" in refused.err) == (2, True)
    assert snapshot(folder) == before
    stricter = "constraints.0.k=8"
    assert run(folder, "--overwrite", "--set", stricter, input=PEOPLE, output=RELEASED).code == 0
    digest = report(folder)["release"]["sha256"]
    assert digest in comment(folder / "out.duckdb", "released")[0]
    for statement in ("CREATE TABLE mine AS SELECT 1 AS a", "CREATE VIEW mine AS SELECT 1 AS a"):
        with duckdb.connect(str(folder / "mine.duckdb")) as connection:
            connection.execute(statement)
        mine = {"database": "mine.duckdb", "table": "mine"}
        done = run(folder, "--overwrite", input=PEOPLE, output=mine)
        assert (done.code, "exists and is not a release" in done.err) == (2, True)
        assert contents(folder / "mine.duckdb", "mine") == [(1,)]
        (folder / "mine.duckdb").unlink()


def others(folder: Path) -> dict[str, bytes]:
    """Return all files but the config and the database of the release."""
    return {
        name: content
        for name, content in snapshot(folder).items()
        if name != "job.json" and not name.startswith("out.duckdb")
    }


def broken(*args: object) -> Any:
    raise KeyboardInterrupt


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("room", "phase", "existing"),
    [
        (verify, "counted_rows", False),
        (sinks, "table_digest", True),
        (assessment, "verify", False),
        (flow, "public_report", True),
    ],
)
def test_an_interrupt_leaves_all_as_it_was(
    room: Any, phase: str, existing: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if existing:
        assert run(folder, input=PEOPLE, output=RELEASED).code == 0
    before = others(folder)
    rows = contents(folder / "out.duckdb", "released") if existing else None
    monkeypatch.setattr(room, phase, broken)
    assert run(folder, "--overwrite", input=PEOPLE, output=RELEASED).code == 130
    assert others(folder) == before
    assert (folder / "out.duckdb").exists() == existing
    if existing:
        assert contents(folder / "out.duckdb", "released") == rows


def test_reports_go_back_where_the_transaction_cannot_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(folder, input=PEOPLE, output=RELEASED).code == 0
    before = snapshot(folder / "job-release")
    rows = contents(folder / "out.duckdb", "released")
    monkeypatch.setattr("anonymizer.release.database.described", lambda _: "\0")
    monkeypatch.setattr("anonymizer.release.database.quoted", lambda _: "no text")
    done = run(folder, "--overwrite", "--set", "constraints.0.k=8", input=PEOPLE, output=RELEASED)
    assert (done.code, "cannot be written" in done.err) == (2, True)
    assert snapshot(folder / "job-release") == before
    assert contents(folder / "out.duckdb", "released") == rows


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({"database": "no/out.duckdb", "table": "t"}, "does not exist; make it first"),
        (
            {"database": "job-release/share/out.duckdb", "table": "t"},
            "which every release replaces as a whole",
        ),
        ({"database": "out.duckdb", "table": "no.t"}, "there is no schema 'no'"),
        ({"database": "job.json", "table": "t"}, "job.json: table 't' cannot be written"),
        ({"database": "in.duckdb", "table": "people"}, "'people' is the input"),
        ({"database": "in.duckdb", "table": "main.people"}, "may be the input 'people'"),
        ({"database": "out.duckdb"}, "output.table: missing"),
        ({"database": "out.duckdb", "table": "t", "path": "release.csv"}, "give only one of"),
        ({"path": "release.csv", "table": "t"}, "needs database or url"),
    ],
)
def test_outputs_that_are_refused(output: dict[str, str], words: str, folder: Path) -> None:
    if "no.t" in output.get("table", ""):
        duckdb.connect(str(folder / "out.duckdb")).close()
    (folder / "job-release" / "share").mkdir(parents=True)
    before = set(snapshot(folder))
    done = run(folder, "--overwrite", input=PEOPLE, output=output)
    assert (done.code, words in done.err) == (2, True), done.err
    assert set(snapshot(folder)) == before | {"job.json"}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"database": "in.duckdb"}, "input.table: missing"),
        ({"database": "in.duckdb", "table": "a", "query": "b"}, "input.query: give only one of table, query"),
        (
            {"database": "in.duckdb", "path": "x.csv", "table": "a"},
            "input.database: give only one of path, database, url",
        ),
        ({"path": "x.csv", "query": "b"}, "input.query: needs database or url"),
        ({"database": "in.duckdb", "table": "a.b.c"}, "table or schema.table"),
        (
            {"database": "in.duckdb", "table": "a", "separator": ";"},
            "input.separator: applies to text files only",
        ),
        (
            {"database": "in.duckdb", "table": "a", "encoding": "latin-1"},
            "input.encoding: applies to text files only",
        ),
        ({"url": "mysql://db/x", "table": "a"}, "is not the URL of a supported database"),
        ({"url": "postgresql://ana:geheim@db/x", "table": "a"}, "contains a password"),
        ({"url": "postgresql://db/x?password=geheim", "table": "a"}, "contains a password"),
        ({"url": "postgresql://ana:ge#heim@db/x", "table": "a"}, "is not a URL"),
        ({"url": "postgresql://ana:ge/heim@db/x", "table": "a"}, "is not a URL"),
        ({"url": "${NOT_SET_HERE}", "table": "a"}, "environment variable NOT_SET_HERE is not set"),
    ],
)
def test_inputs_that_are_refused(source: dict[str, str], words: str, folder: Path) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    done = run(folder, input=source)
    assert (done.code, words in done.err) == (2, True), done.err
    assert "geheim" not in done.err
    assert "heim" not in done.err


def test_a_config_is_written_and_read_back(folder: Path) -> None:
    from anonymizer.config.load import load_config
    from tests.databases.jobs import config

    given = load_config(config(input=PEOPLE, output={"url": "postgresql://db/x", "table": '"a.b".c'}))
    assert load_config(given.to_dict()) == given
    assert load_config(given, ["seed=3"]).output == given.output


@pytest.mark.slow
def test_shuffled_rows_have_the_same_hash(folder: Path) -> None:
    assert run(folder, input=PEOPLE, output=RELEASED).code == 0
    shuffled = {**RELEASED, "table": "shuffled", "order": "shuffled"}
    assert run(folder, "-o", folder / "two", input=PEOPLE, output=shuffled).code == 0
    assert report(folder, "two")["release"]["sha256"] == report(folder)["release"]["sha256"]
    one, other = (contents(folder / "out.duckdb", name) for name in ("released", "shuffled"))
    assert one != other
    assert sorted(one, key=str) == sorted(other, key=str)
    assert call("schema").code == 0


def test_repeated_columns_of_a_query_are_named(folder: Path) -> None:
    twice = Query("SELECT 1 AS a, 2 AS a")
    with open_duckdb(folder / "in.duckdb", twice) as relation:
        assert (relation.columns, rows(relation)) == (("a", "a_2"), [("1", "2")])
        assert len(relation.header_warnings) == 1
    with pytest.raises(DataError, match="columns 1 and 2 are both named 'a'"):
        open_duckdb(folder / "in.duckdb", twice, EngineOptions(strict_header=True))
