"""Household risk on a survey of 1,000 households, against a slow script; constraints, and what is refused."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter, defaultdict
from fractions import Fraction
from io import StringIO
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy  # scipy.stats, which takes a second to load, is loaded where it is used
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.model.households import HouseholdClasses, Households
from tests.helpers.messages import exchange
from tests.run.commands import assert_audits, call
from tests.shared import shared

QI = {"role": "quasi-identifier"}
KEYS = ("urbrur", "roof", "water", "relat", "sex")


def persons() -> list[dict[str, str]]:
    text = gzip.decompress(shared("data", "sdc_testdata", "data.csv.gz").read_bytes()).decode()
    names = (*KEYS, "ori_hid", "sampling_weight")
    return [{name: line[name] for name in names} for line in csv.DictReader(StringIO(text))]


def individual_risk(sample: int, people: float) -> float:
    """Return E(1/F | f) term by term: F - f is negative binomial with p = f / the sum of the weights."""
    share = sample / people
    if share >= 1:
        return 1 / sample
    others = np.arange(int((sample + 40 * sample**0.5 + 60) / share))
    return float((scipy.stats.nbinom.pmf(others, sample, share) / (sample + others)).sum())


def slow(rows: list[dict[str, str]], *, weighted: bool) -> tuple[float, float]:
    """Return the highest risk of a household, and the mean over persons."""
    sizes = Counter(tuple(row[key] for key in KEYS) for row in rows)
    people: dict[tuple[str, ...], Fraction] = defaultdict(Fraction)
    for row in rows:
        people[tuple(row[key] for key in KEYS)] += Fraction(row["sampling_weight"])
    missed: dict[str, float] = defaultdict(lambda: 1.0)
    known: dict[tuple[int, float], float] = {}
    for row in rows:
        key = tuple(row[each] for each in KEYS)
        pair = sizes[key], float(people[key])
        if pair not in known:
            known[pair] = individual_risk(*pair) if weighted else 1 / pair[0]
        missed[row["ori_hid"]] *= 1 - known[pair]
    found = [1 - missed[row["ori_hid"]] for row in rows]
    return max(found), sum(found) / len(found)


def written(folder: Path, **changed: Any) -> Path:
    pd.DataFrame(persons()).to_csv(folder / "survey.csv", index=False)
    config: dict[str, Any] = {
        "input": {"path": "survey.csv", "household": "ori_hid"},
        "attributes": {
            **{key: {**QI, "type": "text"} for key in KEYS},
            "ori_hid": "drop",
            "sampling_weight": {"role": "weight", "release": False},
        },
        "constraints": [{"model": "household-risk", "max": 0.5}],
        "suppression": {"limit": 0},
        "acknowledge": ["rows-are-persons"],
    }
    path = folder / "job.json"
    path.write_text(json.dumps({**config, **changed}), encoding="utf-8")
    return path


@pytest.mark.slow
def test_check_measures_what_a_slow_script_does(tmp_path: Path) -> None:
    config = written(tmp_path)
    found = call("check", tmp_path / "survey.csv", "-c", config, "--json").json
    measured = {
        (each["parameters"]["against"], each["parameters"]["at"]): each["measured"]
        for each in found["measures"]
        if each["model"] == "household-risk"
    }
    highest, mean = slow(persons(), weighted=False)
    assert measured["records", "highest"] == pytest.approx(highest, abs=1e-10)
    assert measured["records", "mean"] == pytest.approx(mean, abs=1e-10)
    highest, mean = slow(persons(), weighted=True)
    assert measured["population", "highest"] == pytest.approx(highest, abs=1e-8)
    assert measured["population", "mean"] == pytest.approx(mean, abs=1e-8)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "given",
    [
        {"model": "household-risk", "max": 0.3},
        {"model": "household-risk", "max": 0.05, "at": "mean"},
        {"model": "household-risk", "max": 0.01, "against": "population"},
    ],
    ids=str,
)
def test_a_release_keeps_the_risk(given: dict[str, Any], tmp_path: Path) -> None:
    config = written(tmp_path, constraints=[given])
    done = call("run", config, "-o", tmp_path / "out", "-q")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    levels, rows = report["recoding"]["levels"], persons()
    for row in rows:
        row.update({key: "*" for key in KEYS if levels[key]})
    highest, mean = slow(rows, weighted="against" in given)
    (constraint,) = report["constraints"]
    expected = mean if given.get("at") == "mean" else highest
    assert constraint["measured"] == pytest.approx(expected, abs=1e-8)
    assert constraint["measured"] <= given["max"]
    assert not constraint["verifiable_from_release"]
    assert "ori_hid" not in pd.read_csv(tmp_path / "out" / "share" / "release.csv")
    assert_audits(tmp_path / "out")


REFUSED: dict[str, dict[str, Any]] = {
    "no households": {"input": {"path": "survey.csv"}},
    "local recoding": {"algorithm": {"name": "local"}},
    "Mondrian": {"algorithm": {"name": "mondrian"}},
    "kept rows": {"suppression": {"limit": 0.1, "keep_rows": True}},
    "whole households": {"suppression": {"limit": 0.1, "whole": "household"}},
    "a scenario": {
        "scenarios": {"near": {"known": ["sex"], "models": [{"model": "household-risk", "max": 0.5}]}}
    },
    "beside a scenario": {
        "scenarios": {"near": {"known": ["sex"], "models": [{"model": "k-anonymity", "k": 2}]}}
    },
    "single records": {"suppression": {"limit": 0.1, "method": "records"}},
    "mondrian against a population": {
        "algorithm": {"name": "mondrian"},
        "constraints": [{"model": "household-risk", "max": 0.5, "against": "population"}],
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_serve_is_refused(case: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    done = call("run", written(tmp_path, **REFUSED[case]), "-o", tmp_path / "out", "-q")
    assert done.code == 2
    assert exchange(case, done.err.replace(f"{tmp_path}/", "")) == message


@given(st.integers(0, 10**6))
def test_members_of_merged_and_chosen_items(seed: int) -> None:
    random = Random(seed)
    records = random.randint(1, 40)
    items = random.randint(1, 8)
    item_of = [*range(items), *(random.randrange(items) for _ in range(records))]
    household_of = [random.randint(-1, 6) for _ in item_of]
    group_of = np.array([random.randrange(3) for _ in range(items)])
    chosen = np.array([random.random() < 0.6 for _ in range(items)])
    risks = np.array([random.choice((0.0, 0.1, 0.5, 1.0)) for _ in range(3)])
    whole = Households.of_records(np.array(item_of), np.array(household_of), items)
    missed: dict[Any, float] = defaultdict(lambda: 1.0)
    for record, (item, household) in enumerate(zip(item_of, household_of, strict=True)):
        if chosen[item]:
            name = household if household >= 0 else ("alone", record)
            missed[name] *= 1 - risks[group_of[item]]
    expected = sorted(1 - each for each in missed.values())
    if not chosen.any():
        return
    for part in (whole.at(chosen), whole.at(np.flatnonzero(chosen))):
        own = HouseholdClasses.of(part, group_of[chosen])
        assert np.allclose(np.sort(own.risks(risks)), expected)
    merged = whole.at(chosen).merged(group_of[chosen], 3)
    again = HouseholdClasses.of(merged, np.arange(3))
    assert np.allclose(np.sort(again.risks(risks)), expected)
    assert isclose(again.sizes.sum(), sum(chosen[item] for item in item_of))
