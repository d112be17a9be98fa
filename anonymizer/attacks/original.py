"""The original records: what an adversary may hold of them, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np

from anonymizer.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.core.classes import SensitiveCodes
from anonymizer.core.hierarchy import Hierarchy
from anonymizer.core.table import Column
from anonymizer.errors import InputError, suggestion


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
                what = f"{self.source}: records cannot be compared by '{name}', which is no quasi-identifier"
                raise InputError(f"{what} of both files; {suggestion(name, self.names)}")
        return tuple(name for name in self.names if names is None or name in names)
