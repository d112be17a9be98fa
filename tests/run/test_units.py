"""Persons with several records: in a release, its reports, and what `init` and `check` say."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import log
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.data.relation import Projection
from anonymizer.errors import ConfigError, DataError
from anonymizer.model.arrays import IntArray
from anonymizer.release.query import with_pseudonyms
from anonymizer.report.page import page
from anonymizer.report.public import RECORDS
from anonymizer.search.suppression.suppressor import WholeClasses
from tests.helpers.examples import quickly
from tests.helpers.messages import exchange
from tests.run.commands import Done, assert_audits, call
from tests.spark import engine, running
from tests.strategies import randoms
from tests.twins import attacks as twins

ILLNESSES = ("asthma", "cancer", "flu", "stroke")
QI = {"role": "quasi-identifier"}
NUMBER = {**QI, "type": "integer"}
INSENSITIVE = {"role": "insensitive"}
CONFIG: dict[str, Any] = {
    "input": {"path": "visits.csv", "person": "patient_id"},
    "attributes": {
        "patient_id": {"role": "identifier"},
        "age": {**QI, "hierarchy": {"intervals": {"width": [5, 10, 20]}}},
        "sex": QI,
        "zip": {**QI, "type": "text", "hierarchy": {"mask": {"from": "right"}}},
        "illness": {"role": "sensitive"},
        "visit": {"role": "insensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 3}],
    "suppression": {"limit": 0.1},
    "bound": "none",
}


def visits(patients: int = 200, each: int = 5, seed: int = 1) -> pd.DataFrame:
    """Return visits; the age of a patient is another one at the last two."""
    random = Random(seed)
    rows: list[tuple[str, ...]] = []
    for patient in range(patients):
        age, sex, place = random.randint(20, 80), random.choice("MF"), random.randint(10000, 10050)
        rows += [
            (
                f"P{patient:04d}",
                str(age + (own > 2)),
                sex,
                str(place),
                random.choice(ILLNESSES),
                f"v{patient}.{own}",
            )
            for own in range(each)
        ]
    return pd.DataFrame(rows, columns=list(CONFIG["attributes"]))


def written(folder: Path, frame: pd.DataFrame, **changed: Any) -> Path:
    """Write the file and a config, and return the path of the config."""
    frame.to_csv(folder / "visits.csv", index=False)
    path = folder / "job.json"
    path.write_text(json.dumps({**CONFIG, **changed}), encoding="utf-8")
    return path


def run(config: Path, *options: str) -> Done:
    return call("run", config, "-o", config.parent / "out", "--overwrite", "-q", *options)


def persons_by_class(
    frame: pd.DataFrame, release: pd.DataFrame, names: Sequence[str] = ("age", "sex", "zip")
) -> dict[tuple[str, ...], Counter[str]]:
    """Return the visits of each patient in each class, which their numbers tell."""
    patient_of = dict(zip(frame["visit"].astype(str), frame["patient_id"], strict=True))
    found = defaultdict[tuple[str, ...], Counter[str]](Counter)
    for *cells, visit in zip(*(release[name] for name in (*names, "visit")), strict=True):
        found[tuple(cells)][patient_of[str(visit)]] += 1
    return found


def found_by_one_guess(classes: Mapping[tuple[str, ...], Counter[str]]) -> float:
    """Return the mean over patients of the best guess: of any patient of a class, or of that of any visit."""
    best = dict[str, float]()
    for own in classes.values():
        for patient, visits in own.items():
            best[patient] = max(best.get(patient, 0), 1 / len(own), visits / own.total())
    return sum(best.values()) / len(best)


ALGORITHMS: dict[str, dict[str, Any]] = {
    "lattice": {},
    "mondrian": {},
    "mondrian in relaxed mode": {"algorithm": {"name": "mondrian", "mode": "relaxed"}},
    "local": {"budget": {"steps": 10}},
    "records": {"algorithm": {"name": "local"}, "suppression": {"limit": 0.1, "method": "records"}},
    "records of the lattice": {
        "algorithm": {"name": "lattice"},
        "suppression": {"limit": 0.1, "method": "records"},
    },
    "records of mondrian": {
        "algorithm": {"name": "mondrian"},
        "suppression": {"limit": 0.1, "method": "records"},
    },
    "cells": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.1, "method": "cells"}},
    "auto": {"budget": {"steps": 10}},
    "microaggregation": {"attributes": {**CONFIG["attributes"], "sex": INSENSITIVE, "zip": NUMBER}},
}


ONE_ROW = {"lattice", "mondrian", "records of the lattice", "records of mondrian", "cells"}
"""Where each visit fits one row of the release, so that its owner can count patients."""


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("algorithm", "engine"),
    [
        *((name, "memory") for name in ("mondrian in relaxed mode", "records", "microaggregation")),
        *((name, "duckdb") for name in ("lattice", "auto")),
    ],
)
def test_every_class_holds_five_patients(tmp_path: Path, algorithm: str, engine: str) -> None:
    frame = visits()
    changed = {"algorithm": {"name": algorithm}, "budget": {"steps": 10}, **ALGORITHMS[algorithm]}
    config = written(tmp_path, frame, engine={"name": engine}, **changed)
    done = run(config)
    assert done.code == 0, done.err
    assert "repeats" not in done.out
    assert "k-anonymity k=5 unit=person: measured" in done.out
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    names = [
        name
        for name, own in changed.get("attributes", CONFIG["attributes"]).items()
        if "quasi" in own["role"]
    ]
    classes = persons_by_class(frame, release, names)
    assert min(map(len, classes.values())) >= 5
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["constraints"][0]["measured"] == min(map(len, classes.values()))
    assert report["constraints"][0]["parameters"] == {"k": 5, "unit": "person"}
    assert not report["constraints"][0]["verifiable_from_release"]
    assert report["units"] == {
        "person": {
            "column": "patient_id",
            "units": 200,
            "records": 1000,
            "records_without": 0,
            "most_records": 5,
        }
    }
    public = json.loads((tmp_path / "out" / "share" / "report.public.json").read_text(encoding="utf-8"))
    assert "units" not in public
    assert public["constraints"][0]["measured"] is None
    assert_audits(tmp_path / "out", "VERIFIED" if algorithm in ONE_ROW else None)


def test_persons_who_are_alone_by_any_columns_are_counted(tmp_path: Path) -> None:
    """Constraint, attack and ``check`` count the persons whom the worst set of columns singles out."""
    frame = visits(60, 3)
    unique = {"model": "uniqueness", "max": 0.3, "subsets": "all", "size": 2}
    config = written(
        tmp_path,
        frame,
        constraints=[unique],
        attacks=[
            {"attack": "uniqueness", "subsets": "all", "size": 2},
            {"attack": "vulnerability", "subsets": "all"},
        ],
    )
    done = run(config)
    assert done.code == 0, done.err
    assert "counted records" not in done.out
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    patients = set().union(*persons_by_class(frame, release, ["age"]).values())

    def alone(names: Sequence[str]) -> float:
        classes = persons_by_class(frame, release, list(names)).values()
        return len(set().union(*(own for own in classes if len(own) == 1))) / len(patients)

    sets = [each for size in (1, 2) for each in combinations(["age", "sex", "zip"], size)]
    worst = max(map(alone, sets))
    assert 0 < worst <= 0.3
    assert report["constraints"][0]["measured"] == pytest.approx(worst)
    entry = report["attacks"][0]
    assert (entry["success"], entry["records"]) == (pytest.approx(worst), len(patients))
    assert {
        tuple(each["attributes"]): each["success"] for each in entry["details"]["subsets"]
    } == pytest.approx({tuple(names): alone(names) for names in sets})
    assert [each["knowledge"]["unit"] for each in report["attacks"]] == ["person"] * 3
    checked = call("check", tmp_path / "visits.csv", "-c", config, "--json")
    (held,) = checked.json["constraints"]
    by_hand = max(
        frame.groupby(list(names))
        .filter(lambda own: own["patient_id"].nunique() == 1)["patient_id"]
        .nunique()
        / 60
        for names in sets
    )
    assert held["measured"] == pytest.approx(by_hand)


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local", "microaggregation"])
def test_the_page_counts_persons(algorithm: str) -> None:
    """Sizes of classes and risks by known columns are of persons, or said to be of records."""
    frame = visits(150, 4)
    changed = {"algorithm": {"name": algorithm}, "budget": {"steps": 10}, **ALGORITHMS[algorithm]}
    found = an.anonymize(frame, {**CONFIG, "input": {"person": "patient_id"}, **changed})
    facts, release = found.facts, found.data.astype(str)
    # Where records of equal rows are in several classes, it is not known whose are where.
    if algorithm == "microaggregation" or (algorithm == "local" and facts.unit == "record"):
        assert facts.unit == "record"
        assert {each.of for each in facts.groups} == {"records"}
        return
    assert facts.unit == "person"
    classes = persons_by_class(frame, release).values()
    assert facts.smallest_class == min(map(len, classes))
    for each in facts.groups:
        inside = [
            own for own in classes if each.low <= len(own) and (each.high is None or len(own) <= each.high)
        ]
        assert (each.classes, each.of) == (len(inside), "persons")

    def risk(rows: pd.DataFrame, known: Sequence[str]) -> float:
        return found_by_one_guess(persons_by_class(frame, rows, known))

    assert [each.known for each in facts.knowing] == [1, 2, 3]
    for own in facts.knowing:
        sets = list(combinations(["age", "sex", "zip"], own.known))
        for rows, share in ((release, own.worst), (frame, own.before)):
            assert share == pytest.approx(max(risk(rows, each) for each in sets), rel=0.05)
        assert own.mean == pytest.approx(sum(risk(release, each) for each in sets) / len(sets), rel=0.05)
    text = page(found.report, facts)
    assert f"Each class has records of at least {facts.smallest_class} persons." in text
    assert "of every record of a person re-identifies a random person by one guess" in text


ATTACKS = ["homogeneity", "vulnerability", "inference", "special-uniques"]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a job that has run, for tests of what is said of its release."""
    folder = tmp_path_factory.mktemp("published")
    done = run(written(folder, visits(), attacks=ATTACKS))
    assert done.code == 0, done.err
    return folder


