"""The proposal for a file: the role of each column with its reason, hierarchies and privacy models.

Dependence between columns: if the records are not read into this process, the engine counts. Records of
each pair of values of every two columns are counted by bundles of columns. The table of two bundles holds
those of all pairs between them: records are counted once for many pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations
from math import isqrt, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.config.attribute import Role
from anonymizer.data.csv import index_warnings
from anonymizer.data.relation import Relation
from anonymizer.errors import DataError
from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import count_keys, group_keys
from anonymizer.model.table import POINT, Numerals, ValueType
from anonymizer.profile.column_statistics import (
    NEARLY_ALL,
    PERSONAL,
    SENSITIVE,
    ColumnFacts,
    measure,
    names_any,
)
from anonymizer.profile.detection import Finding, findings
from anonymizer.profile.hierarchies import Draft, HierarchyDrafter, match_listed, named_for

CELLS = 1 << 22
"""Pairs of values up to which a pair of columns is tabulated."""

BUNDLED = 255
"""Combinations of values of a bundle of columns, at most: codes of one take a byte, of two take two."""

RECORDS_A_CELL = 8
"""Records for each cell of the table of two bundles from which on adding it up costs less than counting."""

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Some columns as one.

    Attributes
    ----------
    names: of the columns.
    widths: codes of each.
    codes: of each record, the columns packed in their order, shape (records,).
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    codes: Codes

    @property
    def width(self) -> int:
        """Number of packed codes."""
        return prod(self.widths)

    def alone(self) -> list[Bundle]:
        """Return each column as a bundle of its own."""
        if len(self.names) == 1:
            return [self]
        found = []
        codes = self.codes
        for name, width in zip(self.names[::-1], self.widths[::-1], strict=True):
            codes, own = np.divmod(codes, codes.dtype.type(width))
            found.append(Bundle((name,), (width,), own))
        return found


def widest_bundle(records: int) -> int:
    """Return how many combinations of values a bundle of several columns may have.

    >>> widest_bundle(1_000_000), widest_bundle(800)
    (255, 10)
    """
    return min(BUNDLED, isqrt(records // RECORDS_A_CELL))


def bundles(widths: Mapping[str, int], most: int) -> list[tuple[str, ...]]:
    """Divide columns among few bundles of at most so many combinations; a wider column is one by itself.

    >>> bundles({"sex": 2, "age": 90, "race": 5, "region": 4}, 200)
    [('age', 'sex'), ('race', 'region')]
    """
    found: list[list[str]] = []
    sizes: list[int] = []
    for name in sorted(widths, key=lambda name: (-widths[name], name)):
        place = next((at for at, size in enumerate(sizes) if size * widths[name] <= most), len(sizes))
        if place == len(sizes):
            found.append([])
            sizes.append(1)
        found[place].append(name)
        sizes[place] *= widths[name]
    return [tuple(names) for names in found]


def pair_tables(
    widths: Mapping[str, int], codes_of: Callable[[str], Codes], most: int, cells: int = CELLS
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield the records of each pair of values of every two columns, in no certain order of the columns.

    Parameters
    ----------
    widths: codes of each column; two columns are in the order of these.
    codes_of: code of each record in a column, shape (records,).
    most: combinations of values that a bundle of several columns may have.
    cells: of a table, at most; pairs of wide columns that have more are left out. The shape of a table is
        (values of the one, values of the other).
    """
    place = {name: number for number, name in enumerate(widths)}
    made = [_bundle(names, widths, codes_of) for names in bundles(widths, most)]
    for bundle in made:
        if len(bundle.names) > 1:
            counts = np.bincount(bundle.codes, minlength=bundle.width).reshape(bundle.widths)
            axes = range(len(bundle.names))
            for one, other in combinations(axes, 2):
                table = counts.sum(axis=tuple(axis for axis in axes if axis not in (one, other)))
                yield _in_order(place, bundle.names[one], bundle.names[other], table)
    for first, second in combinations(made, 2):
        together = first.width * second.width <= min(most * most, cells)
        parts = [(first, second)] if together else [(a, b) for a in first.alone() for b in second.alone()]
        for one_bundle, other_bundle in parts:
            if one_bundle.width * other_bundle.width <= cells:
                yield from _between(place, one_bundle, other_bundle)


