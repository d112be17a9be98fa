"""How well one guess re-identifies somebody, by how many attributes the adversary knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.subsets import iter_subset_risks
from anonymizer.model.adversary import PublishedTable
from anonymizer.model.classes import Released
from anonymizer.model.table import Table

MOST_WORK = 20_000_000
"""Sets of attributes times combinations that are looked at, about two seconds."""


@dataclass(frozen=True)
class RiskByKnowledge:
    """Posterior Bayes vulnerability (re-identification) for adversaries who know so many attributes.

    Attributes
    ----------
    known: number of quasi-identifiers.
    worst, mean: over all sets of that number, in the release.
    of: the worst set.
    before: the worst over all sets of that number in the input, None where it was not counted.
    """

    known: int
    worst: float
    mean: float
    of: tuple[str, ...]
    before: float | None


def knowing(released: Released) -> tuple[RiskByKnowledge, ...]:
    """Return a row for each number of known attributes; empty where there are too many sets to look at."""
    table = released.table
    width = len(table.quasi_identifiers)
    if width == 0 or (2**width) * table.combinations > MOST_WORK:
        return ()
    after = _by_size(_release(released), width)
    before = {} if table.coarse else _by_size(_input(table), width)
    return tuple(
        RiskByKnowledge(size, worst, mean, of, before[size][0] if size in before else None)
        for size, (worst, mean, of) in after.items()
    )


def _by_size(published: PublishedTable, width: int) -> dict[int, tuple[float, float, tuple[str, ...]]]:
    by_size: dict[int, list[tuple[int, tuple[str, ...]]]] = {size: [] for size in range(1, width + 1)}
    for each in iter_subset_risks(published, width):
        by_size[len(each.names)].append((each.classes, each.names))
    records = published.records
    found = {}
    for size, own in by_size.items():
        most, of = max(own, key=lambda pair: (pair[0], pair[1]))
        mean = sum(classes for classes, _ in own) / len(own) / records
        found[size] = (float(f"{most / records:.2g}"), float(f"{mean:.2g}"), of)
    return found


def _release(released: Released) -> PublishedTable:
    stays = ~released.recoding.removed
    columns = released.recoding.published()
    return PublishedTable(
        "release",
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        np.column_stack([column.codes for column in columns])[stays],
        {},
        released.table.counts[stays],
    )


def _input(table: Table) -> PublishedTable:
    columns = [attribute.column for attribute in table.quasi_identifiers]
    return PublishedTable(
        "input",
        tuple(column.name for column in columns),
        tuple(column.texts for column in columns),
        table.codes[:, : len(columns)],
        {},
        table.counts,
    )