def warned(out: str) -> str:
    """Return the first warning of a run."""
    return next(line for line in out.splitlines() if line.startswith("Warning"))


def test_records_alone_would_not_protect_the_patients(tmp_path: Path, message: SnapshotAssertion) -> None:
    frame = visits()
    config = written(tmp_path, frame, input={"path": "visits.csv"}, suppression={"limit": 0})
    done = run(config)
    assert done.code == 0
    assert exchange("200 patients with five visits each", warned(done.out)) == message
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    assert min(map(len, persons_by_class(frame, release).values())) < 5


def test_each_record_as_three_of_one_person_changes_nothing(tmp_path: Path) -> None:
    """Levels, loss and classes are those of the records, whether records or persons are counted."""
    once = visits(300, 1)
    thrice = once.loc[once.index.repeat(3)].assign(patient_id=lambda own: own["patient_id"])
    plain = {**CONFIG, "input": {}, "suppression": {"limit": 0}}
    reports = [
        an.anonymize(once, plain).report.to_dict(),
        an.anonymize(thrice, {**plain, "input": {"person": "patient_id"}}).report.to_dict(),
    ]
    for key in ("levels",):
        assert reports[0]["recoding"][key] == reports[1]["recoding"][key]
    assert reports[0]["loss"]["loss"] == pytest.approx(reports[1]["loss"]["loss"])
    assert reports[0]["release"]["classes"] == reports[1]["release"]["classes"]
    measured = [[each["measured"] for each in report["constraints"]] for report in reports]
    assert measured[0] == measured[1]


def test_a_visit_without_a_patient_is_one_of_its_own_or_refused(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    frame = visits()
    frame.loc[:39, "patient_id"] = None
    result = an.anonymize(frame, {**CONFIG, "input": {"person": "patient_id"}})
    own = result.report.to_dict()["units"]["person"]
    assert (own["units"], own["records_without"]) == (192 + 40, 40)
    assert exchange("40 visits without a patient", result.report.to_dict()["warnings"][0]) == message
    refused = {"path": "visits.csv", "person": "patient_id", "missing_person": "refuse"}
    done = run(written(tmp_path, frame, input=refused))
    assert done.code == 2
    assert exchange(refused, done.err, tmp_path) == message


def test_a_person_in_two_households_is_refused(message: SnapshotAssertion) -> None:
    frame = visits().assign(family=lambda own: own["sex"] + own["age"])
    given = {**CONFIG, "input": {"person": "patient_id", "household": "family"}}
    given["attributes"] = {**CONFIG["attributes"], "family": {"role": "drop"}}
    with pytest.raises(DataError) as error:
        an.anonymize(frame, given)
    assert exchange(given["input"], error.value) == message


def test_households_and_wards_are_counted_beside_persons() -> None:
    frame = visits().assign(ward=lambda own: own["illness"].str[:1])
    frame["family"] = frame["patient_id"].str[:4]
    given = {**CONFIG, "input": {"person": "patient_id", "household": "family", "units": {"ward": "ward"}}}
    given["attributes"] = {**CONFIG["attributes"], "family": {"role": "drop"}, "ward": {"role": "drop"}}
    given["constraints"] = [
        {"model": "k-anonymity", "k": 5},
        {"model": "k-anonymity", "k": 4, "unit": "household"},
        {"model": "k-anonymity", "k": 3, "unit": "ward"},
        {"model": "k-anonymity", "k": 12, "unit": "record"},
    ]
    result = an.anonymize(frame, given)
    classes = persons_by_class(frame, result.data)
    measured = [each["measured"] for each in result.report.to_dict()["constraints"]]
    families = [len({patient[:4] for patient in own}) for own in classes.values()]
    assert measured[:2] == [min(map(len, classes.values())), min(families)]
    assert all(own >= asked for own, asked in zip(measured, (5, 4, 3, 12), strict=True))


def test_warnings_about_keys_say_what_constraints_count_in_their_place() -> None:
    frame = visits(80, 3)
    frame["family"] = frame["patient_id"].str[:4]
    given = {**CONFIG, "input": {"person": "patient_id", "household": "family"}, "attacks": []}
    given["attributes"] = {**CONFIG["attributes"], "family": {"role": "drop"}}
    given["constraints"] = [{"model": "k-anonymity", "k": 3, "unit": "household"}]
    said = an.anonymize(frame, given).report.to_dict()["warnings"]
    (repeated,) = (each for each in said if "repeats" in each)
    assert repeated.startswith(
        "column 'patient_id' repeats: 80 values in 240 records. k counts households, not"
    )
    given["constraints"].append({"model": "k-anonymity", "k": 3, "unit": "record"})
    said = an.anonymize(frame, given).report.to_dict()["warnings"]
    assert [each.split(".")[1][:17] for each in said if "repeats" in each] == [" k counts records"]


@pytest.mark.parametrize("acknowledge", [[], ["rows-are-persons"]])
@pytest.mark.parametrize("unit", ["record", "person"])
def test_attacks_that_ignore_pseudonyms_are_named_whatever_is_counted(
    unit: str, acknowledge: list[str]
) -> None:
    constraints = [{"model": "k-anonymity", "k": 2, "unit": unit}]
    given = {**CONFIG, "input": {"person": LINKED["person"]}, "acknowledge": acknowledge}
    given |= {"constraints": constraints, "attacks": ["linkage", "vulnerability"], "bound": "none"}
    given |= {"suppression": {"limit": 0.9}}
    said = an.anonymize(visits(40, 2), given).report.to_dict()["warnings"]
    (ignored,) = (each for each in said if "pseudonyms link" in each)
    assert ignored.startswith("linkage ignored")


def test_a_key_with_another_value_in_every_record_is_said(message: SnapshotAssertion) -> None:
    frame = visits(300, 1)
    report = an.anonymize(frame, {**CONFIG, "input": {"person": "patient_id"}}).report.to_dict()
    assert exchange("300 patients with one visit each", report["warnings"][0]) == message


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("algorithm", "engine", "keep_rows"),
    [
        ("lattice", "duckdb", True),
        ("lattice", "memory", False),
        ("mondrian", "memory", True),
        ("mondrian", "duckdb", False),
    ],
)
def test_all_visits_of_a_patient_are_suppressed_or_none(
    tmp_path: Path, algorithm: str, engine: str, keep_rows: bool
) -> None:
    suppression = {"limit": 0.3, "whole": "person", "keep_rows": keep_rows}
    # Few are 80, some of them only at their last two visits.
    age = {**CONFIG["attributes"]["age"], "levels": {"max": 3}}
    config = written(
        tmp_path,
        frame := visits(),
        algorithm={"name": algorithm},
        engine={"name": engine},
        suppression=suppression,
        attributes={**CONFIG["attributes"], "age": age},
        constraints=[{"model": "k-anonymity", "k": 9}],
    )
    done = run(config)
    assert done.code == 0, done.err
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    stays = release[(release[["age", "sex", "zip"]] != "*").any(axis=1)]
    patient_of = dict(zip(frame["visit"], frame["patient_id"], strict=True))
    left = stays["visit"].map(patient_of).value_counts()
    assert set(left) == {5}
    assert min(map(len, persons_by_class(frame, stays).values())) >= 9
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["units"]["person"]["suppressed"] == 200 - len(left) > 0
    assert report["release"]["suppressed_records"] == 1000 - len(stays)
    # Mondrian removes the suppressed records where it may publish others with * only.
    assert len(release) == (1000 if keep_rows and algorithm == "lattice" else len(stays))
    assert_audits(tmp_path / "out", None)


