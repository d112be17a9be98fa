"""Background knowledge: the adversary excludes values."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import ClassDisclosure, KnowledgeSettings
from anonymizer.model.adversary import Threat
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.plugins import WholeNumber


class BackgroundSettings(KnowledgeSettings):
    """What the adversary knows of a target, and excludes."""

    facts: Annotated[
        WholeNumber, Field(ge=0, description="number of values that the adversary can exclude for the target")
    ] = 1


class Background(ClassDisclosure):
    """Share of records whose value is certain once the adversary excludes some others.

    The facts exclude the most frequent values of the class other than the true one, so the true one is
    certain iff the class has no more distinct values than facts and one.

    Source: Machanavajjhala et al., "l-Diversity" (ACM TKDD 1(1), 2007), section 2.2.
    """

    name = "background"
    threat = Threat.BACKGROUND
    Settings = BackgroundSettings
    settings: BackgroundSettings

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:  # noqa: ARG002
        """Tell which classes have few enough values."""
        return np.diff(counts.starts) <= self.settings.facts + 1
