"""Inputs that Spark cannot read, one clear message each, and folders that it can; slow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.data.open import open_by_engine, open_file
from anonymizer.data.relation import Coding, Relation
from anonymizer.data_spark.session import Session
from anonymizer.errors import DataError
from tests.data_spark.typed import typed_parquet
from tests.helpers.messages import exchange
from tests.spark import options, running

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


def opened(path: Path) -> Relation:
    return open_by_engine(str(path), options())


def written(path: Path, query: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(DataError) as refused:
        opened(path)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_java_is_not_told_which_line_made_an_expression(spark: Session) -> None:
    """A setting of another name would be ignored, and each expression cost four more questions to Java."""
    from pyspark.errors.utils import is_debugging_enabled

    assert not is_debugging_enabled()
    assert spark.spark.conf.get("spark.python.sql.dataFrameDebugging.enabled") == "false"


def test_a_missing_path_is_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    assert exchange("no such path", refusal(tmp_path / "none.parquet"), tmp_path) == message


def test_a_folder_without_files_is_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_SUCCESS").touch()
    assert exchange("a folder with _SUCCESS only", refusal(tmp_path / "empty"), tmp_path) == message


def test_a_file_without_records_is_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    path = written(tmp_path / "few.parquet", "SELECT 1 AS a WHERE false")
    assert exchange("a file without records", refusal(path), tmp_path) == message


@pytest.mark.parametrize(
    "other", ["SELECT 'x' AS a, 1 AS b", "SELECT 1 AS a", "SELECT 1 AS a, 1 AS b, 1 AS c"]
)
def test_files_of_two_schemas_are_named(tmp_path: Path, other: str, message: SnapshotAssertion) -> None:
    written(tmp_path / "d" / "one.parquet", "SELECT 1 AS a, 2 AS b")
    written(tmp_path / "d" / "two.parquet", other)
    assert exchange(other, refusal(tmp_path / "d"), tmp_path) == message


def test_damaged_pages_are_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    written(tmp_path / "d" / "one.parquet", "SELECT 'v' || i AS a FROM range(5000) t(i)")
    path = written(tmp_path / "d" / "two.parquet", "SELECT 'v' || i AS a FROM range(5000) t(i)")
    content = bytearray(path.read_bytes())
    content[4:2000] = b"\xff" * 1996
    path.write_bytes(content)
    with opened(tmp_path / "d") as relation, pytest.raises(DataError) as refused:
        relation.dictionary("a")
    assert exchange("damaged pages", refused.value, tmp_path) == message


def test_nested_columns_are_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    path = written(tmp_path / "nested.parquet", "SELECT [1, 2] AS many")
    assert exchange("a list", refusal(path), tmp_path) == message


@pytest.mark.parametrize("kind", ["TIMESTAMP_NS", "TIME"])
def test_types_that_spark_has_not_are_named(tmp_path: Path, kind: str, message: SnapshotAssertion) -> None:
    path = written(tmp_path / "times.parquet", f"SELECT CAST('2020-01-01 01:02:03' AS {kind}) AS t")
    assert exchange(kind, refusal(path), tmp_path) == message


def test_moments_of_96_bits_have_no_zone(tmp_path: Path) -> None:
    moments = [datetime(2020, 1, 1, 12, 0, 0, 500_000), datetime(2020, 1, 1), datetime(1850, 5, 5, 5), None]
    path = tmp_path / "moments.parquet"
    table = pa.table({"before": ["x"] * 4, "t": pa.array(moments, pa.timestamp("us"))})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    with opened(path) as relation, open_file(path) as duck:
        assert relation.dictionary("t") == duck.dictionary("t")
        assert relation.dictionary("t")[1] == ("2020-01-01", 1)


def test_folders_by_value_give_a_column_of_texts(tmp_path: Path) -> None:
    written(tmp_path / "d" / "x.parquet", "SELECT 1 AS a").rename(tmp_path / "x")
    for year in ("2020", "01"):
        (tmp_path / "d" / f"year={year}").mkdir()
        (tmp_path / "d" / f"year={year}" / "x.parquet").write_bytes((tmp_path / "x").read_bytes())
    with opened(tmp_path / "d") as relation:
        assert relation.columns == ("a", "year")
        assert relation.dictionary("year") == [("01", 1), ("2020", 1)]


def test_texts_are_those_of_duckdb(tmp_path: Path) -> None:
    path = typed_parquet(tmp_path / "typed.parquet")
    with opened(path) as relation, open_file(path) as duck:
        assert relation.columns == duck.columns
        assert (relation.rows, relation.sha256) == (duck.rows, duck.sha256)
        for column in duck.columns:
            assert relation.dictionary(column) == duck.dictionary(column), column


def test_groups_are_those_of_duckdb(tmp_path: Path) -> None:
    path = typed_parquet(tmp_path / "typed.parquet")
    with opened(path) as relation, open_file(path) as duck:
        found, expected = relation.group_counts("bgin"), duck.group_counts("bgin")
        assert found.values == expected.values
        assert sorted(zip(found.codes.tolist(), found.counts.tolist(), strict=True)) == sorted(
            zip(expected.codes.tolist(), expected.counts.tolist(), strict=True)
        )


CODES = st.lists(st.integers(0, 1), min_size=4, max_size=4)
RECORDS = st.lists(
    st.tuples(st.sampled_from([None, "", "a", "é"]), st.sampled_from([0.5, 1e20, None]), st.integers(0, 2)),
    min_size=1,
    max_size=12,
)


@settings(
    max_examples=2,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
@example([(None, 0.5, 0)], ([0] * 4, [1] * 4, [0] * 4))
@given(RECORDS, st.tuples(CODES, CODES, CODES))
def test_combinations_are_those_in_memory(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str | None, float | None, int]],
    drawn: tuple[list[int], ...],
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    values = ", ".join(
        f"({'NULL' if text is None else repr(text)}::VARCHAR, {number or 'NULL'}::DOUBLE, {whole})"
        for text, number, whole in rows
    )
    written(path, f"SELECT * FROM (VALUES {values}) t(a, b, c)")
    with opened(path) as relation, open_file(path) as duck:
        sizes = [len(duck.dictionary(column)) for column in "abc"]
        codings = [
            Coding(column, np.array(codes[:size], dtype=np.int32), 2)
            for column, codes, size in zip("abc", drawn, sizes, strict=True)
        ]
        with relation.combinations(codings) as found, duck.combinations(codings) as expected:
            assert found.number == expected.number
            assert same(found.fetch(), expected.fetch())
            coarser = [None, np.zeros(2, dtype=np.int32), None]
            with found.rolled_up(coarser) as rolled, expected.rolled_up(coarser) as also:
                assert same(rolled.fetch(), also.fetch())
            assert found.records_in_small_groups(2, 3) == expected.records_in_small_groups(2, 3)


def same(found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_files_that_change_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    duckdb.sql(f"COPY (SELECT 'x' AS a) TO '{path}'")
    with opened(path) as relation:
        relation.check_unchanged()
        duckdb.sql(f"COPY (SELECT 'longer' AS a) TO '{path}'")
        with pytest.raises(DataError, match="changed while"):
            relation.check_unchanged()


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_zero_has_one_text_whatever_its_sign(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path / "zeros" / "a.parquet", f"SELECT unnest([0, '-0', 0.5, '-0'])::{kind} AS a")
    with opened(path.parent) as relation:
        assert dict(relation.dictionary("a")) == {"0": 3, "0.5": 1}
