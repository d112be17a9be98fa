"""``attacks:``: the attacks that are run on the release and reported."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from anonymizer.config.plugged import PLUG_IN_SETTINGS, NamedSection
from anonymizer.config.plugins import AnyRegistry, attacks


class AttackSettings(NamedSection):
    """An attack with its options; without options its name alone will do."""

    selector: ClassVar[str] = "attack"
    attack: str = Field(description="name of the attack")
    settings: Any = PLUG_IN_SETTINGS

    @classmethod
    def registry(cls) -> AnyRegistry:
        """Return the attacks."""
        return attacks()
