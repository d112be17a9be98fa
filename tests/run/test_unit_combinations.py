"""Every model of classes with every unit, algorithm and method of suppression: right, or refused.

What runs is judged by the definitions on sets of units, found by a column that numbers the records; what is
refused names a key. Random problems of each pair are in tests/search.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from anonymizer.errors import ConfigError
from anonymizer.privacy.base import PRIVACY_MODELS
from tests.twins.microdata import SensitiveSpec
from tests.twins.privacy import CLASS_TWINS, JOINED, Persons

MODELS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 2},
    "alpha-k-anonymity": {"alpha": 0.9, "k": 2},
    "p-sensitive-k-anonymity": {"p": 2, "k": 2},
    "l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 1.2},
    "recursive-cl-diversity": {"c": 3, "l": 2},
    "t-closeness": {"t": 0.5},
    "basic-beta-likeness": {"beta": 2},
    "enhanced-beta-likeness": {"beta": 2},
    "delta-disclosure": {"delta": 1.5, "absent": "ignored"},
    **{name: dict(PRIVACY_MODELS[name].examples[0]) for name in sorted(JOINED & CLASS_TWINS.keys())},
}
UNITS = {"record": None, "person": "patient", "household": "family", "ward": "ward"}
ALGORITHMS = ("auto", "lattice", "mondrian", "local", "microaggregation", "anatomy")
METHODS = ("classes", "records", "cells")
NAMES = ("age", "score")
KEYS = ("algorithm.name", "suppression.method", "algorithm:", "suppression:", "constraints[0]")


def stays() -> pd.DataFrame:
    """Return stays of 24 patients of 12 families; some change their age, all have several illnesses."""
    random, rows = Random(5), []
    for patient in range(24):
        age, score = random.randint(20, 50), random.randint(0, 9)
        for stay in range(random.randint(1, 3)):
            illness, ward = random.choice(("asthma", "cancer", "flu")), random.randint(1, 9)
            rows.append((f"p{patient}", f"f{patient // 2}", f"w{ward}", age + stay % 2, score, illness))
    frame = pd.DataFrame(rows, columns=["patient", "family", "ward", *NAMES, "illness"])
    return frame.assign(row=range(len(frame)))


FRAME = stays()
CELLS = {name: FRAME[name].tolist() for name in FRAME}
"""The columns as lists: looking up a cell of a frame takes longer than the tested run."""


def config(model: str, unit: str, algorithm: str, method: str) -> dict[str, Any]:
    number = {"role": "quasi-identifier", "type": "integer"}
    own = {} if model == "k-anonymity" else {"attribute": "illness"}
    constraints = [{"model": model, **MODELS[model], **own, "unit": unit}]
    if algorithm == "anatomy" and model != "l-diversity":
        constraints.append({"model": "l-diversity", "l": 2, "attribute": "illness", "unit": "record"})
    return {
        "input": {"person": "patient", "household": "family", "units": {"ward": "ward"}},
        "attributes": {
            **{name: {"role": "identifier"} for name in ("patient", "family", "ward")},
            "age": {**number, "hierarchy": {"intervals": {"width": [5, 10], "origin": 0}}},
            "score": {**number, "hierarchy": {"intervals": {"width": [5], "origin": 0}}},
            "illness": {"role": "sensitive"},
            "row": {"role": "insensitive"},
        },
        "constraints": constraints,
        "reference": "input",
        "suppression": {"limit": 0.5, "method": method},
        "algorithm": {"name": algorithm},
        "budget": {"steps": 5},
        "attacks": [],
        "bound": "none",
    }


def refusal(asked: dict[str, Any]) -> str | None:
    """Return why a config is refused, None if it is not; no record is read."""
    try:
        an.Config.model_validate({**asked, "input": {**asked["input"], "path": "stays.csv"}})
    except ValueError as error:
        return str(error)
    return None


def units_of(rows: list[int], unit: str) -> Persons:
    found: dict[Any, set[str]] = defaultdict(set)
    for row in rows:
        column = UNITS[unit]
        found[row if column is None else CELLS[column][row]].add(CELLS["illness"][row])
    return {key: frozenset(values) for key, values in found.items()}


def check(model: str, unit: str, algorithm: str, method: str) -> bool:
    """Run one combination, and return whether it has a release; its classes satisfy the definition."""
    asked = config(model, unit, algorithm, method)
    try:
        result = an.anonymize(FRAME, asked)
    except an.Infeasible:
        return False
    classes: dict[tuple[str, ...], list[int]] = defaultdict(list)
    published = result.data
    by = ["group"] if "group" in published else list(NAMES)
    for *cells, row in published[[*by, "row"]].itertuples(index=False, name=None):
        classes[tuple(map(str, cells))].append(int(row))
    illness, reference = SensitiveSpec("illness"), units_of(list(range(len(FRAME))), unit)
    for rows in classes.values():
        own, twin = units_of(rows, unit), CLASS_TWINS[model](MODELS[model])
        if unit == "record":
            values = [CELLS["illness"][row] for row in rows]
            assert twin.holds(values, CELLS["illness"], illness), rows
        else:
            assert twin.holds_for_persons(own, reference, illness), rows
    entry = result.report.to_dict()["constraints"][0]
    assert entry["satisfied"]
    assert entry["parameters"].get("unit", "record") == unit
    if model == "k-anonymity":
        assert entry["measured"] == min(len(units_of(rows, unit)) for rows in classes.values())
    return True


COMBINATIONS = list(product(MODELS, UNITS, ALGORITHMS, METHODS))


@cache
def accepted() -> list[tuple[str, str, str, str]]:
    """Return the combinations that are not refused; to find them takes longer than to collect the tests."""
    return [each for each in COMBINATIONS if refusal(config(*each)) is None]


@pytest.mark.slow
def test_what_is_refused_names_its_key_and_what_would_do() -> None:
    refused = [each for each in COMBINATIONS if each not in accepted()]
    for each in refused:
        message = refusal(config(*each))
        assert message is not None
        assert any(key in message for key in KEYS), message
        assert "accepted" in message or "accepts" in message, message
        with pytest.raises(ConfigError):
            an.anonymize(FRAME, config(*each))
    units = {(algorithm, method) for _, unit, algorithm, method in accepted() if unit != "record"}
    methods = {"auto": METHODS, "lattice": METHODS, "mondrian": METHODS[:2], "local": METHODS[:2]}
    able = {(algorithm, method) for algorithm, own in methods.items() for method in own}
    assert units == {*able, ("microaggregation", "classes")}


def by_turns() -> list[tuple[str, str, str, str]]:
    """Return a quarter of what runs: each algorithm with each method meets each model, by units in turn."""
    ways = list(product(ALGORITHMS, METHODS))
    return [
        each
        for each in accepted()
        if (list(MODELS).index(each[0]) + list(UNITS).index(each[1]) + ways.index(each[2:])) % len(UNITS) == 0
    ]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_what_runs_is_right(model: str) -> None:
    released = [check(*each) for each in by_turns() if each[0] == model]
    assert released.count(True) >= len(released) - 2


@pytest.mark.parametrize("number", range(6))
def test_some_of_what_runs_is_right(number: int) -> None:
    check(*accepted()[number * len(accepted()) // 6])
