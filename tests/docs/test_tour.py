"""The tour names functions that are in the files it links to, and figures that the sample's run has."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "tour.md"
TEXT = PAGE.read_text(encoding="utf-8")
STOPS = re.findall(r"\[`([\w.]+)`\]\(([^)]+\.py)\)", TEXT)


def defined(file: Path) -> set[str]:
    """Return the functions and classes of a module, and methods as ``Class.method``."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    methods = {
        f"{each.name}.{inner.name}"
        for each in found
        for inner in each.body
        if isinstance(each, ast.ClassDef) and isinstance(inner, ast.FunctionDef)
    }
    return {each.name for each in found} | methods


def test_the_tour_stops_a_dozen_times() -> None:
    assert len(STOPS) >= 12


@pytest.mark.parametrize(("stop", "file"), STOPS)
def test_each_stop_is_in_the_file_it_links_to(stop: str, file: str) -> None:
    assert stop in defined((PAGE.parent / file).resolve())


def rows_of_table(head: str) -> list[list[str]]:
    """Return the cells of the table that begins with a head."""
    lines = TEXT[TEXT.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.slow
def test_the_record_is_released_as_the_tour_says(tmp_path: Path) -> None:
    report = run(
        load_config(ROOT / "examples" / "full_domain.yaml", ["algorithm=mondrian"]), tmp_path
    ).to_dict()
    before, after = ([*row[1:]] for row in rows_of_table("| | age |"))
    first = (ROOT / "examples" / "sample.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
    # Without the number, the income, the hours and the date.
    assert before == [*first[1:8], first[9]]
    lines = (tmp_path / "share" / "release.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert ",".join(after) in lines
    classes = Counter(line.rpartition(",")[0] for line in lines)
    assert classes[",".join(after[:-1])] == 6
    assert f"{len(classes):,}" in TEXT
    assert report["release"]["classes"] == len(classes)
    assert f"({len(set(lines)):,} rows that differ)" in TEXT
