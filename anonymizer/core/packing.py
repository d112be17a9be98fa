"""Columns of codes packed into one integer per record, and these counted by sorting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from anonymizer.core.arrays import CodeArray, IntArray
from anonymizer.core.grouping import BLOCK, SPACE, starts_of


@dataclass
class _Word:
    """Columns in one integer.

    Attributes
    ----------
    sizes: number of codes of each; in all words but the first, of the ranks of the word before, too.
    distinct: the distinct keys, ascending, of a word that was followed by another.
    """

    sizes: list[int] = field(default_factory=list)
    distinct: IntArray | None = None
    space: int = 1


class Packing:
    """Packs columns of codes, added one by one, into keys that sort as the rows of codes do.

    Where the next column does not fit the integer any more, the keys so far are replaced by their ranks.

    Parameters
    ----------
    records: length of the columns.
    """

    def __init__(self, records: int) -> None:
        self._keys: IntArray = np.zeros(records, dtype=np.int64)
        self._words = [_Word()]

    @classmethod
    def of(cls, keys: IntArray, sizes: Sequence[int]) -> Packing:
        """Go on from columns that are packed already; the keys are its own from now on.

        Parameters
        ----------
        keys: shape (records,), int64, as columns of these sizes give them one after another.
        sizes: number of codes of each column; together fewer than ``SPACE`` combinations.
        """
        packing = cls(0)
        packing._keys = keys
        packing._words = [_Word(list(sizes), None, prod(max(size, 1) for size in sizes))]
        return packing

    def add(self, codes: NDArray[np.integer], size: int) -> None:
        """Pack one more column.

        Parameters
        ----------
        codes: shape (records,), each in [0, size).
        """
        word = self._words[-1]
        if word.space * size >= SPACE:
            ranks, word.distinct = rank(self._keys)
            self._keys[:] = ranks
            word = _Word([len(word.distinct)], None, max(len(word.distinct), 1))
            self._words.append(word)
        word.sizes.append(size)
        word.space *= max(size, 1)
        self._keys *= size
        self._keys += codes

    @property
    def space(self) -> int:
        """Every key is in [0, space)."""
        return self._words[-1].space

    def take_keys(self) -> IntArray:
        """Return the keys, shape (records,), int64, which are the caller's to change; nothing can follow."""
        keys, self._keys = self._keys, np.zeros(0, dtype=np.int64)
        return keys

    def unpack(self, keys: IntArray) -> CodeArray:
        """Return the codes of some keys, shape (keys, columns), int32, each column in one piece of memory."""
        width = sum(len(word.sizes[1 if number else 0 :]) for number, word in enumerate(self._words))
        codes = np.empty((width, len(keys)), dtype=np.int32)
        for start in range(0, len(keys), BLOCK):
            self._unpack(keys[start : start + BLOCK], codes[:, start : start + BLOCK])
        return codes.T

    def _unpack(self, keys: IntArray, codes: CodeArray) -> None:
        """Write the codes of some keys into an array of shape (columns, keys)."""
        place = len(codes)
        for number, word in reversed(list(enumerate(self._words))):
            if word.distinct is not None:
                keys = word.distinct[keys]
            # The first place of all words but the first is a rank of the word before.
            for size in reversed(word.sizes[1 if number else 0 :]):
                higher = keys // size
                place -= 1
                codes[place] = keys - higher * size
                keys = higher


def count_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct keys, ascending, and how often each occurs, both int64; sorts ``keys`` in place."""
    keys.sort()
    starts = np.flatnonzero(starts_of(keys))
    counts = np.diff(starts, append=len(keys)).astype(np.int64, copy=False)
    return keys[starts], counts


def rank(keys: IntArray) -> tuple[CodeArray, IntArray]:
    """Return the rank of each key among the distinct ones, shape (records,), int32, and these, ascending."""
    order = np.argsort(keys)
    ordered = keys[order]
    starts = starts_of(ordered)
    ranks = np.empty(len(keys), dtype=np.int32)
    ranks[order] = np.cumsum(starts, dtype=np.int32) - 1
    return ranks, ordered[starts]
