"""A small table in plain Python: what the twins read and what the builders turn into the product's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Value = int | str | None
"""A cell; None is missing."""

Path = tuple[str, ...]
"""Labels from a value's own node up to the root; as long for every value of a tree."""


@dataclass(frozen=True)
class QuasiIdentifierSpec:
    """A quasi-identifier: its tree as one path per leaf, in the order of the leaves."""

    name: str
    paths: Mapping[Value, Path]
    numeric: bool = False
    weight: float = 1.0
    minimum: int = 0
    maximum: int = 0

    @property
    def height(self) -> int:
        return len(next(iter(self.paths.values()))) - 1


@dataclass(frozen=True)
class SensitiveSpec:
    """A sensitive attribute; a missing value has a path of its own where it occurs."""

    name: str
    paths: Mapping[Value, Path] | None = None
    numeric: bool = False
    distance: str | None = None
    missing_is_value: bool = False


@dataclass(frozen=True)
class Microdata:
    """Attributes and records, quasi-identifiers first; ``persons`` says whose record each is, if anyone's."""

    quasi_identifiers: tuple[QuasiIdentifierSpec, ...]
    sensitive: tuple[SensitiveSpec, ...]
    records: tuple[tuple[Value, ...], ...]
    persons: tuple[int | None, ...] = ()

    def column(self, position: int, rows: Sequence[int] | None = None) -> list[Value]:
        """Return the cells of a column, of some rows or of all."""
        chosen = range(len(self.records)) if rows is None else rows
        return [self.records[row][position] for row in chosen]

    def position(self, name: str) -> int:
        """Return the position of a sensitive attribute in a record."""
        names = [attribute.name for attribute in self.sensitive]
        return len(self.quasi_identifiers) + names.index(name)

    def attribute(self, name: str) -> SensitiveSpec:
        """Return a sensitive attribute by its name."""
        return self.sensitive[self.position(name) - len(self.quasi_identifiers)]


def in_order(values: set[Value]) -> list[Value]:
    """Return distinct values in their natural order, a missing one last."""
    known = sorted(value for value in values if value is not None)  # type: ignore[type-var]
    return [*known, None] if None in values else list(known)
