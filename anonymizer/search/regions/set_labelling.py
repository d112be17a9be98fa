"""Regions published as sets of values."""

from __future__ import annotations

from anonymizer.search.regions.region_labelling import RegionLabelling
from anonymizer.search.regions.set_axis import SetAxis


class SetLabelling(RegionLabelling):
    """Every attribute as a set, numbers and dates too."""

    ordered = SetAxis
    unordered = SetAxis