@pytest.mark.parametrize("unit", ["person", "record"])
def test_auto_suppresses_a_patient_as_a_whole_where_no_two_share_a_row(unit: str) -> None:
    """Local recoding, the choice for small tables, suppresses records one by one."""
    frame = visits(12, 3).drop_duplicates(["age", "sex", "zip", "illness"])
    given = {
        **CONFIG,
        "constraints": [{"model": "k-anonymity", "k": 3, "unit": unit}],
        "suppression": {"limit": 0.5, "whole": "person"},
        "algorithm": {"name": "auto"},
        "budget": {"steps": 20},
    }
    result = an.anonymize(frame, given)
    patient_of = dict(zip(frame["visit"], frame["patient_id"], strict=True))
    left = Counter(patient_of[each] for each in result.data["visit"])
    asked = Counter(frame["patient_id"])
    assert all(left[each] == asked[each] for each in left)
    assert result.report.to_dict()["search"]["algorithm"] == "mondrian"
    once = an.anonymize(visits(30, 1), given).report.to_dict()["search"]
    assert once["algorithm"] == "local"


def test_families_are_suppressed_as_a_whole() -> None:
    frame = visits().assign(family=lambda own: own["patient_id"].str[:4])
    given = {**CONFIG, "input": {"person": "patient_id", "household": "family"}}
    given["attributes"] = {**CONFIG["attributes"], "family": {"role": "drop"}}
    given["suppression"] = {"limit": 0.9, "whole": "household"}
    given["constraints"] = [{"model": "k-anonymity", "k": 6}]
    released = an.anonymize(frame, given).data["visit"].astype(str)
    family_of = dict(zip(frame["visit"], frame["family"], strict=True))
    left = released.map(family_of).value_counts()
    assert 0 < len(left) < 20
    assert set(left) == {50}


def test_a_release_of_half_a_patient_fails_its_verification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: SnapshotAssertion
) -> None:
    monkeypatch.setattr("anonymizer.search.judge.RepeatedSuppression", WholeClasses)
    suppression = {"limit": 0.3, "whole": "person"}
    done = run(written(tmp_path, visits(), suppression=suppression))
    assert done.code == 1
    assert exchange(suppression, done.err, tmp_path) == message
    assert not (tmp_path / "out").exists()


LINKED = {"path": "visits.csv", "person": {"column": "patient_id", "release_as": "pseudonym"}}


