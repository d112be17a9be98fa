"""The conformance suite of loss metrics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import isclose

import numpy as np

from anonymizer.loss.base import CellMetric, LossMetric, TransformationFacts
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Classes, Released
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.model.table import Table
from anonymizer.search.rollup import RollUp
from anonymizer.testing.samples import fail, tables

Levels = tuple[int, ...]


def check_loss_metric(metric: LossMetric, seed: int = 0) -> None:
    """Check a metric on random tables.

    Raises
    ------
    AssertionError: the metric violates a property that searches and reports rely on.
    """
    random = np.random.default_rng(seed)
    for table in tables(seed):
        rollup = RollUp.of(table)
        check_row_order(metric, rollup, table, random)
        check_no_loss(metric, rollup, table)
        check_objective(metric, rollup, table, random)
        check_bounds(metric, rollup, table, random)


def nodes(table: Table) -> Iterator[Levels]:
    """Return all transformations of the table's lattice."""
    return product(*(range(own.hierarchy.height + 1) for own in table.quasi_identifiers))


def facts(
    rollup: RollUp, table: Table, levels: Levels, kept: BoolArray, certain: BoolArray
) -> TransformationFacts:
    """Return the facts of a transformation, given the kept classes and those that are lost for certain below.

    Parameters
    ----------
    rollup: of the table.
    """
    classes = rollup.classes(levels)
    suppressed = ~kept[classes.class_of]
    return TransformationFacts(
        levels,
        classes.sizes,
        classes.sizes[kept],
        0,
        rollup.marginals(np.where(suppressed, classes.counts, 0)),
        rollup.marginals(np.where(certain[classes.class_of], classes.counts, 0)),
        lambda: FullDomainRecoding(table, levels, suppressed, suppressed),
    )


def released(classes: Classes, table: Table, levels: Levels, kept: BoolArray) -> Released:
    """Return the recoding of a transformation, given the kept classes.

    Parameters
    ----------
    classes: of the transformation.
    """
    suppressed = ~kept[classes.class_of]
    lost = int(classes.sizes[~kept].sum())
    recoding = FullDomainRecoding(table, levels, suppressed, suppressed)
    return Released(table, recoding, classes.sizes[kept], 0, lost, None)


def _close(left: float, right: float) -> bool:
    return isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def _below(value: float, bound: float) -> bool:
    return value < bound - 1e-9 * max(1.0, abs(bound))


def _whole(rollup: RollUp, table: Table, levels: Levels) -> Released:
    """Return the recoding of a transformation that keeps every class."""
    classes = rollup.classes(levels)
    return released(classes, table, levels, np.ones(classes.number, dtype=bool))


def check_row_order(metric: LossMetric, rollup: RollUp, table: Table, random: np.random.Generator) -> None:
    """The order of the rows does not change the value."""
    order = random.permutation(table.combinations)
    other = Table(table.quasi_identifiers, table.sensitive, table.codes[order], Measure(table.counts[order]))
    reordered = RollUp.of(other)
    for levels in nodes(table):
        one, two = metric.value(_whole(rollup, table, levels)), metric.value(_whole(reordered, other, levels))
        if one is None or two is None or not _close(one, two):
            fail(f"{metric.name}: {one} becomes {two} in another order of the rows")


def check_no_loss(metric: LossMetric, rollup: RollUp, table: Table) -> None:
    """A cell metric is 0 if every value is released unchanged."""
    if not isinstance(metric, CellMetric):
        return
    levels = (0,) * len(table.quasi_identifiers)
    value = metric.value(_whole(rollup, table, levels))
    if value is None or not _close(value, 0):
        fail(f"{metric.name}: {value} without any generalization; accepted: 0")


def check_objective(metric: LossMetric, rollup: RollUp, table: Table, random: np.random.Generator) -> None:
    """A search minimizes the value in the report, and no recoding costs more than suppressing everything."""
    loss = metric.on_lattice(table, None)
    for levels in nodes(table):
        classes = rollup.classes(levels)
        kept = random.random(classes.number) < 0.7
        kept[0] = True
        value = metric.value(released(classes, table, levels, kept))
        objective = loss.objective(facts(rollup, table, levels, kept, ~kept))
        if value is None or not _close(objective, value):
            fail(f"{metric.name}: a search would minimize {objective} where a report shows {value}")
        if value is not None and _below(loss.worst, value):
            fail(f"{metric.name}: {value} is more than {loss.worst}, the claimed worst")


def check_bounds(metric: LossMetric, rollup: RollUp, table: Table, random: np.random.Generator) -> None:
    """No transformation costs less than its floor or the bounds of those above and below."""
    loss = metric.on_lattice(table, None)
    floors = loss.combine(loss.floors)
    levels = tuple(int(random.integers(0, own.hierarchy.height + 1)) for own in table.quasi_identifiers)
    own = rollup.classes(levels)
    kept = random.random(own.number) < 0.7
    certain = ~kept & (random.random(len(kept)) < 0.7)
    known = facts(rollup, table, levels, kept, certain)
    lost = certain[own.class_of]
    below, above = loss.combine(loss.below(known)), loss.above(known)
    for node in nodes(table):
        classes = rollup.classes(node)
        staying = random.random(classes.number) < 0.8
        under = all(own <= top for own, top in zip(node, levels, strict=True))
        if under:
            staying[classes.class_of[lost]] = False
        if not staying.any():
            continue
        value = metric.value(released(classes, table, node, staying))
        bound = float(floors[node])
        if under:
            bound = max(bound, float(below[node]))
        if all(own >= low for own, low in zip(node, levels, strict=True)):
            bound = max(bound, above)
        if value is None or _below(value, bound):
            fail(f"{metric.name}: {value} at levels {node} is less than the bound {bound}")
