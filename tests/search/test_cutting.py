"""The kernel of Mondrian from sums and in parts: the same cuts as from all rows at once."""

from __future__ import annotations

import pickle
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import IntArray
from anonymizer.model.outcome import Outcome
from anonymizer.model.report import Status
from anonymizer.model.table import Hierarchy
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.mondrian.algorithm import LabelName, ModeName, Mondrian, MondrianSettings, part_kernel
from anonymizer.search.mondrian.axes import NodeAxis
from anonymizer.search.mondrian.cuts import Groups, PartSummary
from anonymizer.search.mondrian.kernel import RowSource
from anonymizer.search.mondrian.level import Level, Source
from anonymizer.search.mondrian.out_of_core import PartKernel, PartRegions, SummedSource, by_size
from anonymizer.search.mondrian.regions import references
from anonymizer.search.mondrian.store import Batch, Coding
from tests.helpers.problems import problem
from tests.search.test_mondrian import decided_by_cuts

LABELS = tuple(LabelName)
MODES = tuple(ModeName)


def kernel_of(asked: SearchProblem, labels: LabelName, mode: ModeName = ModeName.STRICT) -> PartKernel:
    own = references(asked.table, asked.table.counts)
    kernel = part_kernel(asked, MondrianSettings(labels=labels, mode=mode), [own])
    copied = pickle.loads(pickle.dumps(kernel))
    assert isinstance(copied, PartKernel)
    return copied


def maxima(asked: SearchProblem) -> IntArray:
    """Return the class of each combination at the highest allowed levels."""
    table = asked.table
    nodes = [own.nodes(own.maximum)[table.codes[:, i]] for i, own in enumerate(table.quasi_identifiers)]
    return np.unique(np.stack(nodes, axis=1), axis=0, return_inverse=True)[1].ravel()


def regions_of(found: PartRegions) -> Counter[frozenset[tuple[int, int]]]:
    rows: dict[int, set[tuple[int, int]]] = {}
    for region, owner, count in zip(found.region_of, found.owner, found.counts, strict=True):
        rows.setdefault(int(region), set()).add((int(owner), int(count)))
    return Counter(frozenset(own) for own in rows.values())


def summed(coding: Coding, batch: Batch, position: int) -> PartSummary:
    """Return what an engine would: the parts of each region with their sums, counted one by one."""
    frames = coding.frames(batch.traces, position)
    column = batch.columns[coding.fields[position][0].column].astype(np.int64)
    sums: dict[tuple[int, int], list[int]] = {}
    for row, region in enumerate(batch.region_of.tolist()):
        part = int(((column[row] >> frames.shift[region]) & frames.mask[region]) - frames.first[region])
        own = sums.setdefault((region, part), [0, *(trace.reduction.identity for trace in coding.traces)])
        own[0] += int(batch.counts[row])
        for i, trace in enumerate(coding.traces, 1):
            own[i] = int(trace.reduction.ufunc(own[i], int(batch.columns[trace.column][row])))
    keys = sorted(sums)
    table = np.array([[*key, *sums[key]] for key in keys], dtype=np.int64).T
    return PartSummary(table[0], table[1], table[2], list(table[3:]))


@pytest.mark.parametrize("labels", LABELS)
@settings(max_examples=30)
@given(random=st.randoms(use_true_random=False))
def test_sums_of_parts_are_cut_as_their_rows(labels: LabelName, random: Random) -> None:
    asked = problem(decided_by_cuts(random))
    kernel = kernel_of(asked, labels)
    table, coding = asked.table, kernel.coding
    region_of = np.array([random.randrange(3) for _ in table.counts])
    region_of = np.sort(np.unique(region_of, return_inverse=True)[1])
    rows = np.bincount(region_of)
    batch = Batch(coding, np.arange(len(table.counts)), table.counts, coding.encode(table.codes), rows)
    source = RowSource(batch, kernel.mode, _BySize())  # type: ignore[arg-type]
    summaries = [summed(coding, batch, position) for position in range(len(coding.axes))]
    engine = SummedSource(coding, Groups(batch.records, batch.traces), summaries, by_size)

    def chosen(source: Source) -> list[list[float]]:
        level = Level(source, kernel.mode, kernel.minimum)
        return [np.asarray(own).tolist() for own in vars(level.chosen(*level.propose())).values()]

    assert chosen(engine) == chosen(source)


class _BySize:
    by_size = True


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("labels", LABELS)
@settings(max_examples=15)
@given(random=st.randoms(use_true_random=False))
def test_parts_of_the_table_are_cut_as_the_whole(labels: LabelName, mode: ModeName, random: Random) -> None:
    """Some levels of all regions, then the rest of each region by itself: the regions of the whole run."""
    asked = problem(decided_by_cuts(random))
    kernel = kernel_of(asked, labels, mode)
    table = asked.table
    start = maxima(asked)
    whole = kernel.regions(table.codes, table.counts, start)
    top = kernel.regions(table.codes, table.counts, start, levels=random.randrange(3))
    found: Counter[frozenset[tuple[int, int]]] = Counter()
    for region in np.unique(top.region_of):
        rows = np.flatnonzero(top.region_of == region)
        owner = top.owner[rows]
        part = kernel.regions(table.codes[owner], top.counts[rows], np.zeros(len(rows), dtype=np.int64))
        for own, times in regions_of(part).items():
            found[frozenset((int(owner[row]), count) for row, count in own)] += times
    assert found == regions_of(whole)
    outcome = Mondrian(MondrianSettings(labels=labels, mode=mode)).search(asked, Control())
    if _starts_at_the_top(outcome):
        assert outcome.steps[-1].candidate["regions"] == len(whole.log.regions)


def _starts_at_the_top(outcome: Outcome) -> bool:
    return (
        outcome.status is Status.SATISFIED
        and len(outcome.steps) > 1
        and "regions" in outcome.steps[1].candidate
    )


@settings(max_examples=30)
@given(random=st.randoms(use_true_random=False))
def test_parts_that_go_left_are_named(random: Random) -> None:
    """The nodes that ``named`` gives for the parts of a region are those above its rows."""
    asked = problem(decided_by_cuts(random))
    coding, table = kernel_of(asked, LabelName.HIERARCHY).coding, asked.table
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
