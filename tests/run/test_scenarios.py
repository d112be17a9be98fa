"""Scenarios from the config to the release, its reports, and what a recipient can verify."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from tests.run.commands import Done, Job, call, csv_bytes, people, read_rows

SCENARIOS: dict[str, Any] = {
    "neighbour": {"known": ["age", "sex"], "models": [{"model": "k-anonymity", "k": 5}]},
    "insurer": {
        "known": {"any": 1, "of": ["age", "zip", "sex"]},
        "models": [{"model": "k-anonymity", "k": 8}, {"model": "l-diversity", "l": 2}],
        "recipient": "Example Insurance",
    },
}
SENTENCES = {
    "neighbour": "A neighbour who knows age and sex finds a record with a probability of at most 1 in 5.",
    "insurer": "Example Insurance, who knows any 1 of age, zip and sex, finds a record with a probability of "
    "at most 1 in 8 and is left with at least 2 values of diagnosis.",
}


def job(folder: Path, **changed: Any) -> Job:
    made = Job(folder)
    made.data = csv_bytes(people(120))
    made.config.update({"constraints": [], "scenarios": SCENARIOS, **changed})
    made.write()
    return made


def run(made: Job, *options: str) -> Done:
    return call("run", made.file, "--overwrite", "-q", *options)


def count(path: Path) -> None:
    """Count what each adversary sees in the file, by its texts alone."""
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert min(Counter((row["age"], row["sex"]) for row in rows).values()) >= 5
    for (known,) in combinations(("age", "zip", "sex"), 1):
        values = defaultdict(list)
        for row in rows:
            values[row[known]].append(row["diagnosis"])
        assert all(len(own) >= 8 and len(set(own)) >= 2 for own in values.values())


def test_a_sentence_promises_nothing_twice_and_names_one_adversary(tmp_path: Path) -> None:
    models = [{"model": "k-anonymity", "k": 3}, {"model": "alpha-k-anonymity", "alpha": 0.9, "k": 3}]
    known = {"known": ["age", "sex"], "models": models}
    done = run(job(tmp_path, scenarios={"any two": known, "nurse": known}))
    assert done.code == 0, done.err
    promise = (
        "who knows age and sex finds a record with a probability of at most 1 in 3 "
        "and guesses diagnosis with a probability of at most 0.9."
    )
    assert f"An adversary (any two) {promise}" in done.out
    assert f"A nurse {promise}" in done.out


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "local", "auto"])
def test_every_adversary_is_met(tmp_path: Path, algorithm: str) -> None:
    made = job(tmp_path, algorithm={"name": algorithm}, budget={"steps": 30})
    done = run(made)
    assert done.code == 0, done.err
    count(made.release)
    report = json.loads((made.output / "report.json").read_text())
    assert report["constraints"] == []
    assert {name: each["sentence"] for name, each in report["scenarios"].items()} == SENTENCES
    assert [each["measured"] >= 5 for each in report["scenarios"]["neighbour"]["constraints"]] == [True]
    assert all(sentence in done.out for sentence in SENTENCES.values())
    if algorithm != "lattice":
        assert report["search"]["bound"] is None
    public = json.loads((made.output / "share" / "report.public.json").read_text())
    assert public["scenarios"]["insurer"]["sets"] == 3
    for each in (own for one in public["scenarios"].values() for own in one["constraints"]):
        assert each["worst_classes"] is None or each["worst_classes"] >= 8
    legend = (made.output / "share" / "README.txt").read_text()
    assert "A neighbour who knows age and sex" in " ".join(legend.split())


@pytest.mark.advice
@pytest.mark.slow
def test_many_columns_and_sets_keep_the_budget(tmp_path: Path) -> None:
    random = Random(3)
    names = [f"q{place}" for place in range(10)]
    rows = [[str(random.randint(0, 30) + random.randint(0, 30)) for _ in names] for _ in range(200)]
    made = Job(tmp_path)
    made.data = csv_bytes(rows, names)
    widths = {"intervals": {"width": [5, 10, 20], "origin": 0}}
    made.config = {
        "input": made.config["input"],
        "attributes": {name: {"role": "quasi-identifier", "hierarchy": widths} for name in names},
        "scenarios": {
            "some": {"known": names[:5], "models": [{"model": "k-anonymity", "k": 4}]},
            "any": {"known": {"any": 2, "of": names}, "models": [{"model": "k-anonymity", "k": 4}]},
        },
        "suppression": {"limit": 0.1},
        "budget": {"steps": 15},
        "bound": "none",
    }
    made.write()
    assert run(made).code == 0
    report = made.report()
    assert report["search"]["steps"] <= 15
    assert report["search"]["candidates"] > 2**16
    assert "advice" not in report
    released = [dict(zip(names, row, strict=True)) for row in read_rows(made.release)]
    for known in [tuple(names[:5]), *combinations(names, 2)]:
        assert min(Counter(tuple(row[name] for name in known) for row in released).values()) >= 4


def test_the_engines_agree(tmp_path: Path) -> None:
    made = job(tmp_path)
    assert run(made).code == 0
    memory = made.release.read_bytes()
    assert run(made, "--set", "engine.name=duckdb").code == 0
    assert made.release.read_bytes() == memory
    done = run(made, "--set", "engine.name=duckdb", "--set", "engine.options.combinations=60")
    if done.code == 0:
        count(made.release)
    else:
        assert done.code == 2
        assert "engine" in done.err


@pytest.mark.slow
def test_the_recipient_verifies_each_adversary(tmp_path: Path) -> None:
    made = job(tmp_path)
    assert run(made).code == 0
    done = call("audit", made.release, "--json")
    assert done.code == 0, done.out
    assert [each["scenario"] for each in done.json["constraints"]] == ["neighbour", "insurer", "insurer"]
    report = made.output / "share" / "report.public.json"
    content = json.loads(report.read_text())
    for change in ("measured", "sentence", "known", "satisfied"):
        altered = json.loads(json.dumps(content))
        own = altered["scenarios"]["neighbour"]
        if change in own:
            own[change] = ["age"] if change == "known" else "A neighbour finds nobody."
        else:
            own["constraints"][0][change] = 3 if change == "measured" else False
        report.write_text(json.dumps(altered))
        done = call("audit", made.release)
        assert done.code == 1
        assert f"scenarios.neighbour{'' if change in own else '.constraints[0]'}.{change}" in done.out
    weaker = json.loads(json.dumps(content))
    weaker["config"]["scenarios"]["neighbour"]["models"][0]["k"] = 2
    report.write_text(json.dumps(weaker))
    assert call("audit", made.release).code == 1
    weaker["scenarios"].pop("neighbour")
    report.write_text(json.dumps(weaker))
    assert call("audit", made.release).code == 1


def test_check_measures_the_adversaries(tmp_path: Path) -> None:
    made = job(tmp_path)
    done = call("check", made.input, "-c", made.file, "--json")
    assert done.code == 1
    assert [each["satisfied"] for each in done.json["scenarios"]["neighbour"]] == [False]
    assert run(made).code == 0
    done = call("check", made.release, "-c", made.file)
    assert done.code == 0
    assert "holds  insurer: l-diversity(diagnosis) l=2" in done.out


def test_a_violated_adversary_keeps_the_release_back(tmp_path: Path) -> None:
    hopeless = {"neighbour": {"known": ["sex"], "models": [{"model": "k-anonymity", "k": 121}]}}
    made = job(tmp_path, scenarios=hopeless)
    done = run(made)
    assert done.code == 1
    assert "INFEASIBLE" in done.err
    assert "k-anonymity(neighbour) cannot be satisfied even alone" in done.err
    assert "works: --set scenarios.neighbour.models.0.k=120" in done.err
    assert run(made, "--set", "scenarios.neighbour.models.0.k=120").code == 0


def test_persons_of_an_adversary_and_with_all_their_records(tmp_path: Path) -> None:
    frame = pd.DataFrame(people(120, seed=4), columns=list(Job(tmp_path).config["attributes"]))
    frame["name"] = [f"P{row % 50}" for row in range(len(frame))]
    made = Job(tmp_path)
    config = {
        **made.config,
        "input": {"person": "name"},
        "constraints": [],
        "scenarios": {
            "neighbour": {"known": ["age", "sex"], "models": [{"model": "k-anonymity", "k": 4}]},
            "desk": {"known": ["zip"], "unit": "record", "models": [{"model": "k-anonymity", "k": 9}]},
        },
        "suppression": {"limit": 0.3, "whole": "person"},
    }
    result = an.anonymize(frame, config)
    assert result.scenarios == {
        "neighbour": "A neighbour who knows age and sex finds a person with a probability of at most 1 in 4.",
        "desk": "A desk who knows zip finds a record with a probability of at most 1 in 9.",
    }
    parameters = result.report["scenarios"]["neighbour"]["constraints"][0]["parameters"]
    assert parameters == {"k": 4, "unit": "person"}
    assert len(set(result.data["zip"])) > 1
    assert not result.report["scenarios"]["neighbour"]["constraints"][0]["verifiable_from_release"]
    assert Counter(result.data["zip"]).most_common()[-1][1] >= 9


PROMISES: list[tuple[dict[str, Any], str]] = [
    ({"model": "prosecutor-risk", "max": 0.2}, "finds a record with a probability of at most 0.2"),
    (
        {"model": "prosecutor-risk", "max": 0.2, "at": "mean"},
        "finds a record with a probability of at most 0.2 on average",
    ),
    (
        {"model": "prosecutor-risk", "max": 0.05, "at": {"share-above": 0.2}},
        "finds at most 5 % of the records with a probability above 0.2",
    ),
    ({"model": "marketer-risk", "max": 0.2}, "finds a record with a probability of at most 0.2 on average"),
    ({"model": "vulnerability", "max": 0.2}, "finds a record with a probability of at most 0.2 on average"),
    (
        {"model": "alpha-k-anonymity", "alpha": 0.9, "k": 5},
        "finds a record with a probability of at most 1 in 5 and guesses diagnosis with a probability of at "
        "most 0.9",
    ),
    (
        {"model": "p-sensitive-k-anonymity", "p": 2, "k": 5},
        "finds a record with a probability of at most 1 in 5 and is left with at least 2 values of diagnosis",
    ),
    ({"model": "t-closeness", "t": 0.4}, "is held to t-closeness of diagnosis by record with t 0.4"),
]


@pytest.mark.parametrize(("model", "promise"), PROMISES, ids=[promise for _, promise in PROMISES])
def test_what_each_model_promises(tmp_path: Path, model: dict[str, Any], promise: str) -> None:
    frame = pd.DataFrame(people(120), columns=list(Job(tmp_path).config["attributes"]))
    scenarios = {"neighbour": {"known": ["age", "sex"], "models": [model]}}
    config = {**Job(tmp_path).config, "constraints": [], "scenarios": scenarios}
    result = an.anonymize(frame, config)
    assert result.scenarios == {"neighbour": f"A neighbour who knows age and sex {promise}."}
    assert all(each["satisfied"] for each in result.report["scenarios"]["neighbour"]["constraints"])
