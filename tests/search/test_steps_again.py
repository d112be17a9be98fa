"""Steps of every algorithm, recomputed by ``tests/oracles/steps.py``: 12 random ones of each.

Of a step of the lattice the levels tell the candidate, so that report and data are enough. Of all others the
report does not have the recoding: what was measured is written down as the run measures it, as published
texts. Not recomputed are the losses of intervals and the results of attackers (see ``test_steps``), and with
``suppression.method: records`` what is released, as the report does not say which records are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from anonymizer.job import search as job_search
from anonymizer.model.recoding import CheckerMeasure, Outcome, Recoding, Step
from anonymizer.search import anatomy, judge
from anonymizer.search.lattice import local_suppression
from anonymizer.search.microaggregation import algorithm as microaggregation
from anonymizer.search.mondrian import algorithm as mondrian
from anonymizer.search.partition.assignment import Assignment, recoding_of
from anonymizer.search.partition.validity import AssignmentJudge
from tests.oracles.steps import (
    Asked,
    Tree,
    at_levels,
    faults,
    leaf_losses,
    loss_of,
    same,
    suppressing_classes,
)
from tests.run.commands import call

PICKED = 12
RUNS, FEWEST = 60, 1
ILLNESSES = ("asthma", "cancer", "flu", "gout", "stroke", "ulcer")
STAGES = (1, 2, 3, 4, 5)
LIMIT = 0.1


def tree_of(ages: bool) -> dict[str, tuple[str, ...]]:
    if ages:
        return {
            str(age): (str(age), f"{age // 5 * 5} to {age // 5 * 5 + 4}", f"{age // 20}. twenty", "*")
            for age in range(20, 80)
        }
    return {
        f"{first}{second}{third}": (f"{first}{second}{third}", f"{first}{second}.", f"{first}..", "*")
        for first in "789"
        for second in "0123"
        for third in "05"
    }


TREES: dict[str, Tree] = {
    "age": tree_of(ages=True),
    "zip": tree_of(ages=False),
    "sex": {own: (own, "*") for own in "fm"},
}
NUMBERS = ("height", "weight", "income")


def people(seed: int, number: int) -> pd.DataFrame:
    """Return records whose sensitive values follow age and zip a little."""
    random = np.random.default_rng(seed)
    age = random.integers(20, 80, number)
    zips = random.choice(list(TREES["zip"]), number)
    lean = (age // 20 + (zips >= "8")).astype(int)
    illness = (random.integers(0, 4, number) + random.integers(0, 2, number) * lean) % len(ILLNESSES)
    return pd.DataFrame(
        {
            "age": age.astype(str),
            "zip": zips,
            "sex": random.choice(["f", "m"], number),
            "height": random.normal(170, 9, number).round(0),
            "weight": random.normal(75, 12, number).round(0),
            "income": random.lognormal(8, 0.5, number).round(-1),
            "illness": np.array(ILLNESSES)[illness],
            "stage": 1 + (random.integers(0, 5, number) + lean // 2) % 5,
        }
    )


MODELS: tuple[dict[str, Any], ...] = (
    {"model": "k-anonymity", "k": 4},
    {"model": "l-diversity", "l": 2, "attribute": "illness"},
    {"model": "entropy-l-diversity", "l": 1.7, "attribute": "illness"},
    {"model": "t-closeness", "t": 0.55, "distance": "equal", "attribute": "illness"},
    {"model": "t-closeness", "t": 0.4, "distance": "ordered", "attribute": "stage"},
    {"model": "basic-beta-likeness", "beta": 6, "attribute": "illness"},
    {"model": "enhanced-beta-likeness", "beta": 4, "attribute": "stage"},
    {"model": "delta-disclosure", "delta": 2.2, "absent": "ignored", "attribute": "illness"},
)


@dataclass
class Written:
    """What a run measured: the candidate of each step that is measured, by the measures themselves.

    Attributes
    ----------
    of: records of the candidate as published, and whether some are suppressed before they are measured.
    kept: the measures, so that none of them is forgotten and its number used again.
    """

    of: dict[int, pd.DataFrame] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    outcome: Outcome | None = None

    def write(self, measures: tuple[CheckerMeasure, ...], records: pd.DataFrame) -> None:
        self.kept.append(measures)
        self.of[id(measures)] = records


def published(recoding: Recoding) -> pd.DataFrame:
    """Return the records of a recoding: their own values, their class by published texts, and their fate."""
    table = recoding.table
    frame: dict[str, Any] = {}
    names = [each.name for each in table.quasi_identifiers]
    for place, each in enumerate(table.quasi_identifiers):
        frame[each.name] = np.array(each.column.texts)[table.codes[:, place]]
        cells = recoding.cells(place)
        frame[f"{each.name} published"] = np.array(cells.labels, dtype=object)[cells.codes]
    for secret in table.sensitive:
        frame[secret.name] = np.array(secret.column.texts)[table.sensitive_codes(secret.name)]
    found = pd.DataFrame(frame)
    found["class"] = found[[f"{name} published" for name in names]].agg("\x1f".join, axis=1)
    found["suppressed"] = recoding.suppressed
    found = found.loc[found.index.repeat(table.counts)].reset_index(drop=True)
    if "stage" in found:
        found["stage"] = found["stage"].astype(int)
    return found


@contextmanager
def writing(patch: pytest.MonkeyPatch) -> Iterator[Written]:
    """Write down what is measured while a run measures it."""
    written = Written()
    last: list[Recoding] = []

    def explained(problem: Any, step: Step, recoding: Recoding) -> Step:
        found = real_explained(problem, step, recoding)
        written.write(found.checks, published(recoding))
        return found

    def checks(self: AssignmentJudge, assignment: Assignment) -> tuple[CheckerMeasure, ...]:
        found = real_checks(self, assignment)
        written.write(found, published(recoding_of(assignment, kept_suppressed=False)))
        return found

    def refused_sides(self: Any, sides: Any, step: Step) -> Step:
        found = real_sides(self, sides, step)
        table = self._problem.table
        own = {each.name: np.array(each.column.texts)[table.sensitive_codes(each.name)[sides.owner]]
               for each in table.sensitive}  # fmt: skip
        frame = pd.DataFrame(own | {"class": sides.region_of, "suppressed": False})
        frame["stage"] = frame["stage"].astype(int)
        written.write(found.refused, frame.loc[frame.index.repeat(sides.counts)].reset_index(drop=True))
        return found

    def judged(self: Any, seats: Any) -> Any:
        found, records, table = real_judge(self, seats), self._records, self._problem.table
        bucket = anatomy.groups_of(seats, len(records.row))
        (secret,) = table.sensitive
        own = {secret.name: np.array(secret.column.texts)[records.value]}
        written.write(found.checks, pd.DataFrame(own | {"class": bucket, "suppressed": found.group < 0}))
        return found

    def recoded(real: Any) -> Any:
        def build(self: Any, *args: Any) -> Recoding:
            found: Recoding = real(self, *args)
            last[:] = [found]
            return found

        return build

    def noted(real: Any) -> Any:
        def note(self: Any, *args: Any) -> None:
            real(self, *args)
            step = self._steps[-1]
            if step.objective is not None:
                written.write(step.checks, published(last[0]))

        return note

    def search(*args: Any) -> Outcome:
        written.outcome = real_search(*args)
        return written.outcome

    real_explained, real_checks = judge.explained, AssignmentJudge.checks
    real_judge = anatomy.GroupJudge.judge
    real_sides, real_search = mondrian._Run._refused_sides, job_search.search
    with patch.context() as own:
        for module in (judge, mondrian, local_suppression):
            own.setattr(module, "explained", explained)
        own.setattr(AssignmentJudge, "checks", checks)
        own.setattr(mondrian._Run, "_refused_sides", refused_sides)
        own.setattr(anatomy.GroupJudge, "judge", judged)
        for name, wrap in (("_recoding", recoded), ("_note", noted)):
            own.setattr(microaggregation._Run, name, wrap(getattr(microaggregation._Run, name)))
        own.setattr(job_search, "search", search)
        yield written


@dataclass(frozen=True)
class Case:
    """A step of a report, with what is needed to recompute it."""

    algorithm: str
    step: Mapping[str, Any]
    data: pd.DataFrame
    asked: Asked
    measured: pd.DataFrame | None
    refused: pd.DataFrame | None
    method: str


def cases(
    algorithm: str, seed: int, folder: Path, patch: pytest.MonkeyPatch, *, method: str = "classes"
) -> list[Case]:
    """Return the measured steps of a run."""
    random = Random(seed)
    data = people(seed, 160 if algorithm == "local" else 400)
    numeric = algorithm == "microaggregation"
    one = algorithm == "anatomy"
    known = NUMBERS if numeric else tuple(TREES)
    secret = ("illness",) if one else ("illness", "stage")
    data = data[[*known, *secret]].copy()
    strict = random.choice((1.0, 1.4))
    models = [dict(own) for own in MODELS if own.get("attribute", "illness") in secret]
    for own in models:
        for key in ("t", "beta", "delta"):
            if key in own:
                own[key] = round(own[key] / strict, 3)
    if method == "cells":
        models = models[:2]
    moving = seed % 2 == 1
    folder.mkdir()
    data.to_csv(folder / "data.csv", index=False)
    attributes: dict[str, Any] = {}
    for name in known:
        attributes[name] = {"role": "quasi-identifier"}
        if not numeric:
            pd.DataFrame(TREES[name].values()).to_csv(folder / f"{name}.csv", index=False, header=False)
            attributes[name] |= {"type": "text", "hierarchy": {"file": f"{name}.csv"}}
    attributes["illness"] = {"role": "sensitive"}
    if not one:
        attributes["stage"] = {"role": "sensitive", "type": "integer"}
    config = {
        "input": {"path": "data.csv"},
        "attributes": attributes,
        "constraints": models,
        "suppression": {"limit": LIMIT, "method": method},
        "reference": "release" if moving else "input",
        "algorithm": {"name": algorithm},
        "steps": "all",
        "seed": seed,
        "attacks": [],
        **({"budget": {"steps": 30}} if algorithm == "local" else {}),
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(config))
    with writing(patch) as written:
        done = call("run", folder / "job.yaml", "--json", "--quiet")
    assert done.code in (0, 1), done.err
    order = {"illness": ILLNESSES, "stage": STAGES}
    asked = Asked(models, order, LIMIT, moving)
    outcome = written.outcome
    assert outcome is not None
    found = []
    for step, told in zip(outcome.steps, done.json["steps"], strict=True):
        records = written.of.get(id(step.checks)) if step.checks else None
        refused = written.of.get(id(step.refused)) if step.refused else None
        if told["checks"] or refused is not None:
            found.append(Case(algorithm, told, data, asked, records, refused, method))
    return found


def recomputed(case: Case) -> list[str]:
    """Return what is wrong with a step."""
    step, data, asked = case.step, case.data, case.asked
    wrong = []
    if case.refused is not None:
        if not asked.moving and all(each["satisfied"] for each in step["refused"]):
            wrong.append("nothing refuses what was refused")
        wrong += faults(step["refused"], asked, case.refused, data, None)
    if not step["checks"]:
        return wrong
    levels = step["candidate"].get("levels", step["candidate"])
    if set(levels) == set(TREES):
        return wrong + of_levels(case, levels)
    assert case.measured is not None, f"{step['candidate']} was measured in another way"
    own = case.measured
    # Whole clusters and buckets are suppressed after they were measured.
    before = own[~own["suppressed"]]
    if case.algorithm == "microaggregation":
        before = own
    elif case.algorithm == "anatomy":
        before = own[own["class"] >= 0]
    valid = step["objective"] is not None
    wrong += faults(step["checks"], asked, before, data, (lambda: own) if valid else None)
    if not valid:
        return wrong
    if case.algorithm == "anatomy":
        own = own.assign(loss=0.0)
    elif case.algorithm == "microaggregation":
        own = own.assign(loss=range_losses(own))
    else:
        costs = [own[f"{name} published"].map(leaf_losses(tree)) for name, tree in TREES.items()]
        own = own.assign(loss=pd.concat(costs, axis=1).mean(axis=1))
    if not same(step["objective"], loss_of(own)):
        wrong.append(f"objective {step['objective']}, recomputed {loss_of(own)}")
    if step["suppressed"] is not None and step["suppressed"] != own["suppressed"].sum():
        wrong.append(f"suppressed {step['suppressed']}, recomputed {own['suppressed'].sum()}")
    return wrong


def range_losses(own: pd.DataFrame) -> pd.Series:
    """Return the loss of records whose class is published as a mean: the range of the class's values."""
    costs = []
    for name in NUMBERS:
        values = own[name].astype(float)
        inside = values.groupby(own["class"])
        costs.append((inside.transform("max") - inside.transform("min")) / (values.max() - values.min()))
    return pd.concat(costs, axis=1).mean(axis=1)


