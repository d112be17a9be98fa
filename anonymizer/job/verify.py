"""The release as it was written, read back and compared with what the search found.

A release is one table, or the QIT and ST of Anatomy, which share the column ``group``. ``verify`` is the same
for all shapes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from anonymizer.adversary.candidate import known_original, known_truth, with_owners
from anonymizer.adversary.release import read_release, view_of_run
from anonymizer.config.search import EngineName
from anonymizer.data.labelled import ReadNumbers, labelled
from anonymizer.data.relation import EngineRelation, Relation, ReleaseQuery
from anonymizer.errors import AuditFailed, DataError, InputError, listed
from anonymizer.job.constraints import countable_constraints
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray, count
from anonymizer.model.classes import Classes, Measurement, Reference, SensitiveCounts
from anonymizer.model.labels import MISSING, SUPPRESSED, NumberLabels
from anonymizer.model.recoding import GROUP, GroupRecoding, Recoding
from anonymizer.model.table import Role
from anonymizer.model.units import PERSON
from anonymizer.people.population import with_people
from anonymizer.people.released import (
    all_records,
    check_unit_limit,
    check_whole,
    released_records,
)
from anonymizer.plan.columns import Columns
from anonymizer.plan.goal import Goal
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found, Prepared
from anonymizer.privacy.base import CountedConstraint
from anonymizer.release.anatomy import pair_columns, pair_named, project_pair
from anonymizer.release.classes import (
    UnitColumns,
    classes_of,
    count_classes,
    count_reference,
    measure,
    measure_pair,
    read_pair,
)
from anonymizer.release.comparison import misassigned_records, mismatched_records
from anonymizer.release.query import (
    counted_rows,
    project,
    recoded_rows,
    regions_rows,
    single_shuffled,
    with_pseudonyms,
)

Tables = Sequence[Relation]
"""A release that was read back: one table, or the QIT and ST."""

RelationPair = tuple[Relation, Relation]
"""The QIT and the ST."""


class SecondTable(NamedTuple):
    """The sensitive table of an Anatomy release.

    Attributes
    ----------
    sha256: of the file; None for a DataFrame.
    rows: one for each bucket and value.
    """

    sha256: str | None
    rows: int


@dataclass(frozen=True, eq=False)
class Audited:
    """A release as it was measured.

    Attributes
    ----------
    sha256: of the file that was read back, for Anatomy the QIT; None for a DataFrame.
    rows: counted in the release.
    sizes: of its classes, shape (classes,), int64.
    measurements: every constraint, measured on the release; from ``verify`` only the countable ones.
    second: the ST of an Anatomy release.
    """

    sha256: str | None
    rows: int
    sizes: IntArray
    measurements: list[Measurement]
    second: SecondTable | None = None


@dataclass(frozen=True, eq=False)
class ReadBack:
    """A release as it was counted.

    Attributes
    ----------
    measurements: of the countable constraints.
    wrong: counts the records that differ from the recoding.
    """

    classes: Classes
    measurements: list[Measurement]
    wrong: Callable[[], int]


class Shape(ABC):
    """The tables of a release.

    Attributes
    ----------
    fault: end of the message "records that ..." about those that differ from the recoding.
    whole: whether one search covered all records, so that rejected candidates are informative about them.
    columns: of each table, in their order.
    """

    fault: ClassVar[str]
    whole: ClassVar[bool] = True
    columns: Sequence[Sequence[str]]

    @abstractmethod
    def queries(self, found: Found, scratch: Path | None) -> tuple[ReleaseQuery, ...]:
        """Return the tables, ready to be copied.

        Parameters
        ----------
        scratch: a folder for temporary files; None in memory.
        """

    @abstractmethod
    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count tables that were read back.

        Raises
        ------
        DataError: a value is not in the input, or the tables do not belong together.
        """

    def read(self, table: Relation, found: Found) -> Relation:  # noqa: ARG002 - of any release
        """Return a table that was read back with labels in place of the numbers that were written for them.

        Raises
        ------
        DataError: it lacks a column of numbers.
        """
        return table

    def check_sizes(self, release: Relation, classes: Classes, found: Found) -> None:
        """Check that the classes have the sizes that the search counted.

        Raises
        ------
        AuditFailed: they have not.
        """
        kept = found.promised.kept_suppressed
        expected = np.sort([*found.promised.class_sizes, *([kept] if kept else [])])
        if not np.array_equal(np.sort(classes.sizes), expected):
            raise AuditFailed(
                f"{release.name}: {classes.number} classes of {classes.records} records, but the search "
                f"counted {len(expected)} classes of {int(expected.sum())} records"
            )

    @abstractmethod
    def recoded(self, found: Found) -> Sequence[str]:
        """Return the columns of the release that have other values than the input."""

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check that the columns released unchanged lost the values of suppressed records and nothing else.

        Raises
        ------
        AuditFailed: a value was added, changed or lost.
        """
        source, recoded = found.prepared.encoded.relation, self.recoded(found)
        for name in release.columns:
            if name not in recoded and source.changed_records(name, release) != (
                0,
                source.rows - release.rows,
            ):
                raise AuditFailed(f"{release.name}: column '{name}' does not contain the values of the input")

    @abstractmethod
    def view(self, tables: Tables, found: Found) -> AdversaryView:
        """Return the adversary's view of tables that were read back."""


