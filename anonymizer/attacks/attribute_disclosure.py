"""Attacks on the values of a sensitive attribute by who knows quasi-identifiers of a target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from anonymizer.attacks.base import Attack, AttackResult
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Settings, WholeNumber


class KnowledgeSettings(Settings):
    """What the adversary knows of a target."""

    knowledge: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="quasi-identifiers that the adversary knows; default: all"),
    ] = None


class SubsetSettings(KnowledgeSettings):
    """What the adversary knows of a target: one set of quasi-identifiers, or each that it might be."""

    subsets: Annotated[
        Literal["all"] | None, Field(description="all: every set of known quasi-identifiers")
    ] = None
    size: Annotated[
        WholeNumber | None, Field(ge=1, description="with subsets: maximum number of known quasi-identifiers")
    ] = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.subsets and self.knowledge:
            raise ValueError("knowledge and subsets exclude each other; remove one")
        if self.size and not self.subsets:
            raise ValueError("size goes with subsets: all; add it, or remove size")
        return self


class ClassDisclosure(Attack):
    """Counts the records of classes that give their sensitive value away, by a rule of the subclass.

    The baseline is the same rule on the whole table as one class, which is what remains without knowing any
    quasi-identifier.
    """

    Settings = KnowledgeSettings
    settings: KnowledgeSettings
    of_release_alone = True

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """A sensitive attribute is needed."""
        return None if scene.disclosing.sensitive else "a sensitive attribute"

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Attack each sensitive attribute."""
        return [
            finding for name in scene.disclosing.sensitive_names if (finding := self._attack(scene, name))
        ]

    def _attack(self, scene: AdversaryView, name: str) -> AttackResult | None:
        release = scene.disclosing
        if not self.suits(release.sensitive[name].attribute):
            return None
        classes = release.classes(scene.aimed(self.settings.knowledge))
        counts, _ = classes.sensitive_counts(name)
        whole, _ = classes.pooled().sensitive_counts(name)
        overall = whole.reference()
        disclosed = self.disclosed(counts, overall)
        success = Fraction(int(classes.sizes[disclosed].sum()), release.records)
        baseline = Fraction(int(self.disclosed(whole, overall).any()))
        knowledge: dict[str, Any] = {
            "attributes": list(scene.release.known(self.settings.knowledge)),
            "sensitive": name,
        }
        return self.counted(scene, {**knowledge, **self.further()}, success, baseline)

    def suits(self, attribute: SensitiveAttribute) -> bool:  # noqa: ARG002 - most suit all
        """Tell whether the attack says something about a sensitive attribute."""
        return True

    def further(self) -> dict[str, Any]:
        """Return the parameters beside ``knowledge``, for the report."""
        return self.settings.model_dump(mode="json", exclude={"knowledge"})

    @abstractmethod
    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:
        """Tell which classes give the value of their records away, shape (classes,), bool.

        Parameters
        ----------
        counts: of the sensitive values in each class.
        overall: the distribution of the values in the release.
        """
