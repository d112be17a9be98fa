"""Adult through the command, with the combinations in memory and with most of them left in DuckDB."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.reports import without_times
from tests.run.adult_runs import adult, ran, with_salary
from tests.run.commands import Done

pytestmark = pytest.mark.advice

CASES: dict[str, dict[str, Any]] = {
    "k": {"constraints": [{"model": "k-anonymity", "k": 5}], "suppression": {"limit": 0.02}},
    "l, rows stay": {
        "constraints": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 3}],
        "suppression": {"limit": 0.02, "keep_rows": True},
    },
    "t": {
        "constraints": [{"model": "k-anonymity", "k": 10}, {"model": "t-closeness", "t": 0.4}],
        "suppression": {"limit": 0.02},
    },
}
ENGINES: dict[str, dict[str, Any]] = {
    "memory": {"name": "memory"},
    "beyond": {"name": "duckdb", "options": {"combinations": 12_000, "threads": 1}},
}


def config(case: str, engine: str) -> dict[str, Any]:
    attacks = ["vulnerability", "uniqueness", "homogeneity", "background", "skewness"]
    asked = adult(engine=ENGINES[engine], attacks=attacks) | CASES[case]
    return with_salary(asked) if case == "t" else asked


def run(folder: Path, case: str, engine: str) -> Done:
    return ran(config(case, engine), folder, engine)


def told_by(page: str) -> list[str]:
    """Return what a page says of models, loss and groups: not how the search went, nor config or advice."""
    page = re.sub(r"<h3>What would lower the loss most</h3>.*?</ul>\n*", "", page, flags=re.DOTALL)
    sections = re.findall(r'<section id="(\w+)".*?</section>', page, re.DOTALL)
    assert {"promises", "lost", "groups"} <= set(sections)
    return [
        re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)[0]  # type: ignore[index]
        for name in ("promises", "lost", "groups")
    ]


@pytest.mark.page
@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=[] if name == "l, rows stay" else [pytest.mark.slow]) for name in CASES]
)
def test_they_tell_and_release_the_same(case: str, tmp_path: Path) -> None:
    """Steps may differ: a coarser table tells less of the nodes below."""
    reports, shares, public, pages = [], [], [], []
    for engine in ENGINES:
        done = run(tmp_path, case, engine)
        assert done.code == 0, done.err
        report = without_times(done.json)
        for key in ("candidates", "evaluated", "steps", "best_possible"):
            report["search"].pop(key)
        report["config"].pop("engine")
        # Changes of the config are tried where the combinations are in memory.
        if "advice" in report:
            report["advice"] = report["advice"]["columns"]
        # Nor is the share of changed values known.
        report["columns"] = [{**each, "changed": None} for each in report["columns"]]
        report.pop("steps")
        report.pop("engine", None)
        reports.append(report)
        shares.append((tmp_path / engine / "share" / "release.csv").read_bytes())
        public.append(json.loads((tmp_path / engine / "share" / "report.public.json").read_text("utf-8")))
        pages.append(told_by((tmp_path / engine / "report.html").read_text("utf-8")))
    assert shares[0] == shares[1]
    assert reports[0] == reports[1]
    assert public[0]["loss"] == public[1]["loss"]
    assert pages[0] == pages[1]


def test_what_needs_every_combination_is_refused_at_once(tmp_path: Path) -> None:
    job = config("k", "beyond")
    job["algorithm"] = {"name": "local"}
    job["attacks"] = ["uniqueness", "linkage"]
    job["utility"] = ["query-error"]
    done = ran(job, tmp_path, "release")
    assert done.code == 2
    said = " ".join(done.err.split())
    assert "only 12,000 fit in memory" in said
    assert "algorithm local (accepted: auto, lattice" in said
    assert "attacks[1]: linkage, which needs original records" in said
    assert "utility" in said
    assert not (tmp_path / "job-release").exists()