class TableShape(Shape):
    """All columns of a record in one row."""

    fault = "differ from the recoding of the input"

    def __init__(self, plan: Plan, relation: Relation) -> None:
        self._plan = plan
        self.columns = [
            [
                name
                for name in relation.columns
                if name == plan.counting.pseudonym or plan.columns.released([name])
            ]
        ]
        as_text = not relation.is_frame and plan.target.is_text
        self._decimal = plan.columns.numerals.decimal if as_text else None

    def read(self, table: Relation, found: Found) -> Relation:
        """Return the table with labels in place of numbers."""
        return labelled(table, numbers_of(found.recoding), self._decimal)

    def queries(
        self,
        found: Found,
        scratch: Path | None,  # noqa: ARG002 - the input's engine needs none
    ) -> tuple[ReleaseQuery, ...]:
        """Return the table, from the frequency table alone if the release follows from it."""
        pseudonym, shuffled = self._plan.counting.pseudonym, self._plan.target.shuffled
        if pseudonym is None:
            return (released_query(found, self.columns[0], self._decimal, shuffled=shuffled),)
        prepared = found.prepared
        relation, rows = prepared.encoded.relation, prepared.rows(found.recoding)
        projection = project(relation, rows, found.recoding, self.columns[0], self._decimal)
        projection = with_pseudonyms(projection, pseudonym, prepared.units[PERSON])
        return (relation.records_query(projection, shuffled=shuffled),)

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the table by quasi-identifiers and sensitive attributes."""
        prepared, (release,) = found.prepared, tables
        table = prepared.problem.table
        names = _names(prepared)
        groups = release.group_counts([*names, *table.sensitive_names])
        classes = classes_of(release.name, groups, table.sensitive, names)
        if table.population is not None:
            classes = with_people(classes, groups, table, found.recoding)
        asked = countable_constraints(prepared.constraints)
        judged, references = classes, references_of(prepared)
        at_hand: set[str | None] = {None}
        if self._plan.counting.pseudonym is not None:
            judged, at_hand = self._linked(release, found), {None, PERSON}
            references = None if references is None else _unit_references(found)
        here = [each.unit in at_hand and not each.model.needs_households for each in asked]
        own = iter(measure(judged, [*compress(asked, here)], references, self._plan.columns.grown))
        others = [each for each, known in zip(asked, here, strict=True) if not known]
        units = iter(self._measured_units(others, found))
        measured = [next(own if known else units) for known in here]
        return ReadBack(classes, measured, lambda: mismatched_records(release.name, groups, found.recoding))

    def _linked(self, release: Relation, found: Found) -> Classes:
        """Return the classes of persons with equal lists of rows, by the pseudonyms of the release.

        Raises
        ------
        AuditFailed: the pseudonyms link other records than those of one person.
        """
        table, column = found.prepared.problem.table, str(self._plan.counting.pseudonym)
        units = UnitColumns({PERSON: column}, frozenset({None, ""}), PERSON)
        classes = count_classes(release, _names(found.prepared), table.sensitive, units)
        expected = released_records(found.prepared, found.recoding)
        sizes, own = (np.sort(each.sizes_in(PERSON)) for each in (classes, expected))
        if not np.array_equal(sizes, own):
            raise AuditFailed(
                f"{release.name}: column '{column}' links other records than those of one person"
            )
        return classes

    def _measured_units(self, asked: Sequence[CountedConstraint], found: Found) -> list[Measurement]:
        """Measure constraints that count units, which the release does not name, record by record."""
        if not asked:
            return []
        references = None if found.prepared.problem.moving_reference else _unit_references(found)
        classes = released_records(found.prepared, found.recoding)
        return measure(classes, asked, references, self._plan.columns.grown)

    def recoded(self, found: Found) -> Sequence[str]:
        own = [] if self._plan.counting.pseudonym is None else [self._plan.counting.pseudonym]
        return [*_names(found.prepared), *own]

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check the units that are suppressed as a whole, too."""
        super().check_untouched(release, found)
        check_whole(found.prepared, found.recoding)
        check_unit_limit(found.prepared, found.recoding)

    def view(self, tables: Tables, found: Found) -> AdversaryView:
        """Return the table, and the input with the published row of each record."""
        plan, prepared, recoding = self._plan, found.prepared, found.recoding
        view = view_of_run(prepared, recoding, tables[0], plan.assessment.weights)
        return with_owners(prepared, recoding, view)


