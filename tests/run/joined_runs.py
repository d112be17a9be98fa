"""Small tables with columns that are not in the frequency table, and runs of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from hypothesis import strategies as st

from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.data.relation import RecodedRows
from anonymizer.errors import Infeasible, InputError

TYPES = {
    "free": "VARCHAR",
    "a": "VARCHAR",
    "amount": "DOUBLE",
    "b": "INTEGER",
    "day": "DATE",
    "s": "SMALLINT",
    "c": "VARCHAR",
}
"""Quasi-identifiers a, b and c stand between columns that are released unchanged."""

ALGORITHMS: tuple[dict[str, Any], ...] = (
    {"name": "lattice"},
    {"name": "mondrian"},
    {"name": "mondrian", "labels": "interval"},
    {"name": "mondrian", "labels": "set"},
)
Row = tuple[Any, ...]


def rows_drawn() -> st.SearchStrategy[list[Row]]:
    """Texts that need quotes, empty ones beside nulls, numbers that are whole and not, equal rows."""
    row = st.tuples(
        st.sampled_from((None, "", "x", 'say "so", then', "é")),
        st.sampled_from(("a1", "a2", "b1", "b2")),
        st.sampled_from((None, 1.0, -0.5, 2.25, 1e20)),
        st.one_of(st.none(), st.integers(0, 7)),
        st.one_of(st.none(), st.integers(0, 3).map(lambda days: date(2020, 2, 28) + timedelta(days=days))),
        st.one_of(st.none(), st.integers(1, 3)),
        st.sampled_from(("u", "v", "w")),
    )
    return st.lists(row, min_size=12, max_size=50)


def written(path: Path, rows: list[Row]) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE records ({columns})")
        connection.executemany(f"INSERT INTO records VALUES ({', '.join('?' * len(TYPES))})", rows)
        connection.execute(f"COPY records TO '{path}'")


def asked(path: Path, algorithm: dict[str, Any], release: str, **others: Any) -> dict[str, Any]:
    roles: dict[str, Any] = {name: {"role": "insensitive"} for name in ("free", "amount", "day")}
    return {
        "input": {"path": str(path)},
        "attributes": {
            **roles,
            "a": {"role": "quasi-identifier", "hierarchy": {"mask": {"from": "right"}}},
            "b": {
                "role": "quasi-identifier",
                "hierarchy": {"intervals": {"width": [2, 4], "origin": 0}},
                "type": "integer",
                "weight": 1.2337,
            },
            "c": {"role": "quasi-identifier", "weight": 1.5713},
            "s": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 3}],
        "algorithm": algorithm,
        "output": {"path": release},
        **others,
    }


def released(folder: Path, name: str) -> Any:
    """Return what a reader sees: the bytes of text, of Parquet the types and the rows in their order."""
    path = folder / "share" / name
    if path.suffix == ".csv":
        return path.read_bytes()
    return duckdb.sql(f"DESCRIBE FROM '{path}'").fetchall(), duckdb.sql(f"FROM '{path}'").fetchall()


def beyond(most: int) -> dict[str, Any]:
    return {"name": "duckdb", "options": {"combinations": most, "threads": 1}}


def ran(config: dict[str, Any], folder: Path) -> dict[str, Any] | str:
    """Return the recoding, or why there is none."""
    try:
        recoding: dict[str, Any] = run(load_config(config), folder).to_dict()["recoding"]
    except (Infeasible, InputError) as error:
        return str(error)
    return recoding


def made(folder: Path) -> Path:
    """Write 400 records, each of its own amount."""
    random = np.random.default_rng(4)
    rows = [
        (
            f"text {number % 7}",
            f"{'ab'[random.integers(2)]}{random.integers(1, 3)}",
            number / 4,
            int(random.integers(8)),
            date(2021, 1, 1),
            1,
            "uvw"[random.integers(3)],
        )
        for number in range(400)
    ]
    path = folder / "in.parquet"
    written(path, rows)
    return path


def swapped(rows: RecodedRows) -> RecodedRows:
    """Let two rows of as many records, published otherwise, stand for each other."""
    labels = np.stack(list(rows.places.values()), axis=1)
    one, other = next(
        (one, other)
        for one in range(len(rows.counts))
        for other in range(one)
        if rows.counts[one] == rows.counts[other] and (labels[one] != labels[other]).any()
    )
    places = {name: codes.copy() for name, codes in rows.places.items()}
    for codes in places.values():
        codes[[one, other]] = codes[[other, one]]
    return replace(rows, places=places)


def swapping(copy: Callable[..., None]) -> Callable[..., None]:
    """Return how a query of recoded records is copied that lets two of its rows stand for each other."""

    def lying(query: Any, path: Path, separator: str | None) -> None:
        copy(replace(query, rows=swapped(query.rows)), path, separator)

    return lying
