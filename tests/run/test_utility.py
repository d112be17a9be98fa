"""Utility after a run and from Python: the same numbers, in the promised shape, none of them public."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymizer as an
from anonymizer.utility.base import UTILITY_MEASURES, Comparison, Measure, UtilityFinding
from tests.run.commands import COLUMNS, CONFIG, Job, assert_message, call, people

KEYS = [
    "measure",
    "attributes",
    "value",
    "untouched",
    "suppressed",
    "smaller_is_better",
    "records",
    "seconds",
    "details",
]
ASKED: list[Any] = [
    "marginal-distance",
    {"measure": "query-error", "queries": 50},
    "pair-distance",
    "prediction",
]


def timeless(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "seconds"} for each in entries]


def frame(seed: int | None = None) -> pd.DataFrame:
    """Return the records of a job, in another order if there is a seed."""
    rows = people(60)
    if seed is not None:
        Random(seed).shuffle(rows)
    return pd.DataFrame(rows, columns=list(COLUMNS))


@pytest.fixture
def measured(tmp_path: Path) -> Job:
    job = Job(tmp_path)
    job.config["utility"] = ASKED
    done = job.run()
    assert done.code == 0, done.err
    lines = [line for line in done.out.splitlines() if line.startswith("Utility ")]
    assert len(lines) == 4
    assert lines[3].startswith("Utility prediction of diagnosis: ")
    assert all("(original data " in line for line in lines)
    return job


def test_a_run_reports_the_measures_of_its_config(measured: Job) -> None:
    entries = measured.report()["utility"]
    names = ["marginal-distance", "query-error", "pair-distance", "prediction"]
    assert [each["measure"] for each in entries] == names
    assert [list(each) for each in entries] == [KEYS] * 4
    for each in entries:
        assert each["records"] == 60
        assert each["attributes"] == ["age", "zip", "sex", "diagnosis"]
        assert each["smaller_is_better"] == (each["measure"] != "prediction")
        assert each["value"] >= 0
    assert entries[1]["details"]["queries"] == 50


def test_nothing_of_it_is_public(measured: Job) -> None:
    public = json.loads(measured.public_report.read_text(encoding="utf-8"))
    assert "utility" not in public
    assert "utility" in public["config"]


def test_nothing_is_measured_unless_asked_for(tmp_path: Path) -> None:
    job = Job(tmp_path)
    done = job.run()
    assert job.report()["utility"] == []
    assert "Utility" not in done.out


def test_python_measures_what_the_run_did(measured: Job) -> None:
    release = pd.read_csv(measured.release, dtype=str)
    table = an.measure_utility(release, frame(), {**CONFIG, "utility": ASKED})
    assert list(table.columns) == KEYS
    own = timeless(json.loads(json.dumps(table.to_dict("records"))))
    assert own == timeless(measured.report()["utility"])
    result = an.anonymize(frame(), {**CONFIG, "utility": ASKED})
    assert timeless(result.report["utility"]) == own


def test_the_order_of_the_records_changes_nothing(measured: Job) -> None:
    release = pd.read_csv(measured.release, dtype=str)
    first = an.measure_utility(release, frame(), {**CONFIG, "utility": ASKED})
    mixed = release.sample(frac=1, random_state=5).reset_index(drop=True)
    second = an.measure_utility(mixed, frame(seed=3), {**CONFIG, "utility": ASKED})
    assert timeless(first.to_dict("records")) == timeless(second.to_dict("records"))


def test_without_any_all_that_apply_are_taken() -> None:
    table = an.measure_utility(frame(), frame(), CONFIG)
    assert list(table["measure"]) == list(UTILITY_MEASURES)
    assert (table["value"] == table["untouched"]).all()
    bare = {**CONFIG, "attributes": {**CONFIG["attributes"], "diagnosis": {"role": "insensitive"}}}
    bare["constraints"] = [{"model": "k-anonymity", "k": 3}]
    assert "prediction" not in set(an.measure_utility(frame(), frame(), bare)["measure"])


def test_an_insensitive_attribute_is_predicted_when_called_sensitive() -> None:
    """The release is of a config in which ``sex`` is insensitive; only the roles of the comparison matter."""
    attributes = {**CONFIG["attributes"], "sex": {"role": "insensitive"}}
    release = an.anonymize(frame(), {**CONFIG, "attributes": attributes}).data
    asked = {**CONFIG, "attributes": {**attributes, "sex": {"role": "sensitive"}}, "utility": ["prediction"]}
    asked["constraints"] = [{"model": "k-anonymity", "k": 3}]
    table = an.measure_utility(release, frame(), asked)
    assert {each["predicted"] for each in table["details"]} == {"sex", "diagnosis"}


def test_a_release_of_stars_is_as_bad_as_said() -> None:
    stars = frame().assign(age="*", zip="*", sex="*")
    table = an.measure_utility(stars, frame(), CONFIG)
    assert table["value"].tolist() == pytest.approx(table["suppressed"].tolist())


@pytest.mark.parametrize("algorithm", [{"name": "mondrian", "labels": "set"}, {"name": "local"}])
def test_every_kind_of_release_is_understood(algorithm: dict[str, Any]) -> None:
    config = {**CONFIG, "algorithm": algorithm, "utility": ASKED}
    for each in an.anonymize(frame(), config).report["utility"][:3]:
        assert 0 < each["value"] < each["suppressed"]


def test_means_stand_for_values_nearby() -> None:
    """Every class has one value, so that hardly any is right, but all are near."""
    others = {name: {"role": "insensitive"} for name in ("name", "zip", "sex", "diagnosis", "note")}
    config = {
        "attributes": {"age": {"role": "quasi-identifier", "type": "integer"}, **others},
        "constraints": [{"model": "k-anonymity", "k": 3}],
        "algorithm": {"name": "microaggregation", "k": 3},
        "utility": ["marginal-distance"],
    }
    (entry,) = an.anonymize(frame(), config).report["utility"]
    (age,) = entry["details"]["attributes"]
    assert age["total_variation"] > age["suppressed"]["total_variation"]
    assert 0 < age["earth_movers"] < 0.02
    assert age["earth_movers"] < age["suppressed"]["earth_movers"]


class Kept(Measure):
    """Share of the records that are released."""

    name = "kept"

    def missing_requirement(self, comparison: Comparison) -> str | None:
        return None

    def measure(self, comparison: Comparison, random: np.random.Generator) -> list[UtilityFinding]:
        share = comparison.release.records / comparison.original.records
        names = comparison.quasi_identifiers
        return [UtilityFinding(self.name, names, share, 1.0, 1.0, False, comparison.original.records)]


def test_a_measure_of_one_s_own_is_one_class(tmp_path: Path) -> None:
    UTILITY_MEASURES.add(Kept)
    try:
        job = Job(tmp_path)
        job.config["utility"] = ["kept"]
        done = job.run()
        assert done.code == 0, done.err
        report = job.report()
        assert report["utility"][0]["value"] == report["release"]["rows"] / 60
        assert "\nUtility kept: " in done.out
    finally:
        UTILITY_MEASURES.remove("kept")


def test_another_seed_asks_other_queries() -> None:
    config = {**CONFIG, "utility": ["query-error"]}
    stars = frame().assign(age="*")
    one, other = (
        an.measure_utility(stars, frame(), {**config, "seed": seed})["value"].item() for seed in (1, 2)
    )
    assert one != other


@pytest.mark.parametrize(
    ("utility", "words"),
    [
        (["query-eror"], ("utility[0].measure", "query-error")),
        ([{"measure": "query-error", "queries": 0}], ("utility[0].queries", "0")),
        ([{"measure": "marginal-distance", "seconds": 3}], ("utility[0].seconds",)),
        ([{"queries": 5}], ("utility[0].measure", "prediction")),
    ],
)
def test_what_cannot_be_asked_is_refused(utility: list[Any], words: tuple[str, ...], tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.config["utility"] = utility
    done = call("run", job.write().file)
    assert done.code == 2
    assert_message(done.err, words)


def test_prediction_needs_something_to_predict(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.config["attributes"]["diagnosis"] = {"role": "insensitive"}
    job.config["constraints"] = [{"model": "k-anonymity", "k": 3}]
    job.config["utility"] = ["query-error", "prediction"]
    done = call("run", job.write().file)
    assert done.code == 2
    assert_message(done.err, ("utility[1]", "prediction needs a sensitive attribute"))


def test_a_pair_needs_two(tmp_path: Path) -> None:
    job = Job(tmp_path)
    own = {name: {"role": "identifier"} for name in COLUMNS}
    job.config["attributes"] = {**own, "sex": {"role": "quasi-identifier"}}
    job.config["constraints"] = [{"model": "k-anonymity", "k": 3}]
    job.config["utility"] = ["pair-distance"]
    done = job.run()
    assert done.code == 2
    assert_message(done.err, ("utility[0]", "pair-distance needs two attributes"))
