"""Columns released finer than their groups that name the value which another column hides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple, Self

import numpy as np

from anonymizer.exposure.counted import AnyColumn, ColumnFacts, CountedRelease
from anonymizer.exposure.detector import Detector, Said, as_known, as_role, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, constant_in_groups, group_rows
from anonymizer.model.table import Role

SAMPLE = 20_000
"""Records that the search for pairs looks at; what it finds is measured on all."""

MOST_PAIRED = 12
"""Exact columns beside the quasi-identifiers that are searched in pairs."""

MOST_OTHERS = 30
"""Columns that each of them is paired with."""

EXPLAINED = 0.5
"""Share that a pair must name of the records whose value mixed ones do not."""


class Undone(Detector):
    """Coarsened values that a finer column names."""

    kind = Kind.UNDONE
    setting = "undone"
    mended = 4
    says = "names hidden values of {about} ({share})"
    says_about = "hidden values are named by {by} ({share})"

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        yield from undone(records, threshold)

    def may_find(self, release: CountedRelease, threshold: float) -> bool:
        """Return whether a column may name hidden values, by itself or with another."""
        most = threshold * release.records
        hidden = [each for each in release.columns if not each.exact]
        beside = _beside(release.columns)[:MOST_PAIRED] if hidden else []
        pairs = product(beside, release.columns[:MOST_OTHERS])
        together = [*((each,) for each in release.columns if hidden and each.exact and each.several), *pairs]
        views = (release.view(*dict.fromkeys(columns)) for columns in together)
        return any(view.may_name(secret, most) for view in views for secret in hidden)

    def left_out(self, release: ReleasedRecords | CountedRelease) -> str | None:
        """Return which pairs were not looked at."""
        columns: Sequence[ColumnFacts] = release.columns
        beside, others = len(_beside(columns)), len(columns)
        if (beside <= MOST_PAIRED and others <= MOST_OTHERS) or all(each.exact for each in columns):
            return None
        return (
            "pairs of columns that name a hidden value were searched of the first "
            f"{min(beside, MOST_PAIRED)} columns of {beside:,} that are released unchanged and the first "
            f"{min(others, MOST_OTHERS)} of {others:,} columns"
        )

    def sentence(self, finding: Finding, said: Said) -> str:
        name = "name" if len(finding.columns) > 1 else "names"
        return f"{named(finding.columns)} {name} the hidden '{finding.about}' of {said.number} records"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: a weight is rounded, never dropped."""
        own, others = finding.columns[:1], finding.columns[1:]
        column = records.column(own[0])
        if column.role is Role.WEIGHT:
            width = _width(records, column, finding)
            if width is None:
                return Remedy(f"calibrate {named(own)} to what is published, or keep it to yourself")
            rounded = {column.name: (width, _origin(column, width))}
            return Remedy(f"round {named(own)} to {width:g}", rounded=rounded)
        if column.role is Role.INSENSITIVE:
            return as_known(own)
        if column.role is Role.SENSITIVE and column.has_groups:
            return Remedy(f"release {named(own)} in groups", grouped=dict.fromkeys(own))
        secret = column.role is Role.SENSITIVE
        return as_role(others if secret and others else own, Role.DROP, "leave out {}")


