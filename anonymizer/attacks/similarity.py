"""Similarity: the values of a class differ, but mean much the same."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import ClassDisclosure, KnowledgeSettings
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, Threat
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import WholeNumber


class SimilaritySettings(KnowledgeSettings):
    """What the adversary knows of a target, and how precisely it wants to know its value."""

    level: Annotated[
        WholeNumber,
        Field(ge=0, description="level of the sensitive hierarchy at which values count as similar"),
    ] = 1


class Similarity(ClassDisclosure):
    """Share of records in classes whose values fall under one node of the sensitive hierarchy.

    Attributes without a hierarchy are left out: nothing says which of their values are alike.

    Source: Li, Li, Venkatasubramanian, "t-Closeness" (ICDE 2007, doi:10.1109/ICDE.2007.367856), section 2.
    """

    name = "similarity"
    threat = Threat.SIMILARITY
    Settings = SimilaritySettings
    settings: SimilaritySettings

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """A hierarchy of a sensitive attribute is needed."""
        if any(self.suits(own.attribute) for own in scene.disclosing.sensitive.values()):
            return None
        return "a hierarchy of a sensitive attribute"

    def suits(self, attribute: SensitiveAttribute) -> bool:
        """Tell whether the attribute has a hierarchy of more than one level."""
        return attribute.hierarchy is not None and attribute.hierarchy.height > 0

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:  # noqa: ARG002
        """Tell which classes lie under one node."""
        attribute, level = counts.attribute, self.settings.level
        assert attribute.hierarchy is not None
        assert attribute.leaf is not None
        if level > attribute.hierarchy.height:
            raise InputError(
                f"attack similarity: '{attribute.name}' has no level {level}; accepted: 0 to "
                f"{attribute.hierarchy.height}"
            )
        nodes = attribute.hierarchy.ancestors[level][attribute.leaf][counts.values]
        first = counts.starts[:-1]
        alike: BoolArray = np.minimum.reduceat(nodes, first) == np.maximum.reduceat(nodes, first)
        return alike
