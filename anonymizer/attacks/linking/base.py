"""What a distance and what a way of linking is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from anonymizer.attacks.linking.gaps import Change, Differences, Gaps, Scaling, gaps_of, standard_scale
from anonymizer.attacks.linking.space import ComparisonSpace
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.table import Column

CELLS = 1 << 21
"""Compared values that are held at once."""


class Distance(ABC):
    """How unlike an original combination and a class are; only the order of distances matters to linkers.

    Class attributes
    ----------------
    name: as in the config.
    exact: whether it is 0 when the class stands for the combination, and positive when not.
    """

    name: ClassVar[str]
    exact: ClassVar[bool] = True

    def __init__(self, space: ComparisonSpace) -> None:
        self.space = space
        self._differences = Differences([self.gaps(meaning) for meaning in space.meanings])

    def gaps(self, meaning: ValueCoverage) -> Gaps:
        """Return how values of one attribute are compared with published texts."""
        return gaps_of(meaning, self.scale)

    def scale(self, column: Column) -> Scaling:
        """Return how the numbers of a column are scaled before they are compared."""
        return standard_scale(column)

    @property
    def width(self) -> int:
        """Numbers that are held for each pair."""
        return len(self.space.meanings)

    @abstractmethod
    def rows(self, originals: IntArray) -> FloatArray:
        """Return the distances of some originals from every class, shape (originals, classes), float64."""

    def differences(
        self, position: int, originals: IntArray, change: Change = lambda gaps: gaps
    ) -> FloatArray:
        """Return the gaps of one attribute between some originals and every class, each changed."""
        codes = self.space.originals[originals, position].astype(np.int64)
        return self._differences.of(position, codes, self.space.classes[:, position].astype(np.int64), change)

    def blocks(self, originals: IntArray) -> list[IntArray]:
        """Return the originals in blocks whose distances fit in memory together."""
        size = max(CELLS // (self.width * len(self.space.sizes)), 1)
        return [originals[start : start + size] for start in range(0, len(originals), size)]


class Distancing(Protocol):
    """Makes a distance: its class, or what knows its parameters."""

    @property
    def exact(self) -> bool:
        """As of the distance."""

    def __call__(self, space: ComparisonSpace) -> Distance:
        """Return the distance."""


@dataclass(frozen=True, eq=False)
class Linked:
    """What a linker reached.

    Attributes
    ----------
    right: chance that a record of each link of the space's truth is linked right, shape (links,), float64.
    details: what else it found, in plain types.
    ties_randomized: whether ``right`` depends on how ties were resolved at random.
    """

    right: FloatArray
    details: dict[str, Any] = field(default_factory=dict)
    ties_randomized: bool = False


class Linking(ABC):
    """A way to link records.

    Class attributes
    ----------------
    name: as in the config.
    together: whether the records that are held compete, so that those that are no targets matter.
    """

    name: ClassVar[str]
    together: ClassVar[bool] = False

    def work(self, space: ComparisonSpace) -> int:
        """Return how many values are compared."""
        return len(space.originals) * space.cells

    @abstractmethod
    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Link the originals that the intruder holds with records of the release."""