def _unit_references(found: Found) -> dict[str, Reference]:
    """Return the distribution p of each sensitive attribute in the input, of records and of units."""
    whole = all_records(found.prepared, found.recoding)
    return {name: whole.reference(name) for name in found.prepared.problem.table.sensitive_names}


def numbers_of(recoding: Recoding) -> dict[str, ReadNumbers]:
    """Return how the numbers are read that a recoding releases in place of labels, by quasi-identifier.

    Values of removed records have no effect.
    """
    if all(attribute.number_columns is None for attribute in recoding.table.quasi_identifiers):
        return {}
    recoding = recoding.merged
    numbers, kept = {}, ~recoding.removed
    for published in recoding.published():
        own = published.numbers
        if own is not None:
            labels = {published.labels[code] for code in np.unique(published.codes[kept])}
            empty = MISSING if MISSING in labels else SUPPRESSED
            numbers[published.name] = ReadNumbers(own, empty, not labels.isdisjoint(own.excluded))
    return numbers


def numbers_entry(read: ReadNumbers) -> dict[str, Any]:
    """Return the entry of a quasi-identifier in ``release.numbers`` of the report."""
    high = None
    if read.own.form is NumberLabels.LOW_HIGH:
        high = "excluded" if read.excluded else "included"
    return {"columns": list(read.own.columns), "empty": read.empty, "high": high}


def released_query(
    found: Found, columns: Sequence[str], decimal: str | None = None, *, shuffled: bool
) -> ReleaseQuery:
    """Return the release of an input in one table.

    Parameters
    ----------
    decimal: sign of numbers in texts; None for a release that stores numbers as such.
    """
    prepared, recoding = found.prepared, found.recoding
    relation = prepared.encoded.relation
    if isinstance(relation, EngineRelation):
        rows = counted_rows(relation, recoding, prepared.positions, columns, decimal)
        if rows is not None:
            return relation.counted_query(single_shuffled(rows) if shuffled else rows)
    # The records of a distinct row are divided between its parts in memory, where they have an order.
    table = prepared.problem.table
    divided = recoding.owner is not None or table.measure.ties is not None or table.measure.row_of is not None
    in_memory = prepared.engine == EngineName.MEMORY or divided
    if isinstance(relation, EngineRelation) and not (relation.ordered and in_memory):
        return joined_query(relation, found, columns, decimal, shuffled=shuffled)
    projection = project(relation, prepared.rows(recoding), recoding, columns, decimal)
    return relation.records_query(projection, shuffled=shuffled)


