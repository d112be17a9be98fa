"""Queries on a generalized Adult, answered once more row by row from its hierarchy files."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonymizer.adversary.files import adversary_from_files
from anonymizer.config.load import load_config
from anonymizer.data.open import open_frame
from anonymizer.plan.plan import plan_of
from anonymizer.utility.comparison import comparison_of
from anonymizer.utility.query_error import QueryShape, random_query
from tests.helpers.adult import cells, paths
from tests.shared import shared
from tests.twins.utility import Cell, expected, total_variation
from tests.utility.cases import taken

LEVELS = {"sex": 0, "age": 3, "marital-status": 1, "native-country": 1, "workclass": 2}
SENSITIVE = "occupation"
RECORDS = 600


def published(name: str, level: int, original: list[str], row: int) -> str:
    """Return what is published of a cell: every ninth is suppressed, every seventh untouched."""
    own = paths(name)[original[row]]
    return own[-1] if row % 9 == 0 else own[0 if row % 7 == 0 else level]


def stands_for(name: str, text: str, domain: list[str]) -> Cell:
    """Return the values of the domain that have a label in their row of the hierarchy."""
    return [value for value in domain if text in paths(name)[value]]


@pytest.fixture(scope="module")
def records() -> dict[str, list[str]]:
    return {name: list(islice(cells()[name], RECORDS)) for name in (*LEVELS, SENSITIVE)}


@pytest.mark.slow
def test_a_locally_recoded_adult_is_read_by_its_hierarchies(records: dict[str, list[str]]) -> None:
    roles: dict[str, Any] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": {"file": str(shared("data", "adult", "hierarchies", f"{name}.csv"))},
        }
        for name in LEVELS
    }
    config = load_config(
        {
            "attributes": {**roles, SENSITIVE: {"role": "sensitive"}},
            "constraints": [{"model": "k-anonymity", "k": 1}],
        }
    )
    texts = {
        name: [published(name, level, records[name], row) for row in range(RECORDS)]
        for name, level in LEVELS.items()
    }
    release = pd.DataFrame({**texts, SENSITIVE: records[SENSITIVE]})
    with open_frame(release) as first, open_frame(pd.DataFrame(records)) as second:
        comparison = comparison_of(adversary_from_files(plan_of(config), first, second))
    names = [*LEVELS, SENSITIVE]
    domains = {name: sorted(set(records[name])) for name in names}
    meanings = {
        name: {text: stands_for(name, text, domains[name]) for text in set(texts[name])} for name in LEVELS
    }
    rows = [
        [*(meanings[name][texts[name][row]] for name in LEVELS), (records[SENSITIVE][row],)]
        for row in range(RECORDS)
    ]
    true = [[(records[name][row],) for name in names] for row in range(RECORDS)]
    random = np.random.default_rng(0)
    for _ in range(12):
        query = random_query(comparison.columns, ([*LEVELS], [SENSITIVE]), QueryShape(2, 0.1), random)
        wanted = {
            names.index(name): {
                text for text, own in zip(comparison.columns[name].texts, chosen, strict=True) if own
            }
            for name, chosen in query.wanted.items()
        }
        assert comparison.original.expected(query) == expected(true, wanted)
        assert comparison.release.expected(query) == pytest.approx(float(expected(rows, wanted)))
    found = taken("marginal-distance", comparison).details["attributes"]
    for place, name in enumerate(names):
        assert found[place]["attribute"] == name
        assert found[place]["total_variation"] == pytest.approx(float(total_variation(true, rows, [place])))
    pairs = {
        tuple(each["attributes"]): each["total_variation"]
        for each in taken("pair-distance", comparison, bins=1000).details["farthest"]
    }
    assert pairs["age", "native-country"] == pytest.approx(float(total_variation(true, rows, [1, 3])))
