"""Losses over persons and other units, against means of means in fractions and against every recoding."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.errors import InputError, listed
from anonymizer.model.population import LARGEST
from anonymizer.model.table import SamplingWeights
from tests import strategies
from tests.helpers.examples import COSTLY, quickly
from tests.helpers.messages import exchange
from tests.run.commands import assert_audits, call
from tests.run.test_weighted_loss import (
    ALGORITHMS,
    KEYS,
    MOST_RECORDS,
    SETTINGS,
    WEIGHABLE,
    Row,
    both,
    by_records,
    check_the_lattice_against_every_recoding,
    published,
    recoded,
    record_loss,
)
from tests.run.test_weighted_loss import asked as asked_by_weights

COLUMNS = {"person": "patient", "household": "family", "ward": "room"}


def stays(random: Random, most: int, records: int | None = None, *, empty: bool = True) -> pd.DataFrame:
    """Return records of patients; some have many, most of a patient are in one area."""
    number = random.randint(3, most) if records is None else records
    patients = [f"p{int(random.random() ** 2 * number)}" for _ in range(number)]
    families = {patient: f"f{random.randint(0, 3)}" for patient in patients}
    homes = {patient: random.choice("ppqrss" if int(patient[1:]) % 3 else "rs") for patient in families}
    without = 0.1 if empty and random.random() < 0.5 else 0.0
    return pd.DataFrame(
        {
            "key": [f"i{place}" for place in range(number)],
            "patient": ["" if random.random() < without else each for each in patients],
            "family": [families[each] for each in patients],
            "room": [random.choice(("r1", "r2", "r3", "")) for _ in patients],
            "area": [random.choice((homes[each], homes[each], *"pqrs")) for each in patients],
            "age": [random.choice("123456") for _ in patients],
            "mood": [random.choice("xyz") for _ in patients],
        }
    )


def asked(
    unit: str | None = "person",
    attributes: Sequence[int] = (1, 1),
    counted: str = "record",
    **changed: Any,
) -> dict[str, Any]:
    """Return a config whose loss is over a unit, and whose constraint counts another one."""
    config = asked_by_weights(attributes)
    del config["attributes"]["people"]
    config["attributes"] |= {name: {"role": "drop"} for name in COLUMNS.values()}
    config["input"] = {"person": "patient", "household": "family", "units": {"ward": "room"}}
    config["constraints"] = [{"model": "k-anonymity", "k": 2, "unit": counted}]
    config["objective"] = {"metric": "loss"} if unit is None else {"metric": "loss", "unit": unit}
    return {**config, **changed}


def by_unit(rows: Sequence[Row | None], keys: Sequence[str], attributes: Sequence[int]) -> Fraction:
    """Return the mean over units of the mean loss of their records; one without a key is a unit."""
    losses: dict[str, list[Fraction]] = defaultdict(list)
    for place, (row, key) in enumerate(zip(rows, keys, strict=True)):
        lost = Fraction(1) if row is None else record_loss(row, attributes)
        losses[key or f"alone {place}"].append(lost)
    return mean(map(mean, losses.values()))


def units_in(keys: Sequence[str]) -> int:
    return len({key or f"alone {place}" for place, key in enumerate(keys)})


@pytest.mark.parametrize(("algorithm", "method"), SETTINGS)
@quickly(35, 4)
@given(strategies.randoms())
def test_the_loss_is_that_of_the_release(algorithm: str, method: str, random: Random) -> None:
    data, unit = stays(random, 20), random.choice([*COLUMNS, None])
    attributes, k = (random.randint(1, 2), random.randint(1, 2)), random.randint(1, 3)
    counted = random.choice(("record", "person")) if method == "classes" else "record"
    constraints: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k, "unit": counted}]
    if method == "records":
        constraints.append({"model": "alpha-k-anonymity", "alpha": 0.7, "k": 1, "unit": "record"})
    if unit == "household":
        data["patient"] = data["patient"].where(data["patient"] != "", [f"q{place}" for place in data.index])
    config = asked(
        unit,
        attributes,
        constraints=constraints,
        algorithm=ALGORITHMS[algorithm],
        suppression={
            "limit": random.randint(0, 4) / 10,
            "method": method,
            "keep_rows": random.random() < 0.2,
        },
        engine={"name": random.choice(("memory", "duckdb"))},
        budget={"steps": 40},
    )
    try:
        result = an.anonymize(data, config)
    except an.Infeasible:
        return
    report = result.report.to_dict()
    search, found, rows = report["search"], report["unit_loss"], published(data, result.data)
    # Without a unit the losses over persons are reported beside those over records.
    keys = data[COLUMNS[unit or "person"]].tolist()
    over_units, over_records = by_unit(rows, keys, attributes), by_unit(rows, data.key.tolist(), attributes)
    assert (found["unit"], found["units"]) == (unit or "person", units_in(keys))
    assert found["loss"] == pytest.approx(float(over_units), abs=1e-12)
    assert report["loss"]["loss"] == pytest.approx(float(over_records), abs=1e-12)
    objective = over_records if unit is None else over_units
    assert search["objective"] == pytest.approx(float(objective), abs=1e-12)
    for bound in (search["bound"], search["best_possible"]):
        assert bound is None or bound <= search["objective"] + 1e-12


@pytest.mark.parametrize("method", ["classes", "records", "cells"])
@quickly(COSTLY, 5)
@given(strategies.randoms())
def test_the_lattice_equals_every_recoding(method: str, random: Random) -> None:
    data = stays(random, MOST_RECORDS[method], empty=False)
    patients = data.patient.tolist()
    check_the_lattice_against_every_recoding(
        method, random, data, asked(), lambda rows, attributes: by_unit(rows, patients, attributes)
    )


def test_rows_that_differ_in_weights_alone_share_a_class_that_stays() -> None:
    """One of two equal rows may give a record to another class, as the other row fills its own."""
    random = Random(41914236510)
    data = stays(random, MOST_RECORDS["cells"], empty=False)
    check_the_lattice_against_every_recoding(
        "cells",
        random,
        data,
        asked(),
        lambda rows, attributes: by_unit(rows, data.patient.tolist(), attributes),
    )


@quickly(COSTLY, 5)
@given(strategies.randoms())
def test_the_lattice_equals_every_recoding_with_persons_in_classes(random: Random) -> None:
    data, k = stays(random, 14, empty=False), random.randint(2, 3)
    limit, limited = random.randint(0, 5), random.choice(("record", "person"))
    number = len(data) if limited == "record" else data.patient.nunique()
    found: list[Fraction] = []
    for rows in recoded(data):
        persons: dict[Row, set[str]] = defaultdict(set)
        for row, patient in zip(rows, data.patient, strict=True):
            persons[row].add(patient)
        kept = [row if len(persons[row]) >= k else None for row in rows]
        gone = [patient for row, patient in zip(kept, data.patient, strict=True) if row is None]
        lost = len(gone) if limited == "record" else len(set(gone))
        if len(gone) < len(data) and lost <= limit * number // 10:
            found.append(by_unit(kept, data.patient.tolist(), (1, 1)))
    suppression = {"limit": limit / 10, "unit": limited}
    config = asked(constraints=[{"model": "k-anonymity", "k": k}], suppression=suppression)
    try:
        search = an.anonymize(data, config).report.to_dict()["search"]
    except an.Infeasible:
        assert not found
        return
    assert search["optimal"]
    assert search["objective"] == pytest.approx(float(min(found)), abs=1e-12)


def shares_hold(
    rows: Sequence[Row | None], owners: Sequence[tuple[str, str]], k: int, alpha: Fraction
) -> bool:
    """Return whether classes have k persons, of whom no value has a larger share than alpha.

    Parameters
    ----------
    owners: patient and mood of each record.
    """
    classes: dict[Row, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row, (patient, mood) in zip(rows, owners, strict=True):
        if row is not None:
            classes[row][mood].add(patient)
    everyone = ((own, set().union(*own.values())) for own in classes.values())
    return bool(classes) and all(
        len(persons) >= k and max(map(len, own.values())) <= alpha * len(persons) for own, persons in everyone
    )


@quickly(COSTLY, 5)
@given(strategies.randoms())
def test_fewest_records_with_persons_in_classes(random: Random) -> None:
    data, k = stays(random, 7, empty=False), random.randint(1, 3)
    alpha, limit = Fraction(random.choice((5, 7)), 10), random.randint(1, 6)
    most, patients = min(limit * len(data) // 10, len(data) - 1), data.patient.tolist()
    owners = list(zip(patients, data.mood.tolist(), strict=True))
    found = [
        by_unit(kept, patients, (1, 1))
        for rows in recoded(data)
        for kept in by_records(rows, most)
        if shares_hold(kept, owners, k, alpha)
    ]
    constraints = [
        {"model": "k-anonymity", "k": k},
        {"model": "alpha-k-anonymity", "alpha": float(alpha), "k": 1},
    ]
    config = asked(constraints=constraints, suppression={"limit": limit / 10, "method": "records"})
    try:
        result = an.anonymize(data, config)
    except an.Infeasible:
        assert not found
        return
    rows, search = published(data, result.data), result.report.to_dict()["search"]
    own, best = by_unit(rows, patients, (1, 1)), float(min(found))
    assert shares_hold(rows, owners, k, alpha)
    assert search["objective"] == pytest.approx(float(own), abs=1e-12)
    assert search["bound"] <= best + 1e-12
    assert search["best_possible"] is None or search["best_possible"] <= best + 1e-12
    assert not search["optimal"] or search["objective"] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(("algorithm", "method"), SETTINGS)
@quickly(10, 2)
@given(strategies.randoms())
def test_with_one_record_a_person_every_figure_is_that_of_records(
    algorithm: str, method: str, random: Random
) -> None:
    data = stays(random, 20)
    data["patient"] = [f"p{place}" for place in data.index]
    found = both(data, (asked(), asked(None)), algorithm, method)
    if found is None:
        return
    one, other = found
    for key in ("loss", "unit_loss"):
        assert one[key] == other[key]
    assert one["unit_loss"] | one["loss"] == {**one["loss"], "unit": "person", "units": len(data)}
    for key in ("objective", "bound", "best_possible", "optimal"):
        assert one["search"][key] == other["search"][key]


@quickly(50, 20)
@given(st.lists(st.tuples(st.integers(1, 4000), st.integers(1, 10**6)), min_size=1, max_size=60))
def test_weights_are_exact_if_they_fit_and_else_nearly(groups: list[tuple[int, int]]) -> None:
    sizes, numbers = (np.array(each, dtype=np.int64) for each in zip(*groups, strict=True))
    found, codes = SamplingWeights.of_units("person", "key", sizes, numbers)
    own = [int(each) for each in found.values[codes]]
    units, records = int(numbers.sum()), int(sizes @ numbers)
    assert (np.diff(found.values) >= 0).all()
    people = sum(weight * size * number for weight, (size, number) in zip(own, groups, strict=True))
    assert 0 < people <= LARGEST
    assert round(Fraction(people, found.scale)) == units
    whole = lcm(*sizes.tolist())
    fits = whole * units + records <= LARGEST
    for weight, size in zip(own, sizes.tolist(), strict=True):
        error = abs(Fraction(weight, found.scale) * size - 1)
        assert error == 0 if fits else error < Fraction(size * units, 2**62)
    assert not fits or found.scale == whole


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_persons_with_one_to_sixty_records(engine: str) -> None:
    """No multiple of all numbers from 1 to 60 is a whole number of 64 bits."""
    random = Random(3)
    patients = [f"p{number}" for number in range(1, 61) for _ in range(number)]
    data = stays(random, 0, len(patients))
    data["patient"] = data["family"] = patients
    # A class that is suppressed has those with few records.
    data["area"] = [random.choice("rs" if int(each[1:]) < 12 else "pq") for each in patients]
    config = asked(suppression={"limit": 0.3}, engine={"name": engine})
    config["constraints"][0]["k"] = 80
    result = an.anonymize(data, config)
    report = result.report.to_dict()
    own = by_unit(published(data, result.data), patients, (1, 1))
    assert report["unit_loss"]["units"] == 60
    assert report["unit_loss"]["loss"] == pytest.approx(float(own), abs=1e-14)
    assert report["search"]["optimal"]
    assert abs(float(own) - report["loss"]["loss"]) > 1e-4


@pytest.mark.parametrize("metric", ["loss", "ncp", "precision"])
@pytest.mark.parametrize("aggregate", ["arithmetic-mean", "geometric-mean", "maximum"])
def test_every_metric_of_cells_with_every_aggregate(metric: str, aggregate: str) -> None:
    data = stays(Random(5), 0, 120)
    objective = {"metric": metric, "aggregate": aggregate, "unit": "person"}
    report = an.anonymize(
        data, asked(constraints=[{"model": "k-anonymity", "k": 4}], objective=objective)
    ).report.to_dict()
    assert report["search"]["optimal"]
    assert report["config"]["objective"] == objective
    if aggregate == "arithmetic-mean":
        assert report["unit_loss"][metric] == pytest.approx(report["search"]["objective"])


@pytest.mark.parametrize("unit", ["person", None])
def test_numbers_are_aggregated_by_persons(unit: str | None) -> None:
    data = stays(Random(6), 0, 90)
    data["age"] = [str(20 + int(age) * 3 + place % 11) for place, age in enumerate(data.age)]
    config = asked(unit, algorithm={"name": "microaggregation", "k": 4})
    config["attributes"]["area"] = {"role": "insensitive"}
    config["attributes"]["age"] = {"role": "quasi-identifier", "type": "integer"}
    result = an.anonymize(data, config)
    report, values = result.report.to_dict(), dict(zip(result.data.key, result.data.age, strict=True))
    # The loss of a record is the range of the originals of its class, which is that of its published value.
    spans, ages = defaultdict(list), [int(age) for age in data.age]
    for key, age in zip(data.key, ages, strict=True):
        spans[values[key]].append(age)
    lost: dict[str, list[Fraction]] = defaultdict(list)
    for key, patient in zip(data.key, data.patient, strict=True):
        span = spans[values[key]]
        lost[patient or key].append(Fraction(max(span) - min(span), max(ages) - min(ages)))
    own = float(mean(map(mean, lost.values())))
    assert report["unit_loss"]["loss"] == pytest.approx(own)
    assert (report["search"]["objective"] == pytest.approx(own)) is (unit is not None)


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("algorithm", "changed"),
    [
        ("lattice", {}),
        ("lattice", {"suppression": {"limit": 0.3, "whole": "person"}}),
        (
            "lattice",
            {"scenarios": {"near": {"known": ["area"], "models": [{"model": "k-anonymity", "k": 9}]}}},
        ),
        ("lattice", {"reference": "input", "constraints": [{"model": "t-closeness", "t": 0.3}]}),
        ("lattice", {"constraints": [{"model": "linkage-risk", "max": 0.2}]}),
        ("auto", {"suppression": {"limit": 0.3, "whole": "ward"}}),
        ("local", {}),
        ("mondrian", {}),
        ("mondrian", {"suppression": {"limit": 0.3, "whole": "person"}}),
    ],
)
def test_with_other_settings(algorithm: str, changed: dict[str, Any]) -> None:
    data = stays(Random(7), 0, 120, empty=False)
    settings = {"constraints": [{"model": "k-anonymity", "k": 3}], **changed}
    config = asked(algorithm={"name": algorithm}, budget={"steps": 60}, attacks=["uniqueness"], **settings)
    result = an.anonymize(data, config)
    own = by_unit(published(data, result.data), data.patient.tolist(), (1, 1))
    report = result.report.to_dict()
    assert report["search"]["objective"] == pytest.approx(float(own), abs=1e-12)


def test_with_pseudonyms_losses_are_those_of_the_published_rows() -> None:
    data = stays(Random(8), 0, 200, empty=False)
    config = asked(constraints=[{"model": "k-anonymity", "k": 2}], suppression={"limit": 0.9})
    config["input"]["person"] = {"column": "patient", "release_as": "pseudonym"}
    result = an.anonymize(data, config)
    own = by_unit(published(data, result.data), data.patient.tolist(), (1, 1))
    assert result.report.to_dict()["search"]["objective"] == pytest.approx(float(own), abs=1e-12)


def test_weights_of_a_survey_beside_persons() -> None:
    """With both, the objective is by weights, and losses over persons are reported beside it."""
    data = stays(Random(9), 0, 60, empty=False)
    data["people"] = [str(1 + int(each[1:]) % 5) for each in data.patient]
    config = asked(objective={"metric": "loss", "weights": "people"}, suppression={"limit": 0.2})
    config["attributes"]["people"] = {"role": "weight", "release": False}
    result = an.anonymize(data, config)
    report = result.report.to_dict()
    assert report["search"]["objective"] == report["weighted_loss"]["loss"]
    own = by_unit(published(data, result.data), data.patient.tolist(), (1, 1))
    assert report["unit_loss"]["loss"] == pytest.approx(float(own), abs=1e-12)


@pytest.mark.slow
def test_engines_give_the_same_figures(tmp_path: Path) -> None:
    data = stays(Random(10), 0, 500)
    data.to_csv(tmp_path / "stays.csv", index=False)
    found = []
    for engine in ("memory", "duckdb", "auto"):
        for algorithm in ("lattice", "local"):
            config = asked(
                input={"path": "stays.csv", "person": "patient"},
                suppression={"limit": 0.05},
                algorithm={"name": algorithm},
                engine={"name": engine},
                budget={"steps": 50},
            )
            (tmp_path / "job.json").write_text(json.dumps(config), encoding="utf-8")
            job, out = str(tmp_path / "job.json"), tmp_path / "out"
            assert call("run", job, "-o", str(out), "--quiet", "--overwrite").code == 0
            report = json.loads((out / "report.json").read_text(encoding="utf-8"))
            search = {key: report["search"][key] for key in ("objective", "bound", "best_possible")}
            found.append((algorithm, report["unit_loss"], report["loss"], report["recoding"], search))
    assert found[:2] == found[2:4] == found[4:]


def written(folder: Path, data: pd.DataFrame, **changed: Any) -> Path:
    data.to_csv(folder / "stays.csv", index=False)
    config = asked(**{"input": {"path": "stays.csv", "person": "patient"}, **changed})
    (folder / "job.json").write_text(json.dumps(config), encoding="utf-8")
    return folder / "job.json"


@pytest.mark.quick(1)
@pytest.mark.page
@pytest.mark.parametrize("unit", ["person", None])
def test_a_run_counted_in_pandas_and_its_audit(tmp_path: Path, unit: str | None) -> None:
    constraints = [{"model": "k-anonymity", "k": 10}]
    job = written(
        tmp_path, stays(Random(13), 0, 300), unit=unit, constraints=constraints, suppression={"limit": 0.2}
    )
    done = call("run", str(job), "-o", str(tmp_path / "out"), "--quiet")
    assert done.code == 0
    assert ("with each person counted once, proven best" in done.out) is (unit is not None)
    report = json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))
    before = pd.read_csv(tmp_path / "stays.csv", dtype=str, keep_default_na=False)
    after = pd.read_csv(tmp_path / "out/share/release.csv", dtype=str, keep_default_na=False)
    joined = before[["key", "patient"]].merge(after[["key", "area", "age"]], on="key", how="left")
    leaves = ({"pq": 2, "rs": 2, "*": 4}, {"1-2": 2, "4-5": 2, "1-3": 3, "4-6": 3, "*": 6})
    costs = [
        (joined[name].map(own).fillna(1) - 1).where(joined[name].notna(), own["*"] - 1) / (own["*"] - 1)
        for name, own in zip(("area", "age"), leaves, strict=True)
    ]
    joined["loss"] = sum(costs) / 2
    joined["patient"] = joined["patient"].where(joined["patient"] != "", joined["key"])
    persons = joined.groupby("patient")["loss"].mean()
    assert report["release"]["suppressed_records"]
    assert report["unit_loss"]["units"] == len(persons)
    assert report["unit_loss"]["loss"] == pytest.approx(persons.mean(), abs=1e-12)
    assert report["loss"]["loss"] == pytest.approx(joined["loss"].mean(), abs=1e-12)
    assert abs(persons.mean() - joined["loss"].mean()) > 1e-4
    own = report["unit_loss" if unit else "loss"]["loss"]
    assert report["search"]["objective"] == pytest.approx(own, abs=1e-15)
    public = json.loads((tmp_path / "out/share/report.public.json").read_text(encoding="utf-8"))
    assert public["config"]["objective"].get("unit") == unit
    assert public["unit_loss"] == {"unit": "person", "units": None, **dict.fromkeys(KEYS)}
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert all(page.count(f"{name} by person<") == 1 for name in WEIGHABLE)
    assert all(page.count(f"{name} over records<") == 1 for name in WEIGHABLE)
    assert ("with each person counted once, by the mean over its records" in page) is (unit is not None)
    assert ("Loss by attribute, with each person counted once" in page) is (unit is not None)
    assert ("the records of each person, and then each person" in page) is (unit is not None)
    release, given = str(tmp_path / "out/share/release.csv"), str(tmp_path / "out/report.json")
    assert_audits(tmp_path / "out")
    if unit is None:
        return
    for key in ("loss", "ncp"):
        altered = json.loads(json.dumps(report))
        altered["unit_loss"][key] += 0.01
        (tmp_path / "out/report.json").write_text(json.dumps(altered), encoding="utf-8")
        audited = call("audit", release, "--report", given)
        assert audited.code == 1
        assert f"unit_loss.{key}" in audited.out


def test_a_comparison_says_so() -> None:
    data = stays(Random(12), 0, 60)
    config = asked(suppression={"limit": 0.2}, attacks=["uniqueness"])
    compared = an.compare(data, config, algorithms=["lattice", "mondrian"])
    own = an.anonymize(data, config).report.to_dict()
    assert [compared["loss"][0], compared["ncp"][0]] == [own["unit_loss"]["loss"], own["unit_loss"]["ncp"]]
    remark = f"1 and 2: {listed(KEYS)} with each person counted once"
    assert remark in compared.attrs["remarks"]
    assert (compared["loss_unit"][0], compared["loss_over_records"][0]) == ("person", own["loss"]["loss"])
    plain = an.compare(data, asked(None, suppression={"limit": 0.2}), algorithms=["lattice"])
    assert "loss_unit" not in plain
    assert plain["loss"][0] < compared["loss_over_records"][0] + 1e-12


def test_losses_over_persons_and_over_records_are_not_compared() -> None:
    with pytest.raises(InputError) as refused:
        an.compare(stays(Random(13), 0, 20), asked(), vary={"objective.unit": ["record", "person"]})
    assert "objective.unit: must be equal in all runs" in str(refused.value)


def test_records_are_the_default() -> None:
    data = stays(Random(14), 0, 40)
    plain = an.anonymize(data, asked(None)).report.to_dict()
    same = an.anonymize(data, asked("record")).report.to_dict()
    assert plain["search"]["objective"] == same["search"]["objective"] == plain["loss"]["loss"]
    assert "unit_loss" in plain
    config = asked(None, input={})
    assert "unit_loss" not in an.anonymize(data, config).report.to_dict()


@pytest.mark.parametrize(
    "changed",
    [
        {"objective": {"metric": "discernibility", "unit": "person"}},
        {"objective": {"metric": "height", "unit": "household"}},
        {"objective": {"unit": "persn"}},
        {"objective": {"unit": "patient"}},
        {"objective": {"unit": 3}},
        {"objective": {"unit": "person"}, "input": {}},
        {"objective": {"unit": "ward"}, "input": {"person": "patient"}},
        {"objective": {"unit": "person", "weights": "people"}},
        {"apply": {"report": "earlier/report.json"}},
    ],
)
def test_refused_configs(changed: dict[str, Any], message: SnapshotAssertion) -> None:
    with pytest.raises(InputError) as refused:
        an.anonymize(stays(Random(15), 0, 20), asked(**changed))
    assert exchange(changed, refused.value) == message


def test_refused_records(message: SnapshotAssertion) -> None:
    data = stays(Random(16), 0, 20, empty=False)
    data.loc[[3, 5], "patient"] = ""
    config = asked()
    config["input"]["missing_person"] = "refuse"
    with pytest.raises(InputError) as refused:
        an.anonymize(data, config)
    assert exchange("missing_person: refuse", refused.value) == message
    data = stays(Random(16), 0, 20, empty=False)
    data.loc[3, "family"] = ""
    with pytest.raises(InputError) as refused:
        an.anonymize(data, asked("household"))
    assert exchange("unit: household without a key", refused.value) == message


def test_out_of_core_is_refused(tmp_path: Path, message: SnapshotAssertion) -> None:
    job = written(
        tmp_path, stays(Random(17), 0, 90), engine={"name": "duckdb", "options": {"combinations": 5}}
    )
    done = call("run", str(job), "-o", str(tmp_path / "out"), "--quiet")
    assert done.code == 2
    assert exchange("combinations: 5", done.err, tmp_path) == message


def test_records_without_a_person_are_one_person_each() -> None:
    """Ten records of one person weigh as much as each of three records of nobody."""
    data = stays(Random(2), 0, 13, empty=False)
    data["patient"], data["family"] = ["p1"] * 10 + [""] * 3, "f1"
    data["area"], data["age"] = ["p"] * 10 + ["r", "r", "s"], "1"
    result = an.anonymize(data, asked(suppression={"limit": 0.3}))
    report, keys = result.report.to_dict(), ["p1"] * 10 + ["a", "b", "c"]
    assert report["unit_loss"]["units"] == 4
    own = by_unit(published(data, result.data), keys, (1, 1))
    assert report["unit_loss"]["loss"] == pytest.approx(float(own), abs=1e-14)
