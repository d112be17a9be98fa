"""What of the table ``records`` is published, and the table ``plan`` of what replaces its columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anonymizer.engines.rows import Projection


def plan(projection: Projection, **arrays: Any) -> dict[str, Any]:
    """Return per-record arrays together with the codes of replaced columns as r0, r1, …"""
    codes = {f"r{projection.columns.index(name)}": new.codes for name, new in projection.replacements.items()}
    return {**arrays, **codes}


def sources(projection: Projection, unchanged: Callable[[str], str], label: str) -> list[str]:
    """Return SQL for each released column.

    Parameters
    ----------
    unchanged: SQL for a column that is released as it is.
    label: for a replaced one, with a place for its code: an element of a parameter.
    """
    return [
        label.format(f"r{place}") if column in projection.replacements else unchanged(column)
        for place, column in enumerate(projection.columns)
    ]
