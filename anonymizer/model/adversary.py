"""An adversary's knowledge: the release as its recipient counts it, originals, links and mechanism.

A release is one table, or the QIT and ST of Anatomy. The originals are records of the input that an adversary
may know, with links to the released ones. The mechanism is the search that made the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anonymizer.errors import InputError, suggestion
from anonymizer.model.arrays import (
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    Packing,
    count,
    group_keys,
    numbered,
)
from anonymizer.model.classes import Classes, ClassValues, SensitiveCodes, SensitiveCounts
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.measure import Measure
from anonymizer.model.owners import OwnedRecords, Owners, lacking
from anonymizer.model.recoding import GROUP
from anonymizer.model.table import Column, Hierarchy


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """The distinct rows of published values with their records.

    Attributes
    ----------
    source: name of the file in messages.
    names: of the quasi-identifiers.
    labels: distinct published texts of each quasi-identifier; None for a null.
    codes: position in ``labels`` for each row and quasi-identifier, shape (combinations, quasi-identifiers),
        int32.
    sensitive: sensitive values of the rows by attribute.
    counts: records of each row, shape (combinations,), int64.
    weights: by column of sampling weights, the sum over those records, shape (combinations,), float64.
    """

    source: str
    names: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    codes: CodeArray
    sensitive: Mapping[str, SensitiveCodes]
    counts: IntArray
    weights: Mapping[str, FloatArray] = field(default_factory=dict)
    _classes: dict[tuple[str, ...], Classes] = field(default_factory=dict, init=False, repr=False)

    @property
    def records(self) -> int:
        """Number of records of the release."""
        return int(self.counts.sum())

    @property
    def sensitive_names(self) -> list[str]:
        """Names of the sensitive attributes."""
        return list(self.sensitive)

    def known(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return the quasi-identifiers that an adversary knows, in the order of the release; None: all.

        Raises
        ------
        InputError: a name is not a quasi-identifier.
        """
        if names is None:
            return self.names
        for name in names:
            if name not in self.names:
                what = f"{self.source}: an adversary cannot know '{name}', which is not a quasi-identifier"
                raise InputError(f"{what}; {suggestion(name, self.names)}")
        return tuple(name for name in self.names if name in names)

    def classes(self, names: Sequence[str] | None = None) -> Classes:
        """Return the equivalence classes for an adversary who knows these quasi-identifiers; None: all.

        Raises
        ------
        InputError: a name is not a quasi-identifier.
        """
        known = self.known(names)
        if known not in self._classes:
            class_of, number = self._grouped(known)
            found = Classes(class_of, Measure(self.counts), number, self.sensitive)
            places = [self.names.index(name) for name in known]
            found.values = ClassValues(
                known,
                lambda: self.codes[np.unique(class_of, return_index=True)[1]][:, places],
                lambda: [self.labels[place] for place in places],
            )
            self._classes[known] = found
        return self._classes[known]

    def class_of(self, known: Sequence[str]) -> IntArray:
        """Return the class of each row by some columns, not kept in memory, shape (combinations,), int64."""
        return self._grouped(known)[0]

    def _grouped(self, known: Sequence[str]) -> tuple[IntArray, int]:
        packing = Packing(len(self.counts))
        for position in map(self.names.index, known):
            packing.add(self.codes[:, position], len(self.labels[position]))
        space = packing.space
        class_of, distinct = group_keys(packing.take_keys(), space)
        return class_of, len(distinct)

    @property
    def blanks(self) -> BoolArray:
        """Which cells are published as ``*``, shape (combinations, quasi-identifiers), bool."""
        columns = [
            np.array([label == SUPPRESSED for label in labels], dtype=bool)[self.codes[:, position]]
            for position, labels in enumerate(self.labels)
        ]
        return np.column_stack(columns)

    def count_matching(self, items: IntArray, known: Sequence[str]) -> IntArray:
        """Return the number of records with an item's values in these columns, shape (items,), int64.

        Parameters
        ----------
        items: distinct rows, shape (items,), int64.
        known: columns; without any, all records match.
        """
        class_of, number = self._grouped(known)
        sizes: IntArray = count(class_of, self.counts, number)[class_of[items]]
        return sizes


