"""Counts over the bytes of a CSV text, chunk by chunk."""

from __future__ import annotations

import codecs

import numpy as np
from numpy.typing import NDArray

_QUOTE = ord('"')


class Tally:
    """What a parser of the text must agree with; exact as long as ``plain`` holds.

    Parameters
    ----------
    separator: between fields, one ASCII character.

    Attributes
    ----------
    size: bytes without a byte-order mark.
    separators: separators outside quotes.
    """

    def __init__(self, separator: str) -> None:
        self._separator = ord(separator)
        self._around = np.zeros(256, dtype=bool)
        self._around[[self._separator, ord("\n"), ord("\r"), _QUOTE]] = True
        self._started = False
        self._quoted = False
        self._last = ord("\n")
        self._enclosing = True
        self._feeds = self._returns = self._pairs = 0
        self.size = 0
        self.separators = 0

    @property
    def plain(self) -> bool:
        """Whether all lines end alike, no field holds another line end, and quotes enclose whole fields."""
        alike = not self._returns or not self._feeds or self._returns == self._pairs == self._feeds
        return alike and self._enclosing and not self._quoted

    def add(self, data: bytes) -> None:
        """Count one more chunk, UTF-8."""
        if not self._started:
            data = data.removeprefix(codecs.BOM_UTF8)
            self._started = bool(data)
        if not data:
            return
        self._count_line_ends(data)
        self._count_separators(data)
        self.size += len(data)
        self._last = data[-1]

    def _count_line_ends(self, data: bytes) -> None:
        self._feeds += data.count(b"\n")
        if b"\r" in data:
            self._returns += data.count(b"\r")
            self._pairs += data.count(b"\r\n")
        self._pairs += self._last == ord("\r") and data[0] == ord("\n")

    def _count_separators(self, data: bytes) -> None:
        if b'"' not in data:
            self.separators += 0 if self._quoted else data.count(self._separator)
            self._check_first(data)
            return
        text = np.frombuffer(data, dtype=np.uint8)
        quotes = np.flatnonzero(text == _QUOTE)
        # A doubled quote in a field closes and opens again: the parity of quotes tells inside from outside.
        before = np.searchsorted(quotes, np.flatnonzero(text == self._separator)) + self._quoted
        self.separators += int(np.count_nonzero(before % 2 == 0))
        self._check_first(data)
        self._check_neighbours(text, quotes[int(self._quoted) :: 2], quotes[int(not self._quoted) :: 2])
        self._quoted ^= len(quotes) % 2 == 1

    def _check_first(self, data: bytes) -> None:
        """Check what follows a closing quote that ended the chunk before."""
        if self._last == _QUOTE and not self._quoted:
            self._enclosing &= bool(self._around[data[0]])

    def _check_neighbours(
        self, text: NDArray[np.uint8], opening: NDArray[np.intp], closing: NDArray[np.intp]
    ) -> None:
        """Check that separators, line ends or quotes stand before opening and after closing quotes."""
        before = text[opening - 1]
        if len(opening) and opening[0] == 0:
            before[0] = self._last
        after = text[closing[closing < len(text) - 1] + 1]
        self._enclosing &= bool(self._around[before].all() and self._around[after].all())
