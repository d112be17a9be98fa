"""What a written release has of each column of the input, counted for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.data.source import CsvDialect
from anonymizer.exposure.finding import Exposure
from anonymizer.job.exposure import fits_in_memory
from anonymizer.job.verify import Tables, numbers_entry, numbers_of
from anonymizer.model.arrays import BLOCK, CodeArray, IntArray
from anonymizer.model.labels import MISSING, SUPPRESSED, NumberLabels
from anonymizer.model.recoding import PublishedColumn, Recoding, value_labels
from anonymizer.model.table import QuasiIdentifier, Role
from anonymizer.model.units import PERSON
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.goal import Goal
from anonymizer.plan.prepared import Found
from anonymizer.report.columns import LEFT_OUT, UNCHANGED, LeftBy, SeenColumn, column_entries
from anonymizer.report.described import Counts, Describer
from anonymizer.report.small_counts import smallest_shown

MOST_LISTED = 200
"""Maximum number of values that are listed for a label that leaves them out."""

_NUMBERS: Mapping[NumberLabels, str] = {
    NumberLabels.MIDPOINT: ", as midpoints",
    NumberLabels.LOW_HIGH: ", as lower and upper end",
}


def seen_columns(
    found: Found, tables: Tables, tell: Callable[[str, Counts], None] = lambda *_: None
) -> tuple[SeenColumn, ...]:
    """Return what a release has of each column, in the order of the input.

    Parameters
    ----------
    tables: of the release, as they were read back, with labels in place of numbers.
    tell: called with the records of each text of a column, for what else needs them.
    """
    seen = _Release(found, tables, tell)
    return tuple(seen.column(name) for name in found.prepared.encoded.relation.columns)


def columns_entry(
    goal: Goal, assessment: Assessment, seen: tuple[SeenColumn, ...], exposure: Exposure | None
) -> list[dict[str, Any]]:
    """Return the ``columns`` entry of the report."""
    return column_entries(seen, exposure, assessment.acknowledged, smallest_shown(goal.k_of_reports))


def describer_of(found: Found, tables: Sequence[Relation], dialect: CsvDialect | None) -> Describer:
    """Return what describes the columns of a release.

    Parameters
    ----------
    tables: of the release, as they are stored.
    dialect: of files of text, else None.
    """
    plan, prepared = found.prepared.plan, found.prepared
    codes = plan.columns.labels_of_codes(prepared.encoded.relation, prepared.problem.table)
    numbers = {name: numbers_entry(each) for name, each in numbers_of(found.recoding).items()}
    content = {
        "config": plan.shown,
        "attributes": {name: {"codes": own} for name, own in codes.items()},
        "recoding": found.recoding.describe(),
        "release": {"separator": None if dialect is None else dialect.separator, "numbers": numbers},
    }
    counted = {*plan.columns.with_role(Role.QUASI_IDENTIFIER), *plan.columns.bands}
    whole = fits_in_memory(plan.engine, tables[0])
    smallest = smallest_shown(plan.goal.k_of_reports)
    return Describer(content, tables, plan.columns.folder, smallest, lambda name: whole or name in counted)


@dataclass(frozen=True, eq=False)
class _Recoded:
    """A quasi-identifier of the records of a run."""

    attribute: QuasiIdentifier
    published: PublishedColumn
    position: int


class _Release:
    """A release that was read back, with what is known of its columns."""

    def __init__(self, found: Found, tables: Tables, tell: Callable[[str, Counts], None]) -> None:
        self._tell = tell
        self._plan, self._recoding = found.prepared.plan, found.recoding
        self._table = tables[0]
        self._whole = fits_in_memory(self._plan.engine, tables[0])
        self._smallest = smallest_shown(self._plan.goal.k_of_reports)
        self._least = _fewest_records(found)
        attributes = self._recoding.table.quasi_identifiers
        self._attributes = {own.name: (own, place) for place, own in enumerate(attributes)}
        self._levels: Mapping[str, int] = self._recoding.describe().get("levels") or {}

    def column(self, name: str) -> SeenColumn:
        """Return what the release has of a column."""
        plan, column = self._plan, self._plan.columns[name]
        if name == plan.counting.pseudonym:
            return SeenColumn(name, column.role, "pseudonym", self._table.rows, changed=self._table.rows)
        if not column.released:
            return SeenColumn(name, column.role, LEFT_OUT)
        if name in self._attributes:
            # Of many rows, one published column is in memory at a time.
            attribute, place = self._attributes[name]
            return self._generalized(_Recoded(attribute, self._recoding.published_column(place), place))
        if plan.goal.algorithm.in_groups and column.role is Role.SENSITIVE:
            counts = _sensitive_counts(self._recoding, name)
            treatment: str = "shuffled within its group"
            changed: int | None = None
        else:
            # Of many records, an engine counts the quasi-identifiers and groups only.
            counts = self._counts(name) if self._whole or name in plan.columns.bands else {}
            treatment, changed = self._as_it_is(name)
        return SeenColumn(
            name,
            column.role,
            treatment,
            self._table.rows,
            changed=changed,
            example=self._example(counts),
            left_by=self._left_by(name, counts),
        )

    def _as_it_is(self, name: str) -> tuple[str, int | None]:
        """Return the treatment of a column that no search recodes, and how many records it changed."""
        band = self._plan.columns.bands.get(name)
        if band is None:
            return UNCHANGED, 0
        rounded = band.form is NumberLabels.MIDPOINT
        return "rounded to the middle of a group" if rounded else "released in groups", None

    def _generalized(self, recoded: _Recoded) -> SeenColumn:
        name = recoded.attribute.name
        counts = self._counts(name)
        starred = self._starred(recoded, counts)
        return SeenColumn(
            name,
            Role.QUASI_IDENTIFIER,
            self._treatment(recoded),
            self._table.rows,
            starred,
            self._changed(recoded, starred),
            self._example(counts),
            self._left_by(name, counts),
        )

    def _treatment(self, recoded: _Recoded) -> str:
        """Return how a quasi-identifier was recoded, without its suppressed values."""
        numbers = recoded.attribute.number_columns
        ends = "" if numbers is None else _NUMBERS[numbers.form]
        if self._plan.columns.applied:
            return f"generalized{ends}"
        aggregate = self._recoding.describe().get("aggregate")
        if aggregate is not None:
            return f"{aggregate} of similar records"
        height, levels = recoded.attribute.hierarchy.height, self._levels_of(recoded)
        if levels is None:
            return f"generalized to ranges or sets of values{ends}"
        first, last = levels
        if last == 0:
            return f"{UNCHANGED}{ends}"
        own = f"level {first}" if first == last else f"levels {first} to {last}"
        return f"generalized to {own} of {height}{ends}"

    def _levels_of(self, recoded: _Recoded) -> tuple[int, int] | None:
        """Return the lowest and the highest level of released values; None if they are no nodes."""
        if recoded.attribute.name in self._levels:
            level = self._levels[recoded.attribute.name]
            return level, level
        cells = self._recoding.cells(recoded.position)
        if cells.values.levels is None:
            return None
        starred = np.array([label == SUPPRESSED for label in cells.labels], dtype=np.bool_)
        kept = ~self._recoding.suppressed & ~starred[cells.codes]
        levels = cells.values.levels[cells.codes[kept]]
        top = recoded.attribute.hierarchy.height
        return (int(levels.min()), int(levels.max())) if len(levels) else (top, top)

    def _starred(self, recoded: _Recoded, counts: Mapping[str | None, int]) -> int | None:
        """Return the rows with ``*``; None where an empty field may mean a missing value, too."""
        if recoded.attribute.number_columns is not None and MISSING in counts:
            return None
        return counts.get(SUPPRESSED, 0)

    def _changed(self, recoded: _Recoded, starred: int | None) -> int | None:
        """Return the rows with another value than in the input.

        None for an append, and where the values of the records are not in memory, unless all are released.
        """
        table = self._recoding.table
        if self._plan.columns.applied:
            return None
        if table.coarse:
            return starred if self._levels_of(recoded) == (0, 0) else None
        same, own = _values_of_labels(recoded), table.quasi_identifier_codes(recoded.position)
        records = 0
        for start in range(0, len(own), BLOCK):
            block = slice(start, start + BLOCK)
            changed = same[recoded.published.codes[block]] != own[block]
            records += int(table.counts[block][changed & ~self._recoding.removed[block]].sum())
        return records

    def _left_by(self, name: str, counts: Mapping[str | None, int]) -> dict[str, LeftBy]:
        """Return what the published labels for all other values leave out; none of an append.

        Values that few records have are counted, as are those that the release does not have.
        """
        planned = self._plan.columns.hierarchy(name)
        if planned is None or self._plan.columns.applied:
            return {}
        numbers = {text: planned.source.left_by(text) for text in counts if text is not None}
        labels = {text: number for text, number in numbers.items() if number is not None}
        hidden = {*labels, *self._plan.columns.absent, MISSING, SUPPRESSED, "", self._plan.target.marker}
        known = [each for each, number in counts.items() if each not in hidden and number >= self._smallest]
        left = {}
        for label, number in labels.items():
            outside = self._outside(name, label)
            values = sorted(str(each) for each in known if outside is None or each in outside)[:MOST_LISTED]
            left[label] = LeftBy(tuple(values), number - len(values))
        return left

    def _outside(self, name: str, label: str) -> frozenset[str] | None:
        """Return the values that are not under a node; None if all that are published are outside."""
        if name not in self._attributes:
            return None
        attribute, _ = self._attributes[name]
        tree, labels = attribute.hierarchy, value_labels(attribute)
        inner = np.flatnonzero((tree.level > 0) & (tree.leaf_counts() > 1))
        node = next((each for each in inner.tolist() if tree.labels[each] == label), None)
        if node is None:
            return None
        leaves = [*range(tree.first_leaf[node]), *range(tree.last_leaf[node], tree.leaves)]
        return frozenset(labels[each] for each in tree.ancestors[0, leaves].tolist())

    def _counts(self, name: str) -> dict[str | None, int]:
        """Return the published values of a column with their rows."""
        counts = dict(self._table.dictionary(name))
        self._tell(name, counts)
        return counts

    def _example(self, counts: Mapping[str | None, int]) -> str | None:
        """Return the most frequent value, or ``*`` if it is the only one; None if too few records have it."""
        if self._least is None:
            return None
        absent = {*self._plan.columns.absent, MISSING, SUPPRESSED, "", self._plan.target.marker}
        known = {text: number for text, number in counts.items() if text not in absent}
        found = max(known, key=lambda text: known[text], default=None)
        if found is not None and known[found] >= self._least:
            return found
        starred = counts.get(SUPPRESSED, 0)
        return SUPPRESSED if not known and starred >= self._least else None


def _fewest_records(found: Found) -> int | None:
    """Return the records that a value has so that surely enough persons have it; None if not known."""
    prepared = found.prepared
    plan, least = prepared.plan, smallest_shown(prepared.plan.goal.k_of_reports)
    if PERSON not in plan.counting.units:
        return least
    if plan.columns.applied:
        return None
    facts = prepared.encoded.relation.unit_facts(plan.counting.units[PERSON], plan.columns.absent)
    return least * max(facts.most, 1)


def _values_of_labels(recoded: _Recoded) -> IntArray:
    """Return the code of the value that each published label is, -1 for none, shape (labels,), int64."""
    column, labels = recoded.attribute.column, value_labels(recoded.attribute)
    codes = {labels[node]: code for code, node in enumerate(recoded.attribute.nodes(0).tolist())}
    by_number = {}
    if column.numbers is not None:
        by_number = {number: code for code, number in enumerate(column.numbers.tolist())}
    return np.array(
        [codes.get(label, by_number.get(column.number(label), -1)) for label in recoded.published.labels],
        dtype=np.int64,
    )


def _sensitive_counts(recoding: Recoding, name: str) -> dict[str | None, int]:
    """Return the values of a sensitive attribute with their released records."""
    table = recoding.table
    column = next(each.column for each in table.sensitive if each.name == name)
    kept = np.where(recoding.removed, 0, table.counts)
    codes: CodeArray = table.sensitive_codes(name)
    counts = np.bincount(codes, kept, column.size).astype(np.int64)
    return dict(_pairs(column.texts, counts))


def _pairs(texts: tuple[str, ...], counts: IntArray) -> Iterator[tuple[str | None, int]]:
    yield from zip(texts, counts.tolist(), strict=True)
