"""Hierarchies in which ``*`` stands below the root: it then looks like a suppressed value."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from tests.run.commands import call

FILE = "30;30;*\n36;*;*\n38;a;*\n40;*;*\n"


@pytest.mark.parametrize(
    ("algorithm", "method"),
    [
        ("lattice", "classes"),
        ("lattice", "cells"),
        ("local", "classes"),
        ("mondrian", "classes"),
        ("auto", "classes"),
    ],
)
def test_kept_records_do_not_stand_beside_a_class_of_stars(
    algorithm: str, method: str, tmp_path: Path
) -> None:
    tree = str(tmp_path / "a.csv")
    Path(tree).write_text(FILE)
    ages = ["30", "38", "36", "40"] * 2
    config: dict[str, Any] = {
        "attributes": {"a": {"role": "quasi-identifier", "type": "text", "hierarchy": {"file": tree}}},
        "constraints": [{"model": "k-anonymity", "k": 3}],
        "suppression": {"limit": 0.5, "method": method, "keep_rows": True},
        "algorithm": {"name": algorithm},
        "budget": {"steps": 20},
    }
    result = an.anonymize(pd.DataFrame({"a": ages}), config)
    counts = Counter(result.data["a"])
    assert min(counts.values()) >= 3
    assert result.report.to_dict()["release"]["classes"] == len(counts)


@pytest.mark.parametrize("person", ["", ", person: id"])
def test_a_release_of_stars_is_of_the_level_that_has_its_people(person: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(FILE)
    (tmp_path / "people.csv").write_text("a,b\n" + "36,y\n" * 5 + "30,x\n" * 10)
    (tmp_path / "release.csv").write_text("a,b\n" + "*,x\n" * 8)
    (tmp_path / "job.yaml").write_text(
        f"input: {{path: in.csv, population: {{path: people.csv}}{person}}}\n"
        "attributes: {id: identifier, a: {role: quasi-identifier, type: text, hierarchy: {file: a.csv}},\n"
        "  b: quasi-identifier}\n"
        "constraints: [{model: k-map, k: 9, unit: record}]\n"
    )
    done = call("check", tmp_path / "release.csv", "--config", tmp_path / "job.yaml")
    assert done.code == 0, done.err
    assert "10" in done.out


def test_a_class_of_stars_is_no_suppressed_class_for_the_owner(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(FILE)
    (tmp_path / "in.csv").write_text("a\n" + "30\n38\n36\n40\n" * 3)
    (tmp_path / "job.yaml").write_text(
        "input: {path: in.csv}\n"
        "attributes: {a: {role: quasi-identifier, type: text, hierarchy: {file: a.csv}, levels: {min: 1}}}\n"
        "constraints: [{model: k-anonymity, k: 3}]\n"
        "suppression: {limit: 0, keep_rows: true}\n"
        "algorithm: {name: lattice}\n"
    )
    assert call("run", tmp_path / "job.yaml").code == 0
    folder = tmp_path / "job-release"
    done = call("audit", folder / "share" / "release.csv", "--report", folder / "report.json")
    assert done.code == 0, done.out
