"""Objects that Java has serialized, read as plain values: no class is looked up and nothing is executed.

The format is that of the Java Object Serialization Specification, version 2, chapter 6.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

MAGIC = b"\xac\xed\x00\x05"
"""First bytes of a stream of objects."""

_NUMBERS = {"B": "b", "C": "H", "D": "d", "F": "f", "I": "i", "J": "q", "S": "h", "Z": "?"}
"""Letters of Java's primitive types, with those of ``struct``."""

_FIRST_HANDLE = 0x7E0000
_OWN_WRITER, _BY_FIELDS, _BY_ITSELF = 1, 2, 4
"""Flags of a class: it writes more after its fields; its fields are written; it writes all itself."""

MOST_ANCESTORS = 100
"""Maximum number of ancestors of a class; a damaged stream may call a class its own parent."""

_END = object()

_DAMAGED = (struct.error, IndexError, KeyError, AttributeError, TypeError, ValueError)


class NotJava(ValueError):
    """The bytes are not a stream of Java objects."""


@dataclass
class _Class:
    """A class of the stream: its flags, its own fields with the letters of their types, and its parent."""

    name: str
    flags: int = 0
    fields: tuple[tuple[str, str], ...] = ()
    parent: _Class | None = None

    def line(self) -> Iterator[_Class]:
        """Yield the class and its ancestors."""
        each: _Class | None = self
        for _ in range(MOST_ANCESTORS):
            if each is None:
                return
            yield each
            each = each.parent
        raise NotJava("a class with too many ancestors")


@dataclass
class JavaObject:
    """An object: the fields of its class and of its ancestors, and what they wrote behind them."""

    name: str
    fields: dict[str, Any]
    written: list[Any]

    def entries(self) -> Mapping[Any, Any]:
        """Return the entries of a map, which Java writes as keys and values by turns behind two numbers."""
        values = self.written[1:]
        pairs = zip(values[::2], values[1::2], strict=False)
        return {key: value for key, value in pairs if isinstance(key, str)}


def read_object(content: bytes) -> Any:
    """Return the first object of a stream.

    Strings and names of enums are texts, arrays of numbers are numpy arrays, other arrays are lists.

    Raises
    ------
    NotJava: the bytes are no such stream, or are cut off.
    """
    if not content.startswith(MAGIC):
        raise NotJava("no stream of Java objects")
    try:
        return _Stream(content).content()
    except NotJava:
        raise
    except (*_DAMAGED, RecursionError) as error:
        raise NotJava(f"a damaged stream of Java objects: {type(error).__name__}") from None


class _Stream:
    """A stream of objects; values that it repeats are found by their handles."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = len(MAGIC)
        self._known: list[Any] = []
        self._readers: Mapping[int, Callable[[], Any]] = {
            0x70: lambda: None,
            0x71: self._repeated,
            0x72: self._class,
            0x73: self._object,
            0x74: lambda: self._kept(lambda: self._text(self._number("H"))),
            0x75: self._array,
            0x76: self._class_object,
            0x77: lambda: self._bytes(self._number("B")),
            0x78: lambda: _END,
            0x7A: lambda: self._bytes(self._number("I")),
            0x7C: lambda: self._kept(lambda: self._text(self._number("Q"))),
            0x7E: self._enum,
        }

    def content(self) -> Any:
        """Return the next object, class, text or block of bytes."""
        return self._readers[self._number("B")]()

    def _bytes(self, size: int) -> bytes:
        end = self._place + size
        if end > len(self._content):
            raise NotJava("cut off")
        self._place, start = end, self._place
        return self._content[start:end]

    def _number(self, kind: str) -> Any:
        return struct.unpack(f">{kind}", self._bytes(struct.calcsize(f">{kind}")))[0]

    def _text(self, size: int) -> str:
        # Java writes a zero and characters beyond the first 65,536 in its own way; such texts are only shown.
        return self._bytes(size).decode("utf-8", "replace")

    def _kept(self, read: Callable[[], Any]) -> Any:
        """Return a value that gets its handle before what is inside it gets one."""
        handle = len(self._known)
        self._known.append(None)
        self._known[handle] = read()
        return self._known[handle]

    def _repeated(self) -> Any:
        handle = self._number("I") - _FIRST_HANDLE
        if handle < 0:
            raise NotJava("a handle below the first one")
        return self._known[handle]

    def _class(self) -> _Class:
        found = _Class(self._text(self._number("H")))
        self._bytes(8)  # its version
        self._known.append(found)
        found.flags = self._number("B")
        found.fields = tuple(self._field() for _ in range(self._number("H")))
        self._annotation()
        found.parent = self.content()
        return found

    def _field(self) -> tuple[str, str]:
        kind, name = chr(self._number("B")), self._text(self._number("H"))
        if kind in "[L":
            self.content()  # the name of its class
        return kind, name

    def _class_object(self) -> _Class:
        found: _Class = self.content()
        self._known.append(found)
        return found

    def _object(self) -> JavaObject:
        kind: _Class = self.content()
        found = JavaObject(kind.name, {}, [])
        self._known.append(found)
        for each in reversed([*kind.line()]):
            if each.flags & _BY_FIELDS:
                for letter, name in each.fields:
                    found.fields[name] = self._value(letter)
            if each.flags & (_OWN_WRITER | _BY_ITSELF):
                found.written.extend(self._annotation())
        return found

    def _value(self, letter: str) -> Any:
        return self.content() if letter in "[L" else self._number(_NUMBERS[letter])

    def _annotation(self) -> list[Any]:
        return [*iter(self.content, _END)]

    def _array(self) -> Any:
        letter = self.content().name[1]
        if letter not in _NUMBERS:
            found: list[Any] = []
            self._known.append(found)
            found.extend(self.content() for _ in range(self._number("I")))
            return found
        kind = np.dtype(f">{np.dtype(_NUMBERS[letter]).str[1:]}")
        return self._kept(lambda: np.frombuffer(self._bytes(self._number("I") * kind.itemsize), kind))

    def _enum(self) -> str:
        self.content()  # its class
        return str(self._kept(self.content))
