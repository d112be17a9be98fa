"""Mondrian on Adult through the command: combinations in memory, and nearly all of them left in DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.reports import without_times
from tests.run.adult_runs import adult, ran, with_salary
from tests.run.commands import Done

pytestmark = pytest.mark.advice

K = {"model": "k-anonymity", "k": 5}
CASES: dict[str, dict[str, Any]] = {
    "l": {"constraints": [K, {"model": "l-diversity", "l": 3}]},
    "l, joined": {"constraints": [K, {"model": "l-diversity", "l": 3}]},
    "k, intervals": {"constraints": [K], "algorithm": {"name": "mondrian", "labels": "interval"}},
    "t, sets": {
        "constraints": [{"model": "k-anonymity", "k": 10}, {"model": "t-closeness", "t": 0.3}],
        "algorithm": {"name": "mondrian", "labels": "set"},
    },
    "beta, of the release": {
        "constraints": [K, {"model": "enhanced-beta-likeness", "beta": 2}],
        "reference": "release",
        "suppression": {"limit": 0.02},
    },
    "k, sets, joined": {"constraints": [K], "algorithm": {"name": "mondrian", "labels": "set"}},
    "delta, few steps, joined": {
        "constraints": [K, {"model": "delta-disclosure", "delta": 2}],
        "budget": {"steps": 5},
    },
}
ENGINES: dict[str, dict[str, Any]] = {
    "memory": {"name": "memory"},
    "beyond": {"name": "duckdb", "options": {"combinations": 3000, "threads": 1}},
}


def config(case: str, engine: str) -> dict[str, Any]:
    attacks = ["vulnerability", "uniqueness", "homogeneity"]
    asked = adult(engine=ENGINES[engine], algorithm={"name": "mondrian"}, attacks=attacks) | CASES[case]
    return with_salary(asked) if "joined" in case else asked


def run(folder: Path, case: str, name: str, **others: Any) -> Done:
    return ran(config(case, name) | others, folder, name)


def told(report: dict[str, Any]) -> dict[str, Any]:
    """Return what a report tells but for the engine and seconds."""
    report = without_times(report)
    # A bound on all local recodings is not looked for where the combinations are not in memory.
    report["search"].pop("best_possible")
    # Nor are changes of the config tried there.
    if "advice" in report:
        report["advice"] = report["advice"]["columns"]
    # Nor is the share of changed values known.
    report["columns"] = [{**each, "changed": None} for each in report["columns"]]
    # Nor is the last step measured.
    report["steps"] = [{**each, "checks": [], "objective": None} for each in report["steps"]]
    report["config"].pop("engine")
    report.pop("engine")
    return report


@pytest.fixture(autouse=True)
def cuts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions are merged in memory only, if their rows are few."""
    monkeypatch.setattr("anonymizer.search.mondrian.merging.ROWS", 0)


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=[] if name == "l, joined" else [pytest.mark.slow]) for name in CASES]
)
def test_they_tell_and_release_the_same(case: str, tmp_path: Path) -> None:
    """The same bytes of the release and of the recoding, and the same steps."""
    reports, files = [], []
    for engine in ENGINES:
        done = run(tmp_path, case, engine)
        assert done.code == 0, done.err
        reports.append(told(done.json))
        kept = tmp_path / engine / "recoding.json"
        files.append(
            (
                (tmp_path / engine / "share" / "release.csv").read_bytes(),
                kept.read_bytes() if kept.exists() else None,
            )
        )
    assert files[0] == files[1]
    assert reports[0] == reports[1]
    assert (files[0][1] is not None) == ("labels" not in config(case, "memory")["algorithm"])


@pytest.mark.parametrize("case", ["l", "l, joined"])
def test_auto_takes_its_release(case: str, tmp_path: Path) -> None:
    engine = {"name": "duckdb", "options": {"combinations": 13_000}}
    found = []
    for name in ("mondrian", "auto"):
        done = ran(config(case, "beyond") | {"engine": engine, "algorithm": name}, tmp_path, name)
        assert done.code == 0, done.err
        assert done.json["search"]["algorithm"] == "mondrian"
        parts = (tmp_path / name / "share" / "release.csv", tmp_path / name / "recoding.json")
        found.append([each.read_bytes() for each in parts])
    assert found[0] == found[1]
    assert done.json["search"]["chosen_because"] == ["the distinct rows do not fit in memory"]


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"constraints": [K, {"model": "vulnerability", "max": 0.9}]}, "judges all regions together"),
        ({"objective": "height"}, "is defined for full-domain recoding only"),
        ({"constraints": [{"model": "k-anonymity", "k": 2}]}, "up to 15,081 regions of mondrian may not fit"),
    ],
)
def test_auto_takes_lattice_where_it_cannot(others: dict[str, Any], reason: str, tmp_path: Path) -> None:
    engine = {"name": "duckdb", "options": {"combinations": 13_000}}
    done = run(tmp_path, "l, joined", "beyond", engine=engine, algorithm="auto", attacks="none", **others)
    assert done.code == 0, done.err
    assert done.json["search"]["algorithm"] == "lattice"
    (said,) = done.json["search"]["chosen_because"]
    assert said.startswith("the distinct rows do not fit in memory; ")
    assert reason in said


def test_what_it_cannot_do_is_refused_at_once(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "l",
        "beyond",
        algorithm={"name": "mondrian", "mode": "relaxed"},
        constraints=[K, {"model": "vulnerability", "max": 0.1}],
    )
    assert done.code == 2
    said = " ".join(done.err.split())
    assert "mode relaxed (accepted: strict)" in said
    assert "vulnerability, which judges all regions together" in said
    assert not (tmp_path / "beyond").exists()


def test_a_budget_that_is_spent_leaves_a_verified_release(tmp_path: Path) -> None:
    """Nothing is cut after no time at all, and no spilled file is left."""
    engine = {"name": "duckdb", "options": {"combinations": 500, "temp_directory": str(tmp_path / "spill")}}
    (tmp_path / "spill").mkdir()
    done = run(tmp_path, "l", "beyond", budget={"seconds": 0.001}, engine=engine)
    assert done.code == 0, done.err
    assert done.json["release"]["verified"]
    assert done.json["release"]["classes"] < 10
    assert not list((tmp_path / "spill").iterdir())
