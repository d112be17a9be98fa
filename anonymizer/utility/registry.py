"""The measures of utility by name."""

from __future__ import annotations

from anonymizer.plugins import Registry
from anonymizer.utility.base import Measure

UTILITY_MEASURES: Registry[Measure] = Registry(
    "utility measure", Measure, "anonymizer.utility", "anonymizer.utility_measures"
)
