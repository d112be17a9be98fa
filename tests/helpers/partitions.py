"""Random partitions of the records of a table into classes."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from anonymizer.model.classes import Classes, Reference
from tests import strategies
from tests.helpers import build
from tests.twins.microdata import Microdata, SensitiveSpec, Value


@dataclass(frozen=True)
class Partition:
    """Records with the class of each; classes are numbered from 0 without a gap."""

    data: Microdata
    class_of: tuple[int, ...]

    @property
    def number(self) -> int:
        return max(self.class_of) + 1

    def classes(self) -> Classes:
        """Return the product's view of the partition."""
        return build.classes(self.data, list(self.class_of))

    def rows(self) -> list[list[int]]:
        """Return the rows of each class."""
        return [[row for row, own in enumerate(self.class_of) if own == i] for i in range(self.number)]

    def groups(self, name: str) -> list[list[Value]]:
        """Return the sensitive values of each class."""
        return [self.data.column(self.data.position(name), rows) for rows in self.rows()]

    def everyone(self, name: str) -> list[Value]:
        """Return the sensitive values of all records."""
        return self.data.column(self.data.position(name))

    def reference(self, name: str) -> Reference:
        """Return the distribution of all records."""
        return self.classes().sensitive_counts(name)[0].reference()


def renumbered(numbers: list[int]) -> tuple[int, ...]:
    """Return class numbers without gaps, in the order of their first record."""
    new = {number: position for position, number in enumerate(dict.fromkeys(numbers))}
    return tuple(new[number] for number in numbers)


def partition(random: Random, most: int = 24) -> Partition:
    """Return a random table with up to six random classes."""
    data = strategies.table(random, most=most)
    number = random.randint(1, 6)
    return Partition(data, renumbered([random.randrange(number) for _ in data.records]))


@st.composite
def partitions(draw: st.DrawFn, most: int = 24) -> Partition:
    """Return random tables with random classes."""
    return partition(draw(strategies.randoms()), most)


def single(values: list[Value], rest: list[Value], spec: SensitiveSpec) -> Partition:
    """Return a table of two classes, or of one when nothing is left for the second."""
    records = tuple((value,) for value in [*values, *rest])
    return Partition(Microdata((), (spec,), records), tuple([0] * len(values) + [1] * len(rest)))
