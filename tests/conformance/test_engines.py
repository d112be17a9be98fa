"""The engines against the suite that authors of engines run, and liars that it must find."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from anonymizer.data.duckdb.distinct_rows import DuckCombinations
from anonymizer.data.frames import FrameRelation
from anonymizer.data.open import open_by_engine, open_file
from anonymizer.data.source import EngineOptions
from anonymizer.model.table import RowPiece
from anonymizer.testing.engine import Record, check_relation

RECORDS: list[Record] = [
    (
        f"a{n * 7 % 5}",
        None if n % 11 == 0 else str(n % 4),
        "" if n % 6 == 1 else "in two" if n in (2, 3) else f"c {n % 3}",
    )
    for n in range(60)
]
COLUMNS = ("a", "b", "c")
OPTIONS = EngineOptions(threads=1)


def frame() -> pd.DataFrame:
    return pd.DataFrame(RECORDS, columns=list(COLUMNS), dtype=object)


def parquet(folder: Path) -> Path:
    path, own = folder / "people.parquet", frame()
    with duckdb.connect() as connection:
        connection.register("own", own)
        texts = ", ".join(f"{name}::VARCHAR AS {name}" for name in COLUMNS)
        connection.execute(f"COPY (SELECT {texts} FROM own) TO '{path}'")
    return path


def test_parquet_in_duckdb(tmp_path: Path) -> None:
    with open_file(parquet(tmp_path), options=OPTIONS) as relation:
        check_relation(relation, RECORDS)


def test_csv_in_duckdb(tmp_path: Path) -> None:
    """CSV does not distinguish null and the empty text."""
    records = [tuple(text or "" for text in record) for record in RECORDS]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(map(",".join, [COLUMNS, *records])) + "\n", encoding="utf-8")
    with open_file(path, options=OPTIONS) as relation:
        found = [
            tuple(
                None if (relation.dictionary(name)[-1][0] is None and not text) else text
                for name, text in zip(COLUMNS, record, strict=True)
            )
            for record in records
        ]
        check_relation(relation, found)


def test_a_frame() -> None:
    with closing(FrameRelation(frame(), OPTIONS)) as relation:
        check_relation(relation, RECORDS)


@pytest.mark.spark
def test_parquet_in_spark(tmp_path: Path) -> None:
    from tests.spark import options, running

    with running(), open_by_engine(str(parquet(tmp_path)), options()) as relation:
        check_relation(relation, RECORDS)


def test_other_records_are_found(tmp_path: Path) -> None:
    with open_file(parquet(tmp_path), options=OPTIONS) as relation:
        with pytest.raises(AssertionError, match="rows of"):
            check_relation(relation, RECORDS[1:])
        with pytest.raises(AssertionError, match="dictionary"):
            check_relation(relation, [("z", *RECORDS[0][1:]), *RECORDS[1:]])


def test_a_lost_piece_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: DuckCombinations) -> Iterator[RowPiece]:
        for piece in pieces(self):
            yield RowPiece(tuple(own[1:] for own in piece.keys), np.array(piece.counts[1:]))

    pieces = DuckCombinations.pieces
    monkeypatch.setattr(DuckCombinations, "pieces", lost)
    with (
        open_file(parquet(tmp_path), options=OPTIONS) as relation,
        pytest.raises(AssertionError, match="pieces"),
    ):
        check_relation(relation, RECORDS)
