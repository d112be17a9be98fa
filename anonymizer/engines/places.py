"""Where the code of each column is in packed keys: in this process, and in whatever an engine keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.counting import SPACE


@dataclass(frozen=True)
class Place:
    """Where the code of a column is in the packed keys.

    Attributes
    ----------
    word: which key.
    unit: what the code is multiplied by.
    size: number of codes.
    """

    word: int
    unit: int
    size: int


def places_of(sizes: Sequence[int]) -> tuple[Place, ...]:
    """Return places for columns of codes, so that keys sort as the rows of codes do."""
    words: list[list[int]] = [[]]
    space = 1
    for size in sizes:
        if space * max(size, 1) >= SPACE:
            words.append([])
            space = 1
        words[-1].append(max(size, 1))
        space *= max(size, 1)
    places = []
    for word, own in enumerate(words):
        units = [int(np.prod(own[place + 1 :], dtype=object)) for place in range(len(own))]
        places += [Place(word, unit, size) for unit, size in zip(units, own, strict=True)]
    return tuple(places)


def names_of(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the names of the keys in SQL: w0, w1, …"""
    return tuple(f"w{word}" for word in range(places[-1].word + 1))


def packed(places: Sequence[Place], codes: CodeArray) -> list[IntArray]:
    """Return the keys of rows of codes, each of shape (rows,), int64."""
    keys: list[IntArray] = [np.zeros(len(codes), dtype=np.int64) for _ in names_of(places)]
    for place, column in zip(places, codes.T, strict=True):
        keys[place.word] += column.astype(np.int64) * place.unit
    return keys


def unpacked(places: Sequence[Place], keys: Sequence[IntArray]) -> CodeArray:
    """Return the codes of some rows, shape (rows, columns), int32, each column in one piece of memory."""
    codes = np.empty((len(places), len(keys[0])), dtype=np.int32)
    for column, place in enumerate(places):
        codes[column] = keys[place.word] // place.unit % place.size
    return codes.T
