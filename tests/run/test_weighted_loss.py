"""Losses by sampling weights, against sums over records in fractions and against every recoding."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.errors import InputError, listed
from anonymizer.loss.base import LOSS_METRICS
from anonymizer.model.features import Feature
from anonymizer.people.weights import _rounded
from tests import strategies
from tests.helpers.examples import quickly
from tests.helpers.messages import exchange
from tests.run.commands import call

WEIGHABLE = [name for name, metric in LOSS_METRICS.items() if Feature.LOSS_WEIGHTS in metric.supports]
"""The metrics that sampling weights or persons can average."""
KEYS = [name.replace("-", "_") for name in WEIGHABLE]
"""The same as keys of a report."""
AREAS = {"*": {"pq": ["p", "q"], "rs": ["r", "s"]}}
AGES = {"*": {"1-3": {"1-2": ["1", "2"], "3x": ["3"]}, "4-6": {"4-5": ["4", "5"], "6x": ["6"]}}}
LEVELS: tuple[tuple[dict[str, str], ...], ...] = (
    (
        {value: value for value in "pqrs"},
        {"p": "pq", "q": "pq", "r": "rs", "s": "rs"},
        dict.fromkeys("pqrs", "*"),
    ),
    (
        {value: value for value in "123456"},
        dict(zip("123456", ("1-2", "1-2", "3x", "4-5", "4-5", "6x"), strict=True)),
        dict(zip("123456", ("1-3",) * 3 + ("4-6",) * 3, strict=True)),
        dict.fromkeys("123456", "*"),
    ),
)
LEAVES = (
    {**dict.fromkeys("pqrs", 1), "pq": 2, "rs": 2, "*": 4},
    {**dict.fromkeys("123456", 1), "1-2": 2, "3x": 1, "4-5": 2, "6x": 1, "1-3": 3, "4-6": 3, "*": 6},
)
WEIGHTS = ("0.5", "1.25", "3", "40", "7.123456")

Row = tuple[str, ...]


def sample(random: Random, most: int, weights: Sequence[str] = WEIGHTS) -> pd.DataFrame:
    """Return records with keys, two quasi-identifiers, a sensitive value and a weight."""
    records = range(random.randint(3, most))
    used = random.sample(weights, random.randint(1, len(weights)))
    return pd.DataFrame(
        {
            "key": [f"i{number}" for number in records],
            "area": [random.choice("pqrs") for _ in records],
            "age": [random.choice("123456") for _ in records],
            "mood": [random.choice("xyz") for _ in records],
            "people": [random.choice(used) for _ in records],
        }
    )


def asked(attributes: Sequence[int] = (1, 1), **changed: Any) -> dict[str, Any]:
    """Return a config whose quasi-identifiers have these weights."""
    return {
        "attributes": {
            "key": {"role": "insensitive"},
            "area": {"role": "quasi-identifier", "hierarchy": {"tree": AREAS}, "weight": attributes[0]},
            "age": {
                "role": "quasi-identifier",
                "type": "text",
                "hierarchy": {"tree": AGES},
                "weight": attributes[1],
            },
            "mood": {"role": "sensitive"},
            "people": {"role": "weight", "release": False},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "objective": {"metric": "loss", "weights": "people"},
        **changed,
    }


@cache
def record_loss(row: Row, attributes: Sequence[int]) -> Fraction:
    """Return the loss of a published record."""
    parts = [
        weight * Fraction(leaves[value] - 1, leaves["*"] - 1)
        for value, leaves, weight in zip(row, LEAVES, attributes, strict=True)
    ]
    return sum(parts, Fraction()) / sum(attributes)


def weighted(rows: Sequence[Row | None], weights: Iterable[str], attributes: Sequence[int]) -> Fraction:
    """Return the mean loss over the people of the records, of which None are suppressed."""
    people = [Fraction(weight) for weight in weights]
    lost = (1 if row is None else record_loss(row, attributes) for row in rows)
    return sum((each * loss for each, loss in zip(people, lost, strict=True)), Fraction()) / sum(people)


def published(data: pd.DataFrame, release: pd.DataFrame) -> list[Row | None]:
    """Return the published values of each record, None for a suppressed one."""
    own = {key: (area, age) for key, area, age in zip(release.key, release.area, release.age, strict=True)}
    return [own.get(key) for key in data.key]


def holds(rows: Sequence[Row | None], moods: Sequence[str], k: int, alpha: Fraction) -> bool:
    """Return whether classes have k records, and no value a larger share than alpha."""
    classes: dict[Row, Counter[str]] = defaultdict(Counter)
    for row, mood in zip(rows, moods, strict=True):
        if row is not None:
            classes[row][mood] += 1
    return bool(classes) and all(
        own.total() >= k and max(own.values()) <= alpha * own.total() for own in classes.values()
    )


def recoded(data: pd.DataFrame) -> Iterator[list[Row]]:
    """Yield the rows of every transformation."""
    for area, age in product(*LEVELS):
        yield [(area[one], age[other]) for one, other in zip(data.area, data.age, strict=True)]


def by_classes(rows: list[Row], k: int, most: int) -> Iterator[list[Row | None]]:
    """Yield the release without classes of fewer than k records, if so many may be suppressed."""
    sizes = Counter(rows)
    kept: list[Row | None] = [row if sizes[row] >= k else None for row in rows]
    if kept.count(None) <= most:
        yield kept


def by_records(rows: list[Row], most: int) -> Iterator[list[Row | None]]:
    """Yield the release without each set of records."""
    for number in range(most + 1):
        for gone in combinations(range(len(rows)), number):
            yield [None if place in gone else row for place, row in enumerate(rows)]


def by_cells(rows: list[Row], most: int) -> Iterator[list[Row | None]]:
    """Yield the release without each set of cells; without all its cells a record is suppressed."""
    choices: list[list[Row | None]] = []
    for row in rows:
        hidden = {tuple("*" if gone else own for gone, own in zip(mask, row, strict=True)) for mask in MASKS}
        bare = ("*", "*")
        choices.append([*sorted(hidden - {bare}), *([bare] if row == bare else [None])])
    for each in product(*choices):
        if each.count(None) <= most:
            yield list(each)


MASKS = ((False, False), (True, False), (False, True), (True, True))

ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {"name": "lattice"},
    "strict": {"name": "mondrian"},
    "relaxed": {"name": "mondrian", "mode": "relaxed"},
    "local": {"name": "local"},
    "auto": {"name": "auto"},
}
SETTINGS = (
    ("lattice", "classes"),
    ("lattice", "records"),
    ("lattice", "cells"),
    ("strict", "classes"),
    ("strict", "records"),
    ("relaxed", "classes"),
    ("local", "classes"),
    ("local", "records"),
    ("auto", "classes"),
)


@pytest.mark.parametrize(("algorithm", "method"), SETTINGS)
@quickly(25, 4)
@given(strategies.randoms())
def test_the_loss_is_that_of_the_release(algorithm: str, method: str, random: Random) -> None:
    data = sample(random, 20)
    attributes, k = (random.randint(1, 2), random.randint(1, 2)), random.randint(1, 3)
    limit = random.randint(0, 4)
    constraints: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}]
    if method == "records":
        constraints.append({"model": "alpha-k-anonymity", "alpha": 0.7, "k": 1})
    config = asked(
        attributes,
        constraints=constraints,
        algorithm=ALGORITHMS[algorithm],
        suppression={"limit": limit / 10, "method": method, "keep_rows": random.random() < 0.2},
        engine={"name": random.choice(("memory", "duckdb"))},
        budget={"steps": 40},
    )
    try:
        result = an.anonymize(data, config)
    except an.Infeasible:
        return
    report = result.report.to_dict()
    search, found = report["search"], report["weighted_loss"]
    rows = published(data, result.data)
    own = weighted(rows, data.people, attributes)
    assert search["objective"] == pytest.approx(float(own), abs=1e-12)
    assert found["loss"] == pytest.approx(float(own), abs=1e-12)
    assert found["people"] == pytest.approx(float(sum(map(Fraction, data.people))))
    assert report["loss"]["loss"] == pytest.approx(float(weighted(rows, ["1"] * len(data), attributes)))
    for bound in (search["bound"], search["best_possible"]):
        assert bound is None or bound <= search["objective"] + 1e-12


def check_the_lattice_against_every_recoding(
    method: str,
    random: Random,
    data: pd.DataFrame,
    config: dict[str, Any],
    loss_of: Callable[[Sequence[Row | None], Sequence[int]], Fraction],
) -> None:
    """Compare the best transformation with that of exhaustive search.

    Parameters
    ----------
    config: with constraints and limits that are drawn here.
    loss_of: returns the loss of published rows by the weights of the attributes.
    """
    attributes, k = (random.randint(1, 2), random.randint(1, 2)), random.randint(1, 3)
    limit = random.randint(0, 5)
    alpha = Fraction(7, 10) if method == "records" and random.random() < 0.7 else Fraction(1)
    most, moods = min(limit * len(data) // 10, len(data) - 1), data.mood.tolist()
    candidates = {
        "classes": lambda rows: by_classes(rows, k, most),
        "records": lambda rows: by_records(rows, most),
        "cells": lambda rows: by_cells(rows, most),
    }[method]
    best = min(
        (
            loss_of(each, attributes)
            for rows in recoded(data)
            for each in candidates(rows)
            if holds(each, moods, k, alpha)
        ),
        default=None,
    )
    constraints: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k, "unit": "record"}]
    if alpha < 1:
        constraints.append({"model": "alpha-k-anonymity", "alpha": float(alpha), "k": 1, "unit": "record"})
    for name, weight in zip(("area", "age"), attributes, strict=True):
        config["attributes"][name]["weight"] = weight
    config |= {"constraints": constraints, "suppression": {"limit": limit / 10, "method": method}}
    try:
        search = an.anonymize(data, config).report.to_dict()["search"]
    except an.Infeasible:
        assert best is None
        return
    assert best is not None
    assert search["bound"] <= float(best) + 1e-12
    assert search["best_possible"] is None or search["best_possible"] <= float(best) + 1e-12
    if search["optimal"] or method == "classes":
        assert search["objective"] == pytest.approx(float(best), abs=1e-12)
        assert search["optimal"]


MOST_RECORDS = {"classes": 14, "records": 7, "cells": 4}
"""Of tables that are searched exhaustively."""


@pytest.mark.parametrize("method", ["classes", "records", "cells"])
@quickly(40, 5)
@given(strategies.randoms())
def test_the_lattice_equals_every_recoding(method: str, random: Random) -> None:
    data = sample(random, MOST_RECORDS[method])
    people = data.people.tolist()
    check_the_lattice_against_every_recoding(
        method, random, data, asked(), lambda rows, attributes: weighted(rows, people, attributes)
    )


def both(
    data: pd.DataFrame, configs: tuple[dict[str, Any], dict[str, Any]], algorithm: str, method: str
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the reports of two runs that must release the same; None if neither has a release."""
    rest = {
        "algorithm": ALGORITHMS[algorithm],
        "suppression": {"limit": 0.3, "method": method},
        "budget": {"steps": 40},
    }
    try:
        first = an.anonymize(data, configs[0] | rest)
    except an.Infeasible:
        with pytest.raises(an.Infeasible):
            an.anonymize(data, configs[1] | rest)
        return None
    second = an.anonymize(data, configs[1] | rest)
    assert first.data.equals(second.data)
    one, other = first.report.to_dict(), second.report.to_dict()
    assert one["recoding"] == other["recoding"]
    return one, other


