"""Regions published as intervals of numbers and dates, and sets of other values."""

from __future__ import annotations

from anonymizer.search.regions.interval_axis import IntervalAxis
from anonymizer.search.regions.region_labelling import RegionLabelling
from anonymizer.search.regions.set_axis import SetAxis


class IntervalLabelling(RegionLabelling):
    """Ordered attributes as intervals, the others as sets: an interval of names would mean nothing."""

    ordered = IntervalAxis
    unordered = SetAxis
