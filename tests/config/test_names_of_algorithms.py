"""Rooms other than the searches ask an algorithm what it does, not for its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Published
from anonymizer.search.base import FULL_DOMAIN, QUICK, SEARCH_ALGORITHMS
from tests.docs.pages import ROOT

PACKAGE = ROOT / "anonymizer"

ALLOWED = {
    ("data_spark/session.py", "local"): "a master of Spark",
    ("profile/config_text.py", "mondrian"): "the algorithm of a draft",
}


def constants(path: Path) -> set[str]:
    """Return the texts in a file that are nothing but the name of an algorithm."""
    names = set(SEARCH_ALGORITHMS) - {"auto"}  # which hierarchies and engines have too
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant) and each.value in names}


def test_no_room_knows_an_algorithm_by_name() -> None:
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] != "search"
        for name in constants(path)
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    ("name", "options", "kinds"),
    [
        ("lattice", {}, {Published.LEVEL}),
        ("local", {}, {Published.NODES}),
        ("mondrian", {}, {Published.NODES}),
        ("mondrian", {"labels": "interval"}, {Published.INTERVALS}),
        ("auto", {}, {Published.NODES}),
    ],
)
def test_what_an_algorithm_publishes(name: str, options: dict[str, str], kinds: set[Published]) -> None:
    plug_in = SEARCH_ALGORITHMS[name]
    own = plug_in(plug_in.Settings.model_validate(options))
    assert own.publishes([], SuppressionMethod.CLASSES) == kinds


def test_the_algorithms_that_others_start_with() -> None:
    assert SEARCH_ALGORITHMS[FULL_DOMAIN].full_domain
    found = SEARCH_ALGORITHMS[QUICK]
    assert found(found.Settings()).in_intervals() is None
    changed = found(found.Settings.model_validate({"labels": "hierarchy"})).in_intervals()
    assert changed is not None
    override, other = changed
    assert override == "algorithm.labels=interval"
    assert other.publishes([], SuppressionMethod.CLASSES) == {Published.INTERVALS}
