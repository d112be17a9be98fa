"""What names of columns can be."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.errors import DataError


def check_header(name: str, columns: Sequence[str]) -> None:
    """Check that column names can serve as such.

    Raises
    ------
    DataError: a name is empty or occurs twice; says which and where.
    """
    first: dict[str, int] = {}
    for number, column in enumerate(columns, start=1):
        if not column.strip():
            raise DataError(
                f"{name}: column {number} of {len(columns)} has no name; the header must give one"
            )
        if column in first:
            raise DataError(
                f"{name}: columns {first[column]} and {number} are both named '{column}'; rename one of them"
            )
        first[column] = number
