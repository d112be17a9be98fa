"""Moves of single records between classes, by simulated annealing.

The functions are compiled from ``kernel.c``, which is the same in C, and run there where WebAssembly can be
had; see ``anonymizer.compiled``. Here they are to be read and tested, and run where it cannot.

Prices are whole numbers, so that sums and comparisons are exact and every platform takes the same moves.
Random numbers and the logarithms by which a rise of the loss is accepted are drawn outside.

Moves: a record goes to a class of a near record (relocate); two change places (swap); one goes and a third
takes its place (chain); a class is dissolved into those of near records (dissolve); a class is opened for
near records of classes that can spare them (open). Without the last two, classes never change their number,
and a search cannot pass through the worse states in between.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.search.partition.trees import ONE

MODULE = Path(__file__).with_name("kernel.wasm")
"""The same functions, compiled."""

GONE = 0
"""The class of suppressed records."""

DRAWS = 5
"""Uniform random numbers of a proposal."""

FEW = 16
"""Records of a class from which one is drawn."""

CLOSE = 1e-9
"""Records by which a class may exceed a share, as rounding may; what is taken is judged exactly."""


class World(NamedTuple):
    """Records, their classes as linked lists, and the trees, in few and wide tables.

    Attributes
    ----------
    records: shape (records, 5 + sensitive attributes), int32: columns ``CLASS``, ``AFTER``, ``BEFORE``,
        ``ROW``, ``UNIT``, -1 for one of its own, and the sensitive values, numbered over all attributes.
    classes: shape (classes + 2, 6), int64: the columns ``HEAD``, ``SIZE``, ``UNITS``, ``PRICE`` of a record,
        ``MARK`` of the last proposal that touched it, and ``FREE``, a pile of the numbers of empty classes.
    labels: published nodes, shape (classes + 2, attributes), int32; the last two in the making.
    kept: labels of classes that a proposal has touched, shape (classes, attributes), int32.
    counts: records with each value in each class, shape (classes, values), int32.
    rows: lowest allowed nodes of each distinct row, shape (rows, attributes), int32.
    near: shape (rows, 2 + near), int32: first record of a row and the one after its last, as records of equal
        rows stand together, then the nearest rows, -1 from where there are no more.
    forest: allowed nodes in preorder, shape (nodes, 4), int64: ``FIRST``, ``LAST``, ``PARENT`` and ``COST``.
    journal: what a proposal has done, shape (records + classes, 5), int64: counters in the first row; records
        moved and whence; classes touched, with their price and size.
    """

    records: CodeArray
    classes: IntArray
    labels: CodeArray
    kept: CodeArray
    counts: CodeArray
    rows: CodeArray
    near: CodeArray
    forest: IntArray
    journal: IntArray


CLASS, AFTER, BEFORE, ROW, UNIT, VALUES = range(6)
"""Columns of ``World.records``."""

HEAD, SIZE, UNITS, PRICE, MARK, FREE = range(6)
"""Columns of ``World.classes``."""

FIRST, LAST, PARENT, COST = range(4)
"""Columns of ``World.forest``."""

RECORD, SOURCE, TOUCHED, OLD_PRICE, OLD_SIZE = range(5)
"""Columns of ``World.journal`` from its second row on."""

MOVED, CHANGED, STAMP, EMPTY = range(4)
"""Columns of its first row: records moved, classes touched, the number of the proposal, empty classes."""

REJECTED = 1 << 62
"""The rise of a proposal that was not made."""


class Parts(NamedTuple):
    """Classes that are merged with others until they satisfy the conditions.

    Attributes
    ----------
    forest: as of ``World``.
    labels: published nodes of each class, shape (classes, attributes), int32.
    state: shape (classes, 3), int64: the columns ``WEIGHT``, its records; ``EACH``, the price of one; and
        ``INTO``, the class with which it was merged, its own number while it is one.
    counts: records with each value, shape (classes, values), int32.
    over: by how many records each class violates the conditions, shape (classes,), float64.
    """

    forest: IntArray
    labels: CodeArray
    state: IntArray
    counts: CodeArray
    over: FloatArray


WEIGHT, EACH, INTO = range(3)
"""Columns of ``Parts.state``."""


class Draws(NamedTuple):
    """Random numbers of some proposals.

    Attributes
    ----------
    uniform: shape (proposals, ``DRAWS``).
    heats: highest rise of the total that each may cause, shape (proposals,).
    """

    uniform: FloatArray
    heats: FloatArray


class Limits(NamedTuple):
    """Conditions on the records of a class and on how often each sensitive value occurs.

    Attributes
    ----------
    smallest, units: fewest records, and fewest units.
    begin: first value of each sensitive attribute and, last, the number of values.
    caps, floors: a value occurs in at most cap n records, and in none or at least floor n; shape (values,).
    required: values that every class has, shape (values,).
    distinct: rows of attribute, number, and the value that does not count or -1.
    dominances: rows of attribute, c and l: r_1 < c (r_l + r_{l+1} + ...).
    entropies: rows of attribute and ln l.
    logarithms: n ln n for whole n.
    deviations: rows of attribute, first group, group after the last, and the limit per record.
    group_of: smallest group of each value for each deviation, -1 for none, shape (deviations, values).
    parent, share: group that holds each group, -1 for none; its share of the reference.
    work, counted: for counts in the making, shapes (groups,) and (values,).
    """

    smallest: int
    units: int
    begin: IntArray
    caps: FloatArray
    floors: FloatArray
    required: BoolArray
    distinct: IntArray
    dominances: FloatArray
    entropies: FloatArray
    logarithms: FloatArray
    deviations: FloatArray
    group_of: IntArray
    parent: IntArray
    share: FloatArray
    work: IntArray
    counted: CodeArray


def joined(forest: IntArray, own: int, first: int, last: int) -> int:
    """Return the lowest node at or above one that covers a range, -1 without one."""
    while own >= 0 and (forest[own, FIRST] > first or forest[own, LAST] < last):
        own = forest[own, PARENT]
    return own


def _joined_price(world: World, own: int, row: int) -> int:
    """Return the price of a class that a row joins, -1 if no node covers it."""
    if own == GONE:
        return ONE
    total = 0
    for place in range(world.rows.shape[1]):
        other = world.rows[row, place]
        node = joined(
            world.forest, world.labels[own, place], world.forest[other, FIRST], world.forest[other, LAST]
        )
        if node < 0:
            return -1
        total += world.forest[node, COST]
    return total


def _grow(world: World, own: int, row: int) -> bool:
    """Publish a class so that it covers a row, too; return False if no node does."""
    if own == GONE:
        return True
    total = 0
    for place in range(world.rows.shape[1]):
        other = world.rows[row, place]
        node = joined(
            world.forest, world.labels[own, place], world.forest[other, FIRST], world.forest[other, LAST]
        )
        if node < 0:
            return False
        world.labels[own, place] = node
        total += world.forest[node, COST]
    world.classes[own, PRICE] = total
    return True


def _same(world: World, own: int, other: int) -> bool:
    """Return whether two classes have equal labels."""
    same = world.classes[own, PRICE] == world.classes[other, PRICE]
    for place in range(world.rows.shape[1]):
        same = same and world.labels[own, place] == world.labels[other, place]
    return bool(same)


def _publish(world: World, own: int, leaving: int, target: int) -> int:
    """Write the lowest label of a class without one of its records, with its price, as another class.

    Returns the price; -1 if no node covers the records.
    """
    records, labels = world.records, world.labels
    if own == GONE:
        return ONE
    record = world.classes[own, HEAD]
    if record == leaving:
        record = records[record, AFTER]
    row = records[record, ROW]
    total = 0
    for place in range(labels.shape[1]):
        labels[target, place] = world.rows[row, place]
        total += world.forest[labels[target, place], COST]
    world.classes[target, PRICE] = total
    record = records[record, AFTER]
    while record >= 0:
        if record != leaving:
            if not _grow(world, target, records[record, ROW]):
                return -1
            if own != target and _same(world, own, target):
                break
        record = records[record, AFTER]
    return int(world.classes[target, PRICE])


def _alone(world: World, record: int, own: int) -> int:
    """Return what a record adds to the units of a class that it is not in: 0 if its unit is there."""
    unit = world.records[record, UNIT]
    if unit >= 0:
        other = world.classes[own, HEAD]
        while other >= 0:
            if world.records[other, UNIT] == unit:
                return 0
            other = world.records[other, AFTER]
    return 1


def _link(world: World, record: int, own: int) -> None:
    records, classes = world.records, world.classes
    if own != GONE:
        classes[own, UNITS] += _alone(world, record, own)
    head = classes[own, HEAD]
    records[record, AFTER] = head
    records[record, BEFORE] = -1
    if head >= 0:
        records[head, BEFORE] = record
    classes[own, HEAD] = record
    records[record, CLASS] = own
    classes[own, SIZE] += 1
    for place in range(VALUES, records.shape[1]):
        world.counts[own, records[record, place]] += 1


def _unlink(world: World, record: int) -> None:
    records, classes = world.records, world.classes
    own, before, after = records[record, CLASS], records[record, BEFORE], records[record, AFTER]
    if before >= 0:
        records[before, AFTER] = after
    else:
        classes[own, HEAD] = after
    if after >= 0:
        records[after, BEFORE] = before
    classes[own, SIZE] -= 1
    for place in range(VALUES, records.shape[1]):
        world.counts[own, records[record, place]] -= 1
    if own != GONE:
        classes[own, UNITS] -= _alone(world, record, own)


def _touch(world: World, own: int) -> None:
    """Keep what a class is before a proposal changes it."""
    journal = world.journal
    if world.classes[own, MARK] != journal[0, STAMP]:
        world.classes[own, MARK] = journal[0, STAMP]
        journal[0, CHANGED] += 1
        place = journal[0, CHANGED]
        journal[place, TOUCHED] = own
        journal[place, OLD_PRICE] = world.classes[own, PRICE]
        journal[place, OLD_SIZE] = world.classes[own, SIZE]
        for attribute in range(world.rows.shape[1]):
            world.kept[place, attribute] = world.labels[own, attribute]


def _begin(world: World) -> None:
    world.journal[0, MOVED] = 0
    world.journal[0, CHANGED] = 0
    world.journal[0, STAMP] += 1


def _move(world: World, record: int, target: int) -> None:
    own = world.records[record, CLASS]
    _touch(world, own)
    _touch(world, target)
    world.journal[0, MOVED] += 1
    place = world.journal[0, MOVED]
    world.journal[place, RECORD] = record
    world.journal[place, SOURCE] = own
    _unlink(world, record)
    _link(world, record, target)


def _undo(world: World) -> None:
    journal = world.journal
    for place in range(journal[0, MOVED], 0, -1):
        _unlink(world, journal[place, RECORD])
        _link(world, journal[place, RECORD], journal[place, SOURCE])
    for place in range(1, journal[0, CHANGED] + 1):
        own = journal[place, TOUCHED]
        world.classes[own, PRICE] = journal[place, OLD_PRICE]
        for attribute in range(world.rows.shape[1]):
            world.labels[own, attribute] = world.kept[place, attribute]


def _risen(world: World) -> int:
    """Return by how much the touched classes cost more than before."""
    total = 0
    for place in range(1, world.journal[0, CHANGED] + 1):
        own = world.journal[place, TOUCHED]
        total += world.classes[own, SIZE] * world.classes[own, PRICE]
        total -= world.journal[place, OLD_SIZE] * world.journal[place, OLD_PRICE]
    return total


def _relabel(world: World, own: int, source: int, price: int) -> None:
    if own != GONE:
        for place in range(world.rows.shape[1]):
            world.labels[own, place] = world.labels[source, place]
        world.classes[own, PRICE] = price


def _near(world: World, row: int, draw: float) -> int:
    """Return a record of a near row, -1 without one; nearer ones are likelier."""
    scaled = (world.near.shape[1] - 2) * draw * draw
    other = world.near[row, 2 + int(scaled)]
    if other < 0:
        return -1
    # What the draw leaves over chooses among the records of the row.
    first = world.near[other, 0]
    return int(first) + int((scaled - int(scaled)) * (world.near[other, 1] - first))


def _relocate(world: World, record: int, target: int, heat: float) -> int:
    classes, source, row = world.classes, world.records[record, CLASS], world.records[record, ROW]
    after = _joined_price(world, target, row)
    if after < 0:
        return REJECTED
    rise = (classes[target, SIZE] + 1) * after - classes[target, SIZE] * classes[target, PRICE]
    if rise - classes[source, SIZE] * classes[source, PRICE] > heat:
        return REJECTED
    scratch = len(classes) - 1
    left = _publish(world, source, record, scratch)
    rise += (classes[source, SIZE] - 1) * left - classes[source, SIZE] * classes[source, PRICE]
    if rise > heat:
        return REJECTED
    _begin(world)
    _move(world, record, target)
    _relabel(world, source, scratch, left)
    _grow(world, target, row)
    return int(rise)


def _swap(world: World, record: int, other: int, heat: float) -> int:
    """Let two records change places."""
    classes = world.classes
    own, its = world.records[record, CLASS], world.records[other, CLASS]
    row, its_row = world.records[record, ROW], world.records[other, ROW]
    one, two = len(classes) - 1, len(classes) - 2
    price, its_price = ONE, ONE
    if own != GONE:
        _publish(world, own, record, one)
        if not _grow(world, one, its_row):
            return REJECTED
        price = classes[one, PRICE]
    rise = classes[own, SIZE] * (price - classes[own, PRICE])
    if rise - classes[its, SIZE] * classes[its, PRICE] > heat:
        return REJECTED
    if its != GONE:
        _publish(world, its, other, two)
        if not _grow(world, two, row):
            return REJECTED
        its_price = classes[two, PRICE]
    rise += classes[its, SIZE] * (its_price - classes[its, PRICE])
    if rise > heat:
        return REJECTED
    _begin(world)
    _move(world, record, its)
    _move(world, other, own)
    _relabel(world, own, one, price)
    _relabel(world, its, two, its_price)
    return int(rise)


def _chain(world: World, record: int, target: int, third: int, heat: float) -> int:
    """Move a record to another class, and let a third take its place."""
    classes = world.classes
    own, its = world.records[record, CLASS], world.records[third, CLASS]
    row, its_row = world.records[record, ROW], world.records[third, ROW]
    one, two = len(classes) - 1, len(classes) - 2
    after = _joined_price(world, target, row)
    if after < 0:
        return REJECTED
    rise = (classes[target, SIZE] + 1) * after - classes[target, SIZE] * classes[target, PRICE]
    if rise - classes[own, SIZE] * classes[own, PRICE] - classes[its, SIZE] * classes[its, PRICE] > heat:
        return REJECTED
    price = ONE
    if own != GONE:
        _publish(world, own, record, one)
        if not _grow(world, one, its_row):
            return REJECTED
        price = classes[one, PRICE]
    rise += classes[own, SIZE] * (price - classes[own, PRICE])
    if rise - classes[its, SIZE] * classes[its, PRICE] > heat:
        return REJECTED
    its_price = _publish(world, its, third, two)
    rise += (classes[its, SIZE] - 1) * its_price - classes[its, SIZE] * classes[its, PRICE]
    if rise > heat:
        return REJECTED
    _begin(world)
    _move(world, record, target)
    _move(world, third, own)
    _relabel(world, own, one, price)
    _relabel(world, its, two, its_price)
    _grow(world, target, row)
    return int(rise)


def _dissolve(world: World, own: int, room: int) -> int:
    """Move each record of a class to the near class in which it costs least, or suppress it."""
    classes, records, near = world.classes, world.records, world.near
    _begin(world)
    while classes[own, HEAD] >= 0:
        record = classes[own, HEAD]
        row = records[record, ROW]
        least, best = REJECTED, -1
        if room > 0:
            least, best = ONE, GONE
        for place in range(2, near.shape[1]):
            other = near[row, place]
            if other < 0:
                break
            target = records[near[other, 0], CLASS]
            if target not in (own, GONE):
                price = _joined_price(world, target, row)
                size = classes[target, SIZE]
                rise = (size + 1) * price - size * classes[target, PRICE]
                if price >= 0 and rise < least:
                    least, best = rise, target
        if best < 0:
            _undo(world)
            return REJECTED
        if best == GONE:
            room -= 1
        _move(world, record, best)
        _grow(world, best, row)
    return _risen(world)


def _open(world: World, limits: Limits, record: int) -> int:
    """Make a class of near records whose classes can spare them."""
    classes, records, near, counts = world.classes, world.records, world.near, world.counts
    own = classes[world.journal[0, EMPTY] - 1, FREE]
    _begin(world)
    row = records[record, ROW]
    enough = False
    for place in range(1, near.shape[1]):
        other = row if place == 1 else near[row, place]
        if other < 0 or enough:
            break
        for mate in range(near[other, 0], near[other, 1]):
            its = records[mate, CLASS]
            if enough or its == own or tight(world, limits, its):
                continue
            _move(world, mate, own)
            if classes[own, SIZE] >= limits.smallest and classes[own, UNITS] >= limits.units:
                enough = len(counts[0]) == 0 or excess(limits, counts[own], classes[own, SIZE]) == 0.0
    published = enough
    for place in range(1, world.journal[0, CHANGED] + 1):
        if published:
            changed = world.journal[place, TOUCHED]
            published = _publish(world, changed, -1, changed) >= 0
    if not published:
        _undo(world)
        return REJECTED
    return _risen(world)


def excess(limits: Limits, counts: CodeArray, size: int) -> float:  # noqa: PLR0912  # as in C
    """Return by how many records a class of some size violates the conditions on its values, about."""
    over = 0.0
    for value in range(len(counts)):
        count = counts[value]
        if count > 0:
            above = count - limits.caps[value] * size
            if above > CLOSE:
                over += above
            below = limits.floors[value] * size - count
            if below > CLOSE:
                over += below
        elif limits.required[value]:
            over += max(1.0, limits.floors[value] * size)
    for which in range(len(limits.distinct)):
        attribute, missing = limits.distinct[which, 0], limits.distinct[which, 2]
        lacking = limits.distinct[which, 1]
        for value in range(limits.begin[attribute], limits.begin[attribute + 1]):
            if counts[value] > 0 and value != missing:
                lacking -= 1
        if lacking > 0:
            over += lacking
    for which in range(len(limits.dominances)):
        over += _dominance(limits, which, counts)
    for which in range(len(limits.entropies)):
        attribute = int(limits.entropies[which, 0])
        lacking_entropy = limits.entropies[which, 1] * size - limits.logarithms[size]
        for value in range(limits.begin[attribute], limits.begin[attribute + 1]):
            lacking_entropy += limits.logarithms[counts[value]]
        if lacking_entropy > CLOSE * size:
            over += lacking_entropy
    for which in range(len(limits.deviations)):
        over += _deviation(limits, which, counts, size)
    return over


def _dominance(limits: Limits, which: int, counts: CodeArray) -> float:
    """Return by how many records the most frequent value is too frequent beside the rare ones."""
    attribute = int(limits.dominances[which, 0])
    rank = int(limits.dominances[which, 2])
    begin, end = limits.begin[attribute], limits.begin[attribute + 1]
    rare = 0
    for value in range(begin, end):
        rare += counts[value]
    largest, taken, least, ties = 0, 0, -1, 0
    # The rank - 1 most frequent values, from the largest on; equal counts are one round.
    while taken < rank - 1:
        best, ties = 0, 0
        for value in range(begin, end):
            count = counts[value]
            if least < 0 or count < least:
                if count > best:
                    best, ties = count, 1
                elif count == best:
                    ties += 1
        if best == 0:
            break
        if largest == 0:
            largest = best
        used = min(ties, rank - 1 - taken)
        rare -= used * best
        taken += used
        least = best
    if largest == 0:
        for value in range(begin, end):
            largest = max(largest, counts[value])
    over = largest - limits.dominances[which, 1] * rare
    return over + 2 * CLOSE if over > -CLOSE else 0.0


def _deviation(limits: Limits, which: int, counts: CodeArray, size: int) -> float:
    """Return by how many records a class is too far from the reference."""
    attribute = int(limits.deviations[which, 0])
    low, high = int(limits.deviations[which, 1]), int(limits.deviations[which, 2])
    work = limits.work
    for group in range(low, high):
        work[group] = 0
    for value in range(limits.begin[attribute], limits.begin[attribute + 1]):
        group = limits.group_of[which, value]
        if group >= 0:
            work[group] += counts[value]
    distance = 0.0
    for group in range(low, high):
        if limits.parent[group] >= 0:
            work[limits.parent[group]] += work[group]
        distance += abs(work[group] - size * limits.share[group])
    over = distance - limits.deviations[which, 3] * size
    return over / 2 if over > CLOSE * size else 0.0


def tight(world: World, limits: Limits, own: int) -> bool:
    """Return whether a class has no record to spare by its size."""
    if own == GONE:
        return False
    return bool(world.classes[own, SIZE] <= limits.smallest or world.classes[own, UNITS] <= limits.units)


def _valid(world: World, limits: Limits, most: int) -> bool:
    """Return whether the touched classes satisfy the conditions; empty classes do."""
    classes = world.classes
    if classes[GONE, SIZE] > most:
        return False
    for place in range(1, world.journal[0, CHANGED] + 1):
        own = world.journal[place, TOUCHED]
        size = classes[own, SIZE]
        if own != GONE and size > 0:
            if size < limits.smallest or classes[own, UNITS] < limits.units:
                return False
            if world.counts.shape[1] > 0 and excess(limits, world.counts[own], size) > 0.0:
                return False
    return True


def _mate(world: World, source: int, record: int, draw: float) -> int:
    """Return another record of a class, among those that joined it last."""
    mate = world.classes[source, HEAD]
    for _ in range(int(draw * min(world.classes[source, SIZE], FEW))):
        mate = world.records[mate, AFTER]
    return int(world.classes[source, HEAD] if mate == record else mate)


def _propose(  # noqa: PLR0911, PLR0912  # as in C
    world: World, limits: Limits, draws: FloatArray, heat: float, room: int
) -> int:
    """Make a proposal; return the rise of the total, ``REJECTED`` if it is worth nothing."""
    records, classes = world.records, world.classes
    record, way = int(draws[0] * len(records)), draws[1]
    source, row = records[record, CLASS], records[record, ROW]
    if way < 0.0075:
        size = classes[source, SIZE]
        if source == GONE or classes[source, PRICE] == 0 or size > 4 * limits.smallest * draws[2]:
            return REJECTED
        return _dissolve(world, source, room)
    if way < 0.015:
        return REJECTED if world.journal[0, EMPTY] == 0 else _open(world, limits, record)
    spare = not tight(world, limits, source)
    if way < 0.02:
        if source == GONE or room <= 0 or not spare:
            return REJECTED
        return _relocate(world, record, GONE, heat)
    if way < 0.12:
        # A record of the same row.
        first = world.near[row, 0]
        other = first + int(draws[2] * (world.near[row, 1] - first))
    else:
        other = _near(world, row, draws[2])
    if other < 0:
        return REJECTED
    target = records[other, CLASS]
    if target == source or (classes[source, PRICE] == 0 and not spare):
        return REJECTED
    if target == GONE and room <= 0:
        return _swap(world, record, other, heat)
    if spare and (world.counts.shape[1] == 0 or draws[4] < 0.5):
        return _relocate(world, record, target, heat)
    if draws[3] < 0.5:
        return _swap(world, record, other, heat)
    if source == GONE:
        return REJECTED
    mate = _mate(world, source, record, 2 * draws[3] - 1)
    third = _near(world, records[mate, ROW], draws[4])
    if third < 0:
        return REJECTED
    its = records[third, CLASS]
    if its in (source, target) or tight(world, limits, its):
        return REJECTED
    return _chain(world, record, target, third, heat)


def anneal(world: World, limits: Limits, draws: Draws, steps: int, most: int) -> int:
    """Propose some moves one after the other; return how much the total falls.

    Parameters
    ----------
    most: records that may be suppressed.
    """
    fallen = 0
    for step in range(steps):
        heat = draws.heats[step]
        world.journal[0, CHANGED] = 0
        rise = _propose(world, limits, draws.uniform[step], heat, most - world.classes[GONE, SIZE])
        if rise == REJECTED:
            continue
        if rise > heat or not _valid(world, limits, most):
            _undo(world)
            continue
        fallen -= rise
        # An opened class was the last of the empty ones; a dissolved one is empty now.
        empty = world.journal[0, EMPTY]
        if empty > 0 and world.classes[world.classes[empty - 1, FREE], SIZE] > 0:
            world.journal[0, EMPTY] -= 1
        for place in range(1, world.journal[0, CHANGED] + 1):
            own = world.journal[place, TOUCHED]
            if own != GONE and world.classes[own, SIZE] == 0:
                world.classes[world.journal[0, EMPTY], FREE] = own
                world.journal[0, EMPTY] += 1
    return fallen


def begin(world: World) -> None:
    """Put every record into its class and publish the classes; those without records are free."""
    classes = world.classes
    for record in range(len(world.records)):
        _link(world, record, world.records[record, CLASS])
    classes[GONE, PRICE] = ONE
    for own in range(len(classes) - 3, 0, -1):
        if classes[own, SIZE] > 0:
            _publish(world, own, -1, own)
        else:
            classes[world.journal[0, EMPTY], FREE] = own
            world.journal[0, EMPTY] += 1


def violation(parts: Parts, limits: Limits, own: int) -> float:
    """Return by how many records a class violates the conditions, its size included."""
    size = parts.state[own, WEIGHT]
    over = max(limits.smallest - size, 0) + 0.0
    return float(over + (excess(limits, parts.counts[own], size) if parts.counts.shape[1] else 0.0))


def weigh(parts: Parts, limits: Limits) -> None:
    """Price all classes, and find by how much they violate the conditions; the first is suppressed."""
    for own in range(1, len(parts.state)):
        parts.state[own, EACH] = sum(int(parts.forest[node, COST]) for node in parts.labels[own])
        parts.over[own] = violation(parts, limits, own)
    parts.state[GONE, EACH] = ONE


def _merged_price(parts: Parts, own: int, other: int) -> int:
    """Return the price of a record of two classes in one, -1 if no node covers both."""
    total = 0
    for place in range(parts.labels.shape[1]):
        its = parts.labels[other, place]
        node = joined(
            parts.forest, parts.labels[own, place], parts.forest[its, FIRST], parts.forest[its, LAST]
        )
        if node < 0:
            return -1
        total += int(parts.forest[node, COST])
    return total


def _join(parts: Parts, own: int, other: int) -> None:
    """Put the records of another class into one."""
    state, labels, forest = parts.state, parts.labels, parts.forest
    state[own, WEIGHT] += state[other, WEIGHT]
    parts.counts[own] += parts.counts[other]
    state[other, INTO] = own
    if own == GONE:
        return
    for place in range(labels.shape[1]):
        its = labels[other, place]
        labels[own, place] = joined(forest, labels[own, place], forest[its, FIRST], forest[its, LAST])
    state[own, EACH] = sum(int(forest[node, COST]) for node in labels[own])


def _merge(parts: Parts, limits: Limits, own: int, other: int) -> None:
    """Join two classes, and see by how much the new one violates the conditions."""
    _join(parts, own, other)
    parts.over[other] = 0.0
    if own != GONE:
        parts.over[own] = violation(parts, limits, own)


def _powered(rise: float, power: int) -> float:
    found = rise
    for _ in range(power - 1):
        found *= rise
    return found


def _partner(parts: Parts, limits: Limits, own: int, most: int, power: int) -> int:
    """Return the class with which a merge costs least for the violation it takes away.

    -1 if no node covers it with another. If no merge takes anything away, the cheapest.
    """
    state, work = parts.state, limits.counted
    size, price = int(state[own, WEIGHT]), int(state[own, EACH])
    best, least, cheapest, lowest = -1, np.inf, -1, REJECTED
    if size <= most - state[GONE, WEIGHT]:
        rise = float(size * (ONE - price))
        best, least = GONE, _powered(rise / ONE, power) / parts.over[own]
    for other in range(1, len(state)):
        if other == own or state[other, INTO] != other:
            continue
        merged = _merged_price(parts, own, other)
        if merged < 0:
            continue
        its = int(state[other, WEIGHT])
        rise = max((size + its) * merged - size * price - its * int(state[other, EACH]), 1)
        if rise < lowest:
            cheapest, lowest = other, rise
        before = parts.over[own] + parts.over[other]
        worth = _powered(rise / ONE, power)
        if worth >= least * before:
            continue
        work[:] = parts.counts[own] + parts.counts[other]
        after = max(limits.smallest - size - its, 0) + 0.0
        if len(work):
            after += excess(limits, work, size + its)
        gain = before - after
        if gain > CLOSE and worth < least * gain:
            best, least = other, worth / gain
    return best if best >= 0 else cheapest


def repair(parts: Parts, limits: Limits, steps: int, most: int, power: int) -> int:
    """Merge the smallest class that violates the conditions with another, some times.

    Classes with equal labels are one, as they are to a reader. Returns how many classes still violate the
    conditions; -1 if one of them cannot be merged with any other.

    Parameters
    ----------
    most: records that may be suppressed.
    power: of the loss; the higher, the more loss counts beside the violation that is taken away.
    """
    state = parts.state
    for _ in range(steps):
        own = -1
        for other in range(1, len(state)):
            failing = state[other, INTO] == other and parts.over[other] > 0
            if failing and (own < 0 or state[other, WEIGHT] < state[own, WEIGHT]):
                own = other
        if own < 0:
            return 0
        partner = _partner(parts, limits, own, most, power)
        if partner < 0:
            return -1
        if partner == GONE:
            _merge(parts, limits, GONE, own)
            continue
        _merge(parts, limits, own, partner)
        for other in range(1, len(state)):
            if (
                other != own
                and state[other, INTO] == other
                and (parts.labels[other] == parts.labels[own]).all()
            ):
                _merge(parts, limits, own, other)
    return int(((parts.over > 0) & (state[:, INTO] == np.arange(len(state)))).sum())


class Mates(NamedTuple):
    """The cheapest merge of each class.

    Attributes
    ----------
    mate: of each class, shape (classes,), int64; ``STALE`` where it has to be looked for again.
    ratio: what the merge costs for what it takes away, shape (classes,), float64; of a stale one at most.
    when: number of the merge that ended each class, shape (classes,), int64.
    """

    mate: IntArray
    ratio: FloatArray
    when: IntArray


STALE = -1
"""A class without a known mate."""

LITTLE = 1e-3
"""Records that a merge counts as taking away where it takes none, so that a cheap one comes first."""


def _largest(parts: Parts, own: int) -> float:
    return float(parts.counts[own].max(initial=0))


def _ratio(parts: Parts, own: int, other: int, least: float) -> float:
    """Return what a merge costs for each class, or right guess, that it takes away; infinite above least."""
    state, top, forest = parts.state, parts.over, parts.forest
    bound = least * (min(top[own], top[other]) + LITTLE) if parts.counts.shape[1] else least
    one, its, price = int(state[own, WEIGHT]), int(state[other, WEIGHT]), int(state[own, EACH])
    before = one * price + its * int(state[other, EACH])
    for place in range(parts.labels.shape[1]):
        mine, yours = parts.labels[own, place], parts.labels[other, place]
        if mine == yours:
            continue
        both = joined(forest, mine, forest[yours, FIRST], forest[yours, LAST])
        if both < 0:
            return np.inf
        # The rest costs at least what it does in the class.
        price += int(forest[both, COST]) - int(forest[mine, COST])
        if float((one + its) * price - before) > bound:
            return np.inf
    rise = float((one + its) * price - before)
    if not parts.counts.shape[1]:
        return rise
    most = int((parts.counts[own] + parts.counts[other]).max())
    return float(rise / (top[own] + top[other] - most + LITTLE))


def _look(parts: Parts, mates: Mates, own: int, window: int) -> None:
    """Find the cheapest merge of a class with one of those around it, the nearest first."""
    best, least, number = STALE, np.inf, len(parts.state)
    for away in range(1, min(window, number) + 1):
        for other in (own - away, own + away):
            if other < 1 or other >= number or parts.state[other, INTO] != other:
                continue
            found = _ratio(parts, own, other, least)
            if found < least:
                best, least = other, found
    mates.mate[own], mates.ratio[own] = best, least


def pair(parts: Parts, mates: Mates, first: int, last: int, window: int) -> None:
    """Find the cheapest merge of some classes; the first of all is suppressed and merges with none.

    Parameters
    ----------
    parts: with counts of the values whose most frequent one is guessed in each class, of no values if classes
        alone are counted.
    window: classes before and after each one that it may merge with.
    """
    if first == 1:
        for own in range(1, len(parts.state)):
            parts.state[own, EACH] = sum(int(parts.forest[node, COST]) for node in parts.labels[own])
            parts.over[own] = _largest(parts, own)
    for own in range(first, last):
        _look(parts, mates, own, window)


def thin(parts: Parts, mates: Mates, step: int, steps: int, window: int) -> int:
    """Merge the pair that costs least for what it takes away, until there were so many merges.

    A merge is looked for again only when it would be next: what others became cannot make it cheaper, unless
    with the class that they became. Returns the number of merges; fewer than ``steps`` if none is possible.

    Parameters
    ----------
    step: merges so far.
    """
    mate, ratio, state = mates.mate, mates.ratio, parts.state
    while step < steps and len(state) > 1:
        own = int(ratio[1:].argmin()) + 1
        if ratio[own] == np.inf:
            return step
        if mate[own] == STALE:
            _look(parts, mates, own, window)
            continue
        gone = int(mate[own])
        _join(parts, own, gone)
        parts.over[own] = _largest(parts, own)
        mates.when[gone] = step
        step += 1
        ratio[gone] = np.inf
        for other in range(1, len(state)):
            if other == own or state[other, INTO] != other:
                continue
            held = mate[other] in (own, gone)
            near = abs(other - own) <= window
            found = _ratio(parts, other, own, ratio[other]) if near else np.inf
            if found < ratio[other] or (held and found == ratio[other]):
                mate[other], ratio[other] = own, found
            elif held:
                mate[other] = STALE
        _look(parts, mates, own, window)
    return step


class Neighbours(NamedTuple):
    """Distinct rows, and what is known of the nearest others of each.

    Attributes
    ----------
    codes: of each row in each attribute, shape (attributes, rows), int32.
    wanted: numbers of the rows whose nearest ones are asked for, int32.
    places, sizes: where the table of an attribute begins in ``pairs``, and its width, int32.
    pairs: price of the join of any two codes, table after table, float32.
    near: shape (rows, near), int32; -1 for none.
    prices, best: work, shapes (rows,) and (near,), float32.
    """

    codes: CodeArray
    wanted: CodeArray
    places: CodeArray
    pairs: NDArray[np.float32]
    sizes: CodeArray
    near: CodeArray
    prices: NDArray[np.float32]
    best: NDArray[np.float32]


def nearest(rows: Neighbours, some: int) -> None:
    """Write the nearest other rows of the first rows asked for, of equal ones the first."""
    width = rows.near.shape[1]
    for own in rows.wanted[:some].tolist():
        prices = rows.prices
        prices[:] = 0
        for codes, place, size in zip(rows.codes, rows.places.tolist(), rows.sizes.tolist(), strict=True):
            begin = place + int(codes[own]) * size
            prices += rows.pairs[begin : begin + size][codes]
        prices[own] = np.inf
        order = np.argsort(prices, kind="stable")[:width]
        known = order[prices[order] < np.inf]
        rows.near[own, : len(known)] = known
