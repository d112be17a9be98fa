"""Insensitive columns that give a sensitive value away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.exposure.detector import Detector, Said, named
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedColumn, ReleasedRecords
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.table import Role

BEYOND = 0.5
"""Share of the wrong guesses without the column that it must make right."""

ASKED = 0.05
"""Share of the records that must share their value with another unit; fewer are an accident."""


class Predicts(Detector):
    """Sensitive values that an insensitive column tells."""

    kind = Kind.PREDICTS
    setting = "predicts"
    mended = 0
    says = "gives {about} away ({share})"
    public = True

    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        yield from predicts(records, threshold)

    def sentence(self, finding: Finding, said: Said) -> str:
        guess = f"a guess by {finding.how} is right for {said.share}"
        return f"{named(finding.columns)} gives '{finding.about}' away: {guess}"

    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:  # noqa: ARG002 - of any records
        assert finding.about is not None, "it gives a column away"
        words = f"make {named(finding.columns)} sensitive, like '{finding.about}'"
        return Remedy(words, dict.fromkeys(finding.columns, Role.SENSITIVE), like=finding.about)


def predicts(records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
    """Yield a finding for each insensitive column whose values, or gaps, tell a sensitive one.

    The guess is the most frequent sensitive value of those who share the value. Records that share it with no
    other unit are not asked: their own value is the guess.
    """
    for secret in records.having(Role.SENSITIVE):
        for column in records.having(Role.INSENSITIVE):
            told = max(
                (_told(records, groups.astype(np.int64), secret), how) for groups, how in _groupings(column)
            )
            (share, number, base), how = told
            if share >= threshold and base < threshold and share - base >= BEYOND * (1 - base):
                yield Finding(Kind.PREDICTS, (column.name,), number, share, threshold, secret.name, how)


def _groupings(column: ReleasedColumn) -> Iterator[tuple[IntArray | BoolArray, str]]:
    yield column.shown.astype(np.int64), "its values"
    if column.absent is not None:
        yield column.present, "whether it is missing"


def _told(records: ReleasedRecords, groups: IntArray, secret: ReleasedColumn) -> tuple[float, int, float]:
    """Return the share of right guesses, their number, and the share without the column."""
    size = secret.sizes[1]
    asked = (records.units_in(groups, int(groups.max(initial=0)) + 1) > 1)[groups] & secret.present
    number = records.records_of(asked)
    if number <= ASKED * records.records:
        return 0.0, 0, 0.0
    values = secret.own[asked].astype(np.int64)
    pairs, counts = records.records_with(groups[asked] * size + values, asked, (int(groups.max()) + 1) * size)
    most = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    np.maximum.at(most, pairs // size, counts)
    right = int(most.sum())
    base = int(records.records_with(values, asked, size)[1].max())
    return right / number, right, base / number