def lists_of(release: pd.DataFrame) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the sorted list of published rows of each pseudonym."""
    found = defaultdict(list)
    for row in release[["patient_id", "age", "sex", "zip"]].astype(str).itertuples(index=False):
        found[row[0]].append(tuple(row[1:]))
    return {name: tuple(sorted(rows)) for name, rows in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "engine", "name"),
    [("lattice", "memory", "release.csv"), ("auto", "duckdb", "release.parquet")],
)
def test_a_pseudonym_links_the_rows_of_a_patient_and_says_nothing_else(
    tmp_path: Path, algorithm: str, engine: str, name: str
) -> None:
    frame = visits(200, 3)
    config = written(
        tmp_path,
        frame,
        input=LINKED,
        output={"path": name},
        suppression={"limit": 0.3},
        algorithm={"name": algorithm},
        engine={"name": engine},
    )
    patient_of = dict(zip(frame["visit"], frame["patient_id"], strict=True))
    drawn = []
    for _ in range(2):
        done = run(config)
        assert done.code == 0, done.err
        path = tmp_path / "out" / "share" / name
        release = pd.read_csv(path, dtype=str) if name.endswith(".csv") else pd.read_parquet(path)
        release["patient"] = release["visit"].map(patient_of)
        pairs = release[["patient_id", "patient"]].drop_duplicates()
        assert pairs["patient_id"].is_unique
        assert pairs["patient"].is_unique
        assert set(release.groupby("patient").size()) == {3}
        lists = lists_of(release)
        sizes = Counter(lists.values())
        assert min(sizes.values()) >= 5
        assert sorted(map(int, lists)) == [*range(1, len(lists) + 1)]
        drawn.append(dict(zip(pairs["patient"], pairs["patient_id"].astype(int), strict=True)))
        values = defaultdict(set)
        for patient, row, illness in zip(
            release["patient_id"].astype(str),
            release[["age", "sex", "zip"]].itertuples(index=False, name=None),
            release["illness"],
            strict=True,
        ):
            values[lists[patient], row].add(illness)
        assert min(map(len, values.values())) >= 3
        for report in ([], ["--report", tmp_path / "out" / "report.json"]):
            audited = call("audit", path, *report)
            assert audited.code == 0, audited.out
            assert f"holds  k-anonymity k=5 unit=person: measured {min(sizes.values())}" in audited.out
    assert drawn[0] != drawn[1]
    assert sorted(drawn[0], key=drawn[0].__getitem__) != sorted(drawn[0])
    checked = call("check", path, "-c", config)
    assert checked.code == 0, checked.out
    assert f"k-anonymity k=5 unit=person: measured {min(sizes.values())}" in checked.out


def test_without_a_pseudonym_each_visit_alone_would_do() -> None:
    """The ages at two visits distinguish patients that the age at one does not."""
    frame, random = visits(200, 3), Random(2)
    frame["age"] = [random.choice(frame["age"]) if at % 3 else age for at, age in enumerate(frame["age"])]
    given = {**CONFIG, "suppression": {"limit": 0.3}, "constraints": [{"model": "k-anonymity", "k": 5}]}
    alone = an.anonymize(frame, {**given, "input": {"person": "patient_id"}})
    linked = an.anonymize(frame, {**given, "input": {"person": LINKED["person"]}})
    assert alone.report.to_dict()["loss"]["loss"] < linked.report.to_dict()["loss"]["loss"]
    patient_of = frame.set_index("visit")["patient_id"]
    released = alone.data.assign(patient_id=alone.data["visit"].map(patient_of))
    assert min(Counter(lists_of(released).values()).values()) < 5
    assert min(Counter(lists_of(linked.data).values()).values()) >= 5
    assert linked.report.to_dict()["units"]["person"]["released_as"] == "pseudonym"


def test_pseudonyms_that_link_other_rows_fail_the_verification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mixed(projection: Projection, column: str, units: IntArray) -> Projection:
        return with_pseudonyms(projection, column, np.roll(units, 1))

    monkeypatch.setattr("anonymizer.job.verify.with_pseudonyms", mixed)
    done = run(written(tmp_path, visits(200, 3), input=LINKED, suppression={"limit": 0.3}))
    assert done.code == 1
    assert "column 'patient_id' links other records than those of one person" in done.err


def test_a_column_that_links_the_visits_is_said(message: SnapshotAssertion) -> None:
    frame = visits(100, 4)
    frame["visit"] = frame["patient_id"].str[1:].astype(int).clip(upper=60).astype(str)
    report = an.anonymize(frame, {**CONFIG, "input": {"person": "patient_id"}}).report.to_dict()
    # Three of the 60 patients with a number of their own are suppressed, or have one visit left.
    assert report["units"]["person"]["linked_by"] == {"visit": 57}
    assert exchange("a number of each patient's own", report["warnings"][0]) == message


@quickly(50, 10)
@drawn(randoms())
def test_whom_a_column_links_is_found_by_looking_at_everybody(random: Random) -> None:
    records = random.randint(1, 30)
    frame = visits(1, records)
    frame["patient_id"] = [f"P{random.randrange(1 + records // 2)}" for _ in range(records)]
    frame["visit"] = [f"V{random.randrange(random.choice((2, 60)))}" for _ in range(records)]
    given = {**CONFIG, "input": {"person": "patient_id"}, "constraints": [{"model": "k-anonymity", "k": 1}]}
    facts = an.anonymize(frame, given).report.to_dict()["units"]["person"]
    for column in ("visit", "illness"):
        values = frame.groupby("patient_id")[column].agg(set)
        several = frame.groupby("patient_id").size() > 1
        alone = [
            person
            for person in values.index[several]
            if len(values[person]) == 1
            and not any(values[person] & values[other] for other in values.index if other != person)
        ]
        assert facts.get("linked_by", {}).get(column, 0) == len(alone)


def test_a_household_of_one_and_one_without_a_number(message: SnapshotAssertion) -> None:
    frame = visits().assign(family=lambda own: own["patient_id"].where(own["patient_id"] > "P0003"))
    given = {**CONFIG, "input": {"person": "patient_id", "household": "family"}}
    given["attributes"] = {**CONFIG["attributes"], "family": {"role": "drop"}}
    given["constraints"] = [{"model": "k-anonymity", "k": 5, "unit": "household"}]
    report = an.anonymize(frame, given).report.to_dict()
    assert report["units"]["household"]["units"] == 196 + 4
    assert report["units"]["household"]["records_without"] == 20
    assert exchange("four patients without a family", report["warnings"][0]) == message


def two_places() -> pd.DataFrame:
    """Return illnesses of 50 patients, all of whom have flu: cancer, too, in A 4 of 10, in B 3 of 40."""
    rows = [(f"P{patient}", "A" if patient < 10 else "B", "flu") for patient in range(50)]
    rows += [(f"P{patient}", place, "cancer") for patient, place in enumerate("AAAA")]
    rows += [(f"P{patient}", "B", "cancer") for patient in range(20, 23)]
    frame = pd.DataFrame(rows, columns=["patient_id", "place", "illness"])
    return frame.assign(visit=[f"v{row}" for row in range(len(frame))])


SHARES: dict[str, tuple[dict[str, Any], Callable[[float, float], bool]]] = {
    "basic-beta-likeness": ({"beta": 1}, lambda q, p: q <= 2 * p),
    "enhanced-beta-likeness": ({"beta": 1}, lambda q, p: q <= p or q <= p * (1 + min(1, -log(p)))),
    "delta-disclosure": ({"delta": 0.7}, lambda q, p: abs(log(q / p)) < 0.7),
    "alpha-k-anonymity": ({"alpha": 1, "k": 2}, lambda q, p: q <= 1),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("model", "algorithm", "reference"),
    [
        ("basic-beta-likeness", "lattice", "input"),
        ("basic-beta-likeness", "auto", "release"),
        ("enhanced-beta-likeness", "auto", "input"),
        ("enhanced-beta-likeness", "lattice", "release"),
        ("delta-disclosure", "lattice", "release"),
        ("delta-disclosure", "auto", "input"),
        ("alpha-k-anonymity", "auto", "release"),
        ("alpha-k-anonymity", "lattice", "input"),
    ],
)
def test_a_patient_with_flu_and_cancer_can_lose_the_cancer(
    tmp_path: Path, model: str, algorithm: str, reference: str
) -> None:
    """All patients stay, and the shares of patients that the release has are counted without the product."""
    frame, (parameters, allowed) = two_places(), SHARES[model]
    config = written(
        tmp_path,
        frame,
        attributes={
            "patient_id": {"role": "identifier"},
            "place": QI,
            "illness": {"role": "sensitive"},
            "visit": INSENSITIVE,
        },
        constraints=[{"model": model, **parameters}, {"model": "k-anonymity", "k": 10}],
        suppression={"limit": 0.06, "method": "records"},
        algorithm={"name": algorithm},
        reference=reference,
        bound="quick",
    )
    done = run(config)
    assert done.code == 0, done.err
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    given = frame.set_index("visit")
    own = release.assign(patient=release["visit"].map(given["patient_id"]))
    assert set(own["place"]) == {"A", "B"}
    assert own["patient"].nunique() == 50
    lost = given.drop(index=list(release["visit"]))
    whole = own if reference == "release" else frame.rename(columns={"patient_id": "patient"})
    p = whole.groupby("illness")["patient"].nunique() / whole["patient"].nunique()
    for _, rows in own.groupby("place"):
        q = rows.groupby("illness")["patient"].nunique() / rows["patient"].nunique()
        assert len(q) == 2
        assert all(allowed(q[value], p[value]) for value in q.index)
    fewest = 0 if model == "alpha-k-anonymity" else 2
    assert list(lost["illness"]) == ["cancer"] * fewest
    assert set(lost["place"]) <= {"A"}
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["release"]["suppressed_records"] == fewest
    assert report["search"]["gap"] == 0 or reference == "release"
    assert_audits(tmp_path / "out", "VERIFIED" if model == "alpha-k-anonymity" else None)


NUMBERED = {"input": {"person": LINKED["person"]}}

BAD: dict[str, dict[str, Any]] = {
    "linked regions": {**NUMBERED, "algorithm": {"name": "mondrian"}},
    "linked records alone": {**NUMBERED, "suppression": {"method": "records"}},
    "linked stars": {**NUMBERED, "suppression": {"keep_rows": True}},
    "linked families": {**NUMBERED, "suppression": {"whole": "household"}},
    "an append of linked records": {**NUMBERED, "apply": "first/report.json"},
    "a linked model of the whole table": {
        **NUMBERED,
        "constraints": [{"model": "vulnerability", "max": 0.5, "unit": "record"}],
    },
    "another key": {"input": {"person": {"column": "patient_id", "release_as": "key"}}},
    "no column": {"input": {"person": {"release_as": "pseudonym"}}},
    "whole units without a column": {"suppression": {"whole": "household"}},
    "whole records": {"suppression": {"whole": "record"}},
    "whole persons of single records": {
        "suppression": {"whole": "person", "method": "records"},
        "constraints": [{"model": "k-anonymity", "k": 5, "unit": "record"}],
    },
    "whole persons in local recoding": {
        "suppression": {"whole": "person"},
        "algorithm": {"name": "local"},
        "constraints": [{"model": "k-anonymity", "k": 5, "unit": "record"}],
    },
    "whole persons of an append": {"suppression": {"whole": "person"}, "apply": "first/report.json"},
    "no such column": {"input": {"person": "patient"}},
    "a released key": {"attributes": {**CONFIG["attributes"], "patient_id": {"role": "insensitive"}}},
    "an unknown unit": {"constraints": [{"model": "k-anonymity", "k": 5, "unit": "family"}]},
    "a unit without a column": {"constraints": [{"model": "k-anonymity", "k": 5, "unit": "household"}]},
    "a name with a meaning": {"input": {"units": {"person": "patient_id"}}},
    "a household found by its members": {
        "input": {"person": "patient_id", "household": "visit"},
        "attributes": {**CONFIG["attributes"], "visit": {"role": "drop"}},
        "constraints": [{"model": "vulnerability", "max": 0.5, "unit": "household"}],
    },
    "a mean over records": {"constraints": [{"model": "prosecutor-risk", "max": 0.5, "at": "mean"}]},
    "a share of records": {
        "constraints": [
            {"model": "prosecutor-risk", "max": 0.5, "at": {"share-above": 0.2}, "unit": "person"}
        ]
    },
    "some of the records": {"constraints": [{"model": "linkage-risk", "max": 0.5, "overlap": 0.5}]},
    "a pseudonym": {**NUMBERED, "constraints": [{"model": "vulnerability", "max": 0.5}]},
    "buckets": {"algorithm": {"name": "anatomy"}},
    "whole persons in another engine": {"engine": {"name": "spark"}, "suppression": {"whole": "person"}},
    "a released unit": {
        "input": {"person": "patient_id", "units": {"place": "zip"}},
    },
    "no unit for what is missing": {
        "input": {"missing_person": "refuse"},
    },
    "linked records in another engine": {"engine": {"name": "spark"}, **NUMBERED},
    "records for persons": {"input": {"person": "patient_id", "missing_person": "drop"}},
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_count_units_is_refused(name: str, message: SnapshotAssertion) -> None:
    given = {**CONFIG, "input": {"person": "patient_id"}, **BAD[name]}
    with pytest.raises(ConfigError) as error:
        an.anonymize(visits(), given)
    assert exchange(f"{name}: {BAD[name]}", error.value) == message


RISKS: dict[str, dict[str, Any]] = {
    "vulnerability": {"model": "vulnerability"},
    "guesses": {"model": "vulnerability", "target": "attribute-inference", "attribute": "illness"},
    "uniqueness": {"model": "uniqueness"},
    "linkage": {"model": "linkage-risk"},
    "learned": {"model": "linkage-risk", "linkage": "learned"},
    "interval": {"model": "interval-risk", "attributes": ["age"], "measure": "rid"},
}


def of_attack(name: str, entries: list[dict[str, Any]]) -> float:
    """Return the success of the attack that measures a risk."""
    target = {"vulnerability": "re-identification", "guesses": "attribute-inference"}.get(name)
    (found,) = [each for each in entries if target is None or each["knowledge"]["target"] == target]
    assert found["knowledge"]["unit"] == "person"
    return float(found["success"])


@pytest.mark.quick(3)
@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "auto"])
def test_a_risk_is_what_the_attack_finds_of_persons(algorithm: str) -> None:
    """In the release, whatever the algorithm, and in the step of the search that accepted it.

    Each algorithm has every other risk: the lattice those that the next one has not.
    """
    frame = visits(40, 3)
    changed = {"algorithm": {"name": algorithm}, "budget": {"steps": 10}, **ALGORITHMS[algorithm]}
    for name, risk in list(RISKS.items())[list(ALGORITHMS).index(algorithm) % 2 :: 2]:
        attack = {key: value for key, value in risk.items() if key not in ("model", "attribute")}
        attack["attack"] = str(risk["model"]).removesuffix("-risk")
        constraints = [{**risk, "max": 0.99}, {"model": "k-anonymity", "k": 2}]
        asked = {**CONFIG, **changed, "constraints": constraints, "attacks": [attack], "bound": "none"}
        try:
            found = an.anonymize(frame, asked).report.to_dict()
        except an.Infeasible:
            # The published middle of a group is near the true numbers.
            assert name == "interval"
            continue
        own = found["constraints"][0]
        assert own["parameters"]["unit"] == "person"
        assert own["verifiable_from_release"] is False
        success = of_attack(name, found["attacks"])
        assert own["measured"] == pytest.approx(success, abs=1e-9), name
        reached = [step for step in found["steps"] if step["accepted"]]
        for step in reached[-1:]:
            for each in step.get("attackers", ()):
                assert each["measured"] == pytest.approx(own["measured"], abs=1e-9)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", RISKS)
def test_risks_of_persons_with_one_record_are_those_of_records(name: str) -> None:
    found = []
    for unit in ({}, {"unit": "record"}):
        constraints = [{**RISKS[name], "max": 0.4, **unit}, {"model": "k-anonymity", "k": 2, **unit}]
        asked = {**CONFIG, "constraints": constraints, "attacks": [], "bound": "none"}
        try:
            result = an.anonymize(visits(60, 1), asked)
        except an.Infeasible as error:
            found.append(error.report.to_dict())
        else:
            found.append(result.report.to_dict())
    by_person, by_record = found
    for key in ("status", "recoding", "loss"):
        assert by_person.get(key) == by_record.get(key), key
    own, other = (each["constraints"][0]["measured"] for each in found)
    assert own == other or own == pytest.approx(other)


def shares_of_persons(rows: list[list[str]], members: list[str]) -> dict[str, float]:
    """Return the risks of persons whose age and sex are known, by the slow twins."""
    linked = twins.linked_members(rows, members, [0, 1])
    best = twins.best_guess(rows, members, [0, 1])
    values = [twins.best_values(rows, members, known, 2) for known in ([0, 1], [])]
    return {
        "uniqueness": float(twins.lone_persons(rows, members, [0, 1])),
        "linkage": float(sum(linked.values()) / len(linked)),
        "vulnerability": float(sum(best.values()) / len(best)),
        "guesses": max(float(sum(each.values()) / len(each)) for each in values),
    }


def test_the_best_release_by_a_risk_of_persons_is_that_of_all_transformations() -> None:
    """Every transformation is measured by the slow twins; merging classes may increase such a share."""
    frame, columns = visits(25, 4, seed=3), {**CONFIG["attributes"], "zip": {"role": "insensitive"}}
    base = {**CONFIG, "attacks": [], "suppression": {"limit": 0}}
    patient_of = dict(zip(frame["visit"], frame["patient_id"], strict=True))
    found = []
    for age in range(5):
        for sex in range(2):
            fixed = {
                own: {**columns[own], "levels": {"min": level, "max": level}}
                for own, level in (("age", age), ("sex", sex))
            }
            whole = [{"model": "k-anonymity", "k": 1}]
            result = an.anonymize(frame, {**base, "attributes": {**columns, **fixed}, "constraints": whole})
            rows = result.data[["age", "sex", "illness"]].astype(str).to_numpy().tolist()
            shares = shares_of_persons(rows, [patient_of[each] for each in result.data["visit"]])
            found.append((result.report.to_dict()["search"]["objective"], shares))
    for name in shares:
        assert_best(name, frame, {**base, "attributes": columns}, [(own, by[name]) for own, by in found])


def assert_best(
    name: str, frame: pd.DataFrame, base: dict[str, Any], found: Sequence[tuple[float, float]]
) -> None:
    """Check the release under a limit on a risk, given objective and risk of each transformation."""
    shares = sorted({share for _, share in found})
    assert len(shares) > 2
    for allowed in (shares[len(shares) // 3], shares[-2]):
        most = round(allowed + 1e-6, 6)
        risk = {**RISKS[name], "max": most}
        report = an.anonymize(frame, {**base, "constraints": [risk]}).report.to_dict()
        assert report["search"]["optimal"], name
        best = min(objective for objective, share in found if share <= most)
        assert report["search"]["objective"] == pytest.approx(best), name
        measured = report["constraints"][0]["measured"]
        assert any(
            objective == pytest.approx(best) and share == pytest.approx(measured)
            for objective, share in found
        ), name


def test_check_measures_risks_of_persons(tmp_path: Path) -> None:
    frame = visits(30, 3)
    chosen = [{**RISKS[name], "max": 0.5} for name in ("vulnerability", "guesses", "uniqueness", "linkage")]
    path = written(tmp_path, frame, constraints=chosen)
    done = call("check", tmp_path / "visits.csv", "-c", path, "--json")
    measured = [each["measured"] for each in json.loads(done.out)["constraints"]]
    rows = frame[["age", "sex", "zip", "illness"]].to_numpy().tolist()
    people = frame["patient_id"].tolist()
    best = twins.best_guess(rows, people, [0, 1, 2])
    values = [twins.best_values(rows, people, known, 3) for known in ([0, 1, 2], [])]
    assert measured[0] == pytest.approx(float(sum(best.values()) / 30))
    assert measured[1] == pytest.approx(max(float(sum(each.values()) / 30) for each in values))
    assert measured[2] == pytest.approx(float(twins.lone_persons(rows, people, [0, 1, 2])))
    assert measured[3] is None


OUT_OF_CORE = {"name": "duckdb", "options": {"combinations": 100}}


@pytest.mark.parametrize(
    "changed",
    [
        {"suppression": {"limit": 0.1, "whole": "person"}},
        {"input": LINKED},
        {"algorithm": {"name": "mondrian"}},
        {"suppression": {"limit": 0.1, "method": "records"}},
    ],
    ids=["whole", "linked", "mondrian", "single records"],
)
def test_what_needs_the_records_is_refused_out_of_core(
    changed: dict[str, Any], tmp_path: Path, message: SnapshotAssertion
) -> None:
    done = run(written(tmp_path, visits(), engine=OUT_OF_CORE, **changed))
    assert done.code == 2
    assert exchange(changed, done.err, tmp_path) == message


def report_of(folder: Path, engine: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Run a job on Parquet and return what its report says of persons."""
    written(folder, visits(), engine=engine, **changed)
    visits_with_strange_keys().to_parquet(folder / "visits.parquet")
    done = run(folder / "job.json")
    assert done.code == 0, done.err
    report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    measured = [(each["measured"], each["worst_classes"]) for each in report["constraints"]]
    own = (
        report["recoding"],
        report["loss"],
        report["release"]["suppressed_records"],
        report["search"]["optimal"],
    )
    return {"measured": measured, "found": own, "units": report["units"]}


