"""Columns that others compute: by arithmetic on numbers and dates, or because they determine them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from anonymizer.exposure.counted import AnyColumn, ColumnFacts, CountedColumn, CountedRelease
from anonymizer.exposure.detector import Detector, Said, as_known, as_role, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.arrays import (
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    constant_in_groups,
    group_keys,
    group_rows,
)
from anonymizer.model.table import Role

HOLDS = 0.95
"""Share of the records with all values for which a function must hold."""

SAMPLE = 20_000
"""Records that the search for functions looks at; what it finds is measured on all."""

LOOK = 2_000
"""Records of the sample that are looked at first: what fails there clearly is not measured on the others."""

CLEARLY = 0.8
"""Share of the records looked at first below which a function does not hold."""

ENOUGH = 100
"""Fewest records with all values that settle this."""

MOST_NUMBERS = 30
"""Columns of numbers and dates whose pairs are searched."""

MOST_SOURCES = 12
"""Quasi-identifiers whose sets of up to three are searched."""

CLOSE = 1e-6
"""Relative difference of numbers that are equal."""

YEAR = 365.2425
"""Days of a year."""

EPOCH = date(1970, 1, 1).toordinal()
"""The day from which NumPy counts."""


class Computed(Detector):
    """Columns that others compute."""

    kind = Kind.COMPUTED
    setting = "computed"
    mended = 2
    says = "follows from {sources} ({share})"

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        yield from computed(records, threshold)

    def may_find(self, release: CountedRelease, threshold: float) -> bool:  # noqa: ARG002 - of any share
        """Return whether a function may hold for nearly all records."""
        return _may_be_computed(release) or _may_be_determined(release)

    def left_out(self, release: ReleasedRecords | CountedRelease) -> str | None:
        """Return which columns were not looked at."""
        columns: Sequence[ColumnFacts] = release.columns
        numbers, known = len(_of_numbers(columns)), len(release.having(Role.QUASI_IDENTIFIER))
        if numbers <= MOST_NUMBERS and known <= MOST_SOURCES:
            return None
        return (
            f"columns that others compute were searched among the first {min(numbers, MOST_NUMBERS)} of "
            f"{numbers:,} columns of numbers and the first {min(known, MOST_SOURCES)} of {known:,} "
            "quasi-identifiers"
        )

    def sentence(self, finding: Finding, said: Said) -> str:
        return f"{named(finding.columns)} follows from other columns ({finding.how}), which exposes {said.of}"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
        """Return what mends a finding: what is computed, or what computes it, becomes a quasi-identifier."""
        target = records.column(finding.columns[0])
        columns = finding.columns if target.exact else finding.sources
        roles = {records.column(each).role for each in columns}
        if roles == {Role.INSENSITIVE}:
            return as_known(columns)
        return as_role(finding.columns, Role.DROP, "leave out {}")


class Function(NamedTuple):
    """A column as a function of others.

    Attributes
    ----------
    holds: for which records, shape (records,), bool.
    by_chance: for which it holds with the target's values in another order, likewise; None for nearly none.
    """

    target: ReleasedColumn
    sources: tuple[ReleasedColumn, ...]
    how: str
    holds: BoolArray
    by_chance: BoolArray | None = None


def computed(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each column whose value follows from others.

    Of an insensitive column that quasi-identifiers compute, units are counted that it singles out beside
    their published values: who knows the quasi-identifiers knows it, too. Of a sensitive or coarsened column,
    units are counted whose value is computed. Less those of whom the target's values in another order are.
    """
    shown = set[str]()
    known = records.having(Role.QUASI_IDENTIFIER)
    for found in (*_arithmetic(records), *_determined(records, known)):
        target, names = found.target, tuple(each.name for each in found.sources)
        if target.role is Role.INSENSITIVE and target.exact:
            told = records.in_small([*known, target], 2)
        else:
            told = target.coarse | (target.role is Role.SENSITIVE)
        number = records.units_of(found.holds & told)
        number -= 0 if found.by_chance is None else records.units_of(found.by_chance & told)
        if target.name not in shown and number > threshold * records.number:
            shown.add(target.name)
            how = f"{target.name} = {found.how}" if found.how else f"{target.name} by {', '.join(names)}"
            share = number / records.number
            yield Finding(Kind.COMPUTED, (target.name,), number, share, threshold, None, how, names)


