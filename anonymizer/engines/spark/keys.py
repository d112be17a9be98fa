"""Codes of several columns in few whole numbers of 64 bits, by SQL and back in this process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.core.arrays import CodeArray, IntArray
from anonymizer.core.grouping import SPACE


class KeyWords:
    """Columns of codes in words, so that words sort as the rows of codes do.

    Parameters
    ----------
    sizes: number of codes of each column.

    Attributes
    ----------
    names: of the words in SQL.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(max(size, 1) for size in sizes)
        self._words: list[list[int]] = [[]]
        space = 1
        for place, size in enumerate(self.sizes):
            if space * size >= SPACE:
                self._words.append([])
                space = 1
            self._words[-1].append(place)
            space *= size
        self.names = tuple(f"w{number}" for number in range(len(self._words)))

    def packed(self, codes: Sequence[str]) -> list[str]:
        """Return SQL for each word.

        Parameters
        ----------
        codes: SQL for the code of each column.
        """
        made = []
        for name, places in zip(self.names, self._words, strict=True):
            word = "CAST(0 AS BIGINT)"
            for place in places:
                word = f"({word} * {self.sizes[place]} + {codes[place]})"
            made.append(f"{word} AS {name}")
        return made

    def pack(self, codes: CodeArray) -> list[IntArray]:
        """Return the words of rows of codes, each of shape (rows,), int64."""
        words = []
        for places in self._words:
            word: IntArray = np.zeros(len(codes), dtype=np.int64)
            for place in places:
                word *= self.sizes[place]
                word += codes[:, place]
            words.append(word)
        return words

    def code(self, place: int) -> str:
        """Return SQL for the code of a column, of the words."""
        name, divisor = self._at(place)
        return f"(({name} DIV {divisor}) % {self.sizes[place]})"

    def unpack(self, words: Sequence[IntArray]) -> CodeArray:
        """Return the codes of some rows, shape (rows, columns), int32, each column in one piece of memory."""
        codes = np.empty((len(self.sizes), len(words[0])), dtype=np.int32)
        for place, size in enumerate(self.sizes):
            name, divisor = self._at(place)
            codes[place] = words[self.names.index(name)] // divisor % size
        return codes.T

    def _at(self, place: int) -> tuple[str, int]:
        for name, places in zip(self.names, self._words, strict=True):
            if place in places:
                after = places[places.index(place) + 1 :]
                return name, int(np.prod([self.sizes[each] for each in after], dtype=object) if after else 1)
        raise IndexError(place)
