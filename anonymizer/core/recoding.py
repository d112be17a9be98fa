"""What is published for each combination of the frequency table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.core.arrays import BoolArray, CodeArray
from anonymizer.core.table import SUPPRESSED, QuasiIdentifier, Table


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """One quasi-identifier as published.

    Attributes
    ----------
    name: of the column.
    labels: the distinct published texts, in any order, all different.
    codes: position in ``labels`` for each combination of the table, shape (combinations,), int32.
    """

    name: str
    labels: tuple[str, ...]
    codes: CodeArray


class Recoding(ABC):
    """A value that says what becomes of each combination of a table.

    Attributes
    ----------
    suppressed: combinations whose records count as suppressed, shape (combinations,), bool.
    removed: combinations whose records are not in the release, shape (combinations,), bool; a subset of
        ``suppressed``, the rest of which stays with ``*`` in every quasi-identifier.
    """

    suppressed: BoolArray
    removed: BoolArray

    @abstractmethod
    def published(self) -> tuple[PublishedColumn, ...]:
        """Return the quasi-identifiers as published, in the order of the table."""

    @abstractmethod
    def nodes(self, position: int) -> CodeArray:
        """Return the hierarchy node that each combination has, or would have were it not suppressed.

        Parameters
        ----------
        position: of the quasi-identifier in the table.

        Returns
        -------
        Nodes, shape (combinations,), int32.
        """

    @property
    def levels(self) -> tuple[int, ...] | None:
        """The one generalization level of each quasi-identifier; None unless full-domain."""
        return None

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the ``recoding`` entry of the report."""


class FullDomainRecoding(Recoding):
    """Every value of an attribute is published at the same generalization level (global recoding)."""

    def __init__(
        self, table: Table, levels: Sequence[int], suppressed: BoolArray, removed: BoolArray
    ) -> None:
        self.table = table
        self._levels = tuple(int(level) for level in levels)
        self.suppressed = suppressed
        self.removed = removed

    @property
    def levels(self) -> tuple[int, ...]:
        """The generalization level of each quasi-identifier."""
        return self._levels

    def nodes(self, position: int) -> CodeArray:
        """Return the node of each combination's value at the attribute's level."""
        attribute = self.table.quasi_identifiers[position]
        return attribute.nodes(self._levels[position])[self.table.quasi_identifier_codes(position)]

    def published(self) -> tuple[PublishedColumn, ...]:
        """Return the quasi-identifiers at their levels, ``*`` where a suppressed record stays."""
        starred = self.suppressed & ~self.removed
        columns = []
        for position, attribute in enumerate(self.table.quasi_identifiers):
            labels, by_value = self._labels(attribute, self._levels[position])
            codes = by_value[self.table.quasi_identifier_codes(position)]
            if starred.any():
                if SUPPRESSED not in labels:
                    labels.append(SUPPRESSED)
                codes[starred] = labels.index(SUPPRESSED)
            columns.append(PublishedColumn(attribute.name, tuple(labels), codes))
        return tuple(columns)

    @staticmethod
    def _labels(attribute: QuasiIdentifier, level: int) -> tuple[list[str], CodeArray]:
        texts = attribute.column.texts if level == 0 else None
        labels: dict[str, int] = {}
        codes = attribute.nodes(level).copy()
        for code, node in enumerate(codes):
            text = texts[code] if texts else attribute.hierarchy.labels[node]
            codes[code] = labels.setdefault(text, len(labels))
        return list(labels), codes

    def describe(self) -> dict[str, Any]:
        """Return the generalization level of each quasi-identifier."""
        return {"levels": levels_by_name(self.table.quasi_identifiers, self._levels)}


def levels_by_name(attributes: Sequence[QuasiIdentifier], levels: Sequence[int]) -> dict[str, int]:
    """Return generalization levels by the name of their attribute."""
    return {attribute.name: int(level) for attribute, level in zip(attributes, levels, strict=True)}
