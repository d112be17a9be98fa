"""Which engine counts, and how many combinations a search may hold."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.config.load import load_config
from anonymizer.data.open import open_frame
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import ConfigError
from anonymizer.plan import memory
from anonymizer.plan.counted import Counted, count_distinct_rows
from anonymizer.plan.engine import engine_options
from anonymizer.plan.memory import combination_bytes, limits_of
from tests.helpers.messages import exchange

DISTINCT, RECORDS = 50, 1000


def config(**engine: Any) -> Any:
    return load_config(asked(engine))


def asked(engine: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {
        "attributes": {"a": {"role": "quasi-identifier"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "engine": engine,
        **others,
    }


def found(estimate: int, **engine: Any) -> Counted:
    """Count records of which an engine says that they have about so many combinations."""
    frame = pd.DataFrame({"a": [f"v{n % DISTINCT}" for n in range(RECORDS)]})
    with open_frame(frame) as relation:
        relation.estimated_combinations = lambda _: estimate  # type: ignore[method-assign]
        read = read_columns(relation, [ColumnRequest("a")])
        return count_distinct_rows(
            limits_of(config(**engine)), relation, [each.coding for each in read.values()]
        )


@pytest.mark.parametrize(
    ("engine", "estimate", "name", "beyond"),
    [
        ({}, 10**9, "memory", False),
        ({"name": "memory", "memory_limit": "1KB"}, 10**9, "memory", False),
        ({"memory_limit": "100KB"}, DISTINCT, "memory", False),
        # The estimate was too high: what is fetched fits.
        ({"memory_limit": "100KB"}, RECORDS, "duckdb", False),
        ({"memory_limit": "1KB"}, DISTINCT, "duckdb", True),
        ({"options": {"combinations": DISTINCT}}, DISTINCT, "memory", False),
        ({"options": {"combinations": DISTINCT - 1}}, DISTINCT, "duckdb", True),
        ({"name": "duckdb"}, DISTINCT, "duckdb", False),
        ({"name": "duckdb", "options": {"combinations": DISTINCT - 1}}, DISTINCT, "duckdb", True),
    ],
)
def test_what_fits_is_held(engine: dict[str, Any], estimate: int, name: str, beyond: bool) -> None:
    result = found(estimate, **engine)
    assert (result.engine, result.beyond) == (name, beyond)
    assert result.combinations.number == DISTINCT


def test_it_says_why() -> None:
    assert found(0).because == "all 1,000 records would fit"
    limited = found(900, memory_limit="100KB").because
    assert limited == ("about 900 distinct rows of 1,000 records may exceed memory, which holds at most 312")
    assert found(1, name="duckdb").because == "engine.name says so"


def test_half_of_what_the_program_leaves_is_the_database_s() -> None:
    limited = config(memory_limit="500MB")
    assert engine_options(limited).memory_limit == "150000000B"
    assert limits_of(limited).room(8) == 120_000_000 // combination_bytes(8)
    scarce = config(memory_limit="200MB")
    assert engine_options(scarce).memory_limit == "50000000B"


def test_what_java_takes_beside_its_heap_is_left_to_it() -> None:
    files = {"input": {"path": "people.parquet"}, "output": {"path": "release.parquet"}}
    limited = load_config(asked({"name": "spark", "memory_limit": "2GB"}, **files))
    assert engine_options(limited).memory_limit == "725000000B"
    assert limits_of(limited).room(8) == 580_000_000 // combination_bytes(8)
    scarce = load_config(asked({"name": "spark", "memory_limit": "1GB"}, **files))
    assert engine_options(scarce).memory_limit == "250000000B"


def test_a_limit_beyond_the_machine_is_no_more_than_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory_of_machine", lambda: 500_000_000)
    told = [config(memory_limit=limit) for limit in ("500MB", "64GB")]
    assert [engine_options(each).memory_limit for each in told] == ["150000000B"] * 2
    assert limits_of(told[0]).room(8) == limits_of(told[1]).room(8) == limits_of(config()).room(8)


@pytest.mark.parametrize(
    "engine",
    [
        {"options": {"combinations": 0}},
        {"name": "memory", "options": {"combinations": 5}},
        {"options": {"combinations": "many"}},
    ],
    ids=str,
)
def test_numbers_of_distinct_rows_that_are_refused(
    engine: dict[str, Any], message: SnapshotAssertion
) -> None:
    with pytest.raises(ConfigError) as refused:
        engine_options(config(**engine))
    assert exchange(engine, refused.value) == message