@dataclass(frozen=True, eq=False)
class AnatomyTruth:
    """The secret of an Anatomy release: the records of each row by sensitive value.

    Attributes
    ----------
    rows: row of the QIT, shape (entries,), int64, ascending.
    values: code of the sensitive value, shape (entries,), int64, ascending within a row.
    counts: records, shape (entries,), int64, positive. They sum to those of the row; unknown rows are left
        out.
    """

    rows: IntArray
    values: IntArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class AnatomyRelease:
    """The distinct rows of the QIT, and the sensitive values of each bucket in the ST.

    Attributes
    ----------
    source: name of the release in messages.
    names: of the quasi-identifiers.
    labels: distinct published texts of each quasi-identifier; None for a null.
    codes: position in ``labels`` for each row and quasi-identifier, shape (rows, quasi-identifiers), int32.
    groups: names of the buckets, in the order of their numbers.
    group: bucket of each row, from 0, ascending, shape (rows,), int64.
    counts: records of each row, shape (rows,), int64.
    sensitive: records of each bucket by value; its classes are the buckets.
    truth: records of each row by value, None if unknown.
    """

    source: str
    names: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    codes: CodeArray
    groups: tuple[str, ...]
    group: IntArray
    counts: IntArray
    sensitive: SensitiveCounts
    truth: AnatomyTruth | None = None

    @property
    def records(self) -> int:
        """Number of records of the release."""
        return int(self.counts.sum())

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each bucket, shape (groups,), int64."""
        return count(self.group, self.counts, len(self.groups))

    @cached_property
    def tuples(self) -> PublishedTable:
        """The QIT without buckets, in which an adversary finds a target's row."""
        of_row, first = numbered(self.codes.T, len(self.counts))
        counts = count(of_row, self.counts, len(first))
        return PublishedTable(self.source, self.names, self.labels, self.codes[first], {}, counts)

    @cached_property
    def values(self) -> PublishedTable:
        """The sensitive values by bucket, which an adversary infers for a target in a bucket."""
        own = self.sensitive
        codes = own.owners.astype(np.int32)[:, None]
        values = {own.attribute.name: SensitiveCodes(own.attribute, own.values)}
        return PublishedTable(self.source, (GROUP,), (self.groups,), codes, values, own.counts)


@dataclass(frozen=True, eq=False)
class ValueCoverage:
    """The original values that each published text of a quasi-identifier covers, by its hierarchy.

    Attributes
    ----------
    column: the original values.
    starts: text i covers ``values[starts[i]:starts[i + 1]]``, shape (texts + 1,), int64; nothing if it is a
        masked number, or not an original value.
    values: codes of ``column``, shape (entries,), int64, ascending within a text.
    low, high: smallest and largest number that a text covers, shape (texts,), float64; equal for a single
        number or a mean, NaN for text columns and missing values.
    hierarchy, leaf: of the quasi-identifier, for the distance of values; None: all distances are equal.
    """

    column: Column
    starts: IntArray
    values: IntArray
    low: FloatArray
    high: FloatArray
    hierarchy: Hierarchy | None = None
    leaf: CodeArray | None = None

    @cached_property
    def sizes(self) -> IntArray:
        """Number of values that each text covers, shape (texts,), int64."""
        return np.diff(self.starts)

    def covers(self, values: CodeArray, texts: CodeArray) -> BoolArray:
        """Return whether each text covers the value at the same position, shape (pairs,), bool.

        Every text covers an unknown value, -1.
        """
        size = self.column.size
        entries = np.repeat(np.arange(len(self.sizes)), self.sizes) * size + self.values
        wanted = texts.astype(np.int64) * size + values
        place = np.searchsorted(entries, wanted)
        found: BoolArray = (np.append(entries, -1)[place] == wanted) | (values < 0)
        return found


