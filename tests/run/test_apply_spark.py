"""Further records join a release by Spark as they do in memory; slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from anonymizer.append.release import AppendedShape
from anonymizer.audit.audit import audit_release
from anonymizer.data_spark.session import Session
from anonymizer.errors import AnonymizerError
from tests.run.spark_runs import config, further, ran, went_on
from tests.spark import engine, running

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Session]:
    with running() as session:
        yield session


@pytest.mark.parametrize(
    ("most", "parts", "others"),
    [
        (90, ("may", "june", "july"), {"note": "insensitive", "attacks": []}),
        (
            None,
            ("may", "june"),
            {"note": "insensitive", "algorithm": {"name": "mondrian"}, "attacks": []},
        ),
    ],
)
def test_it_goes_on_as_in_memory(
    spark: Session, tmp_path: Path, most: int | None, parts: tuple[str, ...], others: dict[str, Any]
) -> None:
    later = engine() if most is None else engine(combinations=most)
    in_memory = went_on(tmp_path, "memory", None, None, parts, **others)
    assert went_on(tmp_path, "spark", engine(), later, parts, **others) == in_memory
    found = audit_release(tmp_path / "spark" / parts[-1] / "share" / "release.parquet")
    assert (found.verified, found.findings) == (True, [])


def test_an_earlier_folder_that_changes_is_noticed(
    spark: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(config(further(tmp_path, 400, "may"), engine()), tmp_path / "first")
    asked = config(further(tmp_path, 400, "june"), engine(), apply=str(tmp_path / "first" / "report.json"))
    asked["suppression"] = {"limit": 0.9}
    queries = AppendedShape.queries

    def changed(*given: Any) -> Any:
        release = tmp_path / "first" / "share" / "release.parquet"
        part = next(release.iterdir())
        table = pyarrow.parquet.read_table(part)
        pyarrow.parquet.write_table(table, part, compression="gzip")
        return queries(*given)

    monkeypatch.setattr(AppendedShape, "queries", changed)
    with pytest.raises(AnonymizerError, match=r"release\.parquet"):
        ran(asked, tmp_path / "second")
    assert not (tmp_path / "second").exists()