@pytest.mark.parametrize(("algorithm", "method"), SETTINGS)
@quickly(10, 2)
@given(strategies.randoms())
def test_equal_weights_change_nothing(algorithm: str, method: str, random: Random) -> None:
    data = sample(random, 20, ("2.5",))
    found = both(data, (asked(), asked(objective={"metric": "loss"})), algorithm, method)
    if found is None:
        return
    one, other = found
    assert "weighted_loss" not in other
    assert one["search"]["optimal"] == other["search"]["optimal"]
    for key in ("objective", "bound", "best_possible"):
        assert one["search"][key] == pytest.approx(other["search"][key], abs=1e-12)


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(6))
def test_equal_weights_keep_the_proof(seed: int) -> None:
    """The fewest records of a class lose least if all weigh the same, whichever are chosen."""
    data, found = survey(20, seed).assign(people="2.5"), []
    closeness = {"model": "t-closeness", "attribute": "mood", "t": 0.3}
    for objective in ({"metric": "loss"}, {"metric": "loss", "weights": "people"}):
        config = asked(
            constraints=[{"model": "k-anonymity", "k": 2}, closeness],
            suppression={"limit": 0.2, "method": "records"},
            objective=objective,
        )
        search = an.anonymize(data, config).report.to_dict()["search"]
        found.append((search["optimal"], pytest.approx(search["bound"], abs=1e-12)))
    assert found[0] == found[1]


