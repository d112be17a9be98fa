"""The seconds of each phase in the report of a run."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

from tests.run.commands import Job


def test_the_report_says_where_the_time_went(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.config["attacks"] = ["homogeneity"]
    begun = perf_counter()
    assert job.run("--quiet").code == 0
    took = perf_counter() - begun
    report = job.report()
    assert list(report["seconds"]) == [
        *("read", "prepare", "search", "bound", "write", "verify", "attack", "expose", "advise"),
    ]
    assert all(each >= 0 for each in report["seconds"].values())
    assert 0 < sum(report["seconds"].values()) <= took
    assert report["search"]["bound_seconds"] <= report["seconds"]["bound"] + 0.001
    public = json.loads(job.public_report.read_text())
    assert "seconds" not in public
    assert "bound_seconds" not in public["search"]


def test_a_refused_run_says_it_too(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 50})
    done = job.run(
        "--json", "--set", "suppression.limit=0", "--set", "constraints.+={model: l-diversity, l: 9}"
    )
    assert done.code == 1
    assert list(done.json["seconds"]) == ["read", "prepare", "search", "diagnose"]
