"""Kernels compiled to WebAssembly, with the same functions in Python where it cannot be had.

A module is compiled once by the authors, is the same on every platform and needs no compiler, cache or
writable folder: it becomes machine code within some milliseconds. Its arithmetic is exactly defined, so that
compiled and interpreted kernels give equal bytes.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PAGE = 1 << 16
"""Bytes by which the memory of a module grows."""

ALIGNED = 16
"""Bytes to whose multiples arrays are aligned."""


class Room:
    """Some arrays and the kernels that work on them.

    Parameters
    ----------
    module: path of the compiled kernels.
    values: named tuples of arrays of at most two axes and of whole numbers, as the kernels expect them.

    Attributes
    ----------
    values: the same, with arrays that the kernels see: what is written into them, kernels read.
    """

    def __init__(self, module: Path, values: Sequence[NamedTuple]) -> None:
        self.values: Sequence[Any] = values
        self._places: dict[int, int] = {}
        code = _code(module)
        self._compiled = None if code is None else _Instance(code)
        if self._compiled is not None:
            self.values, self._places = self._compiled.placed(values)

    def run(self, kernel: Callable[..., Any], *given: Any) -> int:
        """Run a kernel, given as its Python function, on some of the values and on whole numbers."""
        if self._compiled is None:
            return int(kernel(*given) or 0)
        numbers = [each if isinstance(each, int) else self._places[id(each)] for each in given]
        return self._compiled.run(kernel.__name__, numbers)


def runs_compiled(module: Path) -> bool:
    """Return whether kernels are compiled on this machine; if not, they do about a hundredth of the work."""
    return _code(module) is not None


class _Instance:
    """A module with a memory of its own."""

    def __init__(self, code: tuple[Any, Any]) -> None:
        import wasmtime  # noqa: PLC0415  # of those who search locally alone

        engine, module = code
        self._store = wasmtime.Store(engine)
        weakref.finalize(self, self._store.close)
        self._exports: Any = wasmtime.Instance(self._store, module, []).exports(self._store)

    def run(self, name: str, numbers: Sequence[int]) -> int:
        return int(self._exports[name](self._store, *numbers) or 0)

    def placed(self, values: Sequence[NamedTuple]) -> tuple[list[Any], dict[int, int]]:
        """Copy values into the memory; return them as they are there, and where each is described."""
        begin = int(self._exports["__heap_base"].value(self._store))
        arrays = [each for value in values for each in value if isinstance(each, np.ndarray)]
        places = []
        for array in arrays:
            begin = -(-begin // ALIGNED) * ALIGNED
            places.append(begin)
            begin += array.nbytes
        memory = self._exports["memory"]
        described = -(-begin // ALIGNED) * ALIGNED
        needed = described + 12 * sum(map(len, values))
        missing = needed - memory.data_len(self._store)
        if missing > 0:
            memory.grow(self._store, -(-missing // PAGE))
        everything = np.ctypeslib.as_array(memory.data_ptr(self._store), (memory.data_len(self._store),))
        copies = iter(_copied(everything, place, array) for place, array in zip(places, arrays, strict=True))
        place_of = iter(places)
        found, where = [], {}
        for value in values:
            own = type(value)(*(next(copies) if isinstance(each, np.ndarray) else each for each in value))
            table = np.array([_described(each, place_of) for each in value], dtype=np.int32)
            _copied(everything, described, table)
            found.append(own)
            where[id(own)] = described
            described += table.nbytes
        # The values are kept by the room, so their identities last as long as it does.
        return found, where


def _described(value: Any, places: Any) -> tuple[int, int, int]:
    """Return the place and the shape of an array, or a number."""
    if not isinstance(value, np.ndarray):
        return value, 0, 0
    return next(places), len(value), value.shape[1] if value.ndim > 1 else 1


def _copied(everything: Any, place: int, array: Any) -> Any:
    own = everything[place : place + array.nbytes].view(array.dtype).reshape(array.shape)
    own[...] = array
    return own


@cache
def _code(path: Path) -> tuple[Any, Any] | None:
    """Return the engine and the compiled module; None where WebAssembly cannot be had."""
    try:
        import wasmtime  # noqa: PLC0415  # of those who search locally alone
    except (ImportError, OSError):
        return None
    try:
        engine = wasmtime.Engine()
        module = wasmtime.Module(engine, path.read_bytes())
    except wasmtime.WasmtimeError:
        # A processor that it does not know.
        return None
    # When Python ends, what would free them may be gone before they are.
    atexit.register(engine.close)
    atexit.register(module.close)
    return engine, module