def survey(records: int = 120, seed: int = 1) -> pd.DataFrame:
    random = Random(seed)
    return pd.DataFrame(
        {
            "key": [f"i{number}" for number in range(records)],
            "area": [random.choice("pqrs") for _ in range(records)],
            "age": [random.choice("123456") for _ in range(records)],
            "mood": [random.choice("xyz") for _ in range(records)],
            "people": [random.choice(("0.5", "3", "250")) for _ in range(records)],
        }
    )


def test_a_bound_over_records_counts_each_as_the_lightest() -> None:
    """Single records of weight 1 cost hardly anything beside others of weight 1,000."""
    rows = [("p", "1", "1000")] * 150 + [(*pair, "1") for pair in product("pqrs", "123456")][1:]
    data = pd.DataFrame(rows, columns=["area", "age", "people"])
    data["key"], data["mood"] = [f"i{number}" for number in range(len(data))], "x"
    search = an.anonymize(data, asked(suppression={"limit": 0.2})).report.to_dict()["search"]
    assert search["objective"] <= 23 / 150_023 + 1e-12
    assert 0 < search["best_possible"] <= search["objective"] + 1e-12


@pytest.mark.parametrize("metric", ["loss", "ncp", "precision"])
@pytest.mark.parametrize("aggregate", ["arithmetic-mean", "geometric-mean", "maximum"])
def test_every_metric_of_cells_with_every_aggregate(metric: str, aggregate: str) -> None:
    data, objective = survey(), {"metric": metric, "aggregate": aggregate, "weights": "people"}
    report = an.anonymize(
        data, asked(constraints=[{"model": "k-anonymity", "k": 4}], objective=objective)
    ).report.to_dict()
    assert report["search"]["optimal"]
    assert report["config"]["objective"] == objective
    if aggregate == "arithmetic-mean":
        assert report["weighted_loss"][metric] == pytest.approx(report["search"]["objective"])


