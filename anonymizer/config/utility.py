"""``utility:``: the measures of utility that are taken of the release and reported."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from anonymizer.config.plugged import PLUG_IN_SETTINGS, NamedSection
from anonymizer.config.plugins import AnyRegistry, utility_measures


class UtilitySettings(NamedSection):
    """A measure of utility with its options; without options its name alone will do."""

    selector: ClassVar[str] = "measure"
    measure: str = Field(description="name of the measure")
    settings: Any = PLUG_IN_SETTINGS

    @classmethod
    def registry(cls) -> AnyRegistry:
        """Return the measures."""
        return utility_measures()
