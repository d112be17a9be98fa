"""Under a model that merging can break, a class loses more than its parts: no proof about these follows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import anonymizer as an

PEOPLE = [("a", "x", 150), ("b", "x", 45), ("b", "y", 5), ("c", "x", 160), ("c", "y", 40)]


@pytest.mark.parametrize("method", ["classes", "records"])
@pytest.mark.parametrize("reference", ["input", "release"])
def test_what_holds_unmerged_is_found(method: str, reference: str) -> None:
    rows = [(place, illness) for place, illness, number in PEOPLE for _ in range(number)]
    frame = pd.DataFrame(rows, columns=["place", "illness"])
    tree = {"*": {"AB": ["a", "b"], "C": ["c"]}}
    config = {
        "attributes": {
            "place": {"role": "quasi-identifier", "hierarchy": {"tree": tree}},
            "illness": {"role": "sensitive"},
        },
        "constraints": [{"model": "delta-disclosure", "delta": 0.8, "absent": "ignored"}],
        "reference": reference,
        "suppression": {"limit": 0.01, "method": method},
    }
    found = an.anonymize(frame, config).report["search"]
    assert (found["objective"], found["optimal"]) == (0.0, True)


@pytest.mark.parametrize("limit", [1, 0.5])
def test_nobody_left_but_stars_is_no_class_to_improve(limit: float) -> None:
    frame = pd.DataFrame({"q": [f"v{i}" for i in range(14)], "s": ["x", "y"] * 7})
    config = {
        "attributes": {
            "q": {"role": "quasi-identifier", "levels": {"max": 0}},
            "s": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "suppression": {"limit": limit, "keep_rows": True},
        "algorithm": {"name": "local"},
    }
    if limit < 1:
        with pytest.raises(an.Infeasible):
            an.anonymize(frame, config)
    else:
        assert set(an.anonymize(frame, config).data["q"]) == {"*"}


@pytest.mark.quick(1)
@pytest.mark.parametrize(("few", "records", "k"), [(3, 14, 4), (4, 30, 5), (1, 14, 2)])
def test_records_of_one_combination_fill_another_class(few: int, records: int, k: int) -> None:
    values = np.array(["a"] * few + ["b"] * (records - few))
    config = {
        "attributes": {"q": {"role": "quasi-identifier"}},
        "constraints": [{"model": "k-anonymity", "k": k}],
        "algorithm": {"name": "local"},
    }
    found = an.anonymize(pd.DataFrame({"q": values}), config).report["search"]
    assert found["objective"] == pytest.approx(k / records)