def test_numbers_are_aggregated_by_weights() -> None:
    data = survey()
    data["age"] = [str(20 + int(age) * 3) for age in data.age]
    config = asked(
        algorithm={"name": "microaggregation", "k": 4}, constraints=[{"model": "k-anonymity", "k": 4}]
    )
    config["attributes"]["area"] = {"role": "insensitive"}
    config["attributes"]["age"] = {"role": "quasi-identifier", "type": "integer"}
    report = an.anonymize(data, config).report.to_dict()
    assert report["search"]["objective"] == report["weighted_loss"]["loss"]
    # The loss of a record is the range of the originals of its class, which is that of its published value.
    release = an.anonymize(data, config).data
    values = dict(zip(release.key, release.age, strict=True))
    spans: dict[Any, list[int]] = defaultdict(list)
    for key, age in zip(data.key, data.age, strict=True):
        spans[values[key]].append(int(age))
    people = [Fraction(each) for each in data.people]
    own = sum(
        (
            each * (max(span) - min(span))
            for each, key in zip(people, data.key, strict=True)
            for span in [spans[values[key]]]
        ),
        Fraction(),
    ) / (15 * sum(people))
    assert report["search"]["objective"] == pytest.approx(float(own))


@pytest.mark.parametrize(
    ("algorithm", "changed"),
    [
        ("lattice", {}),
        ("lattice", {"suppression": {"limit": 0.2, "whole": "person"}}),
        ("local", {}),
        ("mondrian", {}),
    ],
)
def test_persons_and_weights_together(algorithm: str, changed: dict[str, Any]) -> None:
    data = survey()
    data["person"] = [f"p{number // 3}" for number in range(len(data))]
    config = asked(
        input={"person": "person"},
        algorithm={"name": algorithm},
        constraints=[{"model": "k-anonymity", "k": 3}],
        budget={"steps": 60},
        attacks=["uniqueness", "linkage"],
        **changed,
    )
    config["attributes"]["person"] = {"role": "identifier"}
    result = an.anonymize(data, config)
    own = weighted(published(data, result.data), data.people, (1, 1))
    assert result.report.to_dict()["search"]["objective"] == pytest.approx(float(own), abs=1e-12)