def undone(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each exact column that names a coarsened value in many records.

    By itself, or else together with another published column. Counted are records that share the exact values
    with another unit, as values of one unit name everything of it, less those that hidden values in another
    order would name.
    """
    hidden = _all_hidden(records)
    alone = set[tuple[str, str]]()
    for column in (each for each in records.columns if each.exact and each.several):
        view = _View.of(records, column)
        for secret in hidden:
            number = view.named(secret, threshold * records.records)
            if number:
                alone.add((column.name, secret.name))
                yield _finding(records, (column,), secret.name, number, threshold)
    yield from _by_pairs(records, hidden, alone, threshold)


def _finding(
    records: ReleasedRecords, columns: Sequence[ReleasedColumn], about: str, number: int, threshold: float
) -> Finding:
    # That the groups of the hidden column itself are published goes without saying.
    names = tuple(each.name for each in columns if each.name != about)
    share = number / records.records
    return Finding(Kind.UNDONE, names, number, share, threshold, about)


class _Mixes:
    """Values of columns in another order within each published one, drawn when they are first needed.

    Few columns name a hidden value, and only then is it asked what mixed ones are.
    """

    def __init__(self, columns: Sequence[ReleasedColumn]) -> None:
        self._columns = columns
        self._random = np.random.default_rng(0)
        self._drawn: list[CodeArray] = []

    def of(self, place: int) -> CodeArray:
        """Return the mixed values of the column at a place, shape (records,)."""
        while len(self._drawn) <= place:
            self._drawn.append(_mixed(self._columns[len(self._drawn)], self._random))
        return self._drawn[place]


@dataclass(frozen=True)
class _Hidden:
    """A coarsened column.

    Attributes
    ----------
    mixes: of all coarsened columns, and its place among them.
    step: it has each record of so many.
    """

    column: ReleasedColumn
    mixes: _Mixes
    place: int
    step: int = 1

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name

    @property
    def mixed(self) -> CodeArray:
        """Its values in another order within each published one, shape (records,)."""
        return self.mixes.of(self.place)[:: self.step]


def _all_hidden(records: ReleasedRecords) -> list[_Hidden]:
    columns = [each for each in records.columns if not each.exact]
    mixes = _Mixes(columns)
    return [_Hidden(each, mixes, place) for place, each in enumerate(columns)]


class _View(NamedTuple):
    """Published values of some columns.

    Attributes
    ----------
    groups: of records with the same values, shape (records,).
    shared: which records have all values and share them with another unit, shape (records,), bool.
    """

    groups: IntArray
    shared: BoolArray

    @classmethod
    def of(cls, records: ReleasedRecords, *columns: ReleasedColumn) -> Self:
        """Return what some columns show."""
        if len(columns) == 1:
            # An amount that only one household has names it, so its members count.
            groups, number = columns[0].shown.astype(np.int64), columns[0].sizes[0]
            shared = (records.units_in(groups, number) > 1)[groups]
        else:
            groups, number = group_rows(((each.shown, each.sizes[0]) for each in columns), records.records)
            shared = records.shared(groups, number)
        for each in columns:
            shared = shared & each.present
        return cls(groups, shared)

    def named(self, secret: _Hidden, most: float, explained: float = 0.0) -> int:
        """Return the records whose hidden value is named beyond what mixed ones are; 0 up to ``most``.

        Parameters
        ----------
        explained: share that they must be of the records that mixed values do not name.
        """
        asked = self.shared & secret.column.coarse & secret.column.present
        if asked.sum() <= most:
            return 0
        held = self._constant(secret.column.own, asked)
        if held <= most:
            return 0
        by_chance = self._constant(secret.mixed, asked)
        number = held - by_chance
        return number if number > max(most, explained * (asked.sum() - by_chance)) else 0

    def _constant(self, own: CodeArray, asked: BoolArray) -> int:
        """Return the number of records whose hidden value is that of all others with their values."""
        return int((asked & constant_in_groups(self.groups, own)[self.groups]).sum())


def _by_pairs(
    records: ReleasedRecords, hidden: Sequence[_Hidden], alone: Set[tuple[str, str]], threshold: float
) -> Iterator[Finding]:
    """Yield what each exact column beside the quasi-identifiers names most of together with another column.

    Pairs are searched on a sample; what is found is measured on all records. As there are many pairs, one
    counts only if it explains half of what mixed values do not.
    """
    step = max(records.records // SAMPLE, 1)
    few = records.every(step)
    secrets = [replace(each, column=few.column(each.name), step=step) for each in hidden]
    for column in _beside(records.columns)[:MOST_PAIRED]:
        best = max(_named_with_others(few, few.column(column.name), secrets, alone, threshold), default=None)
        if best is not None:
            _, other, name = best
            columns = (column, records.column(other))
            secret = next(each for each in hidden if each.name == name)
            number = _View.of(records, *columns).named(secret, threshold * records.records, EXPLAINED)
            if number:
                yield _finding(records, columns, secret.name, number, threshold)


def _named_with_others(
    records: ReleasedRecords,
    column: ReleasedColumn,
    hidden: Sequence[_Hidden],
    alone: Set[tuple[str, str]],
    threshold: float,
) -> Iterator[tuple[int, str, str]]:
    """Yield how many hidden values a column names with which other one, and of which column they are."""
    for other in records.columns[:MOST_OTHERS]:
        asked = [
            each
            for each in hidden
            if each.name != column.name
            and alone.isdisjoint(((column.name, each.name), (other.name, each.name)))
        ]
        if other.name == column.name or other.sizes[0] < 2 or not asked:
            continue
        view = _View.of(records, column, other)
        for secret in asked:
            number = view.named(secret, threshold * records.records, EXPLAINED)
            if number:
                yield number, other.name, secret.name


def _beside(columns: Sequence[AnyColumn]) -> list[AnyColumn]:
    """Return the exact columns that can be released otherwise than as quasi-identifiers are."""
    others = [each for each in columns if each.role is not Role.QUASI_IDENTIFIER]
    return [each for each in others if each.exact and each.several]


def _width(records: ReleasedRecords, column: ReleasedColumn, finding: Finding) -> float | None:
    """Return the smallest round width of intervals of a weight that do not name hidden values.

    None if there is none but one interval for all.
    """
    if column.numbers is None:
        return None
    hidden = _all_hidden(records)
    others = [records.column(name) for name in (*finding.columns[1:], finding.about) if name]
    values = column.values
    lowest, highest = float(np.nanmin(values)), float(np.nanmax(values))
    for width in _round_widths(highest - lowest):
        code = np.floor((np.nan_to_num(values) - _origin(column, width)) / width)
        shown = np.unique(code, return_inverse=True)[1].astype(np.int32)
        rounded = replace(column, shown=shown, own=shown, absent=None)
        if rounded.sizes[0] < 2:
            return None
        views = [_View.of(records, rounded), *(_View.of(records, rounded, each) for each in others)]
        if not any(
            view.named(each, finding.threshold * records.records) for view in views for each in hidden
        ):
            return width
    return None


def _origin(column: ReleasedColumn, width: float) -> float:
    """Return where intervals begin whose middles are multiples of their width, unless one would be 0.

    Values that were rounded already may stand for smaller ones, by half of a narrower width.
    """
    return width / 2 if np.nanmin(column.values) >= width else 0.0


def _round_widths(span: float) -> Iterator[float]:
    """Yield 1, 2 and 5 times powers of ten, from a thousandth of a span to all of it."""
    power = math.floor(math.log10(span)) - 3 if span > 0 else 0
    for exponent in range(power, power + 5):
        yield from (factor * 10.0**exponent for factor in (1, 2, 5))


def _mixed(column: ReleasedColumn, random: np.random.Generator) -> CodeArray:
    """Return hidden values in another order within each published value."""
    # NumPy sorts numbers of 16 bits several times faster, in the same order.
    narrow = column.sizes[0] <= np.iinfo(np.uint16).max
    shown = column.shown.astype(np.uint16) if narrow else column.shown
    by_shown = np.argsort(shown, kind="stable")
    drawn = random.permutation(len(by_shown))
    found = np.empty_like(column.own)
    found[by_shown] = column.own[drawn[np.argsort(shown[drawn], kind="stable")]]
    return found