def joined_query(
    relation: EngineRelation,
    found: Found,
    columns: Sequence[str],
    decimal: str | None = None,
    *,
    shuffled: bool,
) -> ReleaseQuery:
    """Return the release as a join of the records to their recoding in the engine.

    Parameters
    ----------
    decimal: as for ``released_query``.
    """
    prepared, recoding = found.prepared, found.recoding
    if prepared.problem.placing:
        codings = [read.coding for read in prepared.encoded.columns]
        rows = regions_rows(recoding, codings, columns, found.outcome.ends, relation.marker, decimal)
    else:
        rows = recoded_rows(recoding, prepared.codings(recoding), columns, relation.marker, decimal)
    return relation.recoded_query(rows, shuffled=shuffled)


class AnatomyShape(Shape):
    """Quasi-identifiers and buckets in the QIT, the sensitive values of each bucket in the ST.

    Raises
    ------
    InputError: there is not exactly one sensitive attribute, or a column has a reserved name.
    """

    fault = "are in other buckets than in the recoding"

    def __init__(self, plan: Plan, relation: Relation) -> None:
        self._plan = plan
        self._released = plan.columns.released(relation.columns)
        self._attribute = attribute_in_groups(plan.columns)
        self.columns = pair_columns(self._released, self._attribute)

    def queries(
        self,
        found: Found,
        scratch: Path | None,  # noqa: ARG002 - the input's engine needs none
    ) -> tuple[ReleaseQuery, ...]:
        """Return both tables."""
        relation = found.prepared.encoded.relation
        rows, groups = found.prepared.rows(found.recoding), groups_of_run(found)
        projections = project_pair(relation, rows, groups, self._released)
        return tuple(
            relation.records_query(each, shuffled=self._plan.target.shuffled) for each in projections
        )

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the buckets."""
        prepared, (records, values) = found.prepared, tables
        recoding, names = groups_of_run(found), _names(prepared)
        grouped = read_pair(records, values, names, prepared.problem.table.sensitive[0])
        asked = countable_constraints(prepared.constraints)
        measured = measure_pair(grouped, asked, references_of(prepared), self._plan.columns.grown)

        def wrong() -> int:
            misassigned = misassigned_records(records.group_counts([*names, GROUP]), recoding)
            return misassigned + _misplaced(grouped.groups, grouped.sensitive, recoding)

        return ReadBack(grouped.values.classes(), measured, wrong)

    def recoded(self, found: Found) -> Sequence[str]:
        return [*_names(found.prepared), self._attribute, GROUP]

    def view(self, tables: Tables, found: Found) -> AdversaryView:
        """Return the tables, and the input with the bucket of each record."""
        records, values = tables
        table, recoding = found.prepared.problem.table, groups_of_run(found)
        grouped = read_pair(records, values, _names(found.prepared), table.sensitive[0])
        grouped = replace(grouped, truth=known_truth(grouped, recoding))
        release = read_release(self._plan.columns, records, self._plan.assessment.weights)
        original = known_original(
            self._plan.target.input, table, recoding, release, self._plan.columns.missing
        )
        return AdversaryView(release, original=original, grouped=grouped)


def shape_of(plan: Plan, relation: Relation) -> Shape:
    """Return the shape of the releases of a plan's algorithm.

    Raises
    ------
    InputError: as for ``AnatomyShape``.
    """
    return AnatomyShape(plan, relation) if plan.goal.algorithm.in_groups else TableShape(plan, relation)


def release_names(goal: Goal, path: str) -> tuple[str, ...]:
    """Return the file names of a release, given the path in the config."""
    return pair_named(Path(path)).names if goal.algorithm.in_groups else (path,)


def verify(shape: Shape, tables: Tables, found: Found) -> Audited:
    """Measure a release that was read back, and compare it with the one that was found.

    Raises
    ------
    AuditFailed: it differs, or violates a constraint.
    DataError: it has a column or value that is not in the input; see ``auditing``.
    """
    release = tables[0]
    for table, columns in zip(tables, shape.columns, strict=True):
        check_columns(table, columns)
    counted = shape.count(tables, found)
    violated = next((each for each in counted.measurements if not each.satisfied), None)
    if violated is not None:
        raise AuditFailed(f"{release.name}: violates {violated.model}, measured {violated.measured}")
    shape.check_sizes(release, counted.classes, found)
    wrong = counted.wrong()
    if wrong:
        raise AuditFailed(f"{release.name}: records that {shape.fault}: {wrong:,}")
    shape.check_untouched(release, found)
    second = SecondTable(tables[1].sha256, tables[1].rows) if len(tables) > 1 else None
    return Audited(release.sha256, release.rows, counted.classes.sizes, counted.measurements, second)


@contextmanager
def auditing(named: Callable[[str], str]) -> Iterator[None]:
    """Treat a release that cannot be read back as a failed verification.

    Parameters
    ----------
    named: returns a message with the final names of the files in place of temporary ones.

    Raises
    ------
    AuditFailed: in place of a DataError.
    """
    try:
        yield
    except (AuditFailed, DataError) as error:
        raise AuditFailed(named(str(error.args[0]))) from error


def check_columns(release: Relation, expected: Sequence[str]) -> None:
    """Check the columns of a release and their order.

    Raises
    ------
    AuditFailed: the release has others.
    """
    if tuple(expected) != release.columns:
        raise AuditFailed(
            f"{release.name}: has the columns {listed(release.columns)}; expected: {listed(expected)}"
        )


def references_of(prepared: Prepared) -> dict[str, Reference] | None:
    """Return the distribution p of each sensitive attribute in the input; None if p is the release's."""
    if prepared.problem.moving_reference:
        return None
    relation = prepared.encoded.relation
    return {each.name: count_reference(relation, each) for each in prepared.problem.table.sensitive}


