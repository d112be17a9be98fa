"""One number for all that a recoding publishes, which tells recodings apart without sorting their rows."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SUPPRESSED

Words = NDArray[np.uint64]


def fingerprint(recoding: Recoding) -> int:
    """Return a sum over all released records of a number that their published and sensitive values make.

    Recodings that publish the same have the same one, however many rows they tell apart; others share one by
    a chance of 1 in 2**64. It takes a look-up for each value and eight bytes for each row.
    """
    table = recoding.table
    kept_suppressed = recoding.suppressed & ~recoding.removed
    rows = np.zeros(table.combinations, dtype=np.uint64)
    for position in range(len(table.quasi_identifiers)):
        cells = recoding.cells(position)
        own = _words(position, cells.labels)[cells.codes]
        own[kept_suppressed] = _words(position, [SUPPRESSED])[0]
        rows += own
    for position, attribute in enumerate(table.sensitive, start=len(table.quasi_identifiers)):
        codes = table.sensitive_codes(attribute.name)
        rows += _words(position, map(str, range(attribute.column.size)))[codes]
    kept = ~recoding.removed
    return int((_mixed(rows[kept]) * table.counts[kept].astype(np.uint64)).sum())


def _words(position: int, texts: Iterable[str]) -> Words:
    """Return a word for each text of a column."""
    key = position.to_bytes(4, "little")
    digests = (
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest() for text in texts
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _mixed(words: Words) -> Words:
    """Return words in which every bit depends on all of the given ones, so that sums of them tell these.

    Source: Steele, Lea, Flood (OOPSLA 2014, doi:10.1145/2660193.2660195), the finalizer of SplitMix64.
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))
