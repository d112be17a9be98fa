"""``init`` and ``check`` on tables of DuckDB and PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.databases.jobs import filled, run, write
from tests.databases.server import Server
from tests.helpers.messages import exchange
from tests.run.commands import Done, call, snapshot

PEOPLE = {"database": "in.duckdb", "table": "people"}
NAMES = ("--qi", "age,zip", "--sensitive", "diagnosis")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return filled(tmp_path / "in.duckdb")


def without(content: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: each for name, each in content.items() if name != key}


def drafted(done: Done, config: Path) -> dict[str, Any]:
    """Return the config of an init that succeeded."""
    assert (done.code, done.err) == (0, ""), done.err
    content: dict[str, Any] = yaml.safe_load(config.read_text(encoding="utf-8"))
    return content


@pytest.mark.slow
def test_a_table_is_drafted_like_the_same_table_in_parquet(data: Path) -> None:
    parquet = data.with_name("people.parquet")
    with duckdb.connect(str(data), read_only=True) as connection:
        connection.execute(f"COPY people TO '{parquet}'")
    here = drafted(call("init", data, "--table", "people"), data.with_name("in.yaml"))
    there = drafted(call("init", parquet), data.with_name("people.yaml"))
    assert here["input"] == PEOPLE
    assert without(here, "input") == without(there, "input")


def test_the_draft_runs_as_it_stands(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "drafts" / "mine.yaml"
    config.parent.mkdir()
    query = "SELECT age, zip, diagnosis FROM people WHERE age < 50"
    content = drafted(call("init", data, "--query", query, "-o", config), config)
    assert content["input"] == {"database": "../in.duckdb", "query": query}
    before = data.read_bytes()
    done = call("run", config, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert data.read_bytes() == before


def test_check_measures_a_table(data: Path) -> None:
    done = call("check", data, "--table", "main.people", *NAMES, "--json")
    assert done.code == 0, done.err
    with duckdb.connect(str(data), read_only=True) as connection:
        (smallest,) = connection.execute(
            "SELECT min(n) FROM (SELECT count(*) AS n FROM people GROUP BY age, zip)"
        ).fetchall()[0]
    assert done.json["rows"] == 60
    assert done.json["measures"][0] == {
        **done.json["measures"][0],
        "model": "k-anonymity",
        "measured": smallest,
    }


def test_check_takes_table_or_query_of_the_config(data: Path, tmp_path: Path) -> None:
    config = write(tmp_path, input=PEOPLE)
    own = call("check", data, "-c", config, "--json")
    named = call("check", data, "--table", "people", "-c", config, "--json")
    assert own.json == named.json
    assert own.json["rows"] == 60
    some = call("check", data, "--query", "FROM people LIMIT 20", "-c", config, "--json")
    assert some.json["rows"] == 20


def test_a_released_table_is_checked(data: Path, tmp_path: Path) -> None:
    done = run(tmp_path, input=PEOPLE, output={"database": "out.duckdb", "table": "released"})
    assert done.code == 0, done.err
    config = write(tmp_path, input=PEOPLE)
    checked = call("check", tmp_path / "out.duckdb", "--table", "released", "-c", config)
    assert checked.code == 0, checked.out
    assert checked.out.count("holds") == 2


REFUSED = (
    ["in.duckdb"],
    ["in.duckdb", "--table", "peple"],
    ["in.duckdb", "--table", "a.b.c"],
    ["in.duckdb", "--table", "people", "--query", "FROM people"],
    ["in.duckdb", "--query", "DROP TABLE people"],
    ["no.duckdb", "--table", "people"],
    ["people.csv", "--table", "people"],
    ["postgresql://ana@db/clinic"],
    ["postgresql://ana:secret@db/clinic", "--table", "people"],
)
UNNAMED = ["init", "postgresql://ana@db/clinic", "--query", "SELECT 1 AS a"]
"""What gives a config no name."""


@pytest.mark.parametrize(
    "args",
    [UNNAMED, *(["init", *each] for each in REFUSED), *(["check", *each, *NAMES] for each in REFUSED)],
    ids=" ".join,
)
def test_what_is_refused(
    args: list[str], data: Path, message: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    (data.parent / "people.csv").write_text("age,zip,diagnosis\n1,2,x\n")
    before = snapshot(data.parent)
    done = call(*args)
    assert (done.code, done.out) == (2, "")
    assert "secret" not in done.err
    assert exchange(" ".join(args), done.err.rstrip(), data.parent) == message
    assert snapshot(data.parent) == before


@pytest.mark.postgres
def test_a_table_of_postgres_is_drafted_and_runs(
    server: Server, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    here = drafted(call("init", server.url(), "--table", "people"), data.parent / "people.yaml")
    assert here["input"] == {"url": server.url(), "table": "people"}
    there = drafted(call("init", data, "--table", "people"), data.with_name("in.yaml"))
    assert here["attributes"] == there["attributes"]
    done = call("run", "people.yaml", "-o", "out")
    assert done.code == 0, done.err


@pytest.mark.postgres
def test_check_measures_a_table_of_postgres(server: Server, data: Path, tmp_path: Path) -> None:
    here = call("check", server.url(), "--table", "people", *NAMES, "--json")
    there = call("check", data, "--table", "people", *NAMES, "--json")
    assert here.code == 0, here.err
    assert here.json == there.json
    config = write(tmp_path, input={"url": server.url(), "table": "people"})
    assert call("check", server.url(), "-c", config, "--json").json["rows"] == 60