def _bundle(names: Sequence[str], widths: Mapping[str, int], codes_of: Callable[[str], Codes]) -> Bundle:
    """Return columns packed; the integers are as narrow as the packed codes allow."""
    own = tuple(widths[name] for name in names)
    codes = codes_of(names[0]).astype(np.min_scalar_type(prod(own)), copy=False)
    for name, width in zip(names[1:], own[1:], strict=True):
        codes = codes * codes.dtype.type(width) + codes_of(name).astype(codes.dtype, copy=False)
    return Bundle(tuple(names), own, codes)


def _between(
    place: Mapping[str, int], first: Bundle, second: Bundle
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield the tables of the pairs between two bundles."""
    cells = first.width * second.width
    keys = first.codes.astype(np.min_scalar_type(cells))
    keys *= keys.dtype.type(second.width)
    keys += second.codes.astype(keys.dtype, copy=False)
    counts = np.bincount(keys, minlength=cells).reshape(*first.widths, second.width)
    for axis, name in enumerate(first.names):
        others = tuple(each for each in range(len(first.names)) if each != axis)
        of_one = counts.sum(axis=others).reshape(-1, *second.widths)
        for number, other in enumerate(second.names):
            rest = tuple(each + 1 for each in range(len(second.names)) if each != number)
            yield _in_order(place, name, other, of_one.sum(axis=rest))


def _in_order(
    place: Mapping[str, int], one: str, other: str, table: IntArray
) -> tuple[tuple[str, str], IntArray]:
    """Return two columns in their order, and their table turned to it."""
    return ((one, other), table) if place[one] < place[other] else ((other, one), table.T)


WIDEST = 20_000
"""Distinct texts of a column up to which it is paired with others; more of them tell people apart alone."""

RECORDS_A_COMBINED_CELL = 5
"""Records per pair of values from which on their dependence is more than chance."""

A_PAIR = 2_000
"""Records or cells that take as long to count as one more pair of columns does, however few it has."""

WORK = 150_000_000
"""Records, cells and ``A_PAIR``, summed over pairs of columns, that are counted; beyond it, columns are left
out: pairs of several hundred columns at most."""


@dataclass(frozen=True)
class Pair:
    """Two columns together.

    Attributes
    ----------
    columns: their names.
    alone: records that no other has the same two values as.
    told: of the second given the first, and of the first given the second: the share of its entropy that
        the other column tells (Theil's uncertainty coefficient), 0 to 1; None where there are so few records
        that chance would look like it.
    """

    columns: tuple[str, str]
    alone: int
    told: tuple[float, float] | None


@dataclass(frozen=True)
class JointUniqueness:
    """Some columns at once.

    Attributes
    ----------
    columns: how many.
    records: all of them.
    alone: records that no other has the same values as.
    below: records in classes of fewer than ``k``.
    """

    columns: int
    records: int
    k: int
    alone: int
    below: int


class UniquenessProfile:
    """Counts of combinations of columns; each column's codes of all records are fetched once.

    Parameters
    ----------
    relation: open as long as this is in use.
    work: records, cells and ``A_PAIR``, summed over pairs of columns, that are counted at most.
    """

    def __init__(self, relation: Relation, work: int = WORK) -> None:
        self._relation = relation
        self._work = work
        self._codes: dict[str, NDArray[np.integer]] = {}
        self._widths: dict[str, int] = {}

    def pairs(self, columns: Sequence[ColumnFacts]) -> list[Pair]:
        """Return what every two of some columns show, for those that can be tabulated.

        Parameters
        ----------
        columns: none wider than ``WIDEST``; those of the lowest entropy are left out where there is too much
            to count.
        """
        ranked = sorted(columns, key=lambda column: (-column.entropy, column.name))
        names = {column.name for column in ranked[: self._affordable(ranked)]}
        kept = [name for name in self._relation.columns if name in names]
        found = {names: self._pair(names, cells) for names, cells in self._tables(kept)}
        return [found[names] for names in combinations(kept, 2) if names in found]

    def _affordable(self, ranked: Sequence[ColumnFacts]) -> int:
        """Return how many of some columns, from the first on, can be paired with each other."""
        most = isqrt(2 * self._work // A_PAIR) + 2
        sizes = np.array([column.distinct + 1 for column in ranked[:most]], dtype=np.float64)
        cells = np.outer(sizes, sizes)
        of_pairs = np.where(cells > CELLS, 0.0, cells + self._relation.rows) + A_PAIR
        work = np.tril(of_pairs, -1).sum(axis=1).cumsum()
        return int(np.searchsorted(work, self._work, side="right"))

    def together(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return how many records some columns single out together."""
        keys = np.zeros(self._relation.rows, dtype=np.int64)
        size = 1
        for name in names:
            codes = self._codes[name] if name in self._codes else self._relation.profiling.keys(name)
            width = self._widths.get(name) or int(codes.max()) + 1
            if size * width >= 2**62:
                keys, distinct = group_keys(keys, size)
                size = len(distinct)
            keys *= width
            keys += codes
            size *= width
        counts = _sizes(keys, size)
        alone = int(np.count_nonzero(counts == 1))
        return JointUniqueness(len(names), len(keys), k, alone, int(counts[counts < k].sum()))

    def _of(self, name: str) -> NDArray[np.integer]:
        if name not in self._codes:
            codes = self._relation.codes(name)
            self._widths[name] = int(codes.max()) + 1
            self._codes[name] = codes.astype(np.min_scalar_type(self._widths[name]), copy=False)
        return self._codes[name]

    def _pair(self, names: tuple[str, str], cells: IntArray) -> Pair:
        enough = self._relation.rows >= RECORDS_A_COMBINED_CELL * cells.size
        return Pair(names, int(np.count_nonzero(cells == 1)), _told(cells) if enough else None)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with the records of each pair of values, unless these are too many."""
        for name in names:
            self._of(name)
        widths = {name: self._widths[name] for name in names}
        return pair_tables(widths, self._of, widest_bundle(self._relation.rows))


def _told(cells: IntArray) -> tuple[float, float]:
    """Return what rows tell of columns and columns of rows, counts given as a table."""
    of_first, of_second = _entropy(cells.sum(axis=1)), _entropy(cells.sum(axis=0))
    shared = max(of_first + of_second - _entropy(cells.ravel()), 0.0)
    return _share(shared, of_second), _share(shared, of_first)


def _sizes(keys: IntArray, size: int) -> IntArray:
    """Return the sizes of the classes of equal keys, none 0, in no certain order; uses up the keys."""
    if size <= CELLS:
        counts = np.bincount(keys)
        return counts[counts > 0].astype(np.int64, copy=False)
    return count_keys(keys)[1]


def _entropy(counts: IntArray) -> float:
    """Return the entropy of counts in bits."""
    present = counts[counts > 0].astype(np.float64)
    total = float(present.sum())
    return float(np.log2(total) - (present @ np.log2(present)) / total)


def _share(part: float, whole: float) -> float:
    """Return a share of an entropy, 0 of none; rounding makes no more than all of it."""
    return min(part / whole, 1.0) if whole > 1e-12 else 0.0


K = 5
"""Records that look the same, at least: the usual least of statistics offices."""

LIMIT = Decimal("0.02")
"""Share of the records that may be left out."""

MANY, SOME = 20, 6
"""Distinct numbers from which on their spread is what matters; values from which on three are asked."""

SKEWED = Decimal("0.8")
"""Share of the most frequent value from which on diversity in every class costs more than it protects."""

CLOSENESS = Decimal("0.3")


def proposed_k(rows: int) -> int:
    """Return the k that is proposed for a number of records."""
    return min(K, rows)


def proposed_constraint(column: ColumnFacts) -> tuple[dict[str, Any], str] | None:
    """Return a model for a sensitive attribute with the reason, None for one that has one value only.

    A single class of all records satisfies each, so that there always is a release.
    """
    if column.distinct < 2:
        return None
    numbers = column.type is not ValueType.TEXT and column.distinct > MANY
    if numbers or column.largest > SKEWED * column.present:
        why = "the distribution of its values in every class is close to that in the whole file"
        return {"model": "t-closeness", "t": CLOSENESS, "attribute": column.name}, why
    diversity = 3 if column.distinct >= SOME else 2
    why = f"{diversity} different values in every class, so that the class does not reveal the value"
    if column.distinctness >= NEARLY_ALL:
        why += (
            "; but nearly all of its values differ, so every class satisfies this and it protects almost "
            "nothing: add a hierarchy and use t-closeness with distance: hierarchical"
        )
    return {"model": "l-diversity", "l": diversity, "attribute": column.name}, why


def constraints(rows: int, sensitive: Iterable[ColumnFacts]) -> list[tuple[dict[str, Any], str]]:
    """Return the models that are proposed for a file, each with its reason."""
    k = proposed_k(rows)
    first = (
        {"model": "k-anonymity", "k": k},
        f"every record shares its quasi-identifiers with at least {k - 1} others",
    )
    proposed = (proposed_constraint(column) for column in sensitive)
    return [first, *(each for each in proposed if each is not None)]


class CountedCombinations(UniquenessProfile):
    """Counts of combinations of columns that an engine returns.

    Parameters
    ----------
    relation, work: as for ``Combinations``.
    """

    def together(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return how many records some columns single out together."""
        alone, below = self._relation.profiling.in_small_classes(names, k)
        return JointUniqueness(len(names), self._relation.rows, k, alone, below)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with the records of each pair of values, unless these are too many."""
        widths = {name: len(self._relation.dictionary(name)) for name in names}
        for one, other in combinations(names, 2):
            if widths[one] * widths[other] <= CELLS:
                found = self._relation.group_counts((one, other))
                cells: IntArray = np.zeros((widths[one], widths[other]), dtype=np.int64)
                cells[found.codes[:, 0], found.codes[:, 1]] = found.counts
                yield (one, other), cells


def combinations_of(relation: Relation) -> UniquenessProfile:
    """Return what counts the combinations of a relation; one in order counts them fastest by its codes."""
    return UniquenessProfile(relation) if relation.ordered else CountedCombinations(relation)


@dataclass(frozen=True)
class RoleProposal:
    """A proposed role.

    Attributes
    ----------
    role: proposed.
    reason: why, in counts and never by a value.
    doubtful: whether somebody who knows the data may well decide otherwise.
    flag: what identifying thing the values look like, None if nothing.
    general: whether what would be dropped may be published in general form instead.
    """

    role: Role
    reason: str
    doubtful: bool = False
    flag: str | None = None
    general: bool = False


def role_of(column: ColumnFacts, found: Sequence[Finding]) -> RoleProposal:
    """Return the role that a column is proposed by itself; the first rule that applies decides.

    Parameters
    ----------
    found: what the detectors find in it, what is certain first.
    """
    if column.distinct == 0:
        return RoleProposal(Role.INSENSITIVE, "no values")
    if column.distinct == 1 and not column.missing and column.rows > 1:
        return RoleProposal(Role.INSENSITIVE, f"constant: one value in all {column.rows:,} records")
    subject = _subject(column)
    if found and (found[0].certain or subject is None or column.type is ValueType.TEXT):
        doubtful = not found[0].certain or found[0].general
        reason = f"looks like {found[0].what}: {found[0].reason}"
        return RoleProposal(Role.IDENTIFIER, reason, doubtful, found[0].what, found[0].general)
    if subject is not None:
        return _sensitive(column, subject)
    return _by_distinctness(column)


def _sensitive(column: ColumnFacts, subject: str) -> RoleProposal:
    """Return the verdict on a column that people do not want to be known.

    Values that nearly all differ stay what is to be protected, but somebody has to know that they are
    released as they are: an exact wage finds its person in the books of the employer.
    """
    reason = f"{_values(column)}, {subject}"
    if column.distinctness >= NEARLY_ALL and column.singles > 1:
        told = (
            f"released unchanged: {column.singles:,} of them occur once and can be linked by anybody who "
            "knows them"
        )
        return RoleProposal(Role.SENSITIVE, f"{reason}; {told}", doubtful=True)
    return RoleProposal(Role.SENSITIVE, reason, doubtful=_doubtful(column))


def _by_distinctness(column: ColumnFacts) -> RoleProposal:
    known = names_any(column.name, PERSONAL) or match_listed(column) is not None
    if column.type is ValueType.TEXT and column.distinctness >= NEARLY_ALL and not known:
        reason = (
            f"{column.distinct:,} different texts in {column.present:,} records: nearly every record "
            "is unique"
        )
        return RoleProposal(Role.IDENTIFIER, reason, doubtful=True)
    return RoleProposal(Role.QUASI_IDENTIFIER, _values(column), doubtful=not known)


def _values(column: ColumnFacts) -> str:
    noun = "value" if column.distinct == 1 else "values"
    return f"{column.distinct:,} {noun}"


def _subject(column: ColumnFacts) -> str | None:
    """Return what makes a column sensitive, None if nothing does."""
    for subject, terms in SENSITIVE.items():
        if names_any(column.name, terms):
            return f"named as {subject}"
    match = match_listed(column)
    if match is not None and match.name in ("icd10", "religion"):
        return f"most values are in the ready-made hierarchy {match.name}"
    return None


def _doubtful(column: ColumnFacts) -> bool:
    """Tell whether a sensitive column may as well be known to others, or of no interest to anybody."""
    sure = any(names_any(column.name, SENSITIVE[subject]) for subject in ("health", "money"))
    return not sure or named_for(column, "occupation") or column.distinct <= 1


TELLING = 0.05
"""Share of a column's entropy from which on it is worth a word what tells it."""

THE_SAME = 0.9999
"""Share of the entropy of each that the other tells, from which on two columns say the same."""


class Relations:
    """The pairs of columns that were counted.

    Parameters
    ----------
    roles: proposed role of each column.
    """

    def __init__(self, pairs: Sequence[Pair], roles: Mapping[str, Role]) -> None:
        self._roles = roles
        self._pairs: dict[str, list[Pair]] = {name: [] for name in roles}
        for pair in pairs:
            for name in pair.columns:
                self._pairs[name].append(pair)

    def reason(self, column: ColumnFacts, verdict: RoleProposal) -> str:
        """Return the reason for a role, with what other columns have to do with it."""
        parts = [verdict.reason]
        if verdict.role is Role.QUASI_IDENTIFIER:
            parts += self._alone(column)
        if verdict.role is Role.SENSITIVE:
            parts += self._told(column.name)
        if column.missing and verdict.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            parts.append(f"{column.missing:,} missing")
        return ", ".join(parts)

    def _alone(self, column: ColumnFacts) -> list[str]:
        """Return how many people the column singles out alone, and with the one that does it best."""
        found = [f"{column.singles:,} records unique on this column alone"] if column.singles else []
        partners = [
            (pair.alone, self._other(pair, column.name))
            for pair in self._pairs[column.name]
            if self._roles[self._other(pair, column.name)] is Role.QUASI_IDENTIFIER
        ]
        alone, partner = max(partners, default=(0, ""))
        if alone > column.singles:
            found.append(f"{alone:,} records unique together with {partner}")
        return found

    def verdict(self, column: ColumnFacts, verdict: RoleProposal) -> RoleProposal:
        """Return the verdict on a column by itself, unless an earlier quasi-identifier says the same."""
        for pair in self._pairs[column.name]:
            earlier, name = pair.columns
            both = self._roles[earlier] is self._roles[name] is Role.QUASI_IDENTIFIER
            if name == column.name and both and pair.told is not None and min(pair.told) >= THE_SAME:
                reason = f"{verdict.reason}, equivalent to {earlier}, so nothing is lost if it is dropped"
                return RoleProposal(Role.IDENTIFIER, reason, doubtful=True, general=True)
        return verdict

    def _told(self, name: str) -> list[str]:
        """Return which quasi-identifier tells most about a sensitive column."""
        told = [
            (pair.told[pair.columns.index(name) == 0], self._other(pair, name))
            for pair in self._pairs[name]
            if pair.told is not None and self._roles[self._other(pair, name)] is Role.QUASI_IDENTIFIER
        ]
        share, partner = max(told, default=(0.0, ""))
        return [f"{partner} determines {share:.0%} of it"] if share >= TELLING else []

    @staticmethod
    def _other(pair: Pair, name: str) -> str:
        one, other = pair.columns
        return other if one == name else one


COUNTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


@dataclass(frozen=True)
class ColumnProposal:
    """A column with its role.

    Attributes
    ----------
    facts: what was measured.
    verdict: what was proposed, and why.
    role: as decided: the proposed one, or what the user said.
    reason: for the role, in counts and never by a value.
    draft: the hierarchy of a quasi-identifier; of an identifier, what would publish it in general form.
    answered: whether the user was asked for the role.
    """

    facts: ColumnFacts
    verdict: RoleProposal
    role: Role
    reason: str
    draft: Draft | None = None
    answered: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether somebody has yet to look at the role."""
        return self.verdict.doubtful and not self.answered

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.facts.name

    def settings(self, role: Role) -> dict[str, Any]:
        """Return the column's section of the config in a role."""
        section: dict[str, Any] = {"role": role.value}
        if role not in COUNTED:
            return section
        draft = self.draft if role is Role.QUASI_IDENTIFIER else None
        section["type"] = ((draft.type if draft else None) or self.facts.type).value
        if draft is not None and draft.hierarchy is not None:
            section["hierarchy"] = dict(draft.hierarchy)
        return section


@dataclass(frozen=True)
class Proposal:
    """What is proposed for a file.

    Attributes
    ----------
    rows: records of the file.
    separator: between its fields, None for what is no text file.
    missing: texts that stand for a missing value.
    columns: in the order of the file.
    constraints: settings of each model with its reason.
    together: how far the quasi-identifiers single people out, all at once.
    numerals: how its texts write numbers.
    warnings: what its texts leave in doubt.
    """

    rows: int
    separator: str | None
    missing: tuple[str, ...]
    columns: tuple[ColumnProposal, ...]
    constraints: tuple[tuple[Mapping[str, Any], str], ...] = field(hash=False)
    together: JointUniqueness
    numerals: Numerals = POINT
    warnings: tuple[str, ...] = ()


Decide = Callable[[ColumnProposal], Role]


def as_proposed(column: ColumnProposal) -> Role:
    """Decide on a doubtful column as it was proposed."""
    return column.role


def propose(relation: Relation, decide: Decide = as_proposed) -> Proposal:
    """Profile an open input and propose a config for it.

    Parameters
    ----------
    decide: asked for the role of each doubtful column, in the order of the file.

    Raises
    ------
    DataError: there is no column by which people could be recognised and that could be published.
    """
    measured = measure(relation)
    counter = combinations_of(relation)
    columns = _with_roles(measured.columns, counter)
    columns = [_decided(each, decide) for each in columns]
    columns = _with_something_to_protect(relation.name, columns)
    fitting = HierarchyDrafter(relation, measured.missing)
    columns = [_drafted(each, fitting) for each in columns]
    quasi_identifiers = [each.name for each in columns if each.role is Role.QUASI_IDENTIFIER]
    sensitive = [each.facts for each in columns if each.role is Role.SENSITIVE]
    return Proposal(
        relation.rows,
        relation.separator,
        measured.missing,
        tuple(columns),
        tuple(constraints(relation.rows, sensitive)),
        counter.together(quasi_identifiers, proposed_k(relation.rows)),
        measured.numerals,
        (*index_warnings(relation.index_columns), *measured.warnings),
    )


def _decided(column: ColumnProposal, decide: Decide) -> ColumnProposal:
    if not column.verdict.doubtful:
        return column
    return replace(column, role=decide(column), answered=decide is not as_proposed)


def _with_roles(measured: tuple[ColumnFacts, ...], counter: UniquenessProfile) -> list[ColumnProposal]:
    verdicts = {column.name: role_of(column, findings(column)) for column in measured}
    counted = [column for column in measured if verdicts[column.name].role in COUNTED]
    narrow = [column for column in counted if column.distinct <= WIDEST]
    relations = Relations(counter.pairs(narrow), {name: each.role for name, each in verdicts.items()})
    columns = []
    for column in measured:
        verdict = relations.verdict(column, verdicts[column.name])
        reason = relations.reason(column, verdict)
        columns.append(ColumnProposal(column, verdict, verdict.role, reason))
    return columns


def _with_something_to_protect(name: str, columns: list[ColumnProposal]) -> list[ColumnProposal]:
    """Keep one quasi-identifier at least: if need be, what an identifier says in general form."""
    if any(each.role is Role.QUASI_IDENTIFIER for each in columns):
        return columns
    general = [each for each in columns if each.verdict.general]
    if not general:
        dropped = sum(each.role is Role.IDENTIFIER for each in columns)
        kept = len(columns) - dropped
        raise DataError(
            f"{name}: nothing remains to protect: {dropped} of {len(columns)} columns identify people and "
            f"would be dropped, and by the other {kept} nobody would be recognised; a config needs a "
            "quasi-identifier: add a column, or choose one with --interactive"
        )
    return [replace(each, role=Role.QUASI_IDENTIFIER) if each in general else each for each in columns]


def _drafted(column: ColumnProposal, fitting: HierarchyDrafter) -> ColumnProposal:
    general = column.role is Role.IDENTIFIER and column.verdict.general
    if column.role is Role.QUASI_IDENTIFIER or general:
        return replace(column, draft=fitting.draft(column.facts))
    return column
