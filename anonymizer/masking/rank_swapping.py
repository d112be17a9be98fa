"""Rank swapping: values change places with others of similar rank."""

from __future__ import annotations

import numpy as np

from anonymizer.masking.base import Masking, MaskingInput, require
from anonymizer.model.arrays import FloatArray, IntArray


class RankSwapping(Masking):
    """Swaps each value with one whose rank differs by at most p percent of the records, in each attribute.

    From the lowest rank up, each value that is not swapped yet is swapped with a random unswapped value up to
    p percent above it, or stays if there is none. Every attribute keeps its distribution. Equal values are
    ranked in the order of the records.

    Source: Moore, Controlled data-swapping techniques for masking public use microdata sets (US Bureau of the
    Census, SRD report RR 96-04, 1996).

    Parameters
    ----------
    p: percent of the records, above 0, up to 100.
    """

    def __init__(self, p: float) -> None:
        require(0 < p <= 100, f"p = {p}; accepted: above 0, up to 100")
        self._p = p

    def _masked(self, given: MaskingInput) -> FloatArray:
        reach = int(self._p * len(given.values) / 100)
        masked = np.empty_like(given.values)
        for position, column in enumerate(given.values.T):
            order = np.argsort(column, kind="stable")
            masked[order, position] = column[order[_partners(len(given.values), reach, given.random)]]
        return masked


def _partners(records: int, reach: int, random: np.random.Generator) -> IntArray:
    """Return the rank that each rank is swapped with, its own if it stays, shape (records,), int64."""
    partners = np.arange(records)
    free = np.ones(records, dtype=np.bool_)
    draws = random.random(records)
    # Each swap limits the next ones, so a loop over records is needed.
    for rank in range(records):
        if free[rank]:
            others = np.flatnonzero(free[rank + 1 : rank + 1 + reach])
            if len(others):
                other = rank + 1 + int(others[int(draws[rank] * len(others))])
                partners[rank], partners[other] = other, rank
                free[other] = False
    return partners
