"""Compact JSON of what is kept of a recoding, and arrays that are read from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import PlainValidator, TypeAdapter

from anonymizer.model.arrays import IntArray

AT_ONCE = 1 << 16
"""Numbers, or rows of them, that are written together: as objects they take several times their memory."""


def _array(value: Any, adapter: TypeAdapter[Any]) -> IntArray:
    if isinstance(value, np.ndarray):
        return value
    try:
        return np.array(adapter.validate_python(value), dtype=np.int64)
    except OverflowError as error:
        raise ValueError(str(error)) from None


_LIST: TypeAdapter[list[int]] = TypeAdapter(list[int])
_ROWS: TypeAdapter[list[list[int]]] = TypeAdapter(list[list[int]])

Numbers = Annotated[IntArray, PlainValidator(lambda value: _array(value, _LIST))]
"""Whole numbers of a model, shape (numbers,), int64; a list in JSON."""

Rows = Annotated[IntArray, PlainValidator(lambda value: _array(value, _ROWS))]
"""Rows of whole numbers of a model, shape (rows, columns), int64; a list of lists in JSON."""


def encoded(value: Any) -> Iterator[bytes]:
    """Return compact JSON in UTF-8, part by part; arrays are lists."""
    if isinstance(value, np.ndarray):
        yield b"["
        for first in range(0, len(value), AT_ONCE):
            yield b"," * bool(first)
            yield _dumped(value[first : first + AT_ONCE].tolist())[1:-1]
        yield b"]"
    elif isinstance(value, Mapping):
        yield b"{"
        for place, (name, own) in enumerate(value.items()):
            yield b"," * bool(place) + _dumped(name) + b":"
            yield from encoded(own)
        yield b"}"
    else:
        yield _dumped(value)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
