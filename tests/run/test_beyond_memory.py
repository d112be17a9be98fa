"""Runs whose combinations stay in the engine against the same runs in memory."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.errors import TooManyDistinctRows
from anonymizer.model.recoding import Outcome
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests.helpers.examples import quickly
from tests.helpers.messages import exchange
from tests.helpers.reports import without_times

COLUMNS = ("a", "b", "c", "s")
MODELS: dict[str, dict[str, Any]] = {
    "k": {"model": "k-anonymity", "k": 3},
    "l": {"model": "l-diversity", "l": 2, "attribute": "s"},
    "t": {"model": "t-closeness", "t": 0.3, "attribute": "s"},
    "whole": {"model": "vulnerability", "max": 0.4, "target": "re-identification"},
}


def frame(rows: list[tuple[int, int, int, int]]) -> pd.DataFrame:
    texts = [(f"a{a}", str(b), f"c{c}", f"s{s}") for a, b, c, s in rows]
    return pd.DataFrame(texts, columns=list(COLUMNS), dtype=str)


def config(models: tuple[str, ...], **others: Any) -> dict[str, Any]:
    """Weights of which no sums are equal, so that no two nodes cost the same by chance."""
    return {
        "attributes": {
            "a": {"role": "quasi-identifier", "hierarchy": {"mask": {"from": "right"}}, "weight": 1.0},
            "b": {
                "role": "quasi-identifier",
                "hierarchy": {"intervals": {"width": [2, 4], "origin": 0}},
                "type": "integer",
                "weight": 1.2337,
            },
            "c": {"role": "quasi-identifier", "weight": 1.5713},
            "s": {"role": "sensitive"},
        },
        "constraints": [MODELS[name] for name in models],
        **others,
    }


def told(rows: pd.DataFrame, asked: dict[str, Any]) -> tuple[str, dict[str, Any], list[Any]]:
    """Return the status, what the report and the page tell, and the released records.

    How vulnerable the input is by known attributes is not known of combinations that are not in memory.
    """
    try:
        result = an.anonymize(rows, asked)
    except an.Infeasible as error:
        return error.report.to_dict()["status"], {}, []
    report = result.report.to_dict()
    kept = ("status", "recoding", "constraints", "loss", "release", "attacks")
    shown = without_times({key: report[key] for key in kept})
    befores = [each.before is None for each in result.facts.knowing]
    knowing = tuple(each._replace(before=None) for each in result.facts.knowing)
    shown["facts"] = asdict(replace(result.facts, knowing=knowing))
    assert all(befores) if "engine" in asked else not any(befores)
    return report["status"], shown, sorted(map(tuple, result.data.to_numpy().tolist()))


def drawn() -> st.SearchStrategy[list[tuple[int, int, int, int]]]:
    row = st.tuples(st.integers(0, 3), st.integers(0, 7), st.integers(0, 2), st.integers(0, 2))
    return st.lists(row, min_size=6, max_size=60)


@pytest.mark.slow
@quickly(40, 15)
@given(
    drawn(),
    st.sampled_from([("k",), ("k", "l"), ("k", "t"), ("k", "whole"), ("l",)]),
    st.sampled_from([0, 0.1]),
    st.booleans(),
    st.sampled_from(["release", "input"]),
)
def test_they_tell_the_same(
    rows: list[tuple[int, int, int, int]],
    models: tuple[str, ...],
    limit: float,
    keep_rows: bool,
    reference: str,
) -> None:
    data = frame(rows)
    others: dict[str, Any] = {
        "suppression": {"limit": limit, "keep_rows": keep_rows},
        "reference": reference,
        "attacks": ["vulnerability", "uniqueness", "homogeneity"],
    }
    in_memory = told(data, config(models, **others))
    distinct = len({tuple(row) for row in data.to_numpy().tolist()})
    # All but one would fit, so that the search asks the engine for what it may not hold.
    assume(distinct > 1)
    most = distinct - 1
    beyond = config(models, engine={"name": "duckdb", "options": {"combinations": most}}, **others)
    try:
        found = told(data, beyond)
    except an.InputError as refused:
        message = str(refused)
        found = None
    if found is None:
        assert "engine.options.combinations" in message
        return
    assert found[0] == in_memory[0]
    assert found[2] == in_memory[2]
    assert same_numbers(found[1], in_memory[1])


def same_numbers(found: Any, expected: Any) -> bool:
    if isinstance(found, dict):
        return found.keys() == expected.keys() and all(same_numbers(found[k], expected[k]) for k in found)
    if isinstance(found, list | tuple):
        return len(found) == len(expected) and all(map(same_numbers, found, expected))
    if isinstance(found, float):
        return found == pytest.approx(expected, rel=1e-12)
    return bool(found == expected)


def test_what_is_infeasible_in_memory_is_infeasible_beyond() -> None:
    data = frame([(n % 4, n % 8, n % 3, 0) for n in range(24)])
    asked = {**config(("k",)), "constraints": [{"model": "k-anonymity", "k": 25}]}
    assert told(data, asked)[0] == "infeasible"
    engine = {"name": "duckdb", "options": {"combinations": 2}}
    with pytest.raises(an.Infeasible) as refused:
        an.anonymize(data, {**asked, "engine": engine})
    report = refused.value.report.to_dict()
    assert report["status"] == "infeasible"
    assert report["engine"]["name"] == "duckdb"


def test_reasons_that_take_more_than_fits_are_not_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    data = frame([(n % 4, n % 8, n % 3, 0) for n in range(24)])
    real, asked = Lattice.search, []

    def search(self: Lattice, problem: SearchProblem, control: Control) -> Outcome:
        asked.append(problem)
        if len(asked) > 1:
            raise TooManyDistinctRows("a finer node does not fit")
        return real(self, problem, control)

    monkeypatch.setattr(Lattice, "search", search)
    with pytest.raises(an.Infeasible) as refused:
        an.anonymize(data, {**config(("k",)), "constraints": [{"model": "k-anonymity", "k": 25}]})
    assert len(asked) > 1
    assert refused.value.report.to_dict()["diagnosis"]["complete"] is False


def test_a_search_that_needs_more_says_so() -> None:
    data = frame([(n % 4, n % 8, n % 3, 0) for n in range(24)])
    asked = {**config(("k",)), "engine": {"name": "duckdb", "options": {"combinations": 1}}}
    with pytest.raises(an.InputError, match=r"more than 1 distinct rows.* engine\.options\.combinations"):
        an.anonymize(data, asked)


def test_regions_of_a_data_frame_are_refused(message: SnapshotAssertion) -> None:
    """The engine that stores the distinct rows does not have the records."""
    data = frame([(n % 4, n % 8, n % 3, 0) for n in range(24)])
    asked = {**config(("k",)), "engine": {"name": "duckdb", "options": {"combinations": 5}}}
    with pytest.raises(an.InputError) as refused:
        an.anonymize(data, {**asked, "algorithm": {"name": "mondrian"}})
    assert exchange("mondrian on a DataFrame out of core", refused.value) == message


def test_auto_takes_lattice_for_a_data_frame() -> None:
    data = frame([(n % 4, n % 8, n % 3, 0) for n in range(24)])
    engine = {"name": "duckdb", "options": {"combinations": 23}}
    asked = {**config(("k",)), "constraints": [{"model": "k-anonymity", "k": 6}], "attacks": "none"}
    search = an.anonymize(data, {**asked, "engine": engine, "algorithm": "auto"}).report["search"]
    assert search["algorithm"] == "lattice"
    assert "DataFrame" in search["chosen_because"][0]
