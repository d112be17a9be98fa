"""Writers that write something else than was decided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.run.commands import csv_bytes, read_rows

Rows = list[list[str]]
Tamper = Callable[[Rows], Rows]
AGE, ZIP, SEX, DIAGNOSIS, NOTE = range(5)


def one_record_more(rows: Rows) -> Rows:
    return [rows[0], *rows]


def one_record_less(rows: Rows) -> Rows:
    return rows[1:]


def one_record_replaced(rows: Rows) -> Rows:
    return [rows[1], *rows[1:]]


def a_class_too_small(rows: Rows) -> Rows:
    return [[*rows[0][:ZIP], "0999", *rows[0][SEX:]], *rows[1:]]


def a_changed_sensitive_value(rows: Rows) -> Rows:
    other = next(row[DIAGNOSIS] for row in rows if row[DIAGNOSIS] != rows[0][DIAGNOSIS])
    return [[*rows[0][:DIAGNOSIS], other, *rows[0][NOTE:]], *rows[1:]]


def a_new_sensitive_value(rows: Rows) -> Rows:
    return [[*rows[0][:DIAGNOSIS], "measles", *rows[0][NOTE:]], *rows[1:]]


def a_changed_insensitive_value(rows: Rows) -> Rows:
    return [[*rows[0][:NOTE], "note 77"], *rows[1:]]


def swapped_columns(rows: Rows) -> Rows:
    return [[row[ZIP], row[AGE], *row[SEX:]] for row in rows]


def swapped_classes(rows: Rows) -> Rows:
    """Every F becomes an M and the other way round: sizes and columns' values can be as they were."""
    return [[*row[:SEX], {"F": "M", "M": "F"}[row[SEX]], *row[DIAGNOSIS:]] for row in rows]


def a_value_not_generalized(rows: Rows) -> Rows:
    whole = rows[0][:DIAGNOSIS]
    return [["23", *row[ZIP:]] if row[:DIAGNOSIS] == whole else row for row in rows]


def sensitive_values_swapped_between_classes(rows: Rows) -> Rows:
    """Two records of different classes change diagnoses; no column's values change."""
    here = rows[0]
    there = next(
        number
        for number, row in enumerate(rows)
        if row[:DIAGNOSIS] != here[:DIAGNOSIS] and row[DIAGNOSIS] != here[DIAGNOSIS]
    )
    changed = [list(row) for row in rows]
    changed[0][DIAGNOSIS], changed[there][DIAGNOSIS] = changed[there][DIAGNOSIS], changed[0][DIAGNOSIS]
    return changed


TAMPERS: tuple[Tamper, ...] = (
    one_record_more,
    one_record_less,
    one_record_replaced,
    a_class_too_small,
    a_changed_sensitive_value,
    a_new_sensitive_value,
    a_changed_insensitive_value,
    swapped_columns,
    swapped_classes,
    a_value_not_generalized,
    sensitive_values_swapped_between_classes,
)


def rewrite(path: Path, tamper: Tamper) -> None:
    """Change the records of a released CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        columns = stream.readline().strip().split(",")
    path.write_bytes(csv_bytes(tamper(read_rows(path)), columns))


def lying(write: Callable[..., None], tamper: Tamper) -> Callable[..., None]:
    """Return a writer of a table of a release that changes what it has written."""

    def write_something_else(table: object, path: Path, order: object) -> None:
        write(table, path, order)
        rewrite(path, tamper)

    return write_something_else