def _names(prepared: Prepared) -> list[str]:
    return [each.name for each in prepared.problem.table.quasi_identifiers]


def attribute_in_groups(columns: Columns) -> str:
    """Return the sensitive attribute that Anatomy publishes in buckets.

    Raises
    ------
    InputError: the config has none, or several.
    """
    names = columns.with_role(Role.SENSITIVE)
    if len(names) != 1:
        found = f"{len(names)} ({', '.join(names)})" if names else "none"
        raise InputError(
            f"{columns.config}: attributes: an Anatomy release has one sensitive attribute; found {found}; "
            "give exactly one column role: sensitive, or use another algorithm, such as local"
        )
    return names[0]


def groups_of_run(found: Found) -> GroupRecoding:
    """Return the recoding of an algorithm that declares ``in_groups``.

    Raises
    ------
    TypeError: it is another kind of recoding.
    """
    if not isinstance(found.recoding, GroupRecoding):
        raise TypeError(f"an algorithm with in_groups returned {type(found.recoding).__name__}")
    return found.recoding


def _misplaced(names: Sequence[str], found: SensitiveCounts, recoding: GroupRecoding) -> int:
    """Count the records whose value is in another bucket than in the recoding."""
    table, kept, size = recoding.table, ~recoding.removed, found.attribute.column.size
    number = np.array([int(name) - 1 if name.isdigit() else -1 for name in names], dtype=np.int64)
    known = (number >= 0) & (number < recoding.groups)
    strange = int(found.counts[~known[found.owners]].sum())
    inside = known[found.owners]
    own = number[found.owners[inside]] * size + found.values[inside]
    value = table.sensitive_codes(found.attribute.name)[kept].astype(np.int64)
    promised = recoding.group_of[kept] * size + value
    distinct, inverse = np.unique(np.concatenate([own, promised]), return_inverse=True)
    keys = inverse.astype(np.int64)
    surplus = count(keys[: len(own)], found.counts[inside], len(distinct))
    surplus -= count(keys[len(own) :], table.counts[kept], len(distinct))
    return strange + int(surplus.clip(min=0).sum())
