"""Columns of every type of DuckDB and Parquet: kept, written as text, or refused by name before a search."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.duckdb.types import Form, Storage, form_of
from tests.helpers.messages import exchange
from tests.run.commands import ROOT, Done, call

TYPES: dict[str, tuple[str, list[str]]] = {
    "BOOLEAN": ("BOOLEAN", ["true", "false"]),
    "TINYINT": ("TINYINT", ["-128", "127"]),
    "SMALLINT": ("SMALLINT", ["-32768", "1"]),
    "INTEGER": ("INTEGER", ["-2147483648", "1"]),
    "BIGINT": ("BIGINT", ["9223372036854775807", "1"]),
    "HUGEINT": ("HUGEINT", ["9007199254740993", "-99999999999999999999999999999999999999"]),
    "UTINYINT": ("UTINYINT", ["255", "1"]),
    "USMALLINT": ("USMALLINT", ["65535", "1"]),
    "UINTEGER": ("UINTEGER", ["4294967295", "1"]),
    "UBIGINT": ("UBIGINT", ["18446744073709551615", "1"]),
    "UHUGEINT": ("UHUGEINT", ["9007199254740993", "45"]),
    "BIGNUM": ("BIGNUM", ["'1234567890123456789012345678901234567890123'", "1"]),
    "FLOAT": ("FLOAT", ["0.1", "1.0"]),
    "DOUBLE": ("DOUBLE", ["0.1", "1e300"]),
    "DECIMAL": ("DECIMAL(38, 2)", ["'123456789012345678901234567890123456.01'", "2"]),
    "VARCHAR": ("VARCHAR", ["'a'", "'b'"]),
    "JSON": ("JSON", ["'{\"a\": 1}'", "'[]'"]),
    "BLOB": ("BLOB", ["'\\x00ab'::BLOB", "'a'::BLOB"]),
    "BIT": ("BIT", ["'0101'", "'1'"]),
    "UUID": ("UUID", [f"'{'0' * 8}-0000-0000-0000-{number:012}'" for number in (1, 2)]),
    "DATE": ("DATE", ["'infinity'", "'20000-01-01'"]),
    "TIME": ("TIME", ["'01:02:03.000001'", "'24:00:00'"]),
    "TIME_NS": ("TIME_NS", ["'01:02:03.000000001'", "'01:02:03.000000002'"]),
    "TIME WITH TIME ZONE": ("TIMETZ", ["'01:02:03+02'", "'01:02:03.5-15:59:59'"]),
    "TIMESTAMP": ("TIMESTAMP", ["'2020-01-01 00:00:00.000001'", "'2020-01-01'"]),
    "TIMESTAMP_S": ("TIMESTAMP_S", ["'2020-01-01 00:00:01'", "'2020-01-01'"]),
    "TIMESTAMP_MS": ("TIMESTAMP_MS", ["'2020-01-01 00:00:00.001'", "'2020-01-01'"]),
    "TIMESTAMP_NS": ("TIMESTAMP_NS", [f"'2020-01-01 00:00:00.00000000{digit}'" for digit in (1, 2)]),
    "TIMESTAMP WITH TIME ZONE": ("TIMESTAMPTZ", ["'2020-01-01 00:00:00.1+02'", "'2020-01-01 00:00:00+00'"]),
    "TIMESTAMPTZ_NS": ("TIMESTAMPTZ_NS", [f"'2020-01-01 00:00:00.00000000{digit}+00'" for digit in (1, 2)]),
    "INTERVAL": ("INTERVAL", ["'-1 month 2 days 3 microseconds'", "'-1 month 2 days'"]),
    "ENUM": ("ENUM('a', 'b', 'never used')", ["'a'", "'b'"]),
    "LIST": ("VARCHAR[]", ["['a, b']", "['a', 'b']"]),
    "LIST of HUGEINT": ("HUGEINT[]", ["[45::HUGEINT]", "[9007199254740993::HUGEINT]"]),
    "LIST of ENUM": ("ENUM('a', 'b')[]", ["['a']", "['b']"]),
    "ARRAY": ("INTEGER[2]", ["[1, 2]", "[3, 4]"]),
    "STRUCT": ("STRUCT(a INTEGER, b VARCHAR)", ["{'a': 1, 'b': 'x'}", "{'a': 2, 'b': NULL}"]),
    "STRUCT of INTERVAL": ("STRUCT(a INTERVAL)", ["{'a': INTERVAL 3 MICROSECONDS}", "{'a': INTERVAL 1 DAY}"]),
    "MAP": ("MAP(VARCHAR, INTEGER)", ["MAP {'a': 1}", "MAP {}"]),
    "UNION": ("UNION(n INTEGER, s VARCHAR)", ["union_value(n := 1)", "union_value(s := 'x')"]),
    "VARIANT": ("VARIANT", ["1::VARIANT", "'x'::VARIANT"]),
    "GEOMETRY": ("GEOMETRY", ["'POINT (1 2)'", "'POINT (3 4)'"]),
}
"""Type in SQL and two values of each type of DuckDB."""

NOT_IN_TABLES = {"NULL", "TYPE", "TUPLE"}
"""Logical types that no column of a table has, but for nulls alone."""

OUTPUTS: dict[str, dict[str, str]] = {
    "csv": {"path": "release.csv"},
    "parquet": {"path": "release.parquet"},
    "table": {"database": "out.duckdb", "table": "released"},
}

COLUMNS = {f"v{place}": TYPES[name] for place, name in enumerate(TYPES)}
"""A column of each type."""
AT_ONCE = 8
"""Quasi-identifiers of one run, whose recodings multiply."""


def filled(folder: Path, columns: Mapping[str, tuple[str, list[str]]]) -> None:
    """Make a table of four records in one class: two values of each column, the first again, and a null."""
    with duckdb.connect(str(folder / "in.duckdb")) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        declared = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
        connection.execute(f"CREATE TABLE t (q VARCHAR, {declared})")
        for place in (0, 1, 0, None):
            values = ("NULL" if place is None else each[place] for _, each in columns.values())
            connection.execute(f"INSERT INTO t VALUES ('a', {', '.join(values)})")


def given(folder: Path, kind: str, values: list[str]) -> None:
    filled(folder, {"v": (kind, values)})


def run(
    folder: Path,
    role: str,
    output: dict[str, str],
    source: dict[str, str] | None = None,
    names: Iterable[str] = ("v",),
) -> Done:
    k = 1 if role == "quasi-identifier" else 2
    config = {
        "input": source or {"database": "in.duckdb", "table": "t"},
        "attributes": {"q": "quasi-identifier", **dict.fromkeys(names, role)},
        "constraints": [{"model": "k-anonymity", "k": k}],
        "attacks": [],
        "output": output,
    }
    (folder / "job.json").write_text(json.dumps(config), encoding="utf-8")
    return call("run", folder / "job.json", "-q", "--overwrite")


Read = dict[str, tuple[str, list[str | None]]]
"""By column: its type, and its texts in an order of their own."""


def released(folder: Path, output: str) -> Read:
    """Return the columns of the release."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        if output == "table":
            connection.execute(f"ATTACH '{folder / 'out.duckdb'}' AS o (READ_ONLY)")
        share = folder / "job-release" / "share"
        rows = {"table": "o.released", "parquet": f"'{share / 'release.parquet'}'"}.get(
            output, f"read_csv('{share / 'release.csv'}', all_varchar = true, header = true, nullstr = '')"
        )
        return _read(connection, rows)