class Truth(StrEnum):
    """Source of the links between original and released records."""

    KNOWN = "known"
    RECONSTRUCTED = "reconstructed"
    BY_POSITION = "by position"
    BY_KEY = "by key"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Links:
    """Links from original to released distinct rows; suppressed records have none.

    Attributes
    ----------
    original, release: positions of rows in the two tables, shape (links,), int64; ascending by ``original``,
        then ``release``.
    counts: records, shape (links,), int64, positive.
    forced: whether they were reconstructed for all released records, and no others fit.
    """

    original: IntArray
    release: IntArray
    counts: IntArray
    forced: bool = False

    @property
    def records(self) -> int:
        """Number of linked records."""
        return int(self.counts.sum())

    def of_pairs(self, original: IntArray, release: IntArray) -> IntArray:
        """Return the position of the link of each pair of rows, all of them linked, shape (pairs,), int64."""
        width = int(self.release.max(initial=0)) + 1
        return np.searchsorted(self.original * width + self.release, original * width + release)


@dataclass(frozen=True, eq=False)
class Original:
    """The distinct rows of original values with their records, and links to the release.

    Attributes
    ----------
    source: name of the file in messages.
    meanings: values that published texts cover, by quasi-identifier in the order of ``names``.
    codes: codes of each row in the columns of ``meanings``, shape (combinations, quasi-identifiers), int32.
    sensitive: sensitive values of the rows by attribute.
    counts: records of each row, shape (combinations,), int64.
    links: to rows of the release.
    names: quasi-identifiers of both files, in the order of the release.
    truth: source of the links; ``unknown`` without links.
    aligned_links: links of equal keys in the two files, without a key those of equal row numbers; None if
        there are no keys and the files have different lengths.
    unmatched_columns: columns of only one of the two files, by file.
    owners: of the released records, None if unknown.
    """

    source: str
    meanings: tuple[ValueCoverage, ...]
    codes: CodeArray
    sensitive: Mapping[str, SensitiveCodes]
    counts: IntArray
    links: Links
    names: tuple[str, ...]
    truth: Truth = Truth.KNOWN
    aligned_links: Links | None = None
    unmatched_columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    owners: Owners | None = None

    @property
    def records(self) -> int:
        """Number of original records."""
        return int(self.counts.sum())

    def known(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return the quasi-identifiers by which an adversary compares records; None: all of both files.

        Raises
        ------
        InputError: a name is not one of them.
        """
        for name in names or ():
            if name not in self.names:
                what = (
                    f"{self.source}: records cannot be compared by '{name}', which is not a quasi-identifier"
                )
                raise InputError(f"{what} of both files; {suggestion(name, self.names)}")
        return tuple(name for name in self.names if names is None or name in names)


@dataclass(frozen=True, eq=False)
class ReleasePair:
    """Two releases whose published values are read in one domain, without original records.

    Attributes
    ----------
    names: quasi-identifiers of both, in the order of the first.
    first, second: values that the texts of either release cover, by quasi-identifier in the order of
        ``names``; both of one column.
    links: from rows of the first to rows of the second release, by common original records; empty without.
    truth: source of the links.
    aligned_links: of equal keys in the two files, without a key those of equal row numbers; None if there are
        no keys and the files have different lengths.
    """

    names: tuple[str, ...]
    first: tuple[ValueCoverage, ...]
    second: tuple[ValueCoverage, ...]
    links: Links
    truth: Truth
    aligned_links: Links | None = None


class SensitiveConstraint(NamedTuple):
    """A constraint on the sensitive values of each class.

    Attributes
    ----------
    sensitive: name of the attribute.
    distinct: minimum number of distinct values if that is the whole constraint, None for others.
    missing_counts: whether a missing value counts as distinct.
    """

    sensitive: str
    distinct: int | None = None
    missing_counts: bool = False


@dataclass(frozen=True)
class MechanismKnowledge:
    """The knowledge that the release is an optimal transformation, so all valid ones have no lower loss.

    It exists only for full-domain recoding, proven optimal, with suppression limit 0, an objective that is
    lower for every transformation whose classes are parts of the published ones, and constraints on single
    classes.

    Attributes
    ----------
    levels: published generalization level of each quasi-identifier, in the order of the original's.
    lowest: minimum level of each.
    counted: whether the objective depends on the quasi-identifier.
    size: smallest class size that the constraints allow.
    promises: the constraints on sensitive values.
    """

    levels: tuple[int, ...]
    lowest: tuple[int, ...]
    counted: tuple[bool, ...]
    size: int
    promises: tuple[SensitiveConstraint, ...]


@dataclass(frozen=True, eq=False)
class AdversaryView:
    """The data and the knowledge of an adversary.

    Attributes
    ----------
    release: as its recipient counts it; of Anatomy the QIT, without sensitive values.
    second: another release of the same people, None without one.
    original: the adversary's original records, with links to the release; None without.
    second_original: the same records, with links to the second release; None without.
    recipe: the mechanism, None if it discloses nothing or is unknown.
    grouped: the Anatomy release, None for a single table.
    pair: both releases in one domain of values; None without a second one or a common quasi-identifier.
    named: whose the released records are by the pseudonyms of the release, with its rows in place of those
        of the original; None without pseudonyms.
    """

    release: PublishedTable
    second: PublishedTable | None = None
    original: Original | None = None
    second_original: Original | None = None
    recipe: MechanismKnowledge | None = None
    grouped: AnatomyRelease | None = None
    pair: ReleasePair | None = None
    named: Owners | None = None

    @property
    def holders(self) -> Owners | None:
        """Whose the released records are, if the original or the release says so; None: unknown.

        For attacks that need no rows of the original.
        """
        return self.owners or self.named

    @property
    def linked(self) -> bool:
        """Whether the release links the records of a person."""
        return self.holders is not None and self.holders.linked

    @property
    def owners(self) -> Owners | None:
        """The owners of the released records, None if unknown, or of an Anatomy release."""
        return None if self.original is None or self.grouped is not None else self.original.owners

    def owned_by(self, asked: str | None) -> OwnedRecords | None:
        """Return the records of the units that an attack counts; None: it counts records.

        The unit is the one asked for, else persons if they are known.
        """
        return OwnedRecords.asked(self.owners, asked)

    def lacks_unit(self, asked: str | None) -> str | None:
        """Return words for a message if nobody knows the unit that the attack asks for, else None."""
        return lacking(self.owners, asked)

    def held_by(self, asked: str | None) -> OwnedRecords | None:
        """Return what ``owned_by`` does, for an attack on the released rows alone."""
        return OwnedRecords.asked(self.holders, asked)

    def lacks_holders(self, asked: str | None) -> str | None:
        """Return what ``lacks_unit`` does, for an attack on the released rows alone."""
        return lacking(self.holders, asked)

    def without_owners(self) -> AdversaryView:
        """Return the same view with records that may each be of somebody else."""
        own = self.original
        unowned = None if own is None else replace(own, owners=None)
        return replace(self, original=unowned, named=None)

    @property
    def disclosing(self) -> PublishedTable:
        """The release with its sensitive values: by equivalence class, or by bucket."""
        return self.release if self.grouped is None else self.grouped.values

    def aimed(self, known: Sequence[str] | None) -> tuple[str, ...] | None:
        """Return the columns of ``disclosing`` that identify an adversary's class, given what is known.

        Raises
        ------
        InputError: a name is not a quasi-identifier, or some are unknown in an Anatomy release.
        """
        names = self.release.known(known)
        if self.grouped is None:
            return names
        if names != self.release.names:
            raise InputError(
                f"{self.release.source}: in an Anatomy release, sensitive values are disclosed only to an "
                "adversary who knows the target's bucket; remove knowledge from the attack, "
                "so that it uses all quasi-identifiers"
            )
        return self.disclosing.names

    def about(self, sensitive: str) -> AdversaryView:
        """Return the view of an adversary who targets one sensitive attribute, given by its name."""
        own = self.release.sensitive
        if sensitive not in own:
            return self
        return replace(self, release=replace(self.release, sensitive={sensitive: own[sensitive]}))
