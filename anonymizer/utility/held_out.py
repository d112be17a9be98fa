"""Original records that are held out, with what was published of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.sampling import draw_sample
from anonymizer.model.adversary import Links, Original
from anonymizer.model.arrays import IntArray
from anonymizer.model.counting import count


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Records that are held out.

    Attributes
    ----------
    original: of each original combination, shape (combinations,), int64.
    release: of each released combination, shape (combinations,), int64; fewer where some were suppressed.
    """

    original: IntArray
    release: IntArray

    @property
    def records(self) -> int:
        """Number of original records that are held out."""
        return int(self.original.sum())


def held_out(original: Original, combinations: int, number: int, random: np.random.Generator) -> HeldOut:
    """Draw records, all as likely, suppressed ones too; the same ones whatever was released.

    Parameters
    ----------
    combinations: of the release.
    number: of records; fewer than there are.
    """
    held = draw_sample(original.counts, number, random)
    links = original.links
    taken = _among_links(links, original.counts, held, random)
    return HeldOut(held, count(links.release, taken, combinations))


def _among_links(links: Links, records: IntArray, held: IntArray, random: np.random.Generator) -> IntArray:
    """Return how many of each link's records are held out, shape (links,), int64.

    The records of an original combination are alike; one link of each combination is drawn at a time.
    """
    taken = np.zeros(len(links.counts), dtype=np.int64)
    place = np.arange(len(links.counts)) - np.searchsorted(links.original, links.original)
    by_place = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place))
    left, wanted = records.copy(), held.copy()
    for own in np.split(by_place, ends[:-1]):
        owners, good = links.original[own], links.counts[own]
        taken[own] = random.hypergeometric(good, left[owners] - good, wanted[owners])
        left[owners] -= good
        wanted[owners] -= taken[own]
    # What the links do not tell of was suppressed: nothing is to be taken out of the release for it.
    return taken