def stored(folder: Path) -> Read:
    with duckdb.connect(str(folder / "in.duckdb"), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return _read(connection, "t")


def _read(connection: duckdb.DuckDBPyConnection, rows: str) -> Read:
    kinds = {str(row[0]): str(row[1]) for row in connection.execute(f"DESCRIBE FROM {rows}").fetchall()[1:]}
    texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in kinds)
    columns = zip(*connection.execute(f"SELECT {texts} FROM {rows}").fetchall(), strict=True)
    return {
        name: (kinds[name], sorted(map(_canonical, own), key=str))
        for name, own in zip(kinds, columns, strict=True)
    }


def _canonical(text: str | None) -> str | None:
    return None if text is None else text.removesuffix(" 00:00:00").removesuffix(".0")


def test_every_type_of_duckdb_has_a_case() -> None:
    logical = {row[0] for row in duckdb.sql("SELECT DISTINCT logical_type FROM duckdb_types()").fetchall()}
    assert logical - NOT_IN_TABLES <= set(TYPES)


def documented() -> dict[str, list[str]]:
    """Return the table of the page: the words for Parquet, DuckDB and PostgreSQL by the name of a type."""
    page = (ROOT / "docs" / "reference" / "types.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return {name.strip("`"): words for names, *words in rows for name in names.split(", ")}


def test_the_page_says_what_becomes_of_every_type() -> None:
    found = {}
    for name, (sql, _) in TYPES.items():
        kind = str(duckdb.sql(f"DESCRIBE (SELECT NULL::{sql} AS v)").fetchall()[0][1])
        places = (Storage.PARQUET, Storage.DUCKDB, Storage.SERVER)
        found[name] = [form_of(kind, storage).value for storage in places]
    assert documented() == found


@pytest.mark.quick(1)
@pytest.mark.parametrize("output", OUTPUTS)
def test_unchanged_columns_come_out_as_they_went_in(output: str, tmp_path: Path) -> None:
    filled(tmp_path, COLUMNS)
    done = run(tmp_path, "insensitive", OUTPUTS[output], names=COLUMNS)
    assert done.code == 0, done.err
    before, after = stored(tmp_path), released(tmp_path, output)
    assert {name: texts for name, (_, texts) in after.items()} == {
        name: texts for name, (_, texts) in before.items()
    }
    for name, (kind, _) in before.items():
        found, _ = after[name]
        if output == "table":
            assert found == (kind if form_of(kind, Storage.DUCKDB) is Form.KEPT else "VARCHAR"), kind
        if output == "parquet":
            wanted = {Form.TEXT: "VARCHAR", Form.DECIMAL: "DECIMAL(38,0)"}.get(form_of(kind, Storage.PARQUET))
            assert wanted is None or found == wanted, kind


@pytest.mark.slow
@pytest.mark.parametrize(("role", "missing"), [("sensitive", None), ("quasi-identifier", "<missing>")])
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_type_is_read_in_every_role(
    output: str, role: str, missing: str | None, tmp_path: Path
) -> None:
    most = AT_ONCE if role == "quasi-identifier" else len(COLUMNS)
    names = list(COLUMNS)
    for place in range(0, len(names), most):
        own = names[place : place + most]
        folder = tmp_path / str(place)
        folder.mkdir()
        filled(folder, {name: COLUMNS[name] for name in own})
        done = run(folder, role, OUTPUTS[output], names=own)
        assert done.code == 0, done.err
        texts = {
            name: sorted((text or missing for text in each), key=str)
            for name, (_, each) in stored(folder).items()
        }
        assert {name: each for name, (_, each) in released(folder, output).items()} == texts


@pytest.mark.slow
def test_check_and_init_read_every_type(tmp_path: Path) -> None:
    filled(tmp_path, COLUMNS)
    table = (tmp_path / "in.duckdb", "--table", "t")
    assert call("check", *table, "--qi", "q", "--sensitive", ",".join(COLUMNS), "-q").code == 0
    assert call("init", *table, "-o", tmp_path / "made.yaml", "-q").code in (0, 2)


def test_values_of_an_enumeration_that_are_not_released_stay_inside(tmp_path: Path) -> None:
    given(tmp_path, *TYPES["ENUM"])
    assert run(tmp_path, "insensitive", OUTPUTS["table"]).code == 0
    assert b"never used" not in (tmp_path / "out.duckdb").read_bytes()


@pytest.mark.quick(1)
@pytest.mark.parametrize(("kind", "number"), [("HUGEINT", -(2**127)), ("UHUGEINT", 2**128 - 1)])
def test_numbers_of_39_digits_are_refused_in_parquet_alone(
    kind: str, number: int, tmp_path: Path, message: SnapshotAssertion
) -> None:
    given(tmp_path, kind, [f"'{number}'", "1"])
    done = run(tmp_path, "insensitive", OUTPUTS["parquet"])
    assert done.code == 2
    assert exchange(kind, done.err.replace(str(tmp_path), "FOLDER").strip()) == message
    for output in ("csv", "table"):
        assert run(tmp_path, "insensitive", OUTPUTS[output]).code == 0
        assert str(number) in released(tmp_path, output)["v"][1]


def stored_in_parquet(folder: Path, column: Any, **options: Any) -> dict[str, str]:
    pq.write_table(pa.table({"q": ["a", "a"], "v": column}), folder / "in.parquet", **options)
    return {"path": "in.parquet"}


LONG = [Decimal(f"12345678901234567890123456789012345678.0{digit}") for digit in (1, 2)]

NARROWED: dict[str, Any] = {
    "decimal256": pa.array(LONG, pa.decimal256(42, 2)),
    "decimal256 in a list": pa.array([[each] for each in LONG], pa.list_(pa.decimal256(42, 2))),
    "decimal256 in a struct": pa.array(
        [{"a": each} for each in LONG], pa.struct([("a", pa.decimal256(42, 2))])
    ),
    "nanoseconds in INT96": pa.array([1, 2], pa.timestamp("ns")),
}


@pytest.mark.parametrize("output", ["csv", "parquet"])
@pytest.mark.parametrize("name", NARROWED)
def test_digits_that_would_be_lost_are_refused(
    name: str, output: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    old = {"use_deprecated_int96_timestamps": True} if "INT96" in name else {}
    source = stored_in_parquet(tmp_path, NARROWED[name], **old)
    done = run(tmp_path, "insensitive", OUTPUTS[output], source)
    assert done.code == 2
    assert exchange(name, done.err.replace(str(tmp_path), "FOLDER").strip()) == message


@pytest.mark.quick(1)
@pytest.mark.parametrize("output", OUTPUTS)
def test_nanoseconds_of_parquet_come_out(output: str, tmp_path: Path) -> None:
    source = stored_in_parquet(tmp_path, pa.array([1, 1001], pa.timestamp("ns", "UTC")))
    assert run(tmp_path, "insensitive", OUTPUTS[output], source).code == 0
    texts = ["1970-01-01 00:00:00.000000001+00", "1970-01-01 00:00:00.000001001+00"]
    assert released(tmp_path, output)["v"][1] == texts


def test_microseconds_in_int96_are_read_in_every_year(tmp_path: Path) -> None:
    moments = [dt.datetime(1, 1, 1, 0, 0, 0, 7), dt.datetime(9999, 12, 31)]
    column = pa.array(moments, pa.timestamp("us"))
    source = stored_in_parquet(tmp_path, column, use_deprecated_int96_timestamps=True)
    assert run(tmp_path, "insensitive", OUTPUTS["csv"], source).code == 0
    assert released(tmp_path, "csv")["v"][1] == ["0001-01-01 00:00:00.000007", "9999-12-31"]
