"""Tables of many columns that depend on each other: twelve values each, from four hidden numbers a record.

Products are added one after the other, so that no platform rounds differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.suites.suite import Suite

HIDDEN = 4
VALUES = 12
SENSITIVE = "s"
LIMITS = (-1.5, -0.5, 0.5, 1.5)
"""Of one hidden number, with noise, between the values of the sensitive attribute."""


def values(random: np.random.Generator, records: int, columns: int) -> NDArray[np.int64]:
    """Return numbers from 0 to 11, shape (records, columns), int64."""
    return _values(random, random.normal(size=(records, HIDDEN)), columns)


def _values(random: np.random.Generator, hidden: NDArray[np.float64], columns: int) -> NDArray[np.int64]:
    weights = random.normal(size=(HIDDEN, columns))
    mixed = np.zeros((len(hidden), columns))
    for place in range(HIDDEN):
        mixed += hidden[:, [place]] * weights[place]
    noise = random.normal(size=(len(hidden), columns))
    found: NDArray[np.float64] = np.clip(np.floor((0.6 * mixed + noise + 3) * 2), 0, VALUES - 1)
    return found.astype(np.int64)


def quasi_identifier() -> dict[str, Any]:
    """Return the settings of a column."""
    hierarchy = {"intervals": {"width": [2, 4, VALUES], "origin": 0}}
    return {"role": "quasi-identifier", "type": "integer", "hierarchy": hierarchy}


class Wide(Suite):
    """Quasi-identifiers named q0, q1 and so on, and a sensitive attribute of five values."""

    name = "wide"
    sizes = {"records": 3_000, "columns": 20}
    # A full-domain search of so many columns does not end by itself.
    budget = {"cpu_seconds": 10}
    sensitive = SENSITIVE

    def attributes(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return the columns with their roles and hierarchies."""
        known = {f"q{place}": quasi_identifier() for place in range(sizes["columns"])}
        return {**known, SENSITIVE: {"role": "sensitive", "type": "text"}}

    def write(self, path: Path, seed: int, sizes: Mapping[str, int]) -> None:
        """Write a table."""
        random = np.random.default_rng(seed)
        hidden = random.normal(size=(sizes["records"], HIDDEN))
        known = _values(random, hidden, sizes["columns"])
        own = np.searchsorted(LIMITS, hidden[:, 0] + random.normal(size=len(hidden)))
        header = ",".join([*(f"q{place}" for place in range(sizes["columns"])), SENSITIVE])
        np.savetxt(path, np.column_stack([known, own]), "%d", ",", header=header, comments="")
