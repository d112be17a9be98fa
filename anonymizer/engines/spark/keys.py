"""Codes of several columns in few whole numbers of 64 bits, by SQL of Spark and back in this process."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.data.distinct_rows import names_of, packed, places_of, unpacked
from anonymizer.model.arrays import CodeArray, IntArray


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
        self._places = places_of(sizes)
        self.sizes = tuple(place.size for place in self._places)
        self.names = names_of(self._places)

    def packed(self, codes: Sequence[str]) -> list[str]:
        """Return SQL for each word.

        Parameters
        ----------
        codes: SQL for the code of each column.
        """
        words = ["CAST(0 AS BIGINT)" for _ in self.names]
        for place, code in zip(self._places, codes, strict=True):
            words[place.word] = f"({words[place.word]} * {place.size} + {code})"
        return [f"{word} AS {name}" for word, name in zip(words, self.names, strict=True)]

    def pack(self, codes: CodeArray) -> list[IntArray]:
        """Return the words of rows of codes, each of shape (rows,), int64."""
        return packed(self._places, codes)

    def code(self, position: int) -> str:
        """Return SQL for the code of a column, of the words."""
        place = self._places[position]
        return f"(({self.names[place.word]} DIV {place.unit}) % {place.size})"

    def unpack(self, words: Sequence[IntArray]) -> CodeArray:
        """Return the codes of some rows, shape (rows, columns), int32, each column in one piece of memory."""
        return unpacked(self._places, words)