def visits_with_strange_keys() -> pd.DataFrame:
    frame = visits()
    frame.loc[3:20, "patient_id"] = None
    frame.loc[21:25, "patient_id"] = "it's \\n"
    return frame


MANY: dict[str, Any] = {
    "input": {
        "path": "visits.parquet",
        "person": "patient_id",
        "missing": ["", "it's \\n"],
    },
    "attributes": {**CONFIG["attributes"], "visit": {"role": "drop"}},
    "constraints": [
        *CONFIG["constraints"],
        {"model": "t-closeness", "t": 0.5},
        {"model": "k-anonymity", "k": 7, "unit": "record"},
    ],
    "output": {"path": "release.parquet"},
}


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 0.1])
def test_out_of_core_persons_are_counted_as_in_memory(tmp_path: Path, limit: float) -> None:
    asked = {**MANY, "suppression": {"limit": limit}}
    expected = report_of(tmp_path, {"name": "memory"}, **asked)
    assert expected["units"]["person"]["records_without"] == 23
    for room in (150, 600):
        engine = {"name": "duckdb", "options": {"combinations": room}}
        assert report_of(tmp_path, engine, **asked) == expected


def of_an_adversary(folder: Path, engine: dict[str, Any]) -> tuple[Any, ...]:
    """Run a job on Parquet whose adversary knows two columns, and return what its report says of it."""
    models = [
        {"model": "k-anonymity", "k": 3},
        {"model": "vulnerability", "max": 0.2},
        {**RISKS["guesses"], "max": 0.9},
    ]
    asked = {
        "input": {"path": "visits.parquet", "person": "patient_id"},
        "attributes": {**CONFIG["attributes"], "zip": {**CONFIG["attributes"]["zip"], "levels": {"min": 3}}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "scenarios": {"neighbour": {"known": ["age", "sex"], "models": models}},
        "output": {"path": "release.parquet"},
        "attacks": [],
        "bound": "none",
    }
    written(folder, visits(60, 4), engine=engine, **asked)
    visits(60, 4).to_parquet(folder / "visits.parquet")
    done = run(folder / "job.json")
    assert done.code == 0, done.err
    report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    units = [each["parameters"]["unit"] for each in report["scenarios"]["neighbour"]["constraints"]]
    assert units == 3 * ["person"]
    return report["scenarios"], report["recoding"]["levels"], report["constraints"]


@pytest.mark.slow
def test_persons_of_an_adversary_are_counted_out_of_core_as_in_memory(tmp_path: Path) -> None:
    out_of_core = {"name": "duckdb", "options": {"combinations": 150}}
    assert of_an_adversary(tmp_path, out_of_core) == of_an_adversary(tmp_path, {"name": "memory"})


@pytest.mark.quick(2)
@pytest.mark.parametrize("engine", [{"name": "memory"}, {"name": "duckdb", "options": {"combinations": 20}}])
@pytest.mark.parametrize(("most", "level", "measured"), [(0.8, 1, 0.8), (0.79, 2, 1 / 3)])
def test_who_has_most_records_of_a_class_is_found_by_any_of_them(
    most: float, level: int, measured: float, engine: dict[str, Any], tmp_path: Path
) -> None:
    """In each decade another of three patients has eight of the ten visits, each at an age of its own."""
    patients = [("ABC"[(rank + decade) % 3]) for decade in range(3) for rank in (*range(3), *([0] * 7))]
    frame = pd.DataFrame({"age": range(20, 50), "visit": range(30), "patient_id": patients})
    asked = {
        "attributes": {
            **{name: CONFIG["attributes"][name] for name in ("patient_id", "visit")},
            "age": {**NUMBER, "hierarchy": {"intervals": {"width": [10, 100]}}},
        },
        "constraints": [{"model": "k-anonymity", "k": 3}, {"model": "vulnerability", "max": most}],
        "attacks": ["vulnerability"],
        "bound": "none",
    }
    done = run(written(tmp_path, frame, engine=engine, **asked))
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["recoding"]["levels"] == {"age": level}
    assert report["constraints"][1]["measured"] == pytest.approx(measured)
    if engine["name"] == "memory":
        assert of_attack("vulnerability", report["attacks"]) == pytest.approx(measured)


@pytest.mark.spark
@pytest.mark.parametrize("options", [{}, {"combinations": 150}], ids=["held", "out of core"])
def test_spark_counts_the_persons_of_an_adversary(tmp_path: Path, options: dict[str, int]) -> None:
    expected = of_an_adversary(tmp_path, {"name": "memory"})
    with running():
        assert of_an_adversary(tmp_path, engine(**options)) == expected


@pytest.mark.spark
def test_spark_counts_persons_out_of_core(tmp_path: Path) -> None:
    """Those of a table in memory it counts in test_spark."""
    age = {**QI, "hierarchy": {"intervals": {"width": [20]}}}
    place = {**MANY["attributes"]["zip"], "levels": {"min": 2, "max": 3}}
    asked = {**MANY, "attributes": {**MANY["attributes"], "age": age, "zip": place}}
    expected = report_of(tmp_path, {"name": "memory"}, **asked)
    with running():
        assert report_of(tmp_path, engine(combinations=600), **asked) == expected


def test_out_of_core_a_visit_without_a_patient_and_a_patient_in_two_families_are_refused(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    given = {"path": "visits.csv", "person": "patient_id", "household": "family"}
    attributes = {**CONFIG["attributes"], "family": {"role": "drop"}}
    frame = visits().assign(family=lambda own: own["sex"] + own["age"])
    done = run(written(tmp_path, frame, engine=OUT_OF_CORE, input=given, attributes=attributes))
    assert done.code == 2
    assert exchange(given, done.err, tmp_path) == message
    frame.loc[:39, "patient_id"] = None
    refused = {**given, "missing_person": "refuse"}
    done = run(written(tmp_path, frame, engine=OUT_OF_CORE, input=refused, attributes=attributes))
    assert done.code == 2
    assert exchange(refused, done.err, tmp_path) == message


def test_a_model_of_the_whole_table_may_count_records() -> None:
    given = {**CONFIG, "input": {"person": "patient_id"}}
    given["constraints"] = [
        *CONFIG["constraints"],
        {"model": "vulnerability", "max": 0.2, "unit": "record"},
    ]
    report = an.anonymize(visits(), given).report.to_dict()
    assert report["constraints"][2]["parameters"] == {"max": 0.2, "target": "re-identification"}


def test_check_counts_persons_beside_records(tmp_path: Path) -> None:
    frame = visits()
    config = written(tmp_path, frame)
    table = an.check(frame, quasi_identifiers=["sex"], sensitive=["illness"], person="patient_id").set_index(
        "model"
    )
    sizes = {
        "records": frame.groupby("sex").size().min(),
        "persons": frame.groupby("sex")["patient_id"].nunique().min(),
    }
    own = table.loc["k-anonymity"]
    assert own["measured"].tolist() == list(sizes.values())
    assert own["parameters"].tolist() == [{"k": 1}, {"k": 1, "unit": "person"}]
    assert not table.attrs.get("warnings")
    data = str(tmp_path / "visits.csv")
    shown = call("check", data, "--qi", "sex", "--person", "patient_id").out
    assert f"k-anonymity unit=person {sizes['persons']}" in " ".join(shown.split())
    done = call("check", data, "-c", config)
    assert done.code == 1
    assert "FAILS  k-anonymity k=5 unit=person: measured 1" in done.out


def test_the_draft_counts_persons_and_runs(tmp_path: Path, message: SnapshotAssertion) -> None:
    visits().to_csv(tmp_path / "visits.csv", index=False)
    drafted = call("init", tmp_path / "visits.csv")
    assert drafted.code == 0
    (warning,) = [line for line in drafted.out.splitlines() if line.startswith("Warning: ")]
    assert exchange("visits.csv", warning) == message
    text = (tmp_path / "visits.yaml").read_text(encoding="utf-8")
    assert "  person: patient_id " in text
    done = call("run", tmp_path / "visits.yaml", "-q")
    assert done.code == 0, done.err
    assert "k-anonymity k=5 unit=person" in done.out


@pytest.mark.slow
def test_a_named_key_of_persons(tmp_path: Path) -> None:
    frame = visits().rename(columns={"patient_id": "nhs"})
    frame.to_csv(tmp_path / "visits.csv", index=False)
    assert call("init", tmp_path / "visits.csv", "--person", "nhs").code == 0
    text = (tmp_path / "visits.yaml").read_text(encoding="utf-8")
    assert "  person: nhs " in text
    assert "  nhs: {role: identifier}" in text
    draft = an.init(frame, person="nhs")
    assert draft["input"] == {"person": "nhs"}
    result = an.anonymize(frame, qi=["age", "sex", "zip"], sensitive=["illness"], person="nhs", k=4)
    assert result.report.to_dict()["constraints"][0]["parameters"] == {"k": 4, "unit": "person"}
    assert call("init", tmp_path / "visits.csv", "--person", "nobody", "--overwrite").code == 2


def test_attacks_say_that_they_count_records(
    tmp_path: Path, published: Path, message: SnapshotAssertion
) -> None:
    config = written(tmp_path, visits(), attacks=["uniqueness"])
    release = release_path(published)
    original = ("--original", tmp_path / "visits.csv")
    done = call("attack", release, "-c", config, "-q")
    assert done.code == 0
    assert exchange("with input.person", done.out.splitlines()[0]) == message
    plain = written(tmp_path, visits(), attacks=["uniqueness"], input={"path": "visits.csv"})
    done = call("attack", release, "-c", plain, "-q", *original)
    assert exchange("without", done.out.splitlines()[0]) == message


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "mondrian in relaxed mode", "local"])
def test_attacks_count_persons(tmp_path: Path, algorithm: str) -> None:
    """They find the persons that a loop finds, who are known by the numbers of their visits."""
    frame = visits(60, 3)
    attacks = ["uniqueness", "homogeneity", "vulnerability"]
    risk = {"model": "inference-risk", "attack": "inference", "max": 0.6, "unit": "record"}
    constraints = [{"model": "k-anonymity", "k": 2}, risk]
    changed = {"algorithm": {"name": algorithm}, "budget": {"steps": 10}, **ALGORITHMS[algorithm]}
    attacks += [
        "linkage",
        "inference",
        "wildcard",
        {"attack": "definetti", "chains": 2, "sweeps": 64},
        {"attack": "interval", "measure": "rid", "attributes": ["age"]},
    ]
    config = written(tmp_path, frame, attacks=attacks, constraints=constraints, **changed)
    done = run(config)
    assert done.code == 0, done.err
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    patient_of = dict(zip(frame["visit"].astype(str), frame["patient_id"], strict=True))
    persons = [patient_of[visit] for visit in release["visit"]]
    rows = release[["age", "sex", "zip", "illness"]].to_numpy().tolist()
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    found = {each["attack"]: each for each in reversed(report["attacks"])}
    assert {each["knowledge"]["unit"] for each in report["attacks"]} == {"person"}
    assert found["uniqueness"]["success"] == twins.lone_persons(rows, persons, (0, 1, 2))
    told = twins.told_persons(
        rows, persons, (0, 1, 2), lambda row: row[3], lambda own: len({row[3] for row in own}) == 1
    )
    assert found["homogeneity"]["success"] == pytest.approx(float(told))
    best = twins.best_guess(rows, persons, (0, 1, 2))
    assert found["vulnerability"]["success"] == pytest.approx(float(sum(best.values()) / len(best)))
    (guess,) = (
        each for each in report["attacks"] if each["knowledge"].get("target") == "attribute-inference"
    )
    best, whole = (twins.best_values(rows, persons, known, 3) for known in ((0, 1, 2), ()))
    means = [float(sum(each.values()) / len(each)) for each in (best, whole)]
    assert guess["success"] == pytest.approx(max(means))
    assert found["linkage"]["records"] == found["inference"]["records"] == len(set(persons))
    assert found["interval"]["records"] == len(set(persons))
    assert found["wildcard"]["success"] == twins.wildcard_persons(rows, persons, 3)
    if algorithm == "lattice":
        linked = twins.linked_members(rows, persons, (0, 1, 2))
        assert found["linkage"]["success"] == pytest.approx(float(sum(linked.values()) / len(linked)))
        original = ("--original", tmp_path / "visits.csv")
        done = call("attack", tmp_path / "out" / "share" / "release.csv", "-c", config, "--json", *original)
        assert done.code == 0, done.err
        again = {each["attack"]: each for each in reversed(done.json["attacks"])}
        for name, each in found.items():
            assert again[name]["success"] == pytest.approx(each["success"])
            assert again[name]["knowledge"] == each["knowledge"]
        table = an.attack(
            pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str), frame.astype(str), config
        )
        assert [each["unit"] for each in table["knowledge"]] == ["person"] * len(table)
    public = json.loads((tmp_path / "out" / "share" / "report.public.json").read_text(encoding="utf-8"))
    assert {each["success"] for each in public["attacks"]} == {None}
    in_part = "VERIFIED, but 1 of 2 constraints could not be measured"
    assert_audits(tmp_path / "out", in_part if algorithm in ONE_ROW else None)


