"""The tables that golden runs read: made up, small, and the same on every machine and Python."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

Value = TypeVar("Value")
Row = tuple[str, ...]

COLUMNS = ("name", "age", "zip", "sex", "job", "born", "wage", "illness", "note")
JOBS = ("baker", "driver", "doctor", "nurse", "teacher")
ILLNESSES = ("asthma", "cancer", "flu", "fracture", "stroke")


class Dice:
    """Draws that depend on nothing but ``random.Random.random``, whose numbers Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return low + int(self._random.random() * (high - low + 1))

    def one_of(self, values: Sequence[Value]) -> Value:
        """Return one of some values."""
        return values[self.number(0, len(values) - 1)]


def people(records: int = 60, seed: int = 1) -> list[Row]:
    """Return made-up records in the order of ``COLUMNS``."""
    dice = Dice(seed)
    return [
        (
            f"Ann {number}",
            str(dice.number(20, 59)),
            f"0{dice.one_of('12')}{dice.one_of('123')}{dice.one_of('789')}",
            dice.one_of("FM"),
            dice.one_of(JOBS),
            f"{dice.number(1960, 2003)}-{dice.number(1, 12):02}-{dice.number(1, 28):02}",
            f"{dice.number(10, 60) * 100 + 50 * dice.number(0, 1)}.5",
            dice.one_of(ILLNESSES[: dice.number(2, 5)]),
            f"note {dice.number(1, 9)}",
        )
        for number in range(records)
    ]


def columns(rows: Iterable[Row], *names: str) -> list[Row]:
    """Return some columns of records."""
    places = [COLUMNS.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in rows]


def csv_text(rows: Iterable[Sequence[str]], header: Sequence[str] = COLUMNS, separator: str = ",") -> str:
    """Return records as a CSV file with a header."""
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    return stream.getvalue()
