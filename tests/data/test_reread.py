"""A Parquet file that is read again for each question: the same codes, and never two files in one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from anonymizer.data.open import open_file, open_frame
from anonymizer.data.relation import Coding, Projection, Relation
from anonymizer.data.source import FileSource
from anonymizer.data.table import ColumnRequest, encode, read_columns
from anonymizer.errors import DataError

COLUMNS = {
    "few": "chr(97 + CAST(hash(i) % 5 AS INTEGER))",
    "many": "'v' || (hash(i + 1) % 300)",
    "narrow": "CAST(hash(i + 2) % 90 AS TINYINT) - 40",
    "wide": "CAST(hash(i + 3) % 7 AS BIGINT) * 1000000007",
    "lacking": "CASE WHEN i % 3 > 0 THEN chr(65 + CAST(hash(i + 4) % 4 AS INTEGER)) END",
    "numbers": "CASE WHEN i % 5 > 0 THEN CAST(hash(i + 5) % 9 AS INTEGER) END",
    "nothing": "CAST(NULL AS VARCHAR)",
    "double": "CAST(hash(i + 6) % 30 AS DOUBLE) / 4",
}


def written(path: Path, rows: int = 2_000, shift: int = 0) -> Path:
    listed = ", ".join(f"{sql} AS {name}" for name, sql in COLUMNS.items())
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {listed} FROM range({shift}, {shift + rows}) AS r(i)) "
            f"TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)"
        )
    return path


def codings(relation: Relation) -> list[Coding]:
    """Codes other than the positions, several texts of some column with one code."""
    found = []
    for place, name in enumerate(COLUMNS):
        number = len(relation.dictionary(name))
        codes = np.arange(number, dtype=np.int32)[::-1].copy()
        found.append(Coding(name, codes // (1 + place % 2), number))
    return found


def test_the_engine_packs_as_one_column_after_another_does(tmp_path: Path) -> None:
    with open_file(written(tmp_path / "data.parquet")) as relation:
        columns = codings(relation)
        for chosen in (columns, columns[::-1], [*columns, *columns, *columns]):
            fast, slow = relation.packed(chosen), Relation.packed(relation, chosen)
            keys = fast.take_keys()
            assert np.array_equal(fast.unpack(keys), slow.unpack(slow.take_keys()))


def test_codes_are_positions_in_the_dictionary(tmp_path: Path) -> None:
    path = written(tmp_path / "data.parquet")
    with open_file(path) as relation, duckdb.connect() as connection:
        for name in COLUMNS:
            texts = connection.execute(f"SELECT CAST({name} AS VARCHAR) FROM '{path}'").fetchall()
            known = [text for text, _ in relation.dictionary(name)]
            plain = [None if text is None else text.removesuffix(".0") for (text,) in texts]
            assert [known[code] for code in relation.codes(name)] == plain


def test_a_frame_of_the_same_records_is_encoded_alike(tmp_path: Path) -> None:
    path = written(tmp_path / "data.parquet")
    names = [name for name in COLUMNS if name not in {"nothing", "numbers"}]
    with duckdb.connect() as connection:
        frame = connection.execute(f"SELECT {', '.join(names)} FROM '{path}'").df()
    found = []
    for relation in (open_file(path), open_frame(frame)):
        with relation:
            columns = read_columns(relation, [ColumnRequest(name) for name in names])
            encoded = encode(relation, list(columns.values()))
            found.append((encoded.codes, encoded.counts, encoded.combination))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def rewritten(path: Path) -> None:
    written(path, shift=7)


def replaced(path: Path) -> None:
    written(path.with_name("other.parquet"), shift=7).replace(path)


def gone(path: Path) -> None:
    path.unlink()


def touched(path: Path) -> None:
    data = path.read_bytes()
    found = path.stat()
    path.write_bytes(data[:-1] + data[-1:])
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.mark.parametrize("change", [rewritten, replaced, gone, touched])
def test_a_file_that_changes_between_two_readings_is_refused(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    path = written(tmp_path / "data.parquet")
    with open_file(path) as relation:
        relation.dictionary("few")
        change(path)
        with pytest.raises(DataError, match=r"data\.parquet: changed while"):
            relation.dictionary("many")


def test_records_are_loaded_once_they_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "data.parquet")
    with open_file(path) as relation:
        everything = Projection(relation.columns, {}, np.ones(relation.rows, dtype=np.bool_))
        relation.records_query(everything).copy(tmp_path / "before.csv", ",")
        rewritten(path)
        relation.records_query(everything).copy(tmp_path / "out.csv", ",")
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2_001


def test_a_damaged_page_is_found_when_it_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "data.parquet")
    data = bytearray(path.read_bytes())
    data[4:600] = bytes(596)
    path.write_bytes(bytes(data))
    with open_file(path) as relation, pytest.raises(DataError, match="or a damaged one"):
        relation.dictionary("few")


def test_many_distinct_records_are_counted_as_few_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for many in (1 << 20, 1):
        monkeypatch.setattr("anonymizer.data.duckdb.columns.MANY", many)
        monkeypatch.setattr("anonymizer.data.duckdb.columns.SAMPLE", 1_000)
        with open_file(written(tmp_path / "data.parquet")) as relation:
            groups = relation.group_counts(list(COLUMNS))
        texts = zip(*(groups.texts(column) for column in range(len(COLUMNS))), strict=True)
        found.append(dict(zip(texts, groups.counts.tolist(), strict=True)))
        assert len(found[-1]) == len(groups.counts) > 1_000
    assert found[0] == found[1]


def test_the_reason_of_the_engine_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "data.parquet", 20_000)
    content = path.read_bytes()
    with open_file(path) as relation:
        stat = path.stat()
        # Damaged in place, as by a failing disk: neither its size nor its times tell.
        path.write_bytes(content[:200] + b"\xff" * (len(content) // 2) + content[200 + len(content) // 2 :])
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        source = relation._database.source  # type: ignore[attr-defined]
        relation._database.source = FileSource.of(path, source.kind)  # type: ignore[attr-defined]
        with pytest.raises(DataError, match=r"not a Parquet file, or a damaged one; .* \(.{10,}\)"):
            relation.codes("many")


def test_a_value_without_a_code_is_refused(tmp_path: Path) -> None:
    """A null among codes would be read as whatever stands in its place."""
    with open_file(written(tmp_path / "data.parquet")) as relation:
        texts = relation.dictionary("few")
        known = relation._values  # type: ignore[attr-defined]
        known._dictionaries[relation.position("few")] = texts[1:]
        coding = Coding("few", np.arange(len(texts) - 1, dtype=np.int32), len(texts))
        with pytest.raises(DataError, match="was not there when the column was read"):
            relation.packed([coding])
        with pytest.raises(DataError, match="was not there when the column was read"):
            relation.codes("few")
