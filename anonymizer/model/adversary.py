"""An adversary's knowledge: the release as its recipient counts it, originals, links and mechanism.

A release is one table, or the QIT and ST of Anatomy. The originals hold what an adversary may know of the
input and what became of each record. The mechanism is how the release was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from anonymizer.errors import InputError, suggestion
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes, SensitiveCounts
from anonymizer.model.counting import count, group_keys, numbered
from anonymizer.model.recoding import GROUP
from anonymizer.model.table import SUPPRESSED, Column, Hierarchy

_KEYS = 1 << 62
"""A packed key stays below this."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """The distinct combinations of published values with their records.

    Attributes
    ----------
    source: what messages call the file.
    names: of the quasi-identifiers.
    labels: distinct published texts of each quasi-identifier; None for a null.
    codes: position in ``labels`` for each combination and quasi-identifier, shape (combinations,
        quasi-identifiers), int32.
    sensitive: sensitive values of the combinations by attribute.
    counts: records of each combination, shape (combinations,), int64.
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
        InputError: a name is none of them.
        """
        if names is None:
            return self.names
        for name in names:
            if name not in self.names:
                what = f"{self.source}: an adversary cannot know '{name}', which is not a quasi-identifier"
                raise InputError(f"{what}; {suggestion(name, self.names)}")
        return tuple(name for name in self.names if name in names)

    def classes(self, names: Sequence[str] | None = None) -> Classes:
        """Return the classes of records that look alike to who knows these quasi-identifiers.

        Raises
        ------
        InputError: a name is no quasi-identifier.
        """
        known = self.known(names)
        if known not in self._classes:
            class_of, number = self._grouped(known)
            self._classes[known] = Classes(class_of, self.counts, number, self.sensitive)
        return self._classes[known]

    def _grouped(self, known: Sequence[str]) -> tuple[IntArray, int]:
        keys, space = np.zeros(len(self.counts), dtype=np.int64), 1
        for name in known:
            position = self.names.index(name)
            size = len(self.labels[position])
            if space * size >= _KEYS:
                keys, distinct = group_keys(keys, space)
                space = len(distinct)
            keys, space = keys * size + self.codes[:, position], space * size
        class_of, distinct = group_keys(keys, space)
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
        """Return how many records of the release have the same values as each item in these columns.

        Parameters
        ----------
        items: combinations, shape (items,), int64.

        Returns
        -------
        Records that look the same, shape (items,), int64; all of them when nothing is known.
        """
        class_of, number = self._grouped(known)
        sizes: IntArray = count(class_of, self.counts, number)[class_of[items]]
        return sizes


@dataclass(frozen=True, eq=False)
class AnatomyTruth:
    """What whoever published the release knows: how many records of each row have which sensitive value.

    Attributes
    ----------
    rows: row of the grouped table, shape (entries,), int64, ascending.
    values: code of the sensitive value, shape (entries,), int64, ascending within a row.
    counts: records, shape (entries,), int64, positive. They add up to those of a row, or the row is left out.
    """

    rows: IntArray
    values: IntArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class AnatomyRelease:
    """The distinct tuples of quasi-identifiers in each group, and the sensitive values of the group.

    Attributes
    ----------
    source: what messages call the release.
    names: of the quasi-identifiers.
    labels: distinct published texts of each quasi-identifier; None for a null.
    codes: position in ``labels`` for each row and quasi-identifier, shape (rows, quasi-identifiers), int32.
    groups: name of each group, in the order of their numbers.
    group: number of the group of each row, from 0, ascending, shape (rows,), int64.
    counts: records of each row, shape (rows,), int64.
    sensitive: how many records of each group have which value; its classes are the groups.
    truth: which records have which value, None where that is not known.
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
        """Records of each group, shape (groups,), int64."""
        return count(self.group, self.counts, len(self.groups))

    @cached_property
    def tuples(self) -> PublishedTable:
        """The exact tuples without their groups and values: all that matters for finding a record."""
        of_row, first = numbered(self.codes.T, len(self.counts))
        counts = count(of_row, self.counts, len(first))
        return PublishedTable(self.source, self.names, self.labels, self.codes[first], {}, counts)

    @cached_property
    def values(self) -> PublishedTable:
        """The sensitive values by group: all that matters for what is learned of who is in a group."""
        own = self.sensitive
        codes = own.owners.astype(np.int32)[:, None]
        values = {own.attribute.name: SensitiveCodes(own.attribute, own.values)}
        return PublishedTable(self.source, (GROUP,), (self.groups,), codes, values, own.counts)


