"""The package reads the shipped value trees as plain csv and yaml do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizer.hierarchy.ready import ReadySettings, ReadySource, ready_names
from anonymizer.model.table import Column, ValueType
from tests.hierarchies.ready_files import NAMES, entry, lookup, parents, rows

FILES = [name for name in NAMES if "file" in entry(name)["hierarchy"]]


def column(values: list[str]) -> Column:
    counts = np.ones(len(values), dtype=np.int64)
    return Column("any", ValueType.TEXT, tuple(values), counts, None, None)


def test_names_are_the_same() -> None:
    assert ready_names() == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_leaves_and_aliases_have_the_same_ancestors(name: str) -> None:
    values = sorted(parents(name))
    if "aliases" in entry(name):
        values = sorted({*values, *(spelling for spelling, _ in rows(entry(name)["aliases"]))})
    tree = ReadySource(ReadySettings(name)).build(column(values), Path())
    for value in values:
        node, above = (0, value), []
        while found := list(tree.predecessors(node)):
            [node] = found
            above.append(node[1])
        assert above == lookup(name, value)
