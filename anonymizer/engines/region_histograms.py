"""What an engine summed up of regions once, asked again in other ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import GroupStatistic
from anonymizer.model.counting import starts_of
from anonymizer.model.out_of_core import RegionCut, RegionSums


@dataclass(frozen=True, eq=False)
class Histograms:
    """What was found of some regions along bundles of quasi-identifiers.

    Attributes
    ----------
    regions: that were asked about, ascending.
    traces: of the sums.
    of_position: sums by the codes of a bundle, by the position of each of its quasi-identifiers, and what
        takes the code of that one out of the code of the bundle: ``code // unit % size``.
    """

    regions: IntArray
    traces: tuple[GroupStatistic, ...]
    of_position: dict[int, tuple[RegionSums, int, int]]

    def along(self, position: int) -> RegionSums:
        """Return the sums along a quasi-identifier for which there are some."""
        found, unit, size = self.of_position[position]
        return regrouped(found, self.traces, found.region, found.code // unit % size)

    def in_stretches(self, cut: RegionCut) -> RegionCut:
        """Return a cut with codes that its region has not on the side of the one before, if these are known.

        The codes that go to the left then lie in few stretches.
        """
        if not self._tells_of(cut):
            return cut
        found, unit, size = self.of_position[cut.position]
        present = np.zeros(size, dtype=bool)
        present[found.code[self._groups_of(cut.region, found)] // unit % size] = True
        # Of codes before the first that occurs, the first one.
        before = np.maximum.accumulate(np.where(present, np.arange(size), int(present.argmax())))
        return replace(cut, goes_left=cut.goes_left[before])

    def sides(self, cuts: Sequence[RegionCut]) -> RegionSums | None:
        """Return the sums of both sides of cuts of different regions; None where they are not known."""
        if not cuts or not all(map(self._tells_of, cuts)):
            return None
        parts = []
        for own in cuts:
            found, unit, size = self.of_position[own.position]
            part = _taken(found, self._groups_of(own.region, found))
            side = own.left + ~own.goes_left[part.code // unit % size]
            parts.append(regrouped(part, self.traces, side, np.zeros_like(side)))
        return _joined(parts)

    def _tells_of(self, cut: RegionCut) -> bool:
        return cut.position in self.of_position and bool(np.isin(cut.region, self.regions))

    def _groups_of(self, region: int, found: RegionSums) -> slice:
        """Return where the sums of a region are."""
        return slice(*np.searchsorted(found.region, [region, region + 1]).tolist())


def regrouped(
    found: RegionSums, traces: Sequence[GroupStatistic], region: IntArray, code: IntArray
) -> RegionSums:
    """Sum up sums anew, given another region and code of each, shape (groups,)."""
    if not len(region):
        return found
    keys = region * (int(code.max()) + 1) + code
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(starts_of(keys[order]))
    return RegionSums(
        region[order][starts],
        code[order][starts],
        np.add.reduceat(found.combinations[order], starts),
        np.add.reduceat(found.records[order], starts),
        [
            trace.reduction.ufunc.reduceat(own[order], starts)
            for trace, own in zip(traces, found.traces, strict=True)
        ],
    )


def of_some(found: RegionSums, regions: IntArray) -> RegionSums:
    """Return only what was found of some regions."""
    return _taken(found, np.flatnonzero(np.isin(found.region, regions)))


def _taken(found: RegionSums, groups: slice | IntArray) -> RegionSums:
    return RegionSums(
        found.region[groups],
        found.code[groups],
        found.combinations[groups],
        found.records[groups],
        [own[groups] for own in found.traces],
    )


def _joined(parts: Sequence[RegionSums]) -> RegionSums:
    """Return sums of different regions together, ascending by region."""
    region = np.concatenate([own.region for own in parts])
    together = RegionSums(
        region,
        np.concatenate([own.code for own in parts]),
        np.concatenate([own.combinations for own in parts]),
        np.concatenate([own.records for own in parts]),
        [np.concatenate(own) for own in zip(*(each.traces for each in parts), strict=True)],
    )
    return _taken(together, np.argsort(region))
