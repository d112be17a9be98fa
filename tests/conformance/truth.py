"""Whether published labels are true of the records that have them, by what each kind of label says."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tests.conformance.published import STAR, Publication
from tests.twins.microdata import QuasiIdentifierSpec, Value, in_order

MISSING = "<missing>"


def text(value: Value) -> str:
    return MISSING if value is None else str(value)


class Labelling(ABC):
    """How an algorithm names what a class has in common."""

    def check(self, own: Publication) -> None:
        """Every label covers the values of its whole class; starred records have nothing but stars."""
        data = own.problem.data
        for rows in own.classes:
            records = [record for record in own.records if record.row in set(rows)]
            labels = records[0].labels
            assert labels is not None
            if all(record.suppressed for record in records):
                assert set(labels) == {STAR}
                continue
            for position, spec in enumerate(data.quasi_identifiers):
                self.check_label(spec, labels[position], data.column(position, rows), data.column(position))

    @abstractmethod
    def check_label(
        self, spec: QuasiIdentifierSpec, label: str, values: Sequence[Value], column: Sequence[Value]
    ) -> None:
        """The label is true of the values of a class, some of those of a column."""


def coarsened(spec: QuasiIdentifierSpec, values: Sequence[Value], column: Sequence[Value]) -> list[Value]:
    """Return the values of a column in the finest allowed nodes of some values, each once, in order."""
    nodes = {spec.paths[value][spec.minimum] for value in values}
    return in_order({value for value in column if spec.paths[value][spec.minimum] in nodes})


class NodeLabels(Labelling):
    """Nodes of the hierarchy at the allowed levels."""

    def check_label(
        self, spec: QuasiIdentifierSpec, label: str, values: Sequence[Value], column: Sequence[Value]
    ) -> None:
        for value in values:
            assert label in spec.paths[value][spec.minimum : spec.maximum + 1]


class BlankedLabels(NodeLabels):
    """Nodes of the hierarchy, or blanks."""

    def check_label(
        self, spec: QuasiIdentifierSpec, label: str, values: Sequence[Value], column: Sequence[Value]
    ) -> None:
        if label != STAR:
            super().check_label(spec, label, values, column)


class SetLabels(Labelling):
    """The very values that the class has."""

    def check_label(
        self, spec: QuasiIdentifierSpec, label: str, values: Sequence[Value], column: Sequence[Value]
    ) -> None:
        members = [text(value) for value in coarsened(spec, values, column)]
        escaped = [member.replace("\\", "\\\\").replace(",", "\\,") for member in members]
        assert label == (members[0] if len(members) == 1 else "{" + ", ".join(escaped) + "}")


class IntervalLabels(SetLabels):
    """Of numbers, intervals from the lowest to the highest; the root where a missing one is among others."""

    def check_label(
        self, spec: QuasiIdentifierSpec, label: str, values: Sequence[Value], column: Sequence[Value]
    ) -> None:
        covered = coarsened(spec, values, column)
        if not spec.numeric:
            super().check_label(spec, label, values, column)
        elif len(covered) == 1:
            assert label == text(covered[0])
        elif None in covered:
            assert label == next(iter(spec.paths.values()))[-1]
        else:
            assert label == f"[{covered[0]}, {covered[-1]}]"


class AggregateLabels(Labelling):
    """A number in the range of the class's values; a star where a missing value is among them."""

    def check_label(
        self, spec: QuasiIdentifierSpec, label: str, values: Sequence[Value], column: Sequence[Value]
    ) -> None:
        if set(values) == {None}:
            assert label == MISSING
        elif None in values:
            assert label == STAR
        else:
            assert re.fullmatch(r"-?\d+(\.\d+)?", label)
            numbers = sorted(float(value) for value in values if value is not None)
            assert numbers[0] <= float(label) <= numbers[-1]
            known = [float(value) for value in column if value is not None]
            assert abs(float(label) - self.of(numbers)) <= 1e-5 * max(max(known) - min(known), 1)

    @abstractmethod
    def of(self, numbers: Sequence[float]) -> float:
        """Return the aggregate of sorted numbers."""


class MeanLabels(AggregateLabels):
    """The mean."""

    def of(self, numbers: Sequence[float]) -> float:
        return sum(numbers) / len(numbers)


class MedianLabels(AggregateLabels):
    """The median."""

    def of(self, numbers: Sequence[float]) -> float:
        half = len(numbers) // 2
        return (numbers[half] + numbers[-half - 1]) / 2 if len(numbers) % 2 == 0 else numbers[half]
