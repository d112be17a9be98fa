"""Exhaustive full-domain search, record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from tests.twins.attacks import best_guess, best_values
from tests.twins.loss import LOSS_TWINS, TwinRelease
from tests.twins.microdata import Microdata, Value
from tests.twins.privacy import CLASS_TWINS, TABLE_TWINS, Persons

Rows = list[int]


@dataclass(frozen=True)
class ConstraintSpec:
    """A constraint as it stands in a config.

    Attributes
    ----------
    knowledge: sets of positions of quasi-identifiers, one of which an adversary knows; None for all.
    """

    model: str
    parameters: Mapping[str, Any]
    attribute: str | None = None
    combined: bool = False
    unit: str | None = None
    knowledge: tuple[frozenset[int], ...] | None = None


@dataclass(frozen=True)
class ProblemSpec:
    """What a search is asked, in plain Python; ``limit`` is a number of records.

    Attributes
    ----------
    whole: whether all records of a person are suppressed, or none.
    linked: whether the release links the records of a person.
    lost: most persons of whom a record may be suppressed; ``limit`` then counts nothing. None for records.
    """

    data: Microdata
    constraints: tuple[ConstraintSpec, ...]
    metric: str = "loss"
    aggregate: str = "arithmetic-mean"
    limit: int = 0
    keep_rows: bool = False
    moving_reference: bool = False
    k: int | None = field(default=None)
    whole: bool = False
    linked: bool = False
    lost: int | None = None


@dataclass(frozen=True)
class Release:
    """A valid release of a partition; starred rows form its last class."""

    classes: list[Rows]
    suppressed: frozenset[int]
    kept_suppressed: bool


@dataclass(frozen=True)
class NodeResult:
    """A valid node of the lattice."""

    levels: tuple[int, ...]
    objective: float
    suppressed: frozenset[int]
    kept_suppressed: bool


class BruteForce:
    """Evaluates nodes by the definitions alone."""

    def __init__(self, problem: ProblemSpec) -> None:
        self.problem = problem
        self.data = problem.data
        self._everyone = list(range(len(self.data.records)))
        self._published: list[tuple[str, ...]] = []
        self._verdicts: dict[tuple[Any, ...], bool] = {}
        self._of_classes = [
            (own, CLASS_TWINS[own.model](own.parameters))
            for own in problem.constraints
            if own.model in CLASS_TWINS
        ]
        # Sizes are known soonest.
        self._of_classes.sort(key=lambda each: each[0].attribute is not None)

    def nodes(self) -> Iterator[tuple[int, ...]]:
        """Return all levels that a search may use."""
        return product(*(range(own.minimum, own.maximum + 1) for own in self.data.quasi_identifiers))

    def valid(self) -> list[NodeResult]:
        """Return every node that may be released, with its objective."""
        results = (self.evaluate(levels) for levels in self.nodes())
        return [result for result in results if result is not None]

    def classes(self, levels: tuple[int, ...]) -> list[Rows]:
        """Return the equivalence classes of a node."""
        self._published = [
            tuple(
                spec.paths[cell][level]
                for spec, cell, level in zip(
                    self.data.quasi_identifiers, self.data.records[row], levels, strict=False
                )
            )
            for row in self._everyone
        ]
        if self.problem.linked:
            return self._linked()
        return self._by_published(self._everyone)

    def _by_published(self, rows: Rows) -> list[Rows]:
        found: dict[tuple[str, ...], Rows] = {}
        for row in rows:
            found.setdefault(self._published[row], []).append(row)
        return list(found.values())

    def _linked(self) -> list[Rows]:
        """Return the records of persons whose sorted lists of published rows are equal."""
        own: dict[Any, Rows] = {}
        for row, person in enumerate(self.data.persons):
            own.setdefault(("row", row) if person is None else person, []).append(row)
        found: dict[tuple[tuple[str, ...], ...], Rows] = {}
        for rows in own.values():
            found.setdefault(tuple(sorted(self._published[row] for row in rows)), []).extend(rows)
        return list(found.values())

    def evaluate(self, levels: tuple[int, ...]) -> NodeResult | None:
        """Return what a node gives, None when it may not be released."""
        release = self.release(self.classes(levels))
        if release is None:
            return None
        classes = release.classes
        if self.problem.linked:
            classes = self._by_published([row for rows in classes for row in rows])
        sizes = tuple(len(rows) for rows in classes)
        kept = TwinRelease(
            self.data,
            levels,
            sizes,
            release.suppressed,
            len(release.suppressed) if release.kept_suppressed else 0,
            self.problem.k,
        )
        objective = LOSS_TWINS[self.problem.metric](kept, self.problem.aggregate)
        return NodeResult(levels, objective, release.suppressed, release.kept_suppressed)

    def release(self, classes: list[Rows]) -> Release | None:
        """Return what stays of a partition into classes when those that fail are dropped, None if invalid."""
        staying = self._staying(classes)
        released = {row for rows in staying for row in rows}
        dropped = [row for row in self._everyone if row not in released]
        kept_suppressed = self.problem.keep_rows and bool(dropped) and self.holds(dropped, self._everyone)
        kept_suppressed = kept_suppressed and self.table_holds([*staying, dropped])
        if self.problem.moving_reference and not kept_suppressed:
            staying = self._fixpoint(staying)
        released = {row for rows in staying for row in rows}
        suppressed = frozenset(row for row in self._everyone if row not in released)
        everything = [*staying, dropped] if kept_suppressed else staying
        if not everything or self.exceeds_limit(suppressed) or not self.table_holds(everything):
            return None
        return Release(everything, suppressed, kept_suppressed)

    def exceeds_limit(self, suppressed: Collection[int]) -> bool:
        """Tell whether too many records are suppressed, or too many persons lose one."""
        if self.problem.lost is None:
            return len(suppressed) > self.problem.limit
        persons = [self.data.persons[row] for row in suppressed]
        return len(set(persons) - {None}) + persons.count(None) > self.problem.lost

    def _staying(self, classes: list[Rows]) -> list[Rows]:
        """Return what stays under p of the input; with whole persons, until no class fails."""
        staying = self._after_dropping(classes, self._everyone)
        while self.problem.whole and (following := self._after_dropping(staying, self._everyone)) != staying:
            staying = following
        return staying

    def _fixpoint(self, staying: list[Rows]) -> list[Rows]:
        while staying:
            reference = [row for rows in staying for row in rows]
            following = self._after_dropping(staying, reference)
            if following == staying:
                break
            staying = following
        return staying

    def _after_dropping(self, classes: list[Rows], reference: Rows) -> list[Rows]:
        """Drop the classes that fail once, and where asked all other records of their persons."""
        failing = [rows for rows in classes if not self.holds(rows, reference)]
        persons = (
            {self.data.persons[row] for rows in failing for row in rows} if self.problem.whole else set()
        )
        persons -= {None}
        staying = [rows for rows in classes if rows not in failing]
        if persons:
            staying = [[row for row in rows if self.data.persons[row] not in persons] for rows in staying]
        return [rows for rows in staying if rows]

    def parts(self, rows: Rows, constraint: ConstraintSpec) -> list[Rows]:
        """Return a class as a constraint sees it: split by the other sensitive values when combined."""
        if not constraint.combined:
            return [rows]
        others = [spec.name for spec in self.data.sensitive if spec.name != constraint.attribute]
        found: dict[tuple[Any, ...], Rows] = {}
        for row in rows:
            key = tuple(self.data.records[row][self.data.position(name)] for name in others)
            found.setdefault(key, []).append(row)
        return list(found.values())

    def holds(self, rows: Rows, reference: Rows) -> bool:
        """Tell whether a class satisfies every model of classes, and where linked each of its rows too."""
        parts = [rows, *(self._by_published(rows) if self.problem.linked else [])]
        return all(self._holds(part, reference) for part in parts)

    def _holds(self, rows: Rows, reference: Rows) -> bool:
        """Tell the same of the class alone; many nodes have a class in common."""
        asked = tuple(rows), tuple(reference)
        if asked not in self._verdicts:
            self._verdicts[asked] = self._judged(rows, reference)
        return self._verdicts[asked]

    def _judged(self, rows: Rows, reference: Rows) -> bool:
        for number, (constraint, _) in enumerate(self._of_classes):
            for part in self.parts(rows, constraint):
                if constraint.unit is not None:
                    if not self._holds_for_persons(constraint, part, reference):
                        return False
                elif not self._holds_for_records(number, part, reference):
                    return False
        return True

    def _holds_for_records(self, number: int, rows: Rows, reference: Rows) -> bool:
        """Tell what one model says, to which it matters only how often each value occurs."""
        constraint, twin = self._of_classes[number]
        own, name = self._values(constraint, rows), constraint.attribute
        asked = number, frozenset(Counter(own).items()), tuple(reference)
        if asked not in self._verdicts:
            attribute = None if name is None else self.data.attribute(name)
            self._verdicts[asked] = twin.holds(own, self._values(constraint, reference), attribute)
        return self._verdicts[asked]

    def _holds_for_persons(self, constraint: ConstraintSpec, rows: Rows, reference: Rows) -> bool:
        name = constraint.attribute
        attribute = None if name is None else self.data.attribute(name)
        own, others = self._persons(rows, name), self._persons(reference, name)
        twin = CLASS_TWINS[constraint.model](constraint.parameters)
        return twin.holds_for_persons(own, others, attribute)

    def _persons(self, rows: Rows, attribute: str | None) -> Persons:
        """Return the values of each person in some rows; a row without a person is one of its own."""
        found: dict[Any, set[Any]] = {}
        for row in rows:
            person = self.data.persons[row]
            key = ("row", row) if person is None else person
            value = None if attribute is None else self.data.records[row][self.data.position(attribute)]
            found.setdefault(key, set()).add(value)
        return {person: frozenset(values) for person, values in found.items()}

    def _values(self, constraint: ConstraintSpec, rows: Rows) -> list[Value]:
        if constraint.attribute is None:
            return [None] * len(rows)
        return self.data.column(self.data.position(constraint.attribute), rows)

    def _units_guessed(self, release: list[Rows], constraint: ConstraintSpec) -> bool:
        """Tell whether one guess about a random person is right rarely enough."""
        rows, members = [], []
        for number, part in enumerate(each for own in release for each in self.parts(own, constraint)):
            for row in part:
                (value,) = self._values(constraint, [row])
                rows.append((number, value))
                person = self.problem.data.persons[row]
                members.append(("own", row) if person is None else person)
        most = Fraction(str(constraint.parameters["max"]))
        if constraint.attribute is None:
            guesses = [best_guess(rows, members, [0])]
        else:
            guesses = [best_values(rows, members, known, 1) for known in ([0], [])]
        return all(sum(each.values()) <= most * len(each) for each in guesses)

    def table_holds(self, release: list[Rows]) -> bool:
        """Tell whether a release satisfies every model of the whole table."""
        for constraint in self.problem.constraints:
            if constraint.model in TABLE_TWINS and constraint.unit is not None:
                if not self._units_guessed(release, constraint):
                    return False
            elif constraint.model in TABLE_TWINS:
                parts = [part for rows in release for part in self.parts(rows, constraint)]
                groups = [self._values(constraint, part) for part in parts]
                if not TABLE_TWINS[constraint.model](constraint.parameters).holds(groups):
                    return False
        return True