IN_PARTS: dict[str, dict[str, Any]] = {
    "lattice": {},
    "relaxed": ALGORITHMS["mondrian in relaxed mode"],
    "cells": {"suppression": {"method": "cells", "limit": 0.3}},
}


@quickly(30, 4)
@drawn(randoms())
@pytest.mark.parametrize("kind", IN_PARTS)
def test_files_tell_of_persons_as_the_run_does_or_of_records_with_a_warning(
    kind: str, random: Random
) -> None:
    """Published rows that overlap do not tell whose records they are."""
    frame = visits(random.randint(4, 16), random.randint(1, 3), random.randrange(1000))
    names = ["homogeneity", "uniqueness", "vulnerability", "linkage", "wildcard"]
    k = {"model": "k-anonymity", "k": random.randint(2, 3)} | ({"unit": "record"} if kind == "cells" else {})
    asked = {**CONFIG, "constraints": [k], "attacks": names, **IN_PARTS[kind]}
    asked["input"] = {"person": "patient_id"}
    attributes = {**CONFIG["attributes"], "zip": INSENSITIVE} if random.random() < 0.5 else None
    asked["attributes"] = attributes or CONFIG["attributes"]
    try:
        result = an.anonymize(frame, asked)
    except an.Infeasible:
        return
    run_, files = result.report.to_dict()["attacks"], an.attack(result.data, frame, asked)
    said = [each for each in files.attrs.get("warnings", []) if each.startswith("attacks count")]
    if "unit" in files["knowledge"][0]:
        assert not said
        assert [each["knowledge"] for each in run_] == files["knowledge"].tolist()
        for name in ("success", "baseline", "low", "high", "records"):
            assert files[name].tolist() == pytest.approx([each[name] for each in run_])
    else:
        assert not any("unit" in each for each in files["knowledge"])
        assert said[0].startswith("attacks count records, not people, because ")
        assert kind != "lattice"


