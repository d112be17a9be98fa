"""The ways of putting records into groups."""

from __future__ import annotations

from collections.abc import Mapping

from anonymizer.search.grouping.largest import Largest
from anonymizer.search.grouping.mix import Grouping, RandomGrouping, SimilarGrouping

GROUPINGS: Mapping[str, Grouping] = {
    each.name: each for each in (RandomGrouping(), Largest(), SimilarGrouping())
}
"""The ways by the name that the config gives them."""
