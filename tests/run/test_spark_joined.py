"""Releases of columns that are not in the frequency table, joined by Spark, against those of memory; slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.data_spark.session import Session
from anonymizer.errors import AuditFailed
from tests.run.joined_runs import ALGORITHMS, Row, asked, made, ran, rows_drawn, swapping, written
from tests.spark import engine, running

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


def released(folder: Path) -> tuple[Any, Counter[Any]]:
    """Return the types and the rows."""
    path = folder / "share" / "r.parquet"
    files = f"{path}/*.parquet" if path.is_dir() else path
    kinds = duckdb.sql(f"DESCRIBE FROM '{files}'").fetchall()
    return [row[:2] for row in kinds], Counter(duckdb.sql(f"FROM '{files}'").fetchall())


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(rows_drawn(), st.sampled_from(ALGORITHMS[1:]))
def test_the_same_as_in_memory(
    spark: Session, tmp_path_factory: pytest.TempPathFactory, rows: list[Row], algorithm: dict[str, Any]
) -> None:
    """A job of Spark takes a second, so these are few, and none is looked for that is simpler."""
    folder = tmp_path_factory.mktemp("drawn")
    written(folder / "in.parquet", rows)
    suppression = {"limit": 0.3, "keep_rows": True}
    config = asked(folder / "in.parquet", algorithm, "r.parquet", suppression=suppression)
    in_memory = ran(config | {"engine": {"name": "memory"}}, folder / "memory")
    distinct = len({(row[1], row[3], row[5], row[6]) for row in rows})
    found = ran(config | {"engine": engine(combinations=max(3 * distinct // 4, 1))}, folder / "spark")
    if "engine.options.combinations" in found:
        return
    assert isinstance(found, dict) == isinstance(in_memory, dict)
    if isinstance(found, dict):
        assert released(folder / "spark") == released(folder / "memory")


def test_a_join_that_swaps_two_classes_is_noticed(
    spark: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An honest one is as in memory, in all types."""
    from anonymizer.data_spark.relation import SparkRecodedQuery

    config = asked(made(tmp_path), {"name": "mondrian"}, "r.parquet")
    few = load_config(config | {"engine": engine(combinations=60)})
    run(few, tmp_path / "honest")
    run(load_config(config | {"engine": {"name": "memory"}}), tmp_path / "memory")
    assert released(tmp_path / "honest") == released(tmp_path / "memory")
    monkeypatch.setattr(SparkRecodedQuery, "copy", swapping(SparkRecodedQuery.copy))
    with pytest.raises(AuditFailed, match="a record is not a recoded record of the input"):
        run(few, tmp_path / "lying")
    assert not (tmp_path / "lying").exists()
