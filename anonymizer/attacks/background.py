"""Background knowledge: the adversary excludes values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import ClassDisclosure
from anonymizer.attacks.base import KnowledgeSettings
from anonymizer.errors import plural
from anonymizer.model.adversary import Threat
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.plugins import WholeNumber


class BackgroundSettings(KnowledgeSettings):
    """What the adversary knows of a target, and how many values they can exclude."""

    facts: Annotated[
        WholeNumber, Field(ge=0, description="number of values that the adversary can exclude for the target")
    ] = 1


class Background(ClassDisclosure):
    """Share of records whose value is certain after the adversary excludes some others.

    The facts exclude the most frequent values of the class other than the true one. The true one is certain
    iff the class has at most one distinct value more than there are facts.

    Source: Machanavajjhala et al., "l-Diversity" (ACM TKDD 1(1), 2007), section 2.2.
    """

    name = "background"
    threat = Threat.BACKGROUND
    Settings = BackgroundSettings
    settings: BackgroundSettings

    @classmethod
    def learns(cls, knowledge: Mapping[str, Any]) -> str:
        """Return the number of excluded values and what is certain."""
        excluded = plural(knowledge["facts"], "other value")
        return f" and can rule out {excluded} is certain of {knowledge['sensitive']}"

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:  # noqa: ARG002
        """Return which classes have at most ``facts`` + 1 values."""
        return np.diff(counts.starts) <= self.settings.facts + 1
