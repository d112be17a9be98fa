"""What names of columns can be."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from anonymizer.errors import DataError

_INDEX_LEVEL = re.compile(r"__index_level_\d+__")


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


def pandas_index(
    columns: Sequence[str], metadata: str | None, named: Collection[str] | None
) -> tuple[str, ...]:
    """Return the columns of a Parquet file that are the index of a pandas frame and have no role.

    Never all columns.

    Parameters
    ----------
    metadata: what pandas wrote into the file, in JSON; None for nothing.
    named: columns with a role; None to return none.

    >>> pandas_index(["a", "id"], '{"index_columns": ["id"]}', {"a"}), pandas_index(["id"], None, None)
    (('id',), ())
    """
    if named is None:
        return ()
    try:
        content = json.loads(metadata or "{}")
    except ValueError:
        content = {}
    stated = content.get("index_columns") if isinstance(content, dict) else None
    stated = stated if isinstance(stated, list) else []
    found = tuple(
        name
        for name in columns
        if name not in named and (name in stated or _INDEX_LEVEL.fullmatch(name) is not None)
    )
    return found if len(found) < len(columns) else ()


def index_warnings(unmatched_columns: Sequence[str]) -> list[str]:
    """Return what to say of columns that were left out because they are the index of pandas."""
    return [
        f"column '{name}' is the index of pandas and is left out; to use it, give it a role"
        for name in unmatched_columns
    ]
