"""The coding of rows and the axes of Mondrian: parts, their names, and the nodes of a path."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.table import Hierarchy
from anonymizer.search.mondrian.axes import NodeAxis
from anonymizer.search.mondrian.labelling import NodeLabelling
from anonymizer.search.mondrian.store import Batch, Coding
from tests.helpers.problems import problem
from tests.search.test_mondrian import decided_by_cuts
from tests.strategies import randoms


@settings(max_examples=30)
@given(random=randoms())
def test_parts_that_go_left_are_named(random: Random) -> None:
    """The nodes that ``named`` gives for the parts of a region are those above its rows."""
    asked = problem(decided_by_cuts(random))
    coding, table = Coding(NodeLabelling(asked.table, LeafShareLoss()).axes), asked.table
    columns = coding.encode(table.codes)
    batch = Batch(coding, np.arange(len(table.counts)), table.counts, columns, np.array([len(table.counts)]))
    for position, axis in enumerate(coding.axes):
        numbers, frames = coding.numbers(batch.traces, position), coding.frames(batch.traces, position)
        attribute = table.quasi_identifiers[position]
        if frames.parts[0] < 2:
            continue
        field = coding.fields[position][0].column
        part = axis.parts_of(columns[field], frames, batch.rows) - frames.first
        named = axis.named(numbers, np.zeros(len(part), dtype=np.int64), part)
        tree: Hierarchy = attribute.hierarchy
        assert isinstance(axis, NodeAxis)
        level = max(int(axis.levels(numbers)[0]) - 1, attribute.minimum)
        assert named.tolist() == tree.ancestors[level][attribute.leaf[table.codes[:, position]]].tolist()


def test_paths_longer_than_a_table_are_found_by_bisection() -> None:
    """A tree of 2**21 leaves would need too large a table: its nodes are those of the table's way."""
    asked = problem(decided_by_cuts(Random(1)))
    attribute = asked.table.quasi_identifiers[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonymizer.search.mondrian.axes._TABLE_BITS", -1)
        searched = NodeAxis(attribute, 1.0, LeafShareLoss())
    looked_up = NodeAxis(attribute, 1.0, LeafShareLoss())
    paths = looked_up.numbers[0].of_code
    pairs = [[a | b, a & b] for a in paths for b in paths]
    numbers = list(np.array(pairs, dtype=np.int64).T)
    assert searched.nodes(numbers).tolist() == looked_up.nodes(numbers).tolist()
