"""Attacks on sensitive values by an adversary who knows quasi-identifiers of a target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from anonymizer.attacks.base import Attack, AttackResult, KnowledgeSettings, somebody
from anonymizer.attacks.facts import Facts, KnownFacts
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray, count
from anonymizer.model.classes import Reference, SensitiveCounts
from anonymizer.model.table import SensitiveAttribute


class ClassDisclosure(Attack):
    """Share of records in classes that disclose their sensitive value, by a rule of the subclass.

    The baseline is the same rule on all records as one class: the adversary knows no quasi-identifier.
    """

    Settings = KnowledgeSettings
    settings: KnowledgeSettings
    of_release_alone = True

    def missing_requirement(self, adversary: AdversaryView) -> str | None:
        """Return the missing sensitive attribute, if any."""
        return None if adversary.disclosing.sensitive else "a sensitive attribute"

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Attack each sensitive attribute."""
        return [
            finding
            for name in adversary.disclosing.sensitive_names
            if (finding := self._attack(adversary, name))
        ]

    def _attack(self, adversary: AdversaryView, name: str) -> AttackResult | None:
        release = adversary.disclosing
        if not self.suits(release.sensitive[name].attribute):
            return None
        classes = release.classes(adversary.aimed(self.settings.knowledge))
        counts, _ = classes.sensitive_counts(name)
        whole, _ = classes.pooled().sensitive_counts(name)
        overall = whole.reference()
        knowledge: dict[str, Any] = {
            "attributes": list(adversary.release.known(self.settings.knowledge)),
            "sensitive": name,
        }
        facts = self.known_facts
        if facts is not None:
            own = KnownFacts.of(facts, counts, release, classes.class_of).certain()
            alone = facts.model_copy(update={"where": None})
            every = KnownFacts.of(
                alone, whole, release, np.zeros(len(release.counts), dtype=np.int64)
            ).certain()
            success, baseline = own / release.records, every / release.records
            known = {**knowledge, "facts": facts.shown()}
            base_rate = {"base_rate": int(overall.counts.max()) / overall.total}
            return self.counted(adversary, known, success, baseline, base_rate)
        disclosed = self.disclosed(counts, overall)
        success = Fraction(int(classes.sizes[disclosed].sum()), release.records)
        baseline = Fraction(int(self.disclosed(whole, overall).any()))
        details = self.beyond_guess(counts, disclosed, overall)
        return self.counted(adversary, {**knowledge, **self.further()}, success, baseline, details)

    @property
    def known_facts(self) -> Facts | None:
        """What the adversary knows besides, None for an attack that follows its own rule."""
        facts = getattr(self.settings, "facts", None)
        return facts if isinstance(facts, Facts) else None

    def beyond_guess(
        self, counts: SensitiveCounts, disclosed: BoolArray, overall: Reference
    ) -> dict[str, float]:
        """Return how often the most frequent value is right, and for how many records a class tells more.

        A guess of the most frequent value needs no release, and that a value is missing tells nothing. The
        second share counts the records in disclosing classes whose value is neither.
        """
        own = self.inferred(counts.attribute)
        totals = count(own, overall.counts, int(own.max(initial=0)) + 1)
        further = disclosed[counts.owners] & (own[counts.values] != totals.argmax())
        missing = counts.attribute.column.missing
        if missing is not None:
            further &= counts.values != missing
        return {
            "base_rate": int(totals.max()) / overall.total,
            "beyond_guess": int(counts.counts[further].sum()) / overall.total,
        }

    def inferred(self, attribute: SensitiveAttribute) -> IntArray:
        """Return what a class discloses of each value, shape (values,): the value itself by default."""
        return np.arange(attribute.column.size)

    def suits(self, attribute: SensitiveAttribute) -> bool:  # noqa: ARG002 - most suit all
        """Return whether the attack applies to a sensitive attribute."""
        return True

    def further(self) -> dict[str, Any]:
        """Return the parameters other than ``knowledge``, for the report."""
        return self.settings.model_dump(mode="json", exclude={"knowledge"})

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return for how many records the value is certain, and how often a guess of it is right."""
        known = f"{somebody(knowledge)}{cls.learns(knowledge)} for {success} of the records"
        return f"{known}; guessing its most frequent value is right for {guess}."

    @classmethod
    def learns(cls, knowledge: Mapping[str, Any]) -> str:
        """Return the rest of the subject and the predicate of the sentence."""
        return f" is certain of {knowledge['sensitive']}"

    @abstractmethod
    def disclosed(self, counts: SensitiveCounts, overall: Reference) -> BoolArray:
        """Return which classes disclose the value of their records, shape (classes,), bool.

        Parameters
        ----------
        counts: of the sensitive values in each class.
        overall: distribution of the values in the release.
        """
