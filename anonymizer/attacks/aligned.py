"""Attacks that need to know which original record became which released one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from anonymizer.attacks.base import AdversaryView
from anonymizer.model.adversary import Links, Original, Truth
from anonymizer.plugins import Settings


class AlignedSettings(Settings):
    """Where it is known from which record became which."""

    aligned: Annotated[
        bool, Field(description="row i of the release is row i of the original, as masked data have it")
    ] = False

    def links(self, original: Original) -> Links:
        """Return which original combination became which released one."""
        if self.aligned and original.aligned_links is not None:
            return original.aligned_links
        return original.links

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """Return why a scene does not tell, None when it does."""
        if scene.original is None:
            return "original records"
        if self.aligned and scene.original.aligned_links is None:
            return "an original with as many rows as the release, which aligned: true asks for"
        if not self.aligned and scene.original.truth is Truth.UNKNOWN:
            return (
                "to know which record became which: no published value stands for those of an original "
                "record; where row i of the release is row i of the original, say aligned: true"
            )
        return None
