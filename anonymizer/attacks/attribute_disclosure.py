"""Attacks on sensitive values by an adversary who knows quasi-identifiers of a target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from anonymizer.attacks.base import (
    DISCLOSING,
    Attack,
    AttackResult,
    KnowledgeSettings,
    UnitSettings,
    facts_about_records,
    holders_are_known,
    subject_of,
    targets_of,
    with_links,
)
from anonymizer.attacks.facts import Facts, KnownFacts
from anonymizer.attacks.tail import exposing_certain
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.arrays import BoolArray, IntArray, count, group_keys
from anonymizer.model.classes import Classes, Reference, SensitiveCounts
from anonymizer.model.measure import Measure
from anonymizer.model.owners import OwnedRecords
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Rule


class DisclosureSettings(KnowledgeSettings, UnitSettings):
    """What the adversary knows of a target."""

    @property
    def known_facts(self) -> Facts | None:
        """What the adversary knows besides, None for an attack that follows its own rule."""
        return None

    together = (
        facts_about_records(lambda own: own.known_facts is not None),
        Rule(
            lambda own: (facts := own.known_facts) is not None and facts.probability < 1 and facts.sure == 1,
            "facts that are only probable make no value certain; add sure: 0.9, the probability from which a "
            "value counts, or use vulnerability with target: attribute-inference",
        ),
    )


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """The distinct units of each class, and of those with each value; a unit may have several values.

    Attributes
    ----------
    class_of, entry_of: class of each record, and its entry (a class and a value), shape (records,), int64.
    sizes: units of each class, shape (classes,), int64.
    counts: units of each entry, shape (entries,), int64.
    overall: units with the value of each entry in any class, shape (entries,), int64.
    number: of units.
    """

    class_of: IntArray
    entry_of: IntArray
    sizes: IntArray
    counts: IntArray
    overall: IntArray
    number: int

    @classmethod
    def of(cls, class_of: IntArray, values: IntArray, units: IntArray, number: int) -> UnitCounts:
        """Count the units of records.

        Parameters
        ----------
        class_of, values, units: of each record, shape (records,), int64, none negative.
        number: of units.
        """
        entry_of, (_, value) = _pairs(class_of, values)
        entries = _pairs(entry_of, units)[1][0]
        sizes, overall = np.bincount(_pairs(class_of, units)[1][0]), np.bincount(_pairs(values, units)[1][0])
        return cls(class_of, entry_of, sizes, np.bincount(entries), overall[value], number)


def _classes_of_records(
    owned: OwnedRecords, release: PublishedTable, known: Sequence[str]
) -> list[tuple[Classes, IntArray]]:
    """Return the classes by which an adversary who looks for a unit learns its values, of single records.

    They are of equal rows; where the release links the records of a person, of persons with equal lists of
    rows, and the records of each row in them, as the adversary knows which row of a person is which.

    Returns
    -------
    Classes, each with the class of each record, shape (records,), int64.
    """
    classes = release.classes(known)
    rows = classes.class_of[owned.release]
    if not owned.linked:
        return [(classes, rows)]
    values = {name: own.at(owned.release) for name, own in release.sensitive.items()}
    ones, class_of = np.ones(len(rows), dtype=np.int64), owned.class_of(classes.class_of)
    every = [class_of, _pairs(class_of, rows)[0]]
    return [(Classes(own, Measure(ones), int(own.max()) + 1, values), own) for own in every]


def _pairs(first: IntArray, second: IntArray) -> tuple[IntArray, tuple[IntArray, IntArray]]:
    """Return the number of each pair, shape as both, and the two parts of each distinct pair, ascending."""
    width = int(second.max(initial=0)) + 1
    numbers, distinct = group_keys(first * width + second, (int(first.max(initial=0)) + 1) * width)
    return numbers, (distinct // width, distinct % width)


class ClassDisclosure(Attack):
    """Share of records in classes that disclose their sensitive value, by a rule of the subclass.

    The baseline is the same rule on all records as one class: the adversary knows no quasi-identifier.

    Where it is known whose the records are, it is the share of persons, or other units, with a record in such
    a class, or with a value that all units of the class have. Facts in words are about records. Where the
    release links the records of a person, classes are of persons with equal lists of rows.

    Class attributes
    ----------------
    certain: whether the adversary is certain of a value then, and not only better informed about it.
    """

    certain: ClassVar[bool] = True

    Settings = DisclosureSettings
    settings: DisclosureSettings
    of_release_alone = True
    requires = (DISCLOSING, holders_are_known)

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
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
            own = KnownFacts.of(facts, counts, release, classes.class_of)
            every = sum((each.certain() for each in own.without_classes(whole)), Fraction(0))
            success, baseline = own.certain() / release.records, every / release.records
            known = {**knowledge, "facts": facts.shown()}
            base_rate = {"base_rate": int(overall.counts.max()) / overall.total}
            return exposing_certain(self.counted(adversary, known, success, baseline, base_rate))
        held = adversary.held_by(self.unit)
        if held is not None:
            return self._of_units(adversary, held, name, knowledge | self.further() | with_links(held))
        disclosed = self.disclosed(counts, overall)
        success = Fraction(int(classes.sizes[disclosed].sum()), release.records)
        baseline = Fraction(int(self.disclosed(whole, overall).any()))
        details = self.beyond_guess(counts, disclosed, overall) if self.certain else {}
        known = {**knowledge, **self.further()}
        return exposing_certain(self.counted(adversary, known, success, baseline, details))

    def _of_units(
        self, adversary: AdversaryView, owned: OwnedRecords, name: str, knowledge: dict[str, Any]
    ) -> AttackResult:
        """Return the share of units with a record in a class that discloses its value."""
        release, rows, number = adversary.disclosing, owned.release, owned.number
        attribute, values = release.sensitive[name].attribute, release.sensitive[name].codes[rows]
        inferred = self.inferred(attribute)[values]
        seen = _classes_of_records(owned, release, release.known(self.settings.knowledge))
        pooled = [(seen[0][0].pooled(), np.zeros_like(rows))]
        told, whole = (
            np.logical_or.reduce(
                [
                    self.told_of_units(
                        self._disclosed(own, name)[class_of],
                        UnitCounts.of(class_of, inferred, owned.target, number),
                    )
                    for own, class_of in classes
                ]
            )
            for classes in (seen, pooled)
        )
        details = {}
        if self.certain:
            held = UnitCounts.of(np.zeros_like(rows), inferred, owned.target, number)
            further = told & (held.entry_of != held.counts.argmax())
            if attribute.column.missing is not None:
                further &= values != attribute.column.missing
            beyond = owned.reached(further)
            details = {"base_rate": int(held.counts.max()) / number, "beyond_guess": float(beyond)}
        success, baseline = owned.reached(told), Fraction(int(whole.any()))
        known = knowledge | {"unit": owned.unit}
        return exposing_certain(self.counted(adversary, known, success, baseline, details, number))

    def _disclosed(self, classes: Classes, name: str) -> BoolArray:
        counts, _ = classes.sensitive_counts(name)
        whole, _ = classes.pooled().sensitive_counts(name)
        return self.disclosed(counts, whole.reference())

    def told_of_units(self, disclosed: BoolArray, own: UnitCounts) -> BoolArray:
        """Return for which records a class tells a value to somebody who looks for units, shape (records,).

        It does by the rule of the attack, and where all units of the class have the value if the attack asks
        for certainty.

        Parameters
        ----------
        disclosed: by the rule of the attack on records, shape (records,), bool.
        """
        common: BoolArray = own.counts[own.entry_of] == own.sizes[own.class_of]
        return disclosed | common if self.certain else disclosed

    @property
    def known_facts(self) -> Facts | None:
        """What the adversary knows besides, None for an attack that follows its own rule."""
        return self.settings.known_facts if isinstance(self.settings, DisclosureSettings) else None

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
        """Return the parameters other than ``knowledge`` and ``unit``, for the report."""
        return self.settings.model_dump(mode="json", exclude={"knowledge", "unit"})

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return for how many targets a class discloses something, and for how many without the release.

        A unit with several records is a target once, and counts if one of them is in such a class.
        Where the value is certain, the latter is how often a guess of the most frequent value is right.
        """
        known = f"{subject_of(knowledge)}{cls.learns(knowledge)} for {success} of the {targets_of(knowledge)}"
        known += ", in at least one of their records" if "unit" in knowledge else ""
        without = (
            "always guessing the most frequent value would be right" if cls.certain else "without the release"
        )
        return f"{known}; {without} for {guess}."

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
