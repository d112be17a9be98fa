"""Which equivalence classes are closest to breaking a promise: their number and sizes, never their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.classes import Classes, Reference, Released, SensitiveCodes
from anonymizer.model.counting import count, group_keys
from anonymizer.privacy.base import ClassConstraint, Constraint
from anonymizer.report.facts.rounding import is_small_count, smallest_shown


@dataclass(frozen=True)
class Worst:
    """The classes that show the worst measure of a constraint.

    Attributes
    ----------
    classes: how many; None when too few to be told.
    smallest, largest: their sizes.
    """

    classes: int | None
    smallest: int
    largest: int


def worst_classes(
    released: Released, constraints: Sequence[Constraint], *, moving_reference: bool
) -> tuple[Worst | None, ...]:
    """Return the worst classes of each constraint, None for one that judges the whole release.

    Parameters
    ----------
    moving_reference: whether the distribution p is that of the release, else that of the input.
    """
    classes = _classes(released)
    found: list[Worst | None] = []
    for constraint in constraints:
        if not isinstance(constraint, ClassConstraint):
            found.append(None)
            continue
        reference = _reference(released, classes, constraint.attribute, moving=moving_reference)
        sizes = classes.sizes[constraint.is_worst(classes, reference)]
        hide = is_small_count(len(sizes), smallest_shown(released.k))
        found.append(Worst(None if hide else len(sizes), int(sizes.min()), int(sizes.max())))
    return tuple(found)


def _classes(released: Released) -> Classes:
    table, stays = released.table, ~released.recoding.removed
    keys, number = np.zeros(int(stays.sum()), dtype=np.int64), 1
    for column in released.recoding.class_columns():
        labels = len(column.labels)
        keys, distinct = group_keys(keys * labels + column.codes[stays], number * labels)
        number = len(distinct)
    sensitive = {
        each.name: SensitiveCodes(each, table.sensitive_codes(each.name)[stays].astype(np.int64))
        for each in table.sensitive
    }
    return Classes(keys, table.counts[stays], number, sensitive)


def _reference(
    released: Released, classes: Classes, attribute: str | None, *, moving: bool
) -> Reference | None:
    if attribute is None:
        return None
    counts, _ = classes.sensitive_counts(attribute)
    if moving:
        return counts.reference()
    codes = released.table.sensitive_codes(attribute).astype(np.int64)
    return Reference(count(codes, released.table.counts, counts.attribute.column.size))
