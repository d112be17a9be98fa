"""report.json has exactly the shape that is promised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.loss.base import LOSS_METRICS
from tests.run.commands import Job, call

Shape = dict[str, Any]
NUMBER = (int, float)
NONE = type(None)

SHAPE: Shape = {
    "schema": int,
    "status": str,
    "interrupted": bool,
    "warnings": [str],
    "config": dict,
    "attributes": dict,
    "input": {"path": str, "sha256": str, "rows": int, "columns": int, "separator": (str, NONE)},
    "release": {
        "path": str,
        "sha256": str,
        "rows": int,
        "suppressed_records": int,
        "suppressed_cells": int,
        "classes": int,
        "verified": bool,
        "separator": str,
        "encoding": str,
    },
    "engine": {"name": str, "because": str},
    "search": {
        "algorithm": str,
        "chosen_because": [str],
        "candidates": int,
        "evaluated": int,
        "steps": int,
        "optimal": bool,
        "objective": NUMBER,
        "bound": NUMBER,
        "gap": NUMBER,
        "best_possible": (int, float, NONE),
        "seconds": NUMBER,
        "bound_seconds": (int, float, NONE),
        "seed": int,
    },
    "recoding": {"levels": {"age": int, "zip": int, "sex": int}},
    "constraints": [
        {
            "model": str,
            "attribute": (str, NONE),
            "parameters": dict,
            "measured": (int, float, list, str),
            "satisfied": bool,
            "worst_classes": int,
            "verifiable_from_release": bool,
        }
    ],
    "loss": {
        **{name.replace("-", "_"): NUMBER for name in LOSS_METRICS},
        "discernibility": int,
        "height": int,
    },
    "attacks": [dict],
    "attack_matrix": [
        {
            "threat": str,
            "claimed_by": [str],
            "success": (int, float, NONE),
            "baseline": (int, float, NONE),
            "contradicted": bool,
            "contradictions": [dict],
        }
    ],
    "utility": [dict],
    "steps": [
        {
            "candidate": dict,
            "objective": (int, float, NONE),
            "accepted": bool,
            "failed": [str],
            "at_least": NUMBER,
            "suppressed": int,
            "checks": [dict],
        }
    ],
    "seconds": dict,
    "environment": {"anonymizer": str, "python": str, "packages": dict},
    "recoding_file": {"path": str, "sha256": str},
    "exposure": {
        "unit": str,
        "units": int,
        "unique": NUMBER,
        "below_k": NUMBER,
        "with_sensitive": {"unique": NUMBER, "below_k": NUMBER},
        "sentence": str,
        "findings": [dict],
        "acknowledged": [str],
        "unused": [str],
        "left_out": [str],
        "public": [{"kind": str, "exceeded": bool}],
    },
    "columns": [
        {
            "column": str,
            "role": str,
            "treatment": str,
            "example": (str, NONE),
            "changed": str,
            "finding": [str],
        }
    ],
}


def misfits(value: Any, shape: Any, where: str = "report") -> list[str]:
    """Return the places where a value does not have a shape: keys, types, nothing more and nothing less."""
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            return [f"{where}: {value if not isinstance(value, dict) else sorted(set(value) ^ set(shape))}"]
        return [each for key in shape for each in misfits(value[key], shape[key], f"{where}.{key}")]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: {value}"]
        return [each for item in value for each in misfits(item, shape[0], f"{where}[]")]
    wanted = shape if isinstance(shape, tuple) else (shape,)
    fits = isinstance(value, wanted) and (bool in wanted or not isinstance(value, bool))
    return [] if fits else [f"{where}: {value!r}"]


EVERY_MODEL = [
    {"model": "k-anonymity", "k": 3},
    {"model": "alpha-k-anonymity", "alpha": 1, "k": 2},
    {"model": "p-sensitive-k-anonymity", "p": 1, "k": 2},
    {"model": "l-diversity", "l": 1},
    {"model": "entropy-l-diversity", "l": 1},
    {"model": "recursive-cl-diversity", "c": 100, "l": 1},
    {"model": "t-closeness", "t": 1},
    {"model": "basic-beta-likeness", "beta": 100},
    {"model": "delta-disclosure", "delta": 100, "absent": "ignored"},
    {"model": "vulnerability", "max": 1},
]


def no_constant(text: str) -> None:
    """Refuse what JSON lacks."""
    raise AssertionError(text)


def test_every_part_of_a_report_has_its_shape(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints(*EVERY_MODEL)
    done = job.run("--json")
    assert done.code == 0, done.err
    text = (job.output / "report.json").read_text(encoding="utf-8")
    report = json.loads(text, parse_constant=no_constant)
    assert misfits(report, SHAPE) == []
    assert list(report) == list(SHAPE)
    for name, each in report["attributes"].items():
        assert set(each) == {"role", "type", "hierarchy_sha256"}, name
    assert report["attributes"]["age"]["type"] == "integer"
    assert len(report["attributes"]["zip"]["hierarchy_sha256"]) == 64
    assert report["attributes"]["sex"]["hierarchy_sha256"] is None
    assert [each["model"] for each in report["constraints"]] == [each["model"] for each in EVERY_MODEL]
    assert {type(each["measured"]) for each in report["constraints"][1:3]} == {list}


def test_the_counts_fit_each_other(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.run()
    report = job.report()
    released, search = report["release"], report["search"]
    assert report["input"]["rows"] == 60 == released["rows"] + released["suppressed_records"]
    assert released["suppressed_records"] <= 6
    assert report["input"]["columns"] == 6
    assert search["steps"] == len(report["steps"]) == search["evaluated"] <= search["candidates"]
    assert report["search"]["objective"] == pytest.approx(report["loss"]["loss"])
    best = min(step["objective"] for step in report["steps"] if step["accepted"])
    assert search["objective"] == best
    assert any(step["candidate"] == report["recoding"]["levels"] for step in report["steps"])


def test_kept_rows_are_counted_once_as_suppressed_and_released(tmp_path: Path) -> None:
    job = Job(tmp_path).set("suppression", limit=0.3, keep_rows=True)
    assert job.run().code == 0
    released = job.report()["release"]
    assert 3 <= released["suppressed_records"] <= 18
    assert released["rows"] == 60


def test_infinite_is_a_text(tmp_path: Path) -> None:
    job = Job(tmp_path).set("suppression", limit=0)
    job.attribute("age", role="insensitive").attribute("zip", role="insensitive")
    rows = [("a", "1", "1", sex, diagnosis, "") for sex in "FM" for diagnosis in (sex, sex)]
    job.rows(rows).constraints({"model": "k-anonymity", "k": 2})
    job.config["attributes"]["sex"]["levels"] = {"max": 0}
    assert job.run().code == 0
    done = call("check", job.release, "-c", job.file, "--json")
    assert json.loads(done.out, parse_constant=no_constant) == done.json
    infinite = {each["model"] for each in done.json["measures"] if each["measured"] == "Infinity"}
    assert {"delta-disclosure", "recursive-cl-diversity"} <= infinite


def test_a_report_without_a_release_says_so(tmp_path: Path) -> None:
    report = Job(tmp_path).constraints({"model": "l-diversity", "l": 9}).run("--json").json
    assert report["release"] == {
        "path": None,
        "sha256": None,
        "rows": 0,
        "suppressed_records": 0,
        "suppressed_cells": 0,
        "classes": 0,
        "verified": False,
        "separator": None,
        "encoding": None,
    }
    assert report["recoding"] is None
    assert report["search"]["objective"] is None
    assert report["search"]["gap"] is None
    assert set(report) - {"diagnosis"} == set(SHAPE) - {"recoding_file", "exposure", "columns"}