@pytest.mark.parametrize(
    "changed",
    [
        {"constraints": [{"model": "k-map", "k": 100}]},
        {"scenarios": {"near": {"known": ["area"], "models": [{"model": "k-anonymity", "k": 20}]}}},
        {"constraints": [{"model": "linkage-risk", "max": 0.2}]},
        {"reference": "input", "constraints": [{"model": "t-closeness", "t": 0.3}]},
    ],
)
def test_with_the_population_scenarios_attacks_and_references(changed: dict[str, Any]) -> None:
    data = survey()
    result = an.anonymize(data, asked(suppression={"limit": 0.3}, **changed))
    own = weighted(published(data, result.data), data.people, (1, 1))
    search = result.report.to_dict()["search"]
    assert search["objective"] == pytest.approx(float(own), abs=1e-12)
    assert search["optimal"]


def test_attacks_do_not_see_the_weights() -> None:
    """The original of an attack has one row for equal records, whatever their weights."""
    data = survey().drop(columns="key")
    attacks = ["linkage", "uniqueness", "homogeneity", {"attack": "vulnerability"}, "minimality", "inference"]
    found = []
    for objective in ({"metric": "loss", "weights": "people"}, {"metric": "loss"}):
        config = asked(objective=objective, attacks=attacks, constraints=[{"model": "k-anonymity", "k": 8}])
        del config["attributes"]["key"]
        for level in ("area", "age"):
            # One transformation, so that both runs publish the same.
            config["attributes"][level]["levels"] = {"min": 1, "max": 1}
        entries = an.anonymize(data, config).report.to_dict()["attacks"]
        found.append([{key: value for key, value in each.items() if key != "seconds"} for each in entries])
    assert found[0] == found[1]


def written(folder: Path, data: pd.DataFrame, **changed: Any) -> Path:
    data.to_csv(folder / "survey.csv", index=False)
    config = asked(**{"input": {"path": "survey.csv"}, "suppression": {"limit": 0.2}, **changed})
    (folder / "job.json").write_text(json.dumps(config), encoding="utf-8")
    return folder / "job.json"