def release_path(folder: Path) -> Path:
    return folder / "out" / "share" / "release.csv"


def test_two_releases_tell_of_persons(tmp_path: Path) -> None:
    frame = visits(90, 3)
    config = written(tmp_path, frame, attacks=["intersection", {"attack": "intersection", "unit": "record"}])
    zips = frame["zip"].str[:4] + "*"
    releases = frame.assign(age="*", zip=zips).drop(columns="patient_id"), frame.assign(age="*", sex="*")
    table = an.attack(releases[0], frame.astype(str), config, second_df=releases[1])
    names, persons = ["age", "sex", "zip", "illness"], frame["patient_id"].tolist()
    targets = frame[names].astype(str).to_numpy().tolist()
    stands_for: list[dict[str, set[str]]] = []
    for column in names[:3]:
        values = set(frame[column])
        stands_for.append({text: {text} for text in values} | {"*": values})
    for text in set(zips):
        stands_for[2][text] = {value for value in set(frame["zip"]) if value.startswith(text[:4])}
    rows = [list(zip(each[names].astype(str).to_numpy().tolist(), persons, strict=True)) for each in releases]
    found = table.iloc[0]
    expected = twins.certain_persons(list(zip(targets, persons, strict=True)), rows, stands_for)
    assert found["success"] == float(expected)
    assert table.iloc[1]["success"] < found["baseline"] <= found["success"] < 1
    assert (found["knowledge"]["unit"], found["records"]) == ("person", 90)
    assert "unit" not in table.iloc[1]["knowledge"]
    assert not [each for each in table.attrs["warnings"] if "counted" in each]


