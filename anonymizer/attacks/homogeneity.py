"""Homogeneity: all records of a class have one sensitive value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import ClassDisclosure, DisclosureSettings
from anonymizer.attacks.facts import Facts
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.plugins import Threat


class HomogeneitySettings(DisclosureSettings):
    """What the adversary knows of a target, and besides."""

    facts: Annotated[
        Facts | None,
        Field(description="values that the target does not have, records that are known"),
    ] = None

    @property
    def known_facts(self) -> Facts | None:
        return self.facts if isinstance(self.facts, Facts) else None


class Homogeneity(ClassDisclosure):
    """Share of records in classes that have a single sensitive value.

    A missing value counts like any other: a class of missing values discloses that the value is missing.

    Source: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity" (ACM TKDD 1(1), 2007,
    doi:10.1145/1217299.1217302), section 2.1.
    """

    name = "homogeneity"
    unasked = True
    threat = Threat.HOMOGENEITY
    Settings = HomogeneitySettings
    settings: HomogeneitySettings
    examples = ({"sensitive": "illness"},)

    @classmethod
    def learns(cls, knowledge: Mapping[str, Any]) -> str:
        """Return the facts, if any, and what is certain."""
        facts = knowledge.get("facts")
        if facts is None:
            return f" is certain of {knowledge['sensitive']}"
        known = Facts.model_validate(facts)
        return f"{known.words()} {known.certainty()} {knowledge['sensitive']}"

    def further(self) -> dict[str, Any]:
        """Return no parameters: facts have a rule of their own."""
        return {}

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:  # noqa: ARG002
        """Return which classes have a single value."""
        single: BoolArray = np.diff(counts.starts) == 1
        return single
