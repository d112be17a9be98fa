"""What a detector is: it looks at one column and says what its values look like."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.profile.facts import ColumnFacts

LOOKED_AT = 1_000
"""Distinct values that a detector looks at, at most."""

MOSTLY = 0.8
"""Share of the values that has to look alike where nothing but their shape speaks for it."""

OFTEN = 0.3
"""The same where the values could hardly look so by chance, or the name of the column says it too."""


@dataclass(frozen=True)
class Finding:
    """What the values of a column look like.

    Attributes
    ----------
    what: in the plural, such as "e-mail addresses".
    reason: why, in counts and never by a value.
    certain: whether hardly anything else looks so.
    general: whether values in general form, such as the year of a date, may be published instead of none.
    """

    what: str
    reason: str
    certain: bool
    general: bool = False


class Detector(ABC):
    """Tells whether a column looks like one kind of thing that identifies people.

    A class with a ``name`` in a module of this room, or behind an entry point of the group
    ``anonymizer.detectors``, takes part by being there.

    Attributes
    ----------
    name: what it finds, in the plural.
    """

    name: ClassVar[str]

    @abstractmethod
    def look(self, column: ColumnFacts) -> Finding | None:
        """Return what was found, None if the column looks like something else."""


@dataclass(frozen=True)
class Share:
    """How many of the distinct values that were looked at match."""

    matched: int
    looked: int

    @property
    def value(self) -> float:
        """The share, 0 where there was nothing to look at."""
        return self.matched / self.looked if self.looked else 0.0

    def __str__(self) -> str:
        return f"{self.matched:,} of {self.looked:,} values"


def looked_at(column: ColumnFacts) -> tuple[str, ...]:
    """Return the values at hand, of many an evenly spaced part."""
    step = -(-len(column.texts) // LOOKED_AT) or 1
    return column.texts[::step]


def share(column: ColumnFacts, matches: Callable[[str], object]) -> Share:
    """Return how many of the values that are looked at match."""
    texts = looked_at(column)
    return Share(sum(bool(matches(text)) for text in texts), len(texts))