@pytest.mark.page
def test_a_run_and_its_audit(tmp_path: Path) -> None:
    job = written(tmp_path, survey(), constraints=[{"model": "k-anonymity", "k": 7}])
    done = call("run", str(job), "-o", str(tmp_path / "out"), "--quiet")
    assert done.code == 0
    assert "by the sampling weights in column 'people', proven best" in done.out
    report = json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))
    assert report["search"]["objective"] == report["weighted_loss"]["loss"]
    public = json.loads((tmp_path / "out/share/report.public.json").read_text(encoding="utf-8"))
    assert public["config"]["objective"]["weights"] == "people"
    assert public["weighted_loss"] == {"weights": "people", "people": None, **dict.fromkeys(KEYS)}
    assert public["search"]["objective"] is None
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "people whom the records represent by the sampling weights in column &#39;people&#39;" in page
    assert "Loss by attribute, by the sampling weights in column &#39;people&#39;" in page
    assert all(page.count(f"{name} over records<") == 1 for name in WEIGHABLE)
    assert "averaged over quasi-identifiers and over the people whom" in page
    assert ">attribute weight<" in page
    assert all(f"{name} over people<" in page for name in WEIGHABLE)
    release, own = str(tmp_path / "out/share/release.csv"), str(tmp_path / "out/report.json")
    assert call("audit", release, "--report", own).code == 0
    assert call("audit", release).code == 0
    for key in ("loss", "ncp"):
        altered = json.loads(json.dumps(report))
        altered["weighted_loss"][key] += 0.01
        (tmp_path / "out/report.json").write_text(json.dumps(altered), encoding="utf-8")
        audited = call("audit", release, "--report", own)
        assert audited.code == 1
        assert f"weighted_loss.{key}" in audited.out


def test_a_comparison_says_so() -> None:
    data, config = survey(60), asked(suppression={"limit": 0.2}, attacks=["uniqueness"])
    compared = an.compare(data, config, algorithms=["lattice", "mondrian"])
    own = an.anonymize(data, config).report.to_dict()["weighted_loss"]
    assert [compared["loss"][0], compared["ncp"][0]] == [own["loss"], own["ncp"]]
    remark = f"1 and 2: {listed(KEYS)} by the sampling weights in column 'people'"
    assert remark in compared.attrs["remarks"]
    plain = an.anonymize(data, config).report.to_dict()["loss"]
    assert (compared["weights"][0], compared["loss_over_records"][0]) == ("people", plain["loss"])
    assert compared["precision_over_records"][0] == plain["precision"]


@pytest.mark.parametrize(
    "vary",
    [
        {"objective.weights": [None, "people"]},
        {"objective": [{"metric": "loss"}, {"metric": "loss", "weights": "people"}]},
    ],
)
def test_losses_by_weights_and_over_records_are_not_compared(vary: dict[str, list[Any]]) -> None:
    with pytest.raises(InputError) as refused:
        an.compare(survey(20), asked(), vary=vary)
    assert "objective.weights: must be equal in all runs" in str(refused.value)


@pytest.mark.parametrize("constraint", [{"model": "k-anonymity", "k": 2}, {"model": "k-map", "k": 2}])
def test_equal_weights_with_too_many_digits_are_refused(constraint: dict[str, Any]) -> None:
    """Whole once scaled, but the scale is not a number that the others can be compared with."""
    data = survey(12)
    data["people"] = "1e-400"
    with pytest.raises(InputError, match="too large, to be added exactly"):
        an.anonymize(data, asked(constraints=[constraint]))


@pytest.mark.parametrize(
    "changed",
    [
        {"objective": {"metric": "discernibility", "weights": "people"}},
        {"objective": {"metric": "average-class-size", "weights": "people"}},
        {"objective": {"metric": "nonuniform-entropy", "weights": "people"}},
        {"objective": {"metric": "height", "weights": "people"}},
        {"objective": {"weights": "peple"}},
        {"objective": {"weights": "age"}},
        {"objective": {"weights": True}},
        {"apply": {"report": "earlier/report.json"}},
    ],
)
def test_refused_configs(changed: dict[str, Any], message: SnapshotAssertion) -> None:
    with pytest.raises(InputError) as refused:
        an.anonymize(survey(20), asked(**changed))
    assert exchange(changed, refused.value) == message


