"""Releases that follow from the frequency table, beside the same releases made by looking at the records."""

from __future__ import annotations

import csv
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.config.load import load_config
from anonymizer.data.open import open_file
from anonymizer.data.relation import CountedRows, EngineRelation, Relation
from anonymizer.data.source import CsvDialect
from anonymizer.job.table import prepare
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.plan.plan import plan_of
from anonymizer.plan.prepared import Prepared
from anonymizer.release.query import counted_rows, project, single_shuffled
from tests import strategies

NAMES = ("b", "s", "a")
VALUES = st.sampled_from(["x", "X", "é", "x y", "=1", "10", "9", "", 'say "hi"', "a,b", "𝔘"])
records = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=12)


def config(**roles: str) -> Any:
    attributes: dict[str, dict[str, str]] = {}
    for name in NAMES:
        attributes[name] = {"role": roles.get(name, "quasi-identifier")}
        if attributes[name]["role"] != "insensitive":
            attributes[name]["type"] = roles.get(f"{name}_type", "text")
    return load_config({"attributes": attributes, "constraints": [{"model": "k-anonymity", "k": 1}]})


def written(folder: Path, rows: list[tuple[str, ...]]) -> Path:
    path = folder / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([NAMES, *rows])
    return path


def recoded(job: Prepared, rng: random.Random) -> FullDomainRecoding:
    """Return random levels, suppression and, half of the time, combinations in parts."""
    table, owner = job.problem.table, None
    if rng.random() < 0.5:
        parts = [rng.randint(1, count) for count in table.counts.tolist()]
        owner = np.repeat(np.arange(table.combinations), parts)
        counts = np.ones(len(owner), dtype=np.int64)
        counts[np.cumsum(parts) - 1] += table.counts - parts
        table = table.split(owner, counts)
    suppressed = np.array([rng.random() < 0.4 for _ in table.counts])
    removed = suppressed if rng.random() < 0.5 else np.zeros_like(suppressed)
    return FullDomainRecoding(
        table, [rng.randint(0, 1) for _ in table.quasi_identifiers], suppressed, removed, owner
    )


def from_table(relation: Relation, job: Prepared, recoding: FullDomainRecoding) -> CountedRows | None:
    positions = {read.column.name: read.codes for read in job.encoded.columns}
    return counted_rows(relation, recoding, positions, relation.columns)


def content(path: Path) -> list[tuple[Any, ...]]:
    return duckdb.sql(f"SELECT * FROM '{path}'").fetchall()


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(records, strategies.randoms())
def test_it_is_the_release_of_the_records(rows: list[tuple[str, ...]], rng: random.Random) -> None:
    with tempfile.TemporaryDirectory() as name, open_file(written(Path(name), rows)) as relation:
        job = prepare(plan_of(config(s="sensitive")), relation)
        recoding = recoded(job, rng)
        counted = from_table(relation, job, recoding)
        assert counted is not None
        assert isinstance(relation, EngineRelation)
        table = relation.counted_query(counted)
        every = relation.records_query(project(relation, job.rows(recoding), recoding, relation.columns))
        for suffix in ("csv", "tsv", "parquet"):
            one, two = Path(name) / f"one.{suffix}", Path(name) / f"two.{suffix}"
            table.write(one, CsvDialect.usual(one.name))
            every.write(two, CsvDialect.usual(two.name))
            if suffix == "parquet":
                assert content(one) == content(two)
                assert (
                    duckdb.sql(f"DESCRIBE '{one}'").fetchall() == duckdb.sql(f"DESCRIBE '{two}'").fetchall()
                )
            else:
                assert one.read_bytes() == two.read_bytes()


def test_a_shuffle_keeps_every_row(tmp_path: Path) -> None:
    rows = [(str(number % 7), str(number % 3), "v") for number in range(500)]
    orders = []
    with open_file(written(tmp_path, rows)) as relation:
        job = prepare(plan_of(config(s="sensitive")), relation)
        nothing = np.zeros(job.problem.table.combinations, dtype=bool)
        counted = from_table(relation, job, FullDomainRecoding(job.problem.table, [0, 0], nothing, nothing))
        assert counted is not None
        assert isinstance(relation, EngineRelation)
        for number in range(2):
            path = tmp_path / f"{number}.parquet"
            relation.counted_query(single_shuffled(counted)).copy(path, None)
            orders.append(content(path))
    assert Counter(orders[0]) == Counter(orders[1]) == Counter(rows)
    assert orders[0] != orders[1]
    assert sorted(orders[0]) not in orders


@pytest.mark.parametrize(
    ("roles", "rows"),
    [
        ({"a": "insensitive"}, [("1", "2", "3")]),
        ({"s": "sensitive", "s_type": "number"}, [("1", "2", "3"), ("1", "2.0", "3")]),
        ({"s": "sensitive"}, [("1", "", "3"), ("1", "<missing>", "3")]),
    ],
)
def test_what_the_table_does_not_tell_is_left_to_the_records(
    roles: dict[str, str], rows: list[tuple[str, ...]], tmp_path: Path
) -> None:
    with open_file(written(tmp_path, rows)) as relation:
        job = prepare(plan_of(config(**roles)), relation)
        assert from_table(relation, job, recoded(job, random.Random(0))) is None


@pytest.mark.parametrize("value", ["NULL::VARCHAR", "7"])
def test_nulls_and_numbers_of_a_parquet_file_are_left_to_the_records(value: str, tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    duckdb.sql(f"SELECT 'x' AS b, {value} AS s, 'y' AS a").write_parquet(str(path))
    with open_file(path) as relation:
        job = prepare(plan_of(config(s="sensitive")), relation)
        assert from_table(relation, job, recoded(job, random.Random(0))) is None


@pytest.mark.parametrize("number", [255, 256])
def test_more_labels_than_one_byte_tells_apart(number: int, tmp_path: Path) -> None:
    rows = [(f"v{value:03d}", "s", str(value % 2)) for value in range(number)]
    with open_file(written(tmp_path, rows)) as relation:
        job = prepare(plan_of(config(s="sensitive")), relation)
        nothing = np.zeros(job.problem.table.combinations, dtype=bool)
        counted = from_table(relation, job, FullDomainRecoding(job.problem.table, [0, 0], nothing, nothing))
        assert counted is not None
        assert isinstance(relation, EngineRelation)
        relation.counted_query(counted).copy(tmp_path / "out.parquet", None)
    assert content(tmp_path / "out.parquet") == rows
