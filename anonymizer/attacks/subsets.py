"""Classes for every set of known quasi-identifiers, by rolling up one frequency table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.attacks.every_subset import iter_subsets
from anonymizer.attacks.told import SubsetRisk, order_of, risk_by_subset
from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import group_keys
from anonymizer.model.table import pack

if TYPE_CHECKING:
    from anonymizer.model.adversary import PublishedTable


@dataclass(frozen=True, eq=False)
class KnownSubset:
    """What somebody sees who knows some quasi-identifiers.

    Attributes
    ----------
    names: that are known.
    sizes: records of each class, shape (classes,), int64.
    largest: records with the most frequent value in each class, shape (classes,), int64, by attribute.
    unique: combinations of the release whose record is alone in its class, shape (uniques,), int64.
    """

    names: tuple[str, ...]
    sizes: IntArray
    largest: dict[str, IntArray]
    unique: IntArray

    def told(self) -> SubsetRisk:
        """Return the numbers alone, which take no memory to speak of."""
        largest = {name: int(own.sum()) for name, own in self.largest.items()}
        return SubsetRisk(self.names, len(self.sizes), int((self.sizes == 1).sum()), largest)


@dataclass(frozen=True, eq=False)
class _Counted:
    """Distinct combinations of some quasi-identifiers and one sensitive attribute, ascending.

    Attributes
    ----------
    columns: code of each combination in each quasi-identifier that is known, by its position, int32.
    values: of the sensitive attribute, all 0 where there is none.
    counts: records.
    first: a combination of the release among those that were added up.
    """

    columns: dict[int, CodeArray]
    values: CodeArray
    counts: IntArray
    first: IntArray


def known_subset(release: PublishedTable, names: Sequence[str] | None) -> KnownSubset:
    """Return what is seen by who knows some quasi-identifiers, None: all.

    Raises
    ------
    InputError: a name is no quasi-identifier.
    """
    classes = release.classes(names)
    largest = {}
    for name in release.sensitive_names:
        counts, _ = classes.sensitive_counts(name)
        largest[name] = np.maximum.reduceat(counts.counts, counts.starts[:-1])
    alone = np.flatnonzero(classes.sizes[classes.class_of] == 1)
    return KnownSubset(release.known(names), classes.sizes, largest, alone)


def by_size(subsets: Sequence[SubsetRisk], hit: Sequence[int], records: int) -> dict[str, Any]:
    """Return the share of records that is hit by each set, and the worst and the mean of each size.

    The tables are plain and ready to be plotted: ``by_size`` has a row for each number of known attributes,
    ``subsets`` one for each set.
    """
    rows: list[dict[str, Any]] = [
        {
            "attributes": list(each.names),
            "success": number / records,
            "uniques": each.uniques / records,
        }
        for each, number in zip(subsets, hit, strict=True)
    ]
    rows.sort(key=lambda each: (len(each["attributes"]), each["attributes"]))
    sizes = []
    for size in sorted({len(each.names) for each in subsets}):
        own = [each for each in rows if len(each["attributes"]) == size]
        worst = max(own, key=lambda each: each["success"])
        mean = sum(each["success"] for each in own) / len(own)
        sizes.append({"size": size, "worst": worst["success"], "of": worst["attributes"], "mean": mean})
    return {"by_size": sizes, "subsets": rows}


def iter_subset_risks(release: PublishedTable, most: int) -> Iterator[SubsetRisk]:
    """Yield how much is told by every non-empty set of quasi-identifiers of at most a size, each once.

    Nothing of the size of the release is held for a set that was told.
    """
    told = risk_by_subset(release, most)
    return (each.told() for each in known_subsets(release, most)) if told is None else told


def known_subsets(release: PublishedTable, most: int) -> Iterator[KnownSubset]:
    """Yield what is seen for every non-empty set of quasi-identifiers of at most a size, each once."""

    def only(tables: dict[str | None, _Counted], own: tuple[int, ...]) -> dict[str | None, _Counted]:
        return {name: _grouped(release, own, each) for name, each in tables.items()}

    for own, tables in iter_subsets(order_of(release), most, _tables(release), only):
        yield _seen(release, own, tables)


def _tables(release: PublishedTable) -> dict[str | None, _Counted]:
    """Return the combinations with each sensitive attribute, or with none where there is none."""
    columns = dict(enumerate(np.ascontiguousarray(release.codes.T)))
    items = np.arange(len(release.counts))
    nothing = np.zeros(len(items), dtype=np.int32)
    every: dict[str | None, CodeArray] = {
        name: own.codes.astype(np.int32) for name, own in release.sensitive.items()
    }
    return {
        name: _Counted(columns, values, release.counts, items)
        for name, values in (every or {None: nothing}).items()
    }


def _grouped(release: PublishedTable, own: Sequence[int], table: _Counted) -> _Counted:
    """Add up equal combinations; they come out sorted by their quasi-identifiers, then by value."""
    columns = [*(table.columns[position] for position in own), table.values]
    sizes = [*(len(release.labels[position]) for position in own), int(table.values.max()) + 1]
    order, starts = _sorted_groups(columns, sizes)
    first = order[starts]
    return _Counted(
        {position: table.columns[position][first] for position in own},
        table.values[first],
        np.add.reduceat(table.counts[order], starts),
        table.first[first],
    )


def _sorted_groups(columns: Sequence[CodeArray], sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return an order that puts equal rows together, ascending, and where each group starts in it."""
    keys = pack(columns, sizes)
    if keys is None:
        keys, number = np.zeros(len(columns[0]), dtype=np.int64), 1
        for column, size in zip(columns, sizes, strict=True):
            keys, distinct = group_keys(keys * size + column, number * size)
            number = len(distinct)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    changed = np.ones(len(keys), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changed[1:])
    return order, np.flatnonzero(changed)


def _seen(release: PublishedTable, own: Sequence[int], tables: dict[str | None, _Counted]) -> KnownSubset:
    largest = {}
    for name, table in tables.items():
        changed = np.zeros(len(table.counts), dtype=bool)
        changed[0] = True
        for position in own:
            changed[1:] |= table.columns[position][1:] != table.columns[position][:-1]
        starts = np.flatnonzero(changed)
        sizes = np.add.reduceat(table.counts, starts)
        unique = table.first[starts[sizes == 1]]
        if name is not None:
            largest[name] = np.maximum.reduceat(table.counts, starts)
    names = tuple(release.names[position] for position in sorted(own))
    return KnownSubset(names, sizes, largest, unique)