@pytest.mark.parametrize("weight", ["", "0", "-1", "many", "1e-30"])
def test_refused_weights(weight: str, message: SnapshotAssertion) -> None:
    data = survey(20)
    data.loc[3, "people"] = weight
    with pytest.raises(InputError) as refused:
        an.anonymize(data, asked())
    assert exchange(f"people = {weight!r}", refused.value) == message


def test_floating_point_weights_are_added_rounded(message: SnapshotAssertion) -> None:
    """A normalised weight keeps six digits; the release keeps all."""
    data = survey(20)
    data.loc[3:4, "people"] = "504.5696202531645"
    data.loc[5, "people"] = "0.000123456789012345"
    config = asked()
    config["attributes"]["people"]["release"] = True
    found = an.anonymize(data, config)
    report = found.report.to_dict()
    (warning,) = (each for each in report["warnings"] if "rounded" in each)
    assert exchange("three weights of 13 digits or more", warning) == message
    assert {"504.5696202531645", "0.000123456789012345"} < set(found.data["people"].astype(str))
    data.loc[3:4, "people"] = "504.569620"
    data.loc[5, "people"] = "0.000123457"
    rounded = an.anonymize(data, asked()).report.to_dict()
    assert rounded["loss"] == report["loss"]
    assert not any("rounded" in each for each in rounded["warnings"])


@given(
    st.integers(1, 10**18),
    st.integers(-30, 3),
)
def test_a_rounded_weight_is_near_and_never_zero(digits: int, exponent: int) -> None:
    weight = Decimal(digits).scaleb(exponent)
    rounded = _rounded(weight)
    assert rounded > 0
    assert _rounded(rounded) == rounded
    assert abs(Fraction(rounded) - Fraction(weight)) * 2 * 10**5 <= max(Fraction(1, 10), Fraction(weight))
    if weight * 10**6 % 1 == 0:
        assert rounded == weight


def test_weights_named_as_missing_are_missing() -> None:
    data = survey(20)
    data.loc[3, "people"] = "999"
    with pytest.raises(InputError, match=r"in 1 of 20 records \(1 missing\), first in record 4; "):
        an.anonymize(data, asked(input={"missing": ["999"]}))


def test_weights_stored_as_numbers_have_points_whatever_the_decimal_sign() -> None:
    data = survey(20)
    asked_for = asked(suppression={"limit": 0.5}, input={"decimal": ","})
    data["people"] = data["people"].astype(float) + 0.5
    found = an.anonymize(data, asked_for).report.to_dict()["weighted_loss"]
    data["people"] = [str(each).replace(".", ",") for each in data["people"]]
    assert found == an.anonymize(data, asked_for).report.to_dict()["weighted_loss"]


def test_out_of_core_is_refused(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = written(tmp_path, survey(), engine={"name": "duckdb", "options": {"combinations": 5}})
    done = call("run", str(job), "-o", str(tmp_path / "out"), "--quiet")
    assert done.code == 2
    assert exchange("combinations: 5", done.err, tmp_path) == message


def test_large_weights_are_added_exactly() -> None:
    """Sums above 2**53 stay whole numbers: a record of one unit is not lost beside one of 2**60."""
    data = survey(8)
    data["people"] = ["1000000000000000000", *["1"] * 7]
    result = an.anonymize(data, asked(constraints=[{"model": "k-anonymity", "k": 2}]))
    rows = published(data, result.data)
    own = weighted(rows, data.people, (1, 1))
    found = result.report.to_dict()["weighted_loss"]
    assert found["people"] == float(10**18 + 7)
    assert found["loss"] == pytest.approx(float(own), abs=1e-15)