def _may_tell(sources: Sequence[ColumnFacts], target: ColumnFacts) -> bool:
    """Return whether somebody who has the sources learns what the release was not to show.

    Quasi-identifiers are known as they are in the input, so that they tell columns which are released finer;
    exact columns tell coarsened ones.
    """
    if target.exact and target.role is not Role.QUASI_IDENTIFIER:
        return all(each.role is Role.QUASI_IDENTIFIER for each in sources) and (
            target.role is Role.SENSITIVE or any(not each.exact for each in sources)
        )
    return not target.exact and all(each.exact for each in sources)


def _arithmetic(records: ReleasedRecords) -> Iterator[Function]:
    """Yield the columns of numbers that are a difference, sum or ratio of two others, or a year or an age."""
    columns = _of_numbers(records.columns)[:MOST_NUMBERS]
    step = max(records.records // SAMPLE, 1)
    for target in columns:
        for sources in _sources(columns, target):
            for how, values in _functions(sources, step):
                if not _may_hold(target.values[::step], values):
                    continue
                if _offset(target.values[::step], values) is None:
                    continue
                found = dict(_functions(sources, 1))[how]
                offset = _offset(target.values, found)
                if offset is not None:
                    words = how if not offset else f"{how} {'+' if offset > 0 else '-'} {abs(offset):g}"
                    yield Function(target, sources, words, _equal(target.values, found + offset))


def _of_numbers(columns: Sequence[AnyColumn]) -> list[AnyColumn]:
    return [each for each in columns if each.numbers is not None and each.size > 2]


def _sources(columns: Sequence[AnyColumn], target: AnyColumn) -> Iterator[tuple[AnyColumn, ...]]:
    others = [each for each in columns if each is not target]
    for sources in (*((each,) for each in others if each.days), *permutations(others, 2)):
        if _may_tell(sources, target):
            yield sources


def _functions(sources: Sequence[ReleasedColumn], step: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield the functions of one or two columns: their words, and a value for each record."""
    yield from _functions_of(sources, [each.values[::step] for each in sources])


def _functions_of(
    sources: Sequence[ColumnFacts], values: Sequence[FloatArray]
) -> Iterator[tuple[str, FloatArray]]:
    """Yield the functions of one or two columns with these numbers."""
    names = [each.name for each in sources]
    if len(values) == 1:
        yield f"year of {names[0]}", _year(values[0])
        return
    first, second = values
    yield f"{names[0]} - {names[1]}", first - second
    if sources[0].days and sources[1].days:
        yield f"years from {names[1]} to {names[0]}", np.floor((first - second) / YEAR)
    elif not sources[0].days and not sources[1].days:
        if names[0] < names[1]:
            yield f"{names[0]} + {names[1]}", first + second
        with np.errstate(divide="ignore", invalid="ignore"):
            yield f"{names[0]} / {names[1]}", np.where(second == 0, np.nan, first / second)


def _year(days: FloatArray) -> FloatArray:
    known = np.where(np.isnan(days), EPOCH, days) - EPOCH
    years = np.floor(known).astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970.0
    return np.where(np.isnan(days), np.nan, years)


def _may_hold(target: FloatArray, values: FloatArray) -> bool:
    """Return whether a look at a few records leaves it open that a target differs by a small constant."""
    few = slice(None, None, max(len(target) // LOOK, 1))
    both = ~(np.isnan(target[few]) | np.isnan(values[few]))
    if both.sum() < ENOUGH:
        return True
    return bool(_near(target[few][both], values[few][both]).mean() >= CLEARLY)


def _near(target: FloatArray, values: FloatArray) -> BoolArray:
    """Return which numbers differ by a constant that an offset can be."""
    return np.abs(target - values) <= 1.5 + CLOSE * np.abs(values)


def _may_be_computed(release: CountedRelease) -> bool:
    """Return whether arithmetic on columns of numbers may hold for nearly all records."""
    columns = _of_numbers(release.columns)[:MOST_NUMBERS]
    return any(
        _may_be_function(release, target, sources)
        for target in columns
        for sources in _sources(columns, target)
    )


def _may_be_function(
    release: CountedRelease, target: CountedColumn, sources: Sequence[CountedColumn]
) -> bool:
    """Return whether a function of columns may hold, until too many records contradict each."""
    wrong: dict[str, int] = {}
    for block in release.rows.in_turn():
        own, *given = (_numbers_in(each, block) for each in (target, *sources))
        for how, values in _functions_of(sources, given):
            contradicted = ~(np.isnan(own) | np.isnan(values) | _near(own, values))
            wrong[how] = wrong.get(how, 0) + int(release.rows.counts[block][contradicted].sum())
        if all(_are_too_many(each, release.records) for each in wrong.values()):
            return False
    return True


def _are_too_many(wrong: int, records: int) -> bool:
    """Return whether a function of records certainly does not hold that is wrong for some."""
    return wrong > (1 - HOLDS) * (1 + CLOSE) * records


def _numbers_in(column: CountedColumn, block: slice | IntArray) -> FloatArray:
    assert column.numbers is not None, "columns of numbers are searched"
    return column.numbers[column.own[block]]


def _offset(target: FloatArray, values: FloatArray) -> float | None:
    """Return the constant by which a target nearly always differs from values; None if there is none.

    A target that is nearly constant itself is no function of anything.
    """
    both = ~(np.isnan(target) | np.isnan(values))
    if both.sum() < 2:
        return None
    difference = np.round(target[both] - values[both], 6)
    offset = float(np.median(difference))
    if offset not in (-1.0, 0.0, 1.0):
        return None
    held = _equal(target[both], values[both] + offset).mean()
    _, counts = np.unique(target[both], return_counts=True)
    usual = counts.max() / both.sum()
    return offset if held >= HOLDS and held - usual > (1 - usual) / 2 else None


def _equal(target: FloatArray, values: FloatArray) -> BoolArray:
    with np.errstate(invalid="ignore"):
        return np.abs(target - values) <= CLOSE * np.maximum(np.abs(values), 1.0)


def _may_be_determined(release: CountedRelease) -> bool:
    """Return whether quasi-identifiers may determine a column.

    They do not where all of them together leave too many records with several of its values, as fewer leave
    more.
    """
    known = release.having(Role.QUASI_IDENTIFIER)[:MOST_SOURCES]
    targets = [each for each in _targets(release.columns) if _is_asked(known, each)]
    return any(_may_be_told(release, known, each) for each in targets)


def _may_be_told(release: CountedRelease, known: Sequence[CountedColumn], target: CountedColumn) -> bool:
    """Return whether too few records for that are in neighbouring rows that differ in the target alone."""
    records, rows, wrong = release.rows.records_with(target.own, target.size), release.rows, 0
    if target.absent is not None and target.absent < target.size:
        records[target.absent] = 0
    usual = int(records.argmax())
    for block in rows.in_turn():
        own, counts = target.own[block], rows.counts[block]
        same = np.ones(max(len(own) - 1, 0), dtype=np.bool_)
        for each in known:
            same &= each.own[block][1:] == each.own[block][:-1]
        starts = np.flatnonzero(np.concatenate([[True], ~same])[: len(own)])
        if len(starts):
            differs = np.concatenate([[False], same & (own[1:] != own[:-1])])
            asked = np.where((own == usual) | (own == target.absent), 0, counts)
            several = np.logical_or.reduceat(differs, starts)
            wrong += int(np.add.reduceat(asked, starts)[several].sum())
    return not _are_too_many(wrong, int(records.sum() - records[usual]))


def _targets(columns: Sequence[AnyColumn]) -> list[AnyColumn]:
    """Return the columns that quasi-identifiers may determine."""
    return [
        each
        for each in columns
        if each.role in (Role.INSENSITIVE, Role.SENSITIVE) and each.exact and each.size > 1
    ]


def _is_asked(known: Sequence[ColumnFacts], target: ColumnFacts) -> bool:
    """Return whether any sources among the known columns may tell a target."""
    return any(_may_tell(sources, target) for sources in _sets(known))


def _sets(known: Sequence[AnyColumn]) -> Iterator[tuple[AnyColumn, ...]]:
    for size in (1, 2, 3):
        yield from combinations(known, size)


def _determined(records: ReleasedRecords, known: Sequence[ReleasedColumn]) -> Iterator[Function]:
    """Yield the columns that one to three quasi-identifiers determine."""
    targets, known = _targets(records.columns), known[:MOST_SOURCES]
    sets = [each for each in _sets(known) if any(_may_tell(each, target) for target in targets)]
    sample = np.arange(0, records.records, max(records.records // SAMPLE, 1))
    grouped: _Grouped = {}
    sampled = [_sharing(sources, sample, grouped) for sources in sets]
    random = np.random.default_rng(0)
    for target in targets:
        mixed, left_out = random.permutation(target.own), _left_out(target)
        for sources, sharing in zip(sets, sampled, strict=True):
            if not _may_tell(sources, target) or not _is_told(sharing, target, mixed, left_out):
                continue
            everything = _sharing(sources, np.arange(records.records), {})
            if _is_told(everything, target, mixed, left_out):
                groups, shared = _shared(records, sources)
                shared &= target.present
                holds, by_chance = (
                    shared & constant_in_groups(groups, own)[groups] for own in (target.own, mixed)
                )
                yield Function(target, sources, "", holds, by_chance)


def _left_out(target: ReleasedColumn) -> list[int]:
    """Return the values of a column that are not asked about.

    Its most frequent one: where 96 of 100 are healthy, most pairs are by chance. And a missing one: who
    answered nothing, answered no question.
    """
    frequent = [int(np.bincount(target.own[target.present]).argmax())] if target.present.any() else []
    return frequent if target.absent is None else [*frequent, target.absent]


class _Sharing(NamedTuple):
    """Records that share the values of some columns with another.

    Attributes
    ----------
    rows: of the records, shape (sharing,).
    groups: of equal values, of each, shape (sharing,).
    """

    rows: IntArray
    groups: IntArray

    def held(self, own: CodeArray, left_out: Sequence[int], step: int = 1) -> tuple[float, int]:
        """Return the share of those whose group has one value, and how many were asked.

        Parameters
        ----------
        own: value of each record, shape (records,).
        left_out: values that are not asked about.
        step: look at each record of so many.
        """
        groups, values = self.groups[::step], own[self.rows[::step]]
        asked = np.ones(len(values), dtype=np.bool_)
        for each in left_out:
            asked &= values != each
        number = int(asked.sum())
        return float(constant_in_groups(groups, values)[groups[asked]].mean()) if number else 0.0, number


_Grouped = dict[tuple[str, ...], tuple[IntArray, int]]
"""Groups of records that share the values of the named columns, and their number."""


def _sharing(sources: Sequence[ReleasedColumn], among: IntArray, grouped: _Grouped) -> _Sharing:
    """Return those of some records that share the sources' values with another of these.

    Parameters
    ----------
    grouped: of these records, by the first columns of sets asked about before; more are added.
    """
    *others, last = sources
    names = tuple(each.name for each in others)
    if names not in grouped:
        grouped[names] = group_rows(((each.own[among], each.sizes[1]) for each in others), len(among))
    groups, number = grouped[names]
    size = last.sizes[1]
    groups, distinct = group_keys(groups * size + last.own[among], number * size)
    shared = np.flatnonzero((np.bincount(groups, minlength=len(distinct)) > 1)[groups])
    return _Sharing(among[shared], group_keys(groups[shared], len(distinct))[0])


def _is_told(sharing: _Sharing, target: ReleasedColumn, mixed: CodeArray, left_out: Sequence[int]) -> bool:
    """Return whether nearly all records that share the sources' values share the target's, too.

    And more of them than of the target's values in another order.
    """
    held, asked = sharing.held(target.own, left_out, max(len(sharing.rows) // LOOK, 1))
    if asked >= ENOUGH and held < CLEARLY:
        return False
    held, _ = sharing.held(target.own, left_out)
    if held < HOLDS:
        return False
    by_chance, _ = sharing.held(mixed, left_out)
    return held - by_chance > (1 - by_chance) / 2


def _shared(records: ReleasedRecords, sources: Sequence[ReleasedColumn]) -> tuple[IntArray, BoolArray]:
    """Return the groups of equal source values, and which records share them with another unit."""
    groups, number = group_rows(((each.own, each.sizes[1]) for each in sources), records.records)
    return groups, records.shared(groups, number)
