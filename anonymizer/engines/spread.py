"""How the records of a column are spread over its distinct texts."""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnStatistics:
    """How the records of a column are spread over its distinct texts.

    Attributes
    ----------
    distinct: number of distinct texts; nulls and what was asked to count as such are left out here and below.
    singles: texts that stand in one record only.
    largest: records of the most frequent text, 0 without any.
    nulls: records with a null, or with what counts as one.
    entropy: of the texts, in bits.
    sample: distinct texts with their records, sorted by code point; all of them, or a share that depends on
        the texts alone and neither on their order nor on how frequent they are.
    """

    distinct: int
    singles: int
    largest: int
    nulls: int
    entropy: float
    sample: tuple[tuple[str, int], ...]

    @property
    def whole(self) -> bool:
        """Whether the sample holds every text."""
        return len(self.sample) == self.distinct


def column_statistics(
    dictionary: Sequence[tuple[str | None, int]], limit: int, absent: Collection[str] = ()
) -> ColumnStatistics:
    """Return the spread of a column whose dictionary is known; the parameters are those of ``spread``."""
    texts = [(text, count) for text, count in dictionary if text is not None and text not in absent]
    counts = [count for _, count in texts]
    sample = texts
    if len(texts) > limit:
        share = len(texts) // limit
        sample = [entry for entry in texts if zlib.crc32(entry[0].encode("utf-8", "replace")) % share == 0]
    nulls = sum(count for _, count in dictionary) - sum(counts)
    scores = math.fsum(count * math.log2(count) for count in counts)
    return ColumnStatistics(
        len(texts),
        counts.count(1),
        max(counts, default=0),
        nulls,
        entropy_bits(sum(counts), scores),
        tuple(sample),
    )


def entropy_bits(records: int, scores: float) -> float:
    """Return the entropy in bits of values whose counts n add up to ``records`` and n log2 n to ``scores``.

    >>> entropy_bits(4, 2 * 2 * 1.0)
    1.0
    """
    return max(math.log2(records) - scores / records, 0.0) if records else 0.0
