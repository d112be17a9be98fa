"""Files of a release, the same whatever the cluster; slow."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from anonymizer.data.relation import CountedRows
from tests.spark import running

pytestmark = pytest.mark.spark


def test_every_file_has_its_part_of_the_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anonymizer.data_spark import files as writer

    monkeypatch.setattr(writer, "PART_RECORDS", 10)
    places = np.arange(7, dtype=np.int32)
    counts = np.array([4, 9, 1, 12, 1, 1, 5], dtype=np.int64)
    rows = CountedRows(("a",), (tuple(f"v{place}" for place in places),), (places,), counts)
    with running() as session:
        writer.SparkCountedQuery(session, rows).copy(tmp_path / "release", None)
    found = sorted((tmp_path / "release").glob("*.parquet"))
    parts = [[text for (text,) in duckdb.execute(f"SELECT a FROM '{path}'").fetchall()] for path in found]
    assert [len(part) for part in parts] == [10, 10, 10, 3]
    assert [text for part in parts for text in part] == [f"v{place}" for place in np.repeat(places, counts)]
