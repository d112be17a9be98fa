"""A suppression limit that counts persons who lose a record, from the config to the audit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.errors import ConfigError
from anonymizer.job import table
from anonymizer.plan.counting import Counting
from anonymizer.report.page import page
from anonymizer.search.base import UnitLimit
from tests.helpers.messages import exchange
from tests.run.commands import assert_audits, call
from tests.run.test_units import ALGORITHMS, CONFIG, OUT_OF_CORE, run, visits, written
from tests.spark import engine, running

AGE = CONFIG["attributes"]["age"]
LOW = {**CONFIG["attributes"], "age": {**AGE, "levels": {"max": 2}}}
"""Few patients are 80 at some of their visits, so that classes at this level lose some of theirs."""

HALF = {"limit": 0.5, "unit": "person"}
NAMED = [name for name, own in ALGORITHMS.items() if "method" not in own.get("suppression", {})]


def patients_lost(frame: pd.DataFrame, release: pd.DataFrame) -> int:
    """Return how many patients have fewer visits in a release, whose visits have numbers."""
    return int(frame.loc[~frame["visit"].isin(release["visit"]), "patient_id"].nunique())


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("algorithm", "engine"),
    [(name, ("memory", "duckdb")[place // 2 % 2]) for place, name in enumerate(NAMED)],
)
def test_no_more_patients_lose_visits_than_the_limit_allows(
    tmp_path: Path, algorithm: str, engine: str
) -> None:
    frame, own = visits(), ALGORITHMS[algorithm]
    changed = {"algorithm": {"name": algorithm}, "budget": {"steps": 10}, "attributes": LOW, **own}
    limit = {"limit": 0.1, "unit": "person"}
    config = written(tmp_path, frame, engine={"name": engine}, suppression=limit, **changed)
    done = run(config)
    assert done.code == 0, done.err
    lost = patients_lost(frame, pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str))
    assert lost <= 20
    facts = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["units"]["person"]
    assert (facts["lost"], facts["lost_at_most"]) == (lost, 20)
    assert f"Records of {lost} of 200 persons are suppressed; the limit allows 20\n" in done.out


def test_the_page_says_how_many_patients_lose_visits() -> None:
    """Few are masked, as suppressed records are."""
    for limit, attributes in ((0.5, LOW), (0.05, CONFIG["attributes"])):
        given = {**CONFIG, "attributes": attributes, "suppression": {"limit": limit, "unit": "person"}}
        found = an.anonymize(visits(), given)
        lost = patients_lost(visits(), found.data)
        said = "fewer than 5" if lost < 5 else lost
        allowed = int(limit * 200)
        sentence = f"Records of {said} of 200 persons are suppressed; the limit allows {allowed}."
        assert sentence in page(found.report, found.facts)


@pytest.mark.quick(1)
@pytest.mark.parametrize("whole", [None, "person"])
def test_the_limit_is_exact(whole: str | None) -> None:
    """One patient fewer, and the best release is another one, or there is none."""
    frame = visits()
    given = {**CONFIG, "attributes": LOW, "suppression": {**HALF, "whole": whole}}
    first = an.anonymize(frame, given)
    lost = patients_lost(frame, first.data)
    assert lost == first.report.to_dict()["units"]["person"]["lost"] > 0
    again = an.anonymize(
        frame, {**given, "suppression": {"limit": lost / 200, "unit": "person", "whole": whole}}
    )
    assert again.report.to_dict()["loss"] == first.report.to_dict()["loss"]
    fewer = {**given, "suppression": {"limit": (lost - 1) / 200, "unit": "person", "whole": whole}}
    try:
        other = an.anonymize(frame, fewer)
    except an.Infeasible:
        return
    assert patients_lost(frame, other.data) < lost
    assert other.report.to_dict()["loss"]["loss"] > first.report.to_dict()["loss"]["loss"]


def test_records_are_counted_unless_the_config_says_otherwise() -> None:
    given = {**CONFIG, "attributes": LOW, "suppression": {"limit": 0.5}}
    ours = an.anonymize(visits(), given).report.to_dict()
    named = an.anonymize(
        visits(), {**given, "suppression": {"limit": 0.5, "unit": "record"}}
    ).report.to_dict()
    assert ours["loss"] == named["loss"]
    assert "lost" not in named["units"]["person"]


def test_any_unit_of_the_input_can_be_limited() -> None:
    frame = visits().assign(ward=lambda own: own["patient_id"].str[:4])
    given = {
        **CONFIG,
        "input": {"person": "patient_id", "units": {"ward": "ward"}},
        "attributes": {**LOW, "ward": {"role": "drop"}},
        "suppression": {"limit": 0.8, "unit": "ward"},
    }
    result = an.anonymize(frame, given)
    lost = frame.loc[~frame["visit"].isin(result.data["visit"]), "ward"].nunique()
    facts = result.report.to_dict()["units"]
    assert facts["ward"]["lost"] == lost > 0
    assert facts["ward"]["lost_at_most"] == int(0.8 * frame["ward"].nunique())
    assert "lost" not in facts["person"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("combinations", [300, 5000])
def test_an_engine_counts_the_patients_lost(tmp_path: Path, combinations: int) -> None:
    """Out of core, where the engine knows whose the records are, as in memory."""
    found, frame = [], visits()
    assert 300 < len(frame[["age", "sex", "zip", "illness"]].drop_duplicates()) < 5000
    for name, options in (("memory", {}), ("duckdb", {"combinations": combinations})):
        constraints = [{"model": "k-anonymity", "k": 5}]
        config = written(
            tmp_path,
            frame,
            engine={"name": name, "options": options},
            constraints=constraints,
            suppression={"limit": 0.05, "unit": "person"},
        )
        done = run(config)
        assert done.code == 0, done.err
        report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
        found.append((report["loss"], report["units"]["person"]["lost"], report["search"]["optimal"]))
        release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
        assert report["units"]["person"]["lost"] == patients_lost(frame, release) <= 10
    assert found[0] == found[1]


@pytest.mark.spark
def test_spark_counts_the_patients_lost(tmp_path: Path) -> None:
    found = []
    with running():
        for chosen in ({"name": "memory"}, engine()):
            given = {"input": {"path": "visits.parquet", "person": "patient_id"}}
            given["output"] = {"path": "release.parquet"}
            config = written(
                tmp_path, frame := visits(), engine=chosen, suppression=HALF, attributes=LOW, **given
            )
            frame.to_parquet(tmp_path / "visits.parquet")
            done = run(config)
            assert done.code == 0, done.err
            report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
            found.append((report["loss"], report["units"]["person"]["lost"]))
    assert found[0] == found[1]


def test_what_works_does(tmp_path: Path, message: SnapshotAssertion) -> None:
    """Where no release loses so few, the run says how many patients would have to be."""
    levels = {name: {**CONFIG["attributes"][name], "levels": {"max": 1}} for name in ("age", "zip")}
    config = written(
        tmp_path,
        visits(),
        attributes={**CONFIG["attributes"], **levels},
        suppression={"limit": 0.05, "unit": "person"},
    )
    done = run(config)
    assert done.code == 1
    lines = done.err.splitlines(keepends=True)
    commands = [line for line in lines if line.startswith("    anonymizer run ")]
    said = "".join(line for line in lines if line not in commands)
    assert exchange("5 % of the patients", said) == message
    works = commands[-1].split()[-2]
    assert f"works: --set {works}\n" in said
    assert works.startswith("suppression.limit=")
    assert run(config, "--set", works).code == 0
    share = round(float(works.removeprefix("suppression.limit=")) * 200)
    assert run(config, "--set", f"suppression.limit={(share - 1) / 200}").code == 1


def test_the_audit_says_that_it_cannot_count_patients(tmp_path: Path, message: SnapshotAssertion) -> None:
    assert run(written(tmp_path, visits(), suppression=HALF, attributes=LOW)).code == 0
    done = call("audit", tmp_path / "out" / "share" / "release.csv")
    assert_audits(tmp_path / "out")
    (said,) = [line for line in done.out.splitlines() if "suppression.limit" in line]
    assert exchange("a limit of persons", said) == message


def test_a_release_that_loses_more_patients_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: SnapshotAssertion
) -> None:
    """As if the search had counted wrong: the run counts again, record by record."""
    first = table.unit_limit_of
    monkeypatch.setattr("anonymizer.search.base.SearchProblem.admits_units", lambda *_: True)
    monkeypatch.setattr("anonymizer.search.base.SearchProblem.losing_at_most", lambda own, _: own)

    def strict(counting: Counting, *others: Any) -> UnitLimit:
        return replace(first(counting, *others), most=1)

    monkeypatch.setattr(table, "unit_limit_of", strict)
    done = run(written(tmp_path, visits(), suppression=HALF, attributes=LOW))
    assert done.code == 1
    assert not (tmp_path / "out").exists()
    assert exchange("a search that counts wrong", done.err) == message


RECORDS = [{"model": "k-anonymity", "k": 5, "unit": "record"}]

BAD: dict[str, dict[str, Any]] = {
    "an unknown unit": {"suppression": {"limit": 0.1, "unit": "persn"}},
    "the column of a unit": {"suppression": {"limit": 0.1, "unit": "patient_id"}},
    "a unit without a key": {"suppression": {"limit": 0.1, "unit": "household"}},
    "persons without a key": {"input": {}, "suppression": {"limit": 0.1, "unit": "person"}},
    "the fewest records": {"suppression": {**HALF, "method": "records"}, "constraints": RECORDS},
    "single cells": {"suppression": {**HALF, "method": "cells"}, "constraints": RECORDS},
    "buckets": {"suppression": HALF, "algorithm": {"name": "anatomy"}, "constraints": RECORDS},
    "an append": {"suppression": HALF, "apply": "first/report.json", "constraints": RECORDS},
    "no name": {"suppression": {"limit": 0.1, "unit": 3}},
}


@pytest.mark.parametrize("name", BAD)
def test_a_limit_that_cannot_count_units_is_refused(name: str, message: SnapshotAssertion) -> None:
    given = {**CONFIG, "input": {"person": "patient_id"}, **BAD[name]}
    with pytest.raises(ConfigError) as error:
        an.anonymize(visits(), given)
    assert exchange(f"{name}: {BAD[name]}", error.value) == message


@pytest.mark.parametrize("algorithm", ["local", "microaggregation"])
def test_parts_of_rows_need_the_records_in_memory(
    algorithm: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    own = {key: each for key, each in ALGORITHMS.get(algorithm, {}).items() if key != "budget"}
    config = written(
        tmp_path,
        visits(),
        engine=OUT_OF_CORE,
        algorithm={"name": algorithm},
        suppression=HALF,
        constraints=RECORDS,
        **own,
    )
    done = run(config)
    assert done.code == 2
    assert exchange(algorithm, done.err, tmp_path) == message


def test_an_empty_column_counts_each_record(tmp_path: Path) -> None:
    """Records without a patient are patients of their own."""
    frame = visits()
    frame.loc[frame.index < 40, "patient_id"] = None
    given = {**CONFIG, "attributes": LOW, "suppression": HALF, "constraints": RECORDS}
    result = an.anonymize(frame, given)
    gone = frame.loc[~frame["visit"].isin(result.data["visit"]), "patient_id"]
    facts = result.report.to_dict()["units"]["person"]
    assert facts["units"] == 192 + 40
    assert facts["lost"] == gone.nunique() + int(gone.isna().sum())
