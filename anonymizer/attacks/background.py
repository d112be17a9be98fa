"""Background knowledge: the adversary excludes values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import ClassDisclosure, DisclosureSettings
from anonymizer.attacks.facts import Facts
from anonymizer.errors import plural
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.plugins import Threat, WholeNumber


class BackgroundSettings(DisclosureSettings):
    """What the adversary knows of a target, and how many values they can exclude."""

    facts: Annotated[
        Annotated[WholeNumber, Field(ge=0)] | Facts,
        Field(description="number of values that the adversary can exclude for the target, or the facts"),
    ] = 1

    @property
    def known_facts(self) -> Facts | None:
        return self.facts if isinstance(self.facts, Facts) else None


class Background(ClassDisclosure):
    """Share of records whose value is certain after the adversary excludes some others.

    ``facts`` is a number of values, or says which values are excluded for whom, or how many other records
    of the class are known.

    The facts exclude the most frequent values of the class other than the true one. The true one is certain
    iff the class has at most one distinct value more than there are facts.

    Source: Machanavajjhala et al., "l-Diversity" (ACM TKDD 1(1), 2007), section 2.2.
    """

    name = "background"
    threat = Threat.BACKGROUND
    Settings = BackgroundSettings
    settings: BackgroundSettings
    examples = ({"sensitive": "illness", "facts": 1},)

    @classmethod
    def learns(cls, knowledge: Mapping[str, Any]) -> str:
        """Return the number of excluded values and what is certain."""
        facts = knowledge["facts"]
        if isinstance(facts, Mapping):
            own = Facts.model_validate(facts)
            return f"{own.words()} {own.certainty()} {knowledge['sensitive']}"
        known = f" and can rule out {plural(facts, 'other value')}"
        return f"{known} is certain of {knowledge['sensitive']}"

    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:  # noqa: ARG002
        """Return which classes have at most ``facts`` + 1 values."""
        assert isinstance(self.settings.facts, int), "facts in words have a rule of their own"
        return np.diff(counts.starts) <= self.settings.facts + 1
