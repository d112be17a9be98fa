"""Tables of very many columns: the work grows with the columns, and the answers are those of narrow ones."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from random import Random

import pandas as pd
import pytest

from anonymizer.data.duckdb.database import WIDE, Database, as_few_keys, copy_csv
from anonymizer.data.open import open_file
from anonymizer.data.source import EngineOptions
from tests.run.commands import call

ODD = (None, "", " ", "a", "A", "ä", "b,c", 'q"q', "z", "NULL", "\uffff", "\U0001f600")


def write_job(folder: Path, columns: int, path: str) -> Path:
    """Write a table with two quasi-identifiers, the second one amid the others, and return its config."""
    names = [f"x{index}" for index in range(columns)]
    names[0], names[columns // 2] = "q0", "q1"
    random = Random(columns)
    table = pd.DataFrame({name: [random.choice(ODD) for _ in range(40)] for name in names}, dtype=object)
    table["q0"] = [str(row % 2) for row in range(40)]
    table["q1"] = [str(row % 3) for row in range(40)]
    folder.mkdir()
    if path.endswith(".csv"):
        table.to_csv(folder / path, index=False)
    else:
        table.to_parquet(folder / path)
    roles = {name: {"role": "quasi-identifier" if name[0] == "q" else "insensitive"} for name in names}
    config = {
        "input": {"path": path},
        "attributes": roles,
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "bound": "none",
        "output": {"path": "release.csv"},
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder / "config.json"


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("run", "people.csv"),
        ("check", "people.parquet"),
        pytest.param("init", "people.parquet", marks=pytest.mark.slow),
    ],
)
def test_statements_do_not_grow_with_the_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, command: str
) -> None:
    lengths: list[int] = []
    for method in ("run", "copy", "rows", "arrays"):
        unchanged = getattr(Database, method)

        def counted(self: Database, statement: str, *args: object, _call: object = unchanged) -> object:
            lengths.append(len(statement))
            return _call(self, statement, *args)  # type: ignore[operator]

        monkeypatch.setattr(Database, method, counted)
    found = []
    for columns in (75, 300):
        config = write_job(tmp_path / str(columns), columns, path)
        lengths.clear()
        data = config.parent / path
        words = {
            "run": [config, "-o", tmp_path / f"{columns}.out"],
            "check": [data, "--config", config],
            "init": [data, "-o", tmp_path / f"{columns}.yaml"],
        }
        done = call(command, *words[command])
        assert done.code == 0, done.err
        found.append((len(lengths), sum(lengths)))
    (few, short), (many, long) = found
    assert many <= few + 3 * 225 / WIDE
    # By the square of the columns it would be 16 times.
    assert long < 8 * short


@pytest.mark.quick(1)
@pytest.mark.parametrize("path", ["people.csv", "people.parquet"])
def test_a_wide_release_is_sorted_by_all_columns_and_holds_what_was_there(tmp_path: Path, path: str) -> None:
    config = write_job(tmp_path / "wide", WIDE + 16, path)
    done = call("run", config, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    with (tmp_path / "out/share/release.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert rows == sorted(rows, key=lambda row: [text.encode() for text in row])
    table = (
        pd.read_parquet(config.parent / path)
        if path.endswith("parquet")
        else pd.read_csv(config.parent / path, dtype=str, keep_default_na=False)
    )
    assert header == list(table.columns)
    for place, name in enumerate(header):
        if name[0] == "x":
            expected = Counter("" if pd.isna(text) else text for text in table[name])
            assert Counter(row[place] for row in rows) == expected


def test_dictionaries_of_a_wide_table_are_those_of_its_columns(tmp_path: Path) -> None:
    kinds = pd.DataFrame(
        {
            "text": pd.Series(["b", None, "", "a"], dtype=object),
            "number": [1.0, 2.5, None, 1.0],
            "whole": pd.array([1, None, 10, 2], dtype="Int64"),
            "day": pd.to_datetime(["2024-01-01", None, "2024-01-01 12:00", "2023-01-01"], format="mixed"),
        }
    )
    kinds.to_parquet(tmp_path / "narrow.parquet")
    pd.concat([kinds.add_suffix(str(copy)) for copy in range(WIDE)], axis=1).to_parquet(
        tmp_path / "wide.parquet"
    )
    options = EngineOptions()
    with (
        open_file(tmp_path / "narrow.parquet", options=options) as narrow,
        open_file(tmp_path / "wide.parquet", options=options) as wide,
    ):
        expected = {name: narrow.dictionary(name) for name in kinds}
        for copy in range(WIDE):
            for name in kinds:
                assert wide.dictionary(f"{name}{copy}") == expected[name]


@pytest.mark.slow
def test_a_list_sorts_as_its_elements_do() -> None:
    random = Random(4)
    texts = ["", "a", "aa", "A", "ä", "\x01", "b", "\U0001f600", "\uffff"]
    rows = [[random.choice(texts) for _ in range(WIDE)] for _ in range(300)]
    rows = [[*rows[random.randrange(10)][: random.randrange(WIDE)], *row][:WIDE] for row in rows]
    names = [f"c{index}" for index in range(WIDE)]
    with Database(EngineOptions()) as database:
        database.run(f"CREATE TABLE records ({', '.join(f'{name} VARCHAR' for name in names)})")
        for row in rows:
            database.run(f"INSERT INTO records VALUES ({', '.join('?' * WIDE)})", row)
        keys = as_few_keys(names)
        assert len(keys) == 1
        found = database.rows(f"SELECT * FROM records ORDER BY {keys[0]}")
    assert [list(row) for row in found] == sorted(rows, key=lambda row: [text.encode() for text in row])


def test_csv_names_every_column_once() -> None:
    # DuckDB's planner takes time by the square of the expressions that name a column twice.
    statement = copy_csv(["a", "b"], ["c0", "c1"], Path("release.csv"), ",")
    assert statement.count("c0") == statement.count("c1") == 1
    assert "nullif" not in statement.lower()
