"""What the names of groups may show of texts that few records have."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from anonymizer.model.table import Column


class SharedPrefixes:
    """Beginnings that enough records share, so that no name of a group tells a text of a few.

    Parameters
    ----------
    column: of texts, sorted by code point.
    rare: a text of fewer records is not shown as a whole.
    """

    def __init__(self, column: Column, rare: int) -> None:
        self._texts = column.present
        self._upto = [0, *accumulate(column.counts[: len(self._texts)].tolist())]
        self._rare = rare

    def shown(self, text: str) -> str:
        """Return a text of the column where it is not rare, else its longest beginning that is not, and …"""
        place = bisect_left(self._texts, text)
        if self._upto[place + 1] - self._upto[place] >= self._rare:
            return text
        length = bisect_left(range(1, len(text) + 1), True, key=lambda end: not self._shared(text[:end]))
        return f"{text[:length]}…"

    def _shared(self, beginning: str) -> bool:
        """Tell whether enough records have texts with a beginning; if they do, they do with a shorter one."""
        first = bisect_left(self._texts, beginning)
        last = bisect_left(self._texts, True, lo=first, key=lambda text: not text.startswith(beginning))
        shared: bool = self._upto[last] - self._upto[first] >= self._rare
        return shared