def test_a_run_names_the_attacks_that_count_records(published: Path, message: SnapshotAssertion) -> None:
    report = json.loads((published / "out" / "report.json").read_text(encoding="utf-8"))
    assert exchange(ATTACKS, *(each for each in report["warnings"] if "counted" in each)) == message


@pytest.mark.quick(1)
@pytest.mark.parametrize("asked", [{"unit": "record"}, {}])
def test_each_entry_of_an_attack_that_counts_records_is_named(tmp_path: Path, asked: dict[str, Any]) -> None:
    """``unit: record`` of one entry says nothing about another, and persons of one nothing about it."""
    frame = visits(60, 3)
    attacks = [{"attack": "linkage", **asked}, {"attack": "linkage", "knowledge": {"noise": 0.1}}]
    config = written(tmp_path, frame, attacks=attacks)
    assert run(config).code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    expected = "linkage (attacks[1]) counted records, not people"
    assert [each.split(". ")[0] for each in report["warnings"] if "counted" in each] == [expected]
    original = ("--original", tmp_path / "visits.csv")
    done = call("attack", release_path(tmp_path), "-c", config, *original)
    assert [line.split(". ")[0] for line in done.out.splitlines() if "counted" in line] == [
        f"Warning: {expected}"
    ]
    table = an.attack(pd.read_csv(release_path(tmp_path), dtype=str), frame.astype(str), config)
    assert any(each.startswith(expected) for each in table.attrs["warnings"])


@pytest.mark.parametrize(
    "attack",
    [
        {"attack": "homogeneity", "unit": "household"},
        {"attack": "homogeneity", "unit": "person", "facts": {"records": 1}},
        {
            **{"attack": "vulnerability", "unit": "person", "target": "attribute-inference"},
            "facts": {"records": 1},
        },
        {"attack": "linkage", "unit": "person", "overlap": 0.5},
        {"attack": "intersection", "unit": "person", "aligned": True},
    ],
)
def test_a_unit_that_an_attack_cannot_count(
    tmp_path: Path, attack: dict[str, Any], message: SnapshotAssertion
) -> None:
    done = run(written(tmp_path, visits(20, 2), attacks=[attack]))
    assert done.code == 2
    assert exchange(attack, done.err.replace(str(tmp_path), "FOLDER")) == message


def test_a_release_alone_does_not_say_whose_its_records_are(
    tmp_path: Path, published: Path, message: SnapshotAssertion
) -> None:
    attack = {"attack": "homogeneity", "unit": "person"}
    config = written(tmp_path, visits(1, 1), attacks=[attack])
    done = call("attack", release_path(published), "-c", config, "-q")
    assert done.code == 2
    assert exchange(attack, done.err.replace(str(tmp_path), "FOLDER")) == message


@pytest.mark.slow
def test_compare_leaves_out_what_counts_records_only(tmp_path: Path) -> None:
    config = written(tmp_path, visits(60))
    done = call("compare", config, "-q", "--json", "-o", tmp_path / "comparison")
    assert done.code == 0, done.err
    assert {each["algorithm"] for each in done.json["runs"]} == {
        "lattice",
        "local",
        "microaggregation",
        "mondrian",
    }


@pytest.mark.slow
def test_compare_names_shares_of_persons_apart(tmp_path: Path) -> None:
    """Where only records are asked for, buckets can be compared, too, of which nobody knows the persons."""
    asked = [{"model": "l-diversity", "l": 2, "attribute": "illness", "unit": "record"}]
    config = written(tmp_path, visits(30, 2), constraints=asked)
    algorithms = ("--algorithm", "lattice", "--algorithm", "anatomy")
    done = call("compare", config, *algorithms, "-q", "--json", "-o", tmp_path / "comparison")
    assert done.code == 0, done.err
    by = {each["algorithm"]: each["attacks"] for each in done.json["runs"]}
    name = "vulnerability re-identification"
    assert by["lattice"][f"{name} of persons"]["unit"] == "person"
    assert name in by["anatomy"]
    assert name not in by["lattice"]
    done = call("compare", config, *algorithms, "-q", "-o", tmp_path / "comparison")
    assert f"{name}: of persons in 1, of records in 2; shares of different targets are not" in done.out


def test_a_named_key_that_no_constraint_counts_is_warned_about(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    records = [{"model": "k-anonymity", "k": 5, "unit": "record"}]
    config = written(tmp_path, visits(), constraints=records)
    done = run(config)
    assert exchange(records, warned(done.out)) == message
    public = json.loads((tmp_path / "out" / "share" / "report.public.json").read_text(encoding="utf-8"))
    assert RECORDS in public["warnings"]
    checked = call("check", tmp_path / "visits.csv", "-c", config)
    assert exchange(records, checked.out.splitlines()[1]) == message


def test_check_of_a_release_does_not_know_its_persons(tmp_path: Path, published: Path) -> None:
    release = release_path(published)
    config = written(tmp_path, visits())
    done = call("check", release, "-c", config)
    assert done.code == 0, done.err
    _, warning, first, *_ = done.out.splitlines()
    assert warning.startswith(
        "Warning: no column 'patient_id' in this file, so it does not say which records"
    )
    assert "constraints that count by person are shown as ?, and the measures count records" in warning
    assert first.startswith("?      k-anonymity k=5 unit=person")
    of_input = call("check", tmp_path / "visits.csv", "-c", config)
    assert "no column" not in of_input.out
    config = written(tmp_path, visits(), constraints=[{"model": "k-anonymity", "k": 5, "unit": "record"}])
    of_records = call("check", release, "-c", config)
    assert "no column" not in of_records.out
    assert "holds  k-anonymity k=5: measured" in of_records.out


def test_check_refuses_what_a_run_refuses(tmp_path: Path) -> None:
    frame = visits()
    frame.loc[:9, "patient_id"] = None
    refused = {"path": "visits.csv", "person": "patient_id", "missing_person": "refuse"}
    done = call("check", tmp_path / "visits.csv", "-c", written(tmp_path, frame, input=refused))
    assert done.code == 2
    assert "column 'patient_id' is empty in 10 records" in done.err


@pytest.mark.parametrize(
    "algorithm", [{"name": "local"}, {"name": "mondrian", "mode": "relaxed"}], ids=["local", "relaxed"]
)
def test_out_of_core_no_row_is_published_in_parts(
    tmp_path: Path, algorithm: dict[str, str], message: SnapshotAssertion
) -> None:
    options = {"name": "duckdb", "options": {"combinations": 100}}
    done = run(written(tmp_path, visits(), engine=options, algorithm=algorithm))
    assert done.code == 2
    assert exchange(algorithm, done.err, tmp_path) == message