@dataclass(frozen=True, eq=False)
class ValueCoverage:
    """What the published texts of one quasi-identifier stand for, to whoever knows the hierarchies.

    Attributes
    ----------
    column: the original values.
    starts: values that text i stands for are ``values[starts[i]:starts[i + 1]]``, shape (texts + 1,), int64;
        none where a masked number, or a value that the original has not, is published.
    values: codes of ``column``, shape (entries,), int64, ascending within a text.
    low, high: what the text stands for as numbers, shape (texts,), float64: least and largest, equal for a
        single number or a mean; NaN for text columns and missing values.
    hierarchy, leaf: of the quasi-identifier, as whoever knows the config has them; None: all values are as
        unlike.
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
        """Number of values that each text stands for, shape (texts,), int64."""
        return np.diff(self.starts)

    def covers(self, values: CodeArray, texts: CodeArray) -> BoolArray:
        """Tell whether each text stands for the value beside it, shape (pairs,), bool."""
        size = self.column.size
        entries = np.repeat(np.arange(len(self.sizes)), self.sizes) * size + self.values
        wanted = texts.astype(np.int64) * size + values
        place = np.searchsorted(entries, wanted)
        found: BoolArray = np.append(entries, -1)[place] == wanted
        return found


class Truth(StrEnum):
    """Where it is known from which record became which."""

    KNOWN = "known"
    RECONSTRUCTED = "reconstructed"
    BY_POSITION = "by position"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Links:
    """Which original combinations became which released ones; suppressed records are in none.

    Attributes
    ----------
    original, release: positions of combinations, shape (links,), int64; ascending by ``original``.
    counts: records, shape (links,), int64, positive.
    """

    original: IntArray
    release: IntArray
    counts: IntArray

    @property
    def records(self) -> int:
        """Number of records whose fate is told."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Original:
    """The distinct combinations of original values with their records and what was published of them.

    Attributes
    ----------
    source: what messages call the file.
    meanings: what the release's quasi-identifiers stand for, in the order of ``names``.
    codes: code of each combination in each quasi-identifier's column, shape (combinations,
        quasi-identifiers), int32.
    sensitive: sensitive values of the combinations by attribute.
    counts: records of each combination, shape (combinations,), int64.
    links: which combination was published as which: ``links.original`` and ``links.release`` are positions of
        combinations of the two tables, ``links.counts`` records; shape (links,), int64 each.
    names: of the quasi-identifiers that the original shares with the release, in the release's order.
    truth: where the links are from; ``unknown`` when there are none.
    aligned_links: the links when row i of the one file is row i of the other; None where that cannot be.
    unmatched_columns: columns that only one of the two files has.
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

    @property
    def records(self) -> int:
        """Number of original records."""
        return int(self.counts.sum())

    def known(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Return the quasi-identifiers by which an adversary compares records; None: all that are shared.

        Raises
        ------
        InputError: a name is none of them.
        """
        for name in names or ():
            if name not in self.names:
                what = (
                    f"{self.source}: records cannot be compared by '{name}', which is not a quasi-identifier"
                )
                raise InputError(f"{what} of both files; {suggestion(name, self.names)}")
        return tuple(name for name in self.names if names is None or name in names)


@dataclass(frozen=True)
class SensitiveConstraint:
    """A constraint on the sensitive values of each class.

    Attributes
    ----------
    sensitive: name of the attribute.
    distinct: least number of distinct values where the constraint asks for that and no more, None for others.
    missing_counts: whether a missing value is one of them.
    """

    sensitive: str
    distinct: int | None = None
    missing_counts: bool = False


@dataclass(frozen=True)
class MechanismKnowledge:
    """A search that published the node of lowest loss, and would have published any valid one of lower loss.

    There is a recipe only where that is so: full-domain recoding, proven optimal, suppression limit 0, an
    objective that is lower for every node whose classes are parts of the published ones, and constraints on
    single classes alone.

    Attributes
    ----------
    levels: published generalization level of each quasi-identifier, in the order of the original's.
    lowest: the level that each may have at least.
    counted: whether the objective counts the quasi-identifier at all.
    size: fewest records that a class may have by any of the constraints.
    promises: the constraints on sensitive values.
    """

    levels: tuple[int, ...]
    lowest: tuple[int, ...]
    counted: tuple[bool, ...]
    size: int
    promises: tuple[SensitiveConstraint, ...]


@dataclass(frozen=True, eq=False)
class AdversaryView:
    """What the adversary has.

    Attributes
    ----------
    release: as its recipient counts it; of records in groups the exact tuples, without sensitive values.
    second: another release of the same people, None without one.
    original: records that the adversary holds, and what became of them; None without.
    second_original: the same records, and what became of them in the second release; None without.
    recipe: how the release was made, None where that tells nothing or is not known.
    grouped: the release where it is one of records in groups, None for a single table.
    """

    release: PublishedTable
    second: PublishedTable | None = None
    original: Original | None = None
    second_original: Original | None = None
    recipe: MechanismKnowledge | None = None
    grouped: AnatomyRelease | None = None

    @property
    def disclosing(self) -> PublishedTable:
        """The release as it discloses sensitive values: by the classes of equal tuples, or by the groups."""
        return self.release if self.grouped is None else self.grouped.values

    def aimed(self, known: Sequence[str] | None) -> tuple[str, ...] | None:
        """Return the columns of ``disclosing`` that somebody has a class by who knows some quasi-identifiers.

        Raises
        ------
        InputError: a name is no quasi-identifier, or not all are known where records are in groups.
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
        """Return the scene of somebody who is after one sensitive attribute.

        Parameters
        ----------
        sensitive: its name.
        """
        own = self.release.sensitive
        if sensitive not in own:
            return self
        return replace(self, release=replace(self.release, sensitive={sensitive: own[sensitive]}))


class Threat(StrEnum):
    """What an adversary is after."""

    LINKAGE = "linkage"
    RE_IDENTIFICATION = "re-identification"
    HOMOGENEITY = "homogeneity"
    BACKGROUND = "background knowledge"
    SKEWNESS = "skewness"
    SIMILARITY = "similarity"
    INFERENCE = "inference"
