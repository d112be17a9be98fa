"""Counted combinations of texts, and what is published in place of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.model.arrays import BoolArray, CodeArray, IntArray


@dataclass(frozen=True, eq=False)
class Groups:
    """The distinct combinations of some columns, counted by the engine.

    Attributes
    ----------
    values: for each column its distinct texts sorted by code point, None (a null) last.
    codes: position in ``values`` for each group and column, shape (groups, columns), int32; no certain order.
    counts: records of each group, shape (groups,), int64.
    """

    values: tuple[tuple[str | None, ...], ...]
    codes: CodeArray
    counts: IntArray

    def texts(self, column: int) -> list[str | None]:
        """Return the text of each group in one column, given by its position."""
        values = self.values[column]
        return [values[code] for code in self.codes[:, column]]


@dataclass(frozen=True, eq=False)
class Replacement:
    """What is published instead of a column, or as a new one.

    Attributes
    ----------
    labels: distinct published texts, sorted by code point, or distinct whole numbers, ascending.
    codes: position in ``labels`` for each record of the input, shape (records,), int32.
    """

    labels: tuple[str, ...] | tuple[int, ...]
    codes: CodeArray


@dataclass(frozen=True, eq=False)
class Projection:
    """What of an input is published.

    Attributes
    ----------
    columns: released columns, in the order of the input; new ones after them.
    replacements: by column; the other columns are published unchanged. What the input has not is new.
    kept: which records are published, shape (records,), bool.
    """

    columns: tuple[str, ...]
    replacements: Mapping[str, Replacement]
    kept: BoolArray
