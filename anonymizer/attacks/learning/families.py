"""The families by the names that the config has for them."""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.attacks.learning.bilinear import Bilinear
from anonymizer.attacks.learning.choquet import choquet
from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.owa import Owa
from anonymizer.attacks.learning.weighted_mean import WeightedMean

FAMILIES: dict[str, Callable[[int], Family]] = {
    WeightedMean.name: WeightedMean,
    Owa.name: Owa,
    Bilinear.name: Bilinear,
    "choquet": choquet,
}
"""Given the number of attributes, the family."""
