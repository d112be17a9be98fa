"""The text of a value of Python, which is the one that DuckDB gives for the same value in Parquet."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import numpy as np


def value_text(value: Any) -> str:
    """Return the text of a value, as ``text_of`` gives it for the same value in Parquet."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        # Zero has one text, whatever its sign.
        return str(value).removesuffix(".0") if value else "0"
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return "".join(chr(byte) if _is_shown(byte) else f"\\x{byte:02X}" for byte in value)
    return _nested_text(value) if isinstance(value, list | np.ndarray | dict) else str(value)


def _is_shown(byte: int) -> bool:
    """Return whether a byte is a character in the text of bytes, rather than ``\\x00``."""
    return 32 <= byte < 127 and chr(byte) not in "\\'\""


def _nested_text(value: Any) -> str:
    """Return the text of a list or mapping."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"'{key}': {_part_text(part)}" for key, part in value.items()) + "}"
    return f"[{', '.join(map(_part_text, value))}]"


_PLAIN_PART = re.compile(r"[^\s,\[\](){}:='\"\\]+(?: +[^\s,\[\](){}:='\"\\]+)*")
"""Texts inside a list or mapping that need no quotes to be told from its structure."""


def _part_text(value: Any) -> str:
    if value is None:
        return "NULL"
    text = value_text(value)
    if not isinstance(value, str) or (_PLAIN_PART.fullmatch(text) and text.upper() != "NULL"):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
