"""Adult as the benchmarks use it: the file, its hierarchies, and configs for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.shared import shared

ATTRIBUTES = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
"""In the order of the file."""

SENSITIVE = "occupation"
"""Where a benchmark needs a sensitive attribute; the other eight are the quasi-identifiers then."""

LEVELS = {
    "sex": 0,
    "age": 3,
    "race": 0,
    "marital-status": 1,
    "education": 2,
    "native-country": 1,
    "workclass": 1,
    "salary-class": 0,
}
"""The generalization on which checkers are compared."""


def data() -> Path:
    """Return the file: 30,162 records."""
    return shared("data", "adult", "data.csv.gz")


def frame() -> pd.DataFrame:
    """Return the records, all columns as text."""
    return pd.read_csv(data(), dtype=str, keep_default_na=False)


def hierarchy(attribute: str) -> Path:
    """Return the file of a hierarchy."""
    return shared("data", "adult", "hierarchies", f"{attribute}.csv")


def generalized(records: pd.DataFrame, levels: Mapping[str, int], k: int) -> pd.DataFrame:
    """Return records at the given levels, without those whose class is smaller than ``k``."""
    published = records.copy()
    for attribute, level in levels.items():
        steps = pd.read_csv(hierarchy(attribute), header=None, dtype=str, keep_default_na=False)
        published[attribute] = published[attribute].map(dict(zip(steps[0], steps[level], strict=True)))
    sizes = published.groupby(list(levels))[SENSITIVE].transform("size")
    return published[sizes >= k].reset_index(drop=True)


def config(path: Path, limit: float, k: int = 5, attributes: Sequence[str] = ATTRIBUTES) -> dict[str, Any]:
    """Return a config: every attribute a quasi-identifier with its hierarchy, k-anonymity, metric loss."""
    return {
        "input": {"path": str(path)},
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": {"file": str(hierarchy(name))}}
            for name in attributes
        },
        "constraints": [{"model": "k-anonymity", "k": k}],
        "suppression": {"limit": limit},
        "objective": {"metric": "loss"},
    }


def write_config(target: Path, path: Path, limit: float, **others: Any) -> Path:
    """Write the config for a file in the shape of Adult with other keys, and return where it is."""
    target.write_text(json.dumps({**config(path, limit), **others}), encoding="utf-8")
    return target
