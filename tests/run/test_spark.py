"""A run by Spark: its answers, its release, an error; all in one session, and slow."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from anonymizer.data.open import open_by_engine
from anonymizer.errors import DataError
from tests.run.spark_runs import config, facts, people, ran, released
from tests.run.test_unit_loss import asked as asked_by_persons
from tests.run.test_unit_loss import stays
from tests.run.test_weighted_loss import asked, survey
from tests.spark import engine, options, running


def damaged_part(folder: Path) -> None:
    folder.mkdir()
    people(folder / "one.parquet", 20)
    (folder / "two.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(DataError, match=r"two\.parquet: not a Parquet file, or a damaged one"):
        open_by_engine(str(folder), options())


@pytest.mark.spark
def test_spark_tells_the_same_as_memory(tmp_path: Path) -> None:
    with running():
        damaged_part(tmp_path / "damaged")
        data = people(tmp_path / "people.parquet", 200)
        by_spark = ran(config(data, engine()), tmp_path / "spark")
    in_memory = ran(config(data), tmp_path / "memory")
    assert facts(by_spark) == facts(in_memory)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")
    assert [path.name for path in (tmp_path / "spark" / "share").glob("release.parquet/*")] == [
        "part-00000.parquet"
    ]


@pytest.mark.spark
def test_spark_weighs_records_as_memory_does(tmp_path: Path) -> None:
    survey(200).to_parquet(tmp_path / "survey.parquet", index=False)
    weighing = asked(
        input={"path": str(tmp_path / "survey.parquet")},
        suppression={"limit": 0.2},
        constraints=[{"model": "k-anonymity", "k": 7}],
        output={"path": "release.parquet"},
    )
    with running():
        by_spark = ran({**weighing, "engine": engine()}, tmp_path / "spark").to_dict()
    in_memory = ran(weighing, tmp_path / "memory").to_dict()
    for key in ("weighted_loss", "loss", "recoding"):
        assert by_spark[key] == in_memory[key]
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


@pytest.mark.spark
def test_spark_counts_each_person_once_as_memory_does(tmp_path: Path) -> None:
    stays(Random(18), 0, 300).to_parquet(tmp_path / "stays.parquet", index=False)
    counting = asked_by_persons(
        input={"path": str(tmp_path / "stays.parquet"), "person": "patient"},
        suppression={"limit": 0.2},
        constraints=[{"model": "k-anonymity", "k": 10}],
        output={"path": "release.parquet"},
    )
    with running():
        by_spark = ran({**counting, "engine": engine()}, tmp_path / "spark").to_dict()
    in_memory = ran(counting, tmp_path / "memory").to_dict()
    for key in ("unit_loss", "loss", "recoding"):
        assert by_spark[key] == in_memory[key]
    assert released(tmp_path / "spark") == released(tmp_path / "memory")