def of_levels(case: Case, levels: Mapping[str, int]) -> list[str]:
    """Return what is wrong with a step whose levels tell the candidate, from report and data alone."""
    step, data, asked = case.step, case.data, case.asked
    if case.measured is not None:
        # Cells are suppressed on top of the levels.
        own = case.measured
        return faults(step["checks"], asked, own[~own["suppressed"]], data, lambda: own)
    candidate = at_levels(data, TREES, levels)
    if case.method == "cells":
        # Before cells are suppressed; whether it would be valid without them the step does not say.
        told = [each | {"released": None} for each in step["checks"]]
        return faults(told, asked, candidate, data, None)
    if case.method == "records":
        told = [each | {"released": None} for each in step["checks"]]
        return faults(told, asked, candidate, data, None)
    candidate["suppressed"] = suppressing_classes(asked, candidate)
    suppressed = int(candidate["suppressed"].sum())
    valid = suppressed <= int(LIMIT * len(data)) and suppressed < len(data)
    wrong = faults(step["checks"], asked, candidate, data, (lambda: candidate) if valid else None)
    if step["accepted"] != valid and "proof" not in step:
        wrong.append(f"accepted {step['accepted']}, recomputed {valid}")
    if "proof" not in step and step["suppressed"] != suppressed:
        wrong.append(f"suppressed {step['suppressed']}, recomputed {suppressed}")
    if step["objective"] is not None and not same(step["objective"], loss_of(candidate)):
        wrong.append(f"objective {step['objective']}, recomputed {loss_of(candidate)}")
    return wrong


KINDS = (
    ("lattice", "classes"),
    ("lattice", "records"),
    ("lattice", "cells"),
    ("mondrian", "classes"),
    ("local", "classes"),
    ("microaggregation", "classes"),
    ("anatomy", "classes"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "method"), KINDS)
def test_random_steps_say_what_pandas_measures(
    algorithm: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = list[Case]()
    for seed in range(RUNS):
        found = cases(algorithm, seed, tmp_path / str(seed), monkeypatch, method=method)
        pool += [each for each in found if of_a_release(each)]
        if seed >= FEWEST and len(pool) >= 2 * PICKED:
            break
    for case in Random(7).sample(pool, PICKED):
        assert recomputed(case) == [], case.step


def of_a_release(case: Case) -> bool:
    """Return whether the report, or what was written down, tells the candidate of a step."""
    levels = case.step["candidate"].get("levels", case.step["candidate"])
    return case.measured is not None or case.refused is not None or set(levels) == set(TREES)
