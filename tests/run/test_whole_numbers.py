"""Recoded columns of a database stay whole numbers where nobody generalized them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.run.commands import call

CONFIG: dict[str, Any] = {
    "input": {"database": "given.duckdb", "table": "people"},
    "output": {"database": "released.duckdb", "table": "people"},
    "attributes": {
        "born": {"role": "quasi-identifier", "type": "integer", "levels": {"max": 0}},
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": {"width": [10]}}},
        "pay": "sensitive",
    },
    "constraints": [{"model": "k-anonymity", "k": 5}],
    "suppression": {"limit": 0},
}


def given(folder: Path, further: str = "") -> None:
    """Make a table of 60 people born in two years; each age occurs twice."""
    with duckdb.connect(str(folder / "given.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT CAST(1980 + i % 2 AS SMALLINT) AS born, "
            "CAST(20 + i // 2 AS INTEGER) AS age, i * 100 AS pay FROM range(60) AS r(i)"
        )
        if further:
            connection.execute(further)


def released(folder: Path, config: dict[str, Any]) -> dict[str, str]:
    """Run a config; return the types of the released table."""
    (folder / "job.yaml").write_text(yaml.safe_dump(config))
    done = call("run", folder / "job.yaml", "-o", folder / "out")
    assert done.code == 0, done.err
    with duckdb.connect(str(folder / "released.duckdb"), read_only=True) as connection:
        return {str(row[0]): str(row[1]) for row in connection.execute("DESCRIBE people").fetchall()}


def test_only_what_is_generalized_becomes_text(tmp_path: Path) -> None:
    given(tmp_path)
    assert released(tmp_path, CONFIG) == {"born": "BIGINT", "age": "VARCHAR", "pay": "BIGINT"}
    with duckdb.connect(str(tmp_path / "released.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT born, count(*) FROM people GROUP BY born ORDER BY born").fetchall()
    assert found == [(1980, 30), (1981, 30)]


@pytest.mark.quick(1)
@pytest.mark.parametrize(("marker", "kind"), [(None, "VARCHAR"), ("", "BIGINT")])
def test_a_missing_value_is_a_null_only_with_a_marker(marker: str | None, kind: str, tmp_path: Path) -> None:
    given(tmp_path, "UPDATE people SET born = NULL WHERE born = 1981")
    config = {**CONFIG, "output": CONFIG["output"] | ({} if marker is None else {"missing": marker})}
    assert released(tmp_path, config)["born"] == kind


def test_texts_of_digits_stay_texts(tmp_path: Path) -> None:
    given(tmp_path, "ALTER TABLE people ALTER born TYPE VARCHAR")
    assert released(tmp_path, CONFIG)["born"] == "VARCHAR"


def test_a_suppressed_value_keeps_the_column_text(tmp_path: Path) -> None:
    given(tmp_path, "UPDATE people SET born = 1880 + age WHERE age < 23")
    config = {**CONFIG, "suppression": {"limit": 0.1, "keep_rows": True}}
    assert released(tmp_path, config)["born"] == "VARCHAR"
