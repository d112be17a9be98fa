"""A release of nothing but stars names a setting that helps, measured, and the command that sets it."""

from __future__ import annotations

import shlex
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.run.commands import Job, call, csv_bytes

pytestmark = pytest.mark.advice

COLUMNS = ("age", "zip", "sex", "illness")
QI = {"role": "quasi-identifier"}


def job(folder: Path, **changes: Any) -> Job:
    random = Random(3)
    rows = [
        (
            str(random.randint(20, 79)),
            f"{random.choice('123')}{random.choice('456')}",
            random.choice("FM"),
            random.choice(("flu", "cancer", "asthma")),
        )
        for _ in range(300)
    ]
    own = Job(folder, data=csv_bytes(rows, COLUMNS))
    own.config = {
        "input": {"path": "people.csv"},
        "attributes": {
            "age": {**QI, "type": "integer", "hierarchy": {"intervals": {"width": [5, 20]}}},
            "zip": {**QI, "type": "text", "hierarchy": {"mask": {"from": "right"}}},
            "sex": QI,
            "illness": {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 5}],
        "acknowledge": ["rows-are-persons"],
        "bound": "none",
        **changes,
    }
    return own


def advised(own: Job) -> list[dict[str, Any]]:
    done = own.run()
    assert done.code == 0, done.err
    report = own.report()
    assert report["loss"]["loss"] > 0.9
    changes: list[dict[str, Any]] = report["advice"]["changes"]
    for each in changes:
        assert f"{each['change']}: loss {each['loss_after']:g} instead of" in done.out
        assert each["loss_after"] < each["loss_before"]
    return changes


def loss_after(own: Job, change: dict[str, Any], folder: Path) -> float:
    """Return the loss of the command that a change names."""
    words = shlex.split(change["command"])
    sets = [word for place, word in enumerate(words) if "--set" in (word, words[place - 1])]
    assert call("run", own.file, "-o", folder, "--quiet", *sets).code == 0
    return float(call("run", own.file, "-o", folder, "--overwrite", "--json", *sets).json["loss"]["loss"])


def test_attacks_that_leave_stars_name_another_search(tmp_path: Path) -> None:
    linked = {"model": "linkage-risk", "max": 0.02}
    own = job(tmp_path, constraints=[linked, {"model": "k-anonymity", "k": 5}])
    own.attribute("age", **QI, type="integer").attribute("zip", **QI, type="text")
    own.attribute("sex", role="identifier")
    first = advised(own.set("algorithm", name="lattice"))[0]
    assert first["change"] == "search with mondrian instead of lattice"
    assert first["set"] == ["algorithm={name: mondrian}"]
    assert loss_after(own, first, tmp_path / "after") < 0.7


def test_bare_numbers_name_intervals(tmp_path: Path) -> None:
    own = job(tmp_path, algorithm={"name": "mondrian", "labels": "hierarchy"})
    own.attribute("age", **QI, type="integer").attribute("sex", role="identifier")
    own.attribute("zip", role="identifier")
    own.config["constraints"] = [{"model": "k-anonymity", "k": 20}]
    first = advised(own)[0]
    assert first["set"] == ["algorithm.labels=interval"]
    assert loss_after(own, first, tmp_path / "after") < 0.5
