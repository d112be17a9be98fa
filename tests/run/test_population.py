"""A population beside the input: runs, their reports, `check` and `audit`, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

from tests.helpers.messages import exchange
from tests.run.commands import Done, assert_audits, call

QI = {"role": "quasi-identifier"}
NAMES = ["age", "sex", "zip"]
CONFIG: dict[str, Any] = {
    "input": {"path": "sample.csv", "population": "people.csv"},
    "attributes": {
        "age": {**QI, "hierarchy": {"intervals": {"width": [5, 10, 20], "origin": 0}}},
        "sex": QI,
        "zip": {**QI, "type": "text", "hierarchy": {"mask": {"from": "right"}}},
        "illness": {"role": "sensitive"},
    },
    "constraints": [{"model": "k-map", "k": 7}],
    "suppression": {"limit": 0.05},
}


def people(number: int = 2000, seed: int = 1) -> pd.DataFrame:
    random = Random(seed)
    rows = [
        (str(random.randint(20, 80)), random.choice("MF"), str(random.randint(10000, 10020)))
        for _ in range(number)
    ]
    return pd.DataFrame(rows, columns=NAMES)


def written(folder: Path, **changed: Any) -> Path:
    """Write a population, a sample of it and a config, and return the path of the config."""
    everyone = people()
    everyone.to_csv(folder / "people.csv", index=False)
    sample = everyone.sample(300, random_state=2)
    illness = [("asthma", "flu", "cancer")[place % 3] for place in range(300)]
    weights = [f"{1 + place % 5}.{place % 4 * 25:02}" for place in range(300)]
    sample.assign(illness=illness).to_csv(folder / "sample.csv", index=False)
    sample.assign(illness=illness, w=weights).to_csv(folder / "weighted.csv", index=False)
    path = folder / "job.json"
    path.write_text(json.dumps({**CONFIG, **changed}), encoding="utf-8")
    return path


def weighted(**changed: Any) -> dict[str, Any]:
    attributes = {**CONFIG["attributes"], "w": {"role": "weight", "release": False}}
    return {"input": {"path": "weighted.csv"}, "attributes": attributes, **changed}


def run(config: Path, *options: str) -> Done:
    return call("run", config, "-o", config.parent / "out", "--overwrite", "-q", *options)


def label(cell: str, name: str, level: int) -> str:
    """Return a value at a level, spelled as the hierarchies of the config spell it."""
    if name == "age" and level:
        if level == 4:
            return "*"
        width = (5, 10, 20)[level - 1]
        return f"{int(cell) // width * width}-{int(cell) // width * width + width - 1}"
    if name == "zip" and level:
        return "*" if level == 5 else cell[: 5 - level] + "*" * level
    return "*" if level else cell


def classes(frame: pd.DataFrame, levels: dict[str, int]) -> Counter[tuple[str, ...]]:
    return Counter(
        tuple(label(str(cell), name, levels[name]) for cell, name in zip(row, NAMES, strict=True))
        for row in frame[NAMES].itertuples(index=False)
    )


@pytest.mark.quick(1)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_class_has_so_many_people(tmp_path: Path, engine: str) -> None:
    config = written(tmp_path, engine={"name": engine})
    done = run(config)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    released = Counter(
        pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)[NAMES].itertuples(
            index=False, name=None
        )
    )
    found = classes(people(), report["recoding"]["levels"])
    smallest = min(found[each] for each in released)
    assert smallest >= 7
    (constraint,) = report["constraints"]
    assert constraint["measured"] == smallest
    assert not constraint["verifiable_from_release"]
    assert report["population"] == {"source": "table", "people": 2000.0}
    public = (tmp_path / "out" / "share" / "report.public.json").read_text(encoding="utf-8")
    assert "people.csv" not in public
    assert json.loads(public)["constraints"][0]["measured"] is None
    assert_audits(tmp_path / "out")
    check = call("check", tmp_path / "out" / "share" / "release.csv", "-c", config, "--json").json
    assert check["constraints"][0]["measured"] == smallest


def test_the_share_of_each_class_is_within_the_bounds(tmp_path: Path) -> None:
    config = written(tmp_path, constraints=[{"model": "delta-presence", "min": 0.05, "max": 0.3}])
    assert run(config).code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    everyone = classes(people(), report["recoding"]["levels"])
    own = classes(pd.read_csv(tmp_path / "sample.csv", dtype=str), report["recoding"]["levels"])
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    released = Counter(release[NAMES].itertuples(index=False, name=None))
    assert set(everyone) == set(own)
    shares = [Fraction(own[each], everyone[each]) for each in released]
    assert all(Fraction(5, 100) <= share <= Fraction(3, 10) for share in shares)
    low, high = report["constraints"][0]["measured"]
    assert (low, high) == (pytest.approx(float(min(shares))), pytest.approx(float(max(shares))))


def test_the_k_of_people_is_none_of_records(tmp_path: Path) -> None:
    """Sizes of classes are compared with the k of records: k-map counts people of the population."""
    found = []
    for most in ([], [{"model": "k-map", "k": 3}]):
        path = written(tmp_path, constraints=[{"model": "k-anonymity", "k": 12}, *most])
        assert run(path).code == 0
        report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
        found.append((report["loss"], report["release"]))
    assert found[0][0]["average_class_size"] == found[1][0]["average_class_size"] >= 1
    path = written(tmp_path, constraints=[{"model": "k-anonymity", "k": 2}, {"model": "k-map", "k": 40}])
    assert run(path).code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    classes = release.groupby(NAMES).ngroups
    assert report["loss"]["average_class_size"] == pytest.approx(len(release) / classes / 2)


@pytest.mark.slow
def test_weights_estimate_the_people(tmp_path: Path) -> None:
    config = written(tmp_path, **weighted(constraints=[{"model": "k-map", "k": 12}]))
    assert run(config).code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    frame = pd.read_csv(tmp_path / "weighted.csv", dtype=str)
    totals: Counter[tuple[str, ...]] = Counter()
    levels = report["recoding"]["levels"]
    for row in frame.to_dict("records"):
        key = tuple(label(row[name], name, levels[name]) for name in NAMES)
        totals[key] += Fraction(row["w"])  # type: ignore[assignment]
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    assert list(release) == [*NAMES, "illness"]
    released = set(release[NAMES].itertuples(index=False, name=None))
    assert report["constraints"][0]["measured"] == float(min(totals[each] for each in released)) >= 12
    assert report["population"]["source"] == "sampling weights"
    check = call("check", tmp_path / "weighted.csv", "-c", config, "--json").json
    assert {each["model"] for each in check["measures"]} >= {"k-map", "delta-presence"}


RISKS: list[tuple[dict[str, Any], bool]] = [
    ({"model": "prosecutor-risk", "max": 0.2}, False),
    ({"model": "prosecutor-risk", "max": 0.1, "at": "mean"}, False),
    ({"model": "prosecutor-risk", "max": 0.05, "at": {"share-above": 0.2}}, False),
    ({"model": "journalist-risk", "max": 0.1}, True),
    ({"model": "journalist-risk", "max": 0.02, "at": "mean"}, True),
    ({"model": "marketer-risk", "max": 0.1}, False),
    ({"model": "marketer-risk", "max": 0.02, "against": "population"}, True),
    ({"model": "population-uniqueness", "max": 0.0, "estimator": "count"}, True),
    ({"model": "population-uniqueness", "max": 0.9, "estimator": "count", "of": "sample-uniques"}, True),
]


@pytest.mark.quick(3)
@pytest.mark.parametrize("number", range(len(RISKS)))
def test_risks_of_a_release(number: int, tmp_path: Path) -> None:
    given, counts_people = RISKS[number]
    config = written(tmp_path, constraints=[given])
    done = run(config)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    released = Counter(release[NAMES].itertuples(index=False, name=None))
    everyone = classes(people(), report["recoding"]["levels"])
    risks = [
        Fraction(1, everyone[each] if counts_people else size)
        for each, size in released.items()
        for _ in range(size)
    ]
    expected = max(risks)
    if given["model"] == "marketer-risk" or given.get("at") == "mean":
        expected = sum(risks) / len(risks)
    elif "of" in given:
        unique = [everyone[each] for each, size in released.items() if size == 1]
        assert unique
        expected = Fraction(unique.count(1), len(unique))
    elif "estimator" in given:
        expected = Fraction(sum(risk == 1 for risk in risks), len(risks))
    elif "at" in given:
        expected = Fraction(sum(risk > Fraction("0.2") for risk in risks), len(risks))
    (constraint,) = report["constraints"]
    assert constraint["measured"] == pytest.approx(float(expected), rel=1e-12)
    assert expected <= Fraction(str(given["max"]))
    assert constraint["verifiable_from_release"] is not counts_people
    if counts_people:
        assert_audits(tmp_path / "out")
    else:
        assert call("audit", tmp_path / "out" / "share" / "release.csv").code == 0


@pytest.mark.quick(1)
@pytest.mark.parametrize("table", [True, False])
def test_the_copula_estimate_is_that_of_the_written_release(tmp_path: Path, *, table: bool) -> None:
    given = {"model": "population-uniqueness", "max": 0.05, "estimator": "copula"}
    config = written(tmp_path, **({} if table else weighted()) | {"constraints": [given]})
    done = run(config)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    release = tmp_path / "out" / "share" / "release.csv"
    (constraint,) = report["constraints"]
    assert 0 <= constraint["measured"] <= 0.05
    assert_audits(tmp_path / "out")
    if table:
        check = call("check", release, "-c", config, "--json").json
        assert constraint["measured"] > 0
        assert check["constraints"][0]["measured"] == pytest.approx(constraint["measured"], rel=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        "copula",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("negative-binomial", "pitman", "zayatz")),
    ],
)
def test_an_estimate_knows_how_many_people_the_whole_population_has(tmp_path: Path, estimator: str) -> None:
    config = written(
        tmp_path,
        constraints=[{"model": "population-uniqueness", "max": 1, "estimator": estimator}],
        attacks=[{"attack": "uniqueness", "population": 2000}],
    )
    done = run(config)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    (attack,) = report["attacks"]
    uniques = attack["details"]["population"]["expected_uniques"][estimator]
    expected = uniques / sum(attack["details"]["population"]["records_by_uniqueness"].values())
    counting = written(
        tmp_path, constraints=[{"model": "population-uniqueness", "max": 1, "estimator": "count"}]
    )
    assert run(counting).code == 0
    counted = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["constraints"][0]
    # With a table of the population, an estimate is at least what the table counts.
    wanted = max(expected, counted["measured"])
    assert report["constraints"][0]["measured"] == pytest.approx(wanted, rel=1e-9)


def test_check_refuses_a_population_that_is_smaller_than_the_file(tmp_path: Path) -> None:
    config = written(tmp_path)
    (tmp_path / "people.csv").write_text("age,sex\n20,f\n60,m\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("age,sex,illness\n20,f,x\n20,f,y\n60,m,y\n", encoding="utf-8")
    raw = json.loads(config.read_text(encoding="utf-8"))
    raw["attributes"] = {"age": {**QI, "type": "text"}, "sex": QI, "illness": {"role": "sensitive"}}
    raw["constraints"] = [{"model": "journalist-risk", "max": 0.5}]
    config.write_text(json.dumps(raw), encoding="utf-8")
    done = call("check", tmp_path / "two.csv", "-c", config)
    assert done.code == 2
    assert "the number of people with age '20', sex 'f' is 1, but" in done.err
    assert "two.csv has 2 records with these values; the population must contain everyone in" in done.err


@pytest.mark.slow
def test_check_measures_risks_where_people_are_known(tmp_path: Path) -> None:
    config = written(tmp_path)
    found = call("check", tmp_path / "sample.csv", "-c", config, "--json").json
    own = Counter(pd.read_csv(tmp_path / "sample.csv", dtype=str)[NAMES].itertuples(index=False, name=None))
    everyone = Counter(people()[NAMES].itertuples(index=False, name=None))
    measured = {
        (each["model"], each["parameters"].get("at"), each["parameters"].get("against")): each["measured"]
        for each in found["measures"]
        if each["model"].endswith("-risk")
    }
    mean = sum(Fraction(size, everyone[each]) for each, size in own.items()) / 300
    assert measured["journalist-risk", "mean", None] == pytest.approx(float(mean))
    assert measured["marketer-risk", None, "population"] == pytest.approx(float(mean))
    assert measured["prosecutor-risk", "mean", None] == pytest.approx(len(own) / 300)
    plain = call("check", tmp_path / "sample.csv", "--qi", "age,sex,zip", "--json").json
    assert not [each for each in plain["measures"] if each["model"].endswith("-risk")]


SPOILT: dict[str, tuple[dict[str, Any], str, str]] = {
    "lacks a value": ({}, "people.csv", "age,sex,zip\n30,M,10001\n"),
    "smaller in a class": (
        {"attributes": {"sex": QI, **{name: {"role": "drop"} for name in ("age", "zip", "illness")}}},
        "people.csv",
        "age,sex,zip\n1,M,1\n2,F,1\n",
    ),
    "no such column": ({}, "people.csv", "age,sex\n30,M\n"),
    "no such weight": (
        {"input": {"path": "sample.csv", "population": {"path": "people.csv", "weight": "n"}}},
        "",
        "",
    ),
    "no such file": ({"input": {"path": "sample.csv", "population": "persons.csv"}}, "", ""),
    "no population": ({"input": {"path": "sample.csv"}}, "", ""),
    "other algorithm": ({"algorithm": {"name": "mondrian"}}, "", ""),
    "kept rows": ({"suppression": {"limit": 0.05, "keep_rows": True}}, "", ""),
    "single records": ({"suppression": {"limit": 0.05, "method": "records"}}, "", ""),
    "units": ({"constraints": [{"model": "k-map", "k": 2, "unit": "person"}]}, "", ""),
    "another place": ({"constraints": [{"model": "prosecutor-risk", "max": 0.1, "at": "median"}]}, "", ""),
    "no threshold": (
        {"constraints": [{"model": "prosecutor-risk", "max": 0.1, "at": {"above": 0.1}}]},
        "",
        "",
    ),
    "min above max": ({"constraints": [{"model": "delta-presence", "min": 0.3, "max": 0.2}]}, "", ""),
    "groups of the input": (
        {"attributes": {**CONFIG["attributes"], "age": {**QI, "hierarchy": {"auto": {}}}}},
        "",
        "",
    ),
}


@pytest.mark.parametrize("case", SPOILT)
def test_what_cannot_serve_is_refused(case: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    changed, name, text = SPOILT[case]
    config = written(tmp_path, **changed)
    if name:
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run(config)
    assert done.code == 2, done.out
    assert not (tmp_path / "out").exists()
    assert exchange(case, done.err.replace(f"{tmp_path}/", "")) == message


@pytest.mark.quick(1)
@pytest.mark.parametrize("estimated", [True, False])
def test_floating_point_weights_are_rounded_in_run_check_and_report(estimated: bool, tmp_path: Path) -> None:
    """Written as pandas does, they give the classes and people of the rounded ones, to the last digit."""
    found = []
    for decimals in (6, 16):
        config = written(tmp_path, **(weighted() if estimated else {}))
        name = tmp_path / ("weighted.csv" if estimated else "people.csv")
        frame = pd.read_csv(name, dtype=str)
        frame["w"] = [f"{20 + place % 7 / 3:.{decimals}f}" for place in range(len(frame))]
        frame.to_csv(name, index=False)
        if not estimated:
            settings = json.loads(config.read_text())
            settings["input"]["population"] = {"path": "people.csv", "weight": "w"}
            config.write_text(json.dumps(settings))
        done = run(config, "--overwrite")
        assert done.code == 0, done.err
        report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
        said = "rounded to 6 decimals"
        assert (said in done.out) is (decimals == 16)
        assert [each for each in report["warnings"] if said in each] == [
            each.removeprefix("Note: ") for each in done.out.splitlines() if said in each
        ]
        check = call("check", tmp_path / "weighted.csv", "-c", config)
        assert (said in check.out) is (decimals == 16 and estimated)
        found.append((report["population"], report["loss"], report["constraints"]))
    assert found[0] == found[1]


@pytest.mark.quick(2)
@pytest.mark.parametrize("weight", ["-1", "0", "", "x", "1e-300"])
def test_a_weight_is_a_positive_number(weight: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    config = written(tmp_path, **weighted())
    frame = pd.read_csv(tmp_path / "weighted.csv", dtype=str)
    frame.loc[5, "w"] = weight
    frame.to_csv(tmp_path / "weighted.csv", index=False)
    done = run(config)
    assert done.code == 2
    assert exchange(f"weight {weight}", done.err.replace(f"{tmp_path}/", "")) == message
