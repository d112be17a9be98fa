"""Similarity: the values of a class differ, but have a common ancestor in the hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import ClassDisclosure, DisclosureSettings
from anonymizer.attacks.base import unit_is_known
from anonymizer.errors import InputError
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Threat, WholeNumber, needs


class SimilaritySettings(DisclosureSettings):
    """What the adversary knows of a target, and the precision of the inferred value."""

    level: Annotated[
        WholeNumber,
        Field(ge=0, description="level of the sensitive hierarchy at which values count as similar"),
    ] = 1


class Similarity(ClassDisclosure):
    """Share of records in classes whose values fall under one node of the sensitive hierarchy.

    Attributes without a hierarchy are left out, as the similarity of their values is unknown.

    Source: Li, Li, Venkatasubramanian, "t-Closeness" (ICDE 2007, doi:10.1109/ICDE.2007.367856), section 2.
    """

    name = "similarity"
    threat = Threat.SIMILARITY
    Settings = SimilaritySettings
    settings: SimilaritySettings
    examples = ({"sensitive": "illness", "level": 1},)
    requires = (
        needs(
            "a hierarchy of a sensitive attribute",
            lambda own, adversary: any(
                own.suits(each.attribute) for each in adversary.disclosing.sensitive.values()
            ),
        ),
        unit_is_known,
    )

    def suits(self, attribute: SensitiveAttribute) -> bool:
        """Return whether the attribute has a hierarchy of more than one level."""
        return attribute.hierarchy is not None and attribute.hierarchy.height > 0

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:  # noqa: ARG002
        """Return which classes have all values under one node."""
        nodes = self.inferred(counts.attribute)[counts.values]
        first = counts.starts[:-1]
        similar: BoolArray = np.minimum.reduceat(nodes, first) == np.maximum.reduceat(nodes, first)
        return similar

    def inferred(self, attribute: SensitiveAttribute) -> IntArray:
        """Return the node of each value at ``level``, shape (values,)."""
        level = self.settings.level
        assert attribute.hierarchy is not None
        assert attribute.leaf is not None
        if level > attribute.hierarchy.height:
            raise InputError(
                f"attack similarity: '{attribute.name}' has no level {level}; accepted: 0 to "
                f"{attribute.hierarchy.height}"
            )
        nodes: IntArray = attribute.hierarchy.ancestors[level][attribute.leaf]
        return nodes

    @classmethod
    def learns(cls, knowledge: Mapping[str, Any]) -> str:
        """Return the level up to which the value is certain."""
        return f" is certain of {knowledge['sensitive']} at level {knowledge['level']} of its hierarchy"
