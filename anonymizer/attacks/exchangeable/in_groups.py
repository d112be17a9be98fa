"""What the attack sees of records that are published exact, in groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.attacks.exchangeable.bins import FeatureCoding, discretize
from anonymizer.attacks.exchangeable.features import ExactFeature
from anonymizer.attacks.exchangeable.groups import groups_of
from anonymizer.attacks.exchangeable.view import FeatureSource, View
from anonymizer.errors import InputError
from anonymizer.model.adversary import AnatomyRelease
from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import count
from anonymizer.model.table import Column, ValueType


class AnatomyFeatures(FeatureSource):
    """The published values, numbers in bins.

    Parameters
    ----------
    bins: most bins of a number.
    """

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def view(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> View:  # noqa: ARG002 - there is one
        """Return the records of each group; those with the same features are of one kind."""
        grouped = _grouped(scene)
        positions = [grouped.names.index(name) for name in names]
        told = tuple(self._told(grouped, at) for at in positions)
        codes = [own.code[grouped.codes[:, at]] for own, at in zip(told, positions, strict=True)]
        held = grouped.sensitive
        groups, kind = groups_of(
            np.column_stack(codes).astype(np.int64),
            grouped.group,
            grouped.counts,
            (held.owners, held.values, held.counts),
            held.attribute.column.size,
        )
        truth = grouped.truth
        if truth is None or not len(truth.counts):
            return View(tuple(names), told, groups, None)
        entries = groups.entries_of(kind[truth.rows], truth.values)
        if (entries < 0).any():
            name = grouped.groups[grouped.group[truth.rows[entries < 0][0]]]
            raise InputError(
                f"{grouped.source}: group {name} has not the values of the original records in it; give the "
                "originals of this release"
            )
        true = count(entries, truth.counts, int(groups.first[-1]))
        return View(tuple(names), told, groups, true)

    def pairs(self, scene: AdversaryView, names: Sequence[str], sensitive: str) -> int:  # noqa: ARG002 - at most
        """Return the number of values of each record's group, added up."""
        grouped = _grouped(scene)
        return int(np.diff(grouped.sensitive.starts)[grouped.group].sum())

    def _told(self, grouped: AnatomyRelease, position: int) -> FeatureCoding:
        labels = grouped.labels[position]
        counts = count(grouped.codes[:, position].astype(np.int64), grouped.counts, len(labels))
        order, column = _as_numbers(grouped.names[position], labels, counts)
        if column is None:
            return FeatureCoding(ExactFeature(len(labels)), np.arange(len(labels)))
        found = discretize(column, counts[order], self.bins)
        code = np.empty(len(labels), dtype=np.int64)
        code[order] = found.code
        return FeatureCoding(found.feature, code, found.bins)


def _grouped(scene: AdversaryView) -> AnatomyRelease:
    assert scene.grouped is not None, "the release is one of records in groups"
    return scene.grouped


def _as_numbers(name: str, labels: Sequence[str | None], counts: IntArray) -> tuple[IntArray, Column | None]:
    """Return published texts as a column of numbers, and their order; None where they are none.

    Of the texts one may stand for no number, such as that of a missing value; it comes last.
    """
    numbers = np.array([_number(label) for label in labels], dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    unknown = int(np.isnan(numbers).sum())
    if unknown > 1 or unknown == len(labels):
        return order, None
    missing = len(labels) - 1 if unknown else None
    texts = tuple(labels[place] or "" for place in order.tolist())
    return order, Column(name, ValueType.NUMBER, texts, counts[order], numbers[order], missing)


def _number(label: str | None) -> float:
    """Return a number, a date as its ordinal, NaN for anything else."""
    readers: tuple[Callable[[str], float], ...] = (float, _ordinal)
    for read in readers:
        try:
            found = read(label or "")
        except ValueError:
            continue
        return found if np.isfinite(found) else np.nan
    return np.nan


def _ordinal(text: str) -> float:
    return float(date.fromisoformat(text).toordinal())
