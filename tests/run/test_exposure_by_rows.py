"""Runs whose columns are those of the distinct rows show the same by these as record by record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizer.config.load import load_config
from anonymizer.exposure.counted import CountedRelease
from anonymizer.exposure.measure import Thresholds, exposure_of
from anonymizer.exposure.records import ReleasedRecords
from anonymizer.job.clock import UNWATCHED
from anonymizer.job.exposure import release_of, released_records
from anonymizer.job.source import input_source
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import plan_of
from anonymizer.plan.prepared import Found

RECORDS = 600

ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.1}},
    "mondrian": {"algorithm": {"name": "mondrian"}},
    "local": {"algorithm": {"name": "local"}, "budget": {"steps": 3}, "suppression": {"limit": 0.05}},
    "anatomy": {
        "algorithm": {"name": "anatomy"},
        "constraints": [{"model": "l-diversity", "l": 2, "attribute": "ill"}],
    },
}


@contextmanager
def searched(folder: Path, further: dict[str, Any], **roles: str) -> Iterator[Found]:
    """Yield what a search finds for made-up records, with the roles of further columns."""
    random = np.random.default_rng(4)
    age = 20 + random.geometric(0.15, size=RECORDS)
    frame = pd.DataFrame(
        {
            "id": np.arange(RECORDS),
            "age": age,
            "town": [f"T{each}" for each in random.geometric(0.6, size=RECORDS)],
            "sex": random.choice(["F", "M", ""], size=RECORDS),
            "ill": random.choice([*"abcd"], size=RECORDS),
            "seniority": age // 5,
        }
    )
    path = folder / "records.csv"
    frame.to_csv(path, index=False)
    given = {"id": "identifier", "age": "quasi-identifier", "town": "quasi-identifier"}
    given |= {"sex": "quasi-identifier", "ill": "sensitive", "seniority": "drop"} | roles
    config = {
        "input": {"path": str(path)},
        "attributes": {name: {"role": role} for name, role in given.items()},
        "constraints": [{"model": "k-anonymity", "k": 4}],
        "attacks": [],
    }
    loaded = load_config(config | further)
    with input_source(loaded).task(plan_of(loaded), engine_options(loaded), UNWATCHED) as task:
        yield task.find()


def none() -> None:
    """Return none."""


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seniority", ["drop", "quasi-identifier"])
def test_a_run_shows_the_same_by_rows_as_by_records(tmp_path: Path, algorithm: str, seniority: str) -> None:
    with searched(tmp_path, ALGORITHMS[algorithm], seniority=seniority) as own:
        assert own.recoding.removed.any() or algorithm != "lattice"
        for threshold in (0.0, 0.05):
            thresholds = Thresholds(threshold, threshold, threshold, predicts=0.5)
            releases = release_of(own), released_records(own)
            by_rows, by_records = (exposure_of(each, thresholds) for each in releases)
            assert replace(by_rows, few=none) == replace(by_records, few=none)
            assert by_rows.few() == by_records.few()


@pytest.mark.parametrize(("seniority", "kind"), [("drop", CountedRelease), ("insensitive", ReleasedRecords)])
def test_columns_beside_the_distinct_rows_are_measured_by_records(
    tmp_path: Path, seniority: str, kind: type
) -> None:
    with searched(tmp_path, ALGORITHMS["mondrian"], seniority=seniority) as own:
        assert isinstance(release_of(own), kind)
