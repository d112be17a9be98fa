"""No algorithm, by no method, suppresses one record more than the limit allows."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from anonymizer.search.base import SEARCH_ALGORITHMS

LONELY, RECORDS = 3, 20

PAIRS = sorted(
    (name, method.value)
    for name, plug_in in SEARCH_ALGORITHMS.items()
    if not (plug_in.in_groups or plug_in.aggregates)
    for method in plug_in.suppressions()
)


def asked(algorithm: str, method: str, lost: float) -> dict[str, Any]:
    """Return a config that may suppress so many records, or a part of one more, which is none."""
    return {
        "attributes": {"place": {"role": "quasi-identifier", "levels": {"max": 0}}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "suppression": {"limit": lost / RECORDS, "method": method},
        "algorithm": {"name": algorithm},
        "budget": {"steps": 5},
        "attacks": [],
        "bound": "none",
    }


@pytest.mark.quick(3)
@pytest.mark.parametrize(("algorithm", "method"), PAIRS)
def test_the_limit_is_exact(algorithm: str, method: str) -> None:
    """Three records are alone and cannot be generalized."""
    frame = pd.DataFrame({"place": ["common"] * (RECORDS - LONELY) + ["north", "east", "west"]})
    result = an.anonymize(frame, asked(algorithm, method, LONELY))
    assert result.data["place"].tolist() == ["common"] * (RECORDS - LONELY)
    assert result.report.to_dict()["release"]["suppressed_records"] == LONELY
    for fewer in (LONELY - 1, LONELY - 0.2):
        with pytest.raises(an.Infeasible):
            an.anonymize(frame, asked(algorithm, method, fewer))
