"""Releases of columns that are not in the frequency table, joined by DuckDB, against those of memory."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.data.duckdb import columns as duckdb_values
from anonymizer.data.duckdb.writers import DuckRecodedQuery
from anonymizer.errors import AuditFailed
from tests.helpers.examples import quickly
from tests.run.joined_runs import (
    ALGORITHMS,
    Row,
    asked,
    beyond,
    made,
    ran,
    released,
    rows_drawn,
    swapping,
    written,
)


@pytest.mark.slow
@settings(quickly(14, 5), suppress_health_check=list(HealthCheck))
@given(
    rows_drawn(),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(("r.csv", "r.parquet")),
    st.sampled_from(({}, {"limit": 0.3}, {"limit": 0.3, "keep_rows": True}, {"limit": 1, "keep_rows": True})),
    st.sampled_from((1.0, 0.8, 0.4)),
)
def test_the_same_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Row],
    algorithm: dict[str, Any],
    name: str,
    suppression: dict[str, Any],
    share: float,
) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    written(folder / "in.parquet", rows)
    config = asked(folder / "in.parquet", algorithm, name, suppression=suppression)
    in_memory = ran(config | {"engine": {"name": "memory"}}, folder / "memory")
    distinct = len({(row[1], row[3], row[5], row[6]) for row in rows})
    found = ran(config | {"engine": beyond(max(int(distinct * share), 1))}, folder / "duckdb")
    if "engine.options.combinations" in found:
        # It needs more at once than it was given.
        return
    assert isinstance(found, dict) == isinstance(in_memory, dict)
    # Of nodes of equal loss another one may be found.
    if isinstance(found, dict) and isinstance(in_memory, dict) and found["levels"] == in_memory["levels"]:
        assert released(folder / "duckdb", name) == released(folder / "memory", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
@pytest.mark.parametrize("algorithm", ALGORITHMS[:2], ids=lambda own: own["name"])
def test_combinations_that_stay_in_the_engine(
    algorithm: dict[str, Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The property above is no empty one: here they do, and there is a release."""
    monkeypatch.setattr(duckdb_values, "ENUM_VALUES", 3)
    config = asked(made(tmp_path), algorithm, name, suppression={"limit": 0.05, "keep_rows": True})
    for folder, engine in (("memory", {"name": "memory"}), ("duckdb", beyond(90))):
        assert isinstance(ran(config | {"engine": engine}, tmp_path / folder), dict)
    assert released(tmp_path / "duckdb", name) == released(tmp_path / "memory", name)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS[:2], ids=lambda own: own["name"])
def test_shuffled_records_are_the_same_ones(algorithm: dict[str, Any], tmp_path: Path) -> None:
    config = asked(made(tmp_path), algorithm, "r.parquet") | {"engine": beyond(40)}
    config["output"]["order"] = "shuffled"
    found = []
    for name in ("one", "other"):
        run(load_config(config), tmp_path / name)
        found.append(released(tmp_path / name, "r.parquet")[1])
    assert found[0] != found[1]
    assert Counter(found[0]) == Counter(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
@pytest.mark.parametrize("algorithm", ALGORITHMS[:2], ids=lambda own: own["name"])
def test_a_join_that_swaps_two_classes_is_noticed(
    algorithm: dict[str, Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No column changes, nor any size: only what stands beside what does."""

    config = load_config(asked(made(tmp_path), algorithm, name) | {"engine": beyond(40)})
    run(config, tmp_path / "honest")
    monkeypatch.setattr(DuckRecodedQuery, "copy", swapping(DuckRecodedQuery.copy))
    with pytest.raises(AuditFailed, match="a record is not a recoded record of the input"):
        run(config, tmp_path / "lying")
    assert not (tmp_path / "lying").exists()
    monkeypatch.setattr(DuckRecodedQuery, "check", lambda *_: None)
    # Nobody else would notice.
    run(config, tmp_path / "unnoticed")
