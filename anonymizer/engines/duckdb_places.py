"""Where the code of each column is in packed keys, as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.core.grouping import SPACE


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

    @property
    def code(self) -> str:
        """SQL for the code."""
        return f"((w{self.word} // {self.unit}) % {self.size})"


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


def packed_sql(places: Sequence[Place], codes: Sequence[str]) -> list[str]:
    """Return SQL for each key, given SQL for the code of each column."""
    words: list[list[str]] = [[] for _ in range(places[-1].word + 1)]
    for place, code in zip(places, codes, strict=True):
        words[place.word].append(f"{code}::BIGINT * {place.unit}")
    return [f"{' + '.join(terms)} AS w{word}" for word, terms in enumerate(words)]
