"""The steps of a search, recomputed from the input, the config and the report alone."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, isclose, log
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonymizer.model.recoding import Step
from anonymizer.search.steps import StepLog
from tests.helpers import adult
from tests.run.commands import call
from tests.shared import shared

ATTRIBUTES = ("sex", "age", "race", "marital-status", "education")
SECRET = "occupation"
LIMIT = 0.1
CHECKS = (
    {"model": "k-anonymity", "k": 4},
    {"model": "l-diversity", "l": 3},
    {"model": "t-closeness", "t": 0.45, "distance": "equal"},
    {"model": "basic-beta-likeness", "beta": 6},
    {"model": "delta-disclosure", "delta": 2.5, "absent": "ignored"},
)
Rows = Sequence[tuple[str, ...]]


def rows(number: int) -> Rows:
    """Return records of Adult, drawn with a seed."""
    columns = adult.cells()
    drawn = Random(3).sample(range(len(columns[SECRET])), number)
    return [tuple(columns[name][i] for name in (*ATTRIBUTES, SECRET)) for i in drawn]


def report_of(folder: Path, records: Rows, **config: Any) -> dict[str, Any]:
    """Run the command on some records; return its report."""
    with (folder / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([(*ATTRIBUTES, SECRET), *records])
    trees = shared("data", "adult", "hierarchies")
    own = {name: {"role": "quasi-identifier", "hierarchy": {"file": str(trees / f"{name}.csv")}}
           for name in ATTRIBUTES}  # fmt: skip
    given = {
        "input": {"path": "data.csv"},
        "attributes": {**own, SECRET: {"role": "sensitive"}},
        "suppression": {"limit": LIMIT},
        "reference": "input",
        **config,
    }
    import yaml

    (folder / "job.yaml").write_text(yaml.safe_dump(given))
    done = call("run", folder / "job.yaml", "--json", "--quiet")
    assert done.code == 0, done.err
    return dict(done.json)


def classes_of(records: Rows, levels: dict[str, int]) -> list[Counter[str]]:
    """Return the sensitive values of each equivalence class."""
    found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for record in records:
        key = tuple(
            adult.paths(name)[value][levels[name]] for name, value in zip(levels, record, strict=False)
        )
        found[key][record[-1]] += 1
    return list(found.values())


def measures(classes: list[Counter[str]], p: dict[str, Fraction]) -> dict[str, list[Any]]:
    """Return the measure of each class by the definitions."""
    found: dict[str, list[Any]] = defaultdict(list)
    for own in classes:
        size = sum(own.values())
        q = {value: Fraction(own[value], size) for value in p}
        found["k-anonymity"].append(size)
        found["l-diversity(occupation)"].append(len(own))
        found["t-closeness(occupation)"].append(sum(abs(q[value] - p[value]) for value in p) / 2)
        gains = [(q[value] - p[value]) / p[value] for value in p]
        found["basic-beta-likeness(occupation)"].append(max(*gains, Fraction(0)))
        found["delta-disclosure(occupation)"].append(max(abs(log(q[value] / p[value])) for value in own))
    return found


def holds(name: str, measured: Any) -> bool:
    bound = next(each for each in CHECKS if name.startswith(str(each["model"])))
    if "k" in bound or "l" in bound:
        return bool(measured >= (bound.get("k") or bound["l"]))
    if "delta" in bound:
        return bool(measured < bound["delta"])
    return bool(measured <= Fraction(str(bound.get("t") or bound["beta"])))


def worst(name: str, measured: list[Any]) -> float:
    return float(min(measured) if name.startswith(("k-", "l-")) else max(measured))


def recomputed(records: Rows, step: dict[str, Any]) -> dict[str, Any]:
    """Return what a step should report, with the classes that are released."""
    total = Counter(record[-1] for record in records)
    p = {value: Fraction(number, len(records)) for value, number in total.items()}
    classes = classes_of(records, step["candidate"])
    by_name = measures(classes, p)
    sizes = by_name["k-anonymity"]
    fine = [all(holds(name, own[i]) for name, own in by_name.items()) for i in range(len(classes))]
    suppressed = sum(size for size, good in zip(sizes, fine, strict=True) if not good)
    valid = suppressed <= int(LIMIT * len(records))
    checks = {
        name: (
            worst(name, own),
            sum(size for size, each in zip(sizes, own, strict=True) if not holds(name, each)),
            worst(name, [each for each, good in zip(own, fine, strict=True) if good]) if valid else None,
        )
        for name, own in by_name.items()
    }
    return {"suppressed": suppressed, "valid": valid, "checks": checks,
            "risk": Fraction(sum(fine), len(records) - suppressed)}  # fmt: skip


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rows, dict[str, Any]]:
    records = rows(900)
    constraints = [*CHECKS, {"model": "linkage-risk", "max": 0.02}]
    return records, report_of(tmp_path_factory.mktemp("steps"), records, constraints=constraints)


@pytest.mark.slow
def test_an_independent_script_recomputes_every_measure(job: tuple[Rows, dict[str, Any]]) -> None:
    records, report = job
    counted = [step for step in report["steps"] if step["checks"]]
    assert len(counted) > 20
    for step in counted:
        own = recomputed(records, step)
        assert step["suppressed"] == own["suppressed"]
        assert (step["objective"] is not None) == own["valid"], "a valid candidate waits for the attackers"
        found = {each["constraint"]: each for each in step["checks"]}
        assert set(found) == set(own["checks"])
        for name, (measured, violating, released) in own["checks"].items():
            each = found[name]
            assert isclose(each["measured"], measured, abs_tol=1e-9)
            assert (each["violating"], each["satisfied"]) == (violating, violating == 0)
            assert each["released"] is None if released is None else isclose(each["released"], released)
        assert step["at_least"] <= (inf if step["objective"] is None else step["objective"]) + 1e-9


def test_attackers_are_in_the_steps_with_their_numbers(job: tuple[Rows, dict[str, Any]]) -> None:
    records, report = job
    asked = [step for step in report["steps"] if "attackers" in step]
    assert report["search"]["attacked"] == len(asked) > 0
    for step in asked:
        (own,) = step["attackers"]
        assert own["constraint"] == "linkage-risk"
        # On a full-domain release every record fits one class: classes / records are linked.
        assert isclose(own["attackers"][0]["success"], recomputed(records, step)["risk"], abs_tol=1e-9)
        assert own["satisfied"] == (own["measured"] <= 0.02) == step["accepted"]
        assert own["attackers"][0]["learned"] is None
    assert [step["accepted"] for step in asked][-1]


def test_every_step_asks_about_each_candidate_that_passes(tmp_path: Path) -> None:
    records = rows(300)
    constraints = [*CHECKS[:2], {"model": "linkage-risk", "max": 0.1}]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    usual = report_of(tmp_path / "one", records, constraints=constraints)
    every = report_of(tmp_path / "two", records, constraints=constraints, attackers="every-step")
    valid = [step for step in every["steps"] if step["objective"] is not None]
    assert valid
    assert all("attackers" in step for step in valid)
    assert "not attacked" not in {name for step in every["steps"] for name in step["failed"]}
    assert every["search"]["attacked"] >= usual["search"]["attacked"]
    assert every["recoding"] == usual["recoding"]
    for key in ("objective", "bound", "optimal"):
        assert every["search"][key] == usual["search"][key]


def test_every_step_is_refused_where_it_would_be_ignored(tmp_path: Path) -> None:
    constraints = [{"model": "k-anonymity", "k": 2}]
    with pytest.raises(AssertionError, match="no constraint is measured by an attack"):
        report_of(tmp_path, rows(20), constraints=constraints, attackers="every-step")
    risk = [{"model": "linkage-risk", "max": 0.1}]
    with pytest.raises(AssertionError, match="needs algorithm anatomy or auto or lattice"):
        report_of(
            tmp_path, rows(20), constraints=risk, attackers="every-step", algorithm={"name": "mondrian"}
        )


@pytest.mark.parametrize("name", ["mondrian", "local"])
def test_the_step_of_the_release_measured_what_the_file_shows(name: str, tmp_path: Path) -> None:
    records = rows(300)
    asked = {"algorithm": {"name": name}, "budget": {"steps": 12}, "suppression": {"limit": 0}}
    report = report_of(tmp_path, records, constraints=[*CHECKS[:3]], attacks=[], **asked)
    release = next((tmp_path / "job-release" / "share").glob("release*.csv"))
    with release.open(newline="") as file:
        published = [tuple(own.values()) for own in csv.DictReader(file)]
    found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for *known, secret in published:
        found[tuple(known)][secret] += 1
    total = Counter(record[-1] for record in records)
    p = {value: Fraction(number, len(records)) for value, number in total.items()}
    own = measures(list(found.values()), p)
    accepted = [each for each in report["steps"] if each["objective"] is not None and each["checks"]]
    best = min(accepted, key=lambda each: each["objective"])
    assert isclose(best["objective"], report["search"]["objective"], abs_tol=1e-9)
    assert len(best["checks"]) == 3
    for check in best["checks"]:
        assert check["satisfied"]
        assert check["violating"] == 0
        assert isclose(check["released"], worst(check["constraint"], own[check["constraint"]]), abs_tol=1e-9)


def of_step(number: int, *, accepted: bool) -> Step:
    return Step({"number": number}, None, accepted)


def measured(number: int, called: list[int]) -> Callable[[Step], Step]:
    """Return what measures a step, and says so."""

    def explain(step: Step) -> Step:
        called.append(number)
        return replace(step, suppressed=number)

    return explain


def test_accepted_steps_are_measured_at_once_and_the_one_refused_last_at_the_end() -> None:
    steps, called = StepLog(), list[int]()
    for number, accepted in enumerate((False, True, False, False, True)):
        steps.note(of_step(number, accepted=accepted), measured(number, called))
    assert called == [1, 4]
    assert [step.suppressed for step in steps.ended()] == [None, 1, None, 3, 4]
    assert called == [1, 4, 3]
    assert steps.ended() == tuple(steps)


def test_every_step_is_measured_at_once_if_asked_and_none_if_nobody_reads_them() -> None:
    for steps, expected in ((StepLog(every=True), [0, 1, 2]), (StepLog(explained=False, every=True), [])):
        called = list[int]()
        for number in range(3):
            steps.note(of_step(number, accepted=number == 1), measured(number, called))
        steps.ended()
        assert called == expected
        assert steps.every == bool(expected)


def test_a_refused_step_that_was_taken_back_is_not_measured() -> None:
    steps, called = StepLog(), list[int]()
    steps.note(of_step(0, accepted=False), measured(0, called))
    steps.note(of_step(1, accepted=False), measured(1, called))
    del steps[1:]
    steps.append(of_step(2, accepted=False))
    assert [step.suppressed for step in steps.ended()] == [None, None]


def test_a_refused_step_that_is_measured_already_is_the_last_one() -> None:
    steps, called = StepLog(), list[int]()
    steps.note(of_step(0, accepted=False), measured(0, called))
    steps.note(of_step(1, accepted=False), measured(1, called), measured=True)
    assert [step.suppressed for step in steps.ended()] == [None, 1]


@pytest.mark.parametrize("name", ["lattice", "mondrian", "local", "microaggregation", "anatomy"])
def test_all_steps_are_measured_where_asked_and_the_release_is_the_same(name: str, tmp_path: Path) -> None:
    records = rows(200)
    tight = [CHECKS[0], CHECKS[1], {"model": "t-closeness", "t": 0.4, "distance": "equal"}]
    asked: dict[str, Any] = {"algorithm": {"name": name}, "constraints": tight, "attacks": []}
    if name == "microaggregation":
        ages = {"age": {"role": "quasi-identifier", "type": "integer"}, SECRET: {"role": "sensitive"}}
        asked["attributes"] = ages | {own: {"role": "drop"} for own in ATTRIBUTES if own != "age"}
    if name == "local":
        asked["budget"] = {"steps": 12}
    found = {}
    for steps in ("kept", "all"):
        (tmp_path / steps).mkdir()
        report = report_of(tmp_path / steps, records, steps=steps, **asked)
        found[steps] = report
        files = sorted((tmp_path / steps / "job-release" / "share").glob("release*.csv"))
        report["files"] = [path.read_bytes() for path in files]
    kept, every = found["kept"], found["all"]
    assert kept["files"] == every["files"]
    assert [step["candidate"] for step in kept["steps"]] == [step["candidate"] for step in every["steps"]]
    assert all(
        step["checks"] for step in every["steps"] if "move" not in step["candidate"] or name == "local"
    )
    for few, many in zip(kept["steps"], every["steps"], strict=True):
        assert few["checks"] in ([], many["checks"])
        assert few.get("refused") in (None, many.get("refused"))
    refused = [step for step in kept["steps"] if not step["accepted"]]
    if refused and name != "mondrian":
        assert refused[-1]["checks"]


def test_mondrian_says_why_it_cuts_no_further(tmp_path: Path) -> None:
    tight = [CHECKS[0], {"model": "t-closeness", "t": 0.3, "distance": "equal"}]
    report = report_of(tmp_path, rows(200), constraints=tight, algorithm={"name": "mondrian"}, attacks=[])
    (last,) = [step["refused"] for step in report["steps"] if "refused" in step]
    size, distance = last
    assert size["satisfied"]
    assert not distance["satisfied"]
    assert distance["measured"] > 0.3
    assert 0 < distance["violating"] <= 200
    assert {size["released"], distance["released"]} == {None}
