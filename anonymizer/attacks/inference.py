"""Inference by a model trained on the release, about records that were held out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import (
    LINKED,
    NOTE,
    AlignedUnitSettings,
    Attack,
    AttackResult,
    KnowledgeSettings,
    Targets,
    best_blind,
    clopper_pearson,
    subject_of,
    targets_of,
    unit_is_known,
)
from anonymizer.attacks.boosted_values import VALUES as TREE_VALUES
from anonymizer.attacks.boosted_values import BoostedValues, Lessons
from anonymizer.attacks.naive_bayes import LabelCounts, NaiveBayes
from anonymizer.attacks.tail import Ranking, exposing_each
from anonymizer.model.adversary import (
    AdversaryView,
    Original,
    PublishedTable,
    ValueCoverage,
)
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, numbered
from anonymizer.model.units import PERSON
from anonymizer.plugins import Threat, WholeNumber, needs

FOLDS = 5
"""Number of parts of the targets; each is held out in turn."""

STRENGTHS = (0.0, 0.25, 0.5, 1.0)
"""Exponents of the evidence among which the model chooses; the first ignores the evidence."""

VALUES = 1000
"""Maximum number of values of a guessed attribute."""

QUICK = 2_000
"""The most targets where nobody asked for the attack."""

LEFT_OUT = "Only naive Bayes guessed; attacks: [inference] also trains trees."
"""What is said then."""

FEWEST = 200
"""Targets from which on trees are tried; with fewer they would hardly be told from naive Bayes."""


class InferenceSettings(KnowledgeSettings, AlignedUnitSettings):
    """What the adversary knows of the targets, and whom it targets."""

    targets: Annotated[
        WholeNumber, Field(ge=2, description="maximum number of held-out records, or persons with theirs")
    ] = 20_000


@dataclass(frozen=True, eq=False)
class _People:
    """The records of the targets, and the counts of the release.

    Attributes
    ----------
    targets: whose records they are.
    codes: original values of each record, shape (records, attributes), int64.
    published: labels of the released record, shape (records, attributes), int64.
    values: true sensitive value, shape (records,), int64.
    fold: in which the target is held out, shape (records,), int64.
    lessons: the records of the release.
    everything: label counts of the whole release.
    meanings: coverage of the labels.
    """

    targets: Targets
    codes: IntArray
    published: IntArray
    values: IntArray
    fold: IntArray
    lessons: Lessons
    everything: LabelCounts
    meanings: tuple[ValueCoverage, ...]

    def counts(self, part: BoolArray) -> LabelCounts:
        """Return the label counts of the records in a mask, shape (records,), bool."""
        sizes = [len(own) for own in self.everything.labels]
        number = np.ones(int(part.sum()), dtype=np.int64)
        size = len(self.everything.values)
        return LabelCounts.of(self.published[part], self.values[part], number, sizes, size)

    def right(self, model: NaiveBayes, part: BoolArray, strength: float) -> int:
        """Return the number of targets of whose records in a mask a model guesses a value correctly."""
        return self.targets.reached(self.told(model, part, strength))

    def told(self, model: NaiveBayes, part: BoolArray, strength: float) -> BoolArray:
        """Return for which records in a mask a model guesses the right value, shape (records,), bool."""
        told = np.zeros(len(self.values), dtype=bool)
        told[part] = model.guesses(self.codes[part], strength) == self.values[part]
        return told

    def sure(self, model: NaiveBayes, part: BoolArray, strength: float) -> FloatArray:
        """Return the probability that a model gives its guess about each record in a mask, else 0."""
        sure = np.zeros(len(self.values))
        sure[part] = model.confidence(self.codes[part], strength)
        return sure

    def by_trees(self, part: BoolArray, random: np.random.Generator) -> tuple[BoolArray, FloatArray]:
        """Return for which records in a mask boosted trees guess the right value, and the probability of it.

        They learn from all others. With all records in the mask they learn from these, too.
        """
        held = part if not part.all() else ~part
        rest = self.everything.without(self.counts(held))
        lessons = self.lessons.without(self.targets.release[held])
        model = BoostedValues(lessons, NaiveBayes(rest, self.meanings), self.meanings, random)
        told, sure = np.zeros(len(self.values), dtype=bool), np.zeros(len(self.values))
        guesses, sure[part] = model.guessed(self.codes[part])
        told[part] = guesses == self.values[part]
        return told, sure

    def ranking(self, told: BoolArray, sure: FloatArray) -> Ranking:
        """Return the targets by the probability that some guess about their records is right.

        Parameters
        ----------
        told: for which records it is, shape (records,).
        sure: probability of each guess, shape (records,).
        """
        with np.errstate(divide="ignore"):
            missed = np.bincount(self.targets.target, np.log1p(-np.minimum(sure, 1.0)), self.targets.number)
        return Ranking.of(-np.exp(missed), self.by_target(told).astype(np.float64))

    @property
    def fold_of_target(self) -> IntArray:
        """Fold of each target, shape (targets,), int64."""
        return self.fold[np.unique(self.targets.target, return_index=True)[1]]

    def by_target(self, told: BoolArray) -> BoolArray:
        """Return for which targets the value of some record is guessed, shape (targets,), bool."""
        return np.bincount(self.targets.target[told], minlength=self.targets.number) > 0

    @property
    def ceiling(self) -> float:
        """Success of the best guesses by what is known of targets, the same about equal ones; 1 for units."""
        if self.targets.number < len(self.values):
            return 1.0
        alike = numbered(self.codes.T, len(self.codes))[0]
        pairs, first = numbered([alike, self.values], len(alike))
        most = np.zeros(int(alike.max()) + 1, dtype=np.int64)
        np.maximum.at(most, alike[first], np.bincount(pairs))
        return int(most.sum()) / len(alike)

    @property
    def teach_trees(self) -> bool:
        """Whether there are enough targets, and few enough values, for trees to be told from naive Bayes."""
        return self.targets.number >= FEWEST and len(self.everything.values) <= TREE_VALUES


class Inference(Attack):
    """Accuracy of a model of the release on records that were held out of it.

    The targets are assigned to five folds. For each fold, its records are taken out of the release, naive
    Bayes learns the published labels and sensitive values of the rest and guesses the values of the fold from
    its original quasi-identifiers. The weight of the evidence, possibly 0, is chosen within the rest in the
    same way. Boosted trees learn and guess as well; they take the place of naive Bayes in a fold if they are
    right more often in the others. The baseline is naive Bayes without evidence: it guesses the most frequent
    value. The success on held-out records measures what the release reveals about the population;
    ``in_sample`` in the details is the accuracy without held-out records.

    Where it is known whose the records are, targets are persons, or other units: all records of one are held
    out together, each is guessed from its own quasi-identifiers, and one correct guess is enough. Where some
    have several records, the baseline is at least the share of those who have the most common value.

    Source: Giomi, Boenisch, Wehmeyer, Tasnádi, "A unified framework for quantifying privacy risk in synthetic
    data" (PoPETs 2023, doi:10.56553/popets-2023-0055), for the evaluation on held-out records.
    """

    name = "inference"
    threat = Threat.INFERENCE
    unasked = True
    Settings = InferenceSettings
    settings: InferenceSettings
    examples = ({"sensitive": "illness"},)
    requires = (
        needs(
            "sensitive values record by record, which an Anatomy release does not have",
            lambda _, adversary: adversary.grouped is None,
        ),
        needs(
            f"a sensitive attribute with at most {VALUES} values",
            lambda own, adversary: own._guessed(adversary),
        ),
        *LINKED,
        unit_is_known,
        needs(
            "released records of at least two {own.whom}",
            lambda own, adversary: (owned := own.settings.owned(adversary)) is None or owned.number >= 2,
        ),
        needs(
            "at least two released records that can be linked to original ones",
            lambda own, adversary: own.settings.links(adversary.original).records >= 2,
        ),
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how often a model that was trained on the release is right."""
        who = f"{subject_of(knowledge)} and trains a model on the release"
        guesses = f"{who} guesses {knowledge['sensitive']} correctly"
        if "unit" in knowledge:
            whom = f"{success} of the {targets_of(knowledge)} (in at least one record)"
            return f"{guesses} for {whom}; without the release, for {guess}."
        return f"{guesses} in {success} of cases; without the release in {guess}."

    @property
    def whom(self) -> str:
        """Whom the attack counts, where it counts no records."""
        return targets_of({"unit": self.unit or PERSON})

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        original = self.required_original(adversary)
        names, owned = original.known(self.settings.knowledge), self.settings.owned(adversary)
        whom, found = {} if owned is None else {"unit": owned.unit}, []
        for sensitive in self._guessed(adversary):
            most = min(self.settings.targets, QUICK) if self.quick else self.settings.targets
            targets = Targets.drawn(self.settings.links(original), owned, most, random)
            people = _people(adversary, original, names, sensitive, targets, random)
            known = {"attributes": list(names), "sensitive": sensitive, **whom}
            found.append(self._attack(people, known, deepcopy(random)))
        return found

    def _guessed(self, adversary: AdversaryView) -> list[str]:
        sensitive = adversary.release.sensitive
        return [name for name, own in sensitive.items() if own.attribute.column.size <= VALUES]

    def _attack(self, people: _People, known: dict[str, Any], random: np.random.Generator) -> AttackResult:
        every_record = np.ones(len(people.values), dtype=bool)
        trees_too = people.teach_trees and not self.quick
        bayes, trees, blind_told = np.zeros((3, len(every_record)), dtype=bool)
        sure, sure_of_trees, blindly = np.zeros((3, len(every_record)))
        strengths = []
        for fold in range(int(people.fold.max()) + 1):
            held = people.fold == fold
            rest = people.everything.without(people.counts(held))
            strength = _strength(people, rest, fold)
            model = NaiveBayes(rest, people.meanings)
            bayes |= people.told(model, held, strength)
            sure += people.sure(model, held, strength)
            blind_told |= people.told(model, held, STRENGTHS[0])
            blindly += people.sure(model, held, STRENGTHS[0])
            strengths.append(strength)
            if trees_too:
                told, chance = people.by_trees(held, random)
                trees, sure_of_trees = trees | told, sure_of_trees + chance
        number, baseline = people.targets.number, people.targets.reached(blind_told)
        by_trees = _folds_of_trees(people, bayes, trees)
        right = people.targets.reached(np.where(by_trees[people.fold], trees, bayes))
        whole = NaiveBayes(people.everything, people.meanings)
        details: dict[str, Any] = {"model": "naive Bayes", "strengths": strengths}
        in_sample = people.right(whole, every_record, max(strengths))
        if by_trees.any():
            accuracies = {
                name: people.targets.reached(told) / number
                for name, told in (("naive Bayes", bayes), ("boosted trees", trees))
            }
            folds = {"folds_by_trees": int(by_trees.sum()), "accuracies": accuracies}
            details |= {"model": "naive Bayes and boosted trees", **folds}
            in_sample = people.targets.reached(people.by_trees(every_record, random)[0])
        details["in_sample"] = in_sample / number
        if people.teach_trees and self.quick:
            details[NOTE] = LEFT_OUT
        low, high = clopper_pearson(right, number)
        success = Fraction(right, number)
        blind = best_blind(Fraction(baseline, number), people.targets.target, number, people.values)
        result = AttackResult(self.name, known, success, blind, low, high, number, details)
        models = [people.ranking(bayes, sure)]
        models += [people.ranking(trees, sure_of_trees)] if people.teach_trees else []
        found = exposing_each(result, models, people.fold_of_target, people.ranking(blind_told, blindly))
        return replace(found, ceiling=max(people.ceiling, float(success)))


def _folds_of_trees(people: _People, bayes: BoolArray, trees: BoolArray) -> BoolArray:
    """Return in which folds trees guess: those in whose other folds they are right more often.

    Parameters
    ----------
    bayes, trees: for which records each guesses the right value, shape (records,).
    """
    first = np.unique(people.targets.target, return_index=True)[1]
    better = people.by_target(trees).astype(np.int64) - people.by_target(bayes)
    gain = np.bincount(people.fold[first], weights=better)
    found: BoolArray = gain.sum() - gain > 0
    return found


def _people(
    adversary: AdversaryView,
    original: Original,
    names: Sequence[str],
    sensitive: str,
    targets: Targets,
    random: np.random.Generator,
) -> _People:
    """Return the targets, assigned to folds with equal numbers of each sensitive value as far as possible.

    Of several values of a target, that of the first record counts.
    """
    release, values = adversary.release, adversary.release.sensitive[sensitive]
    published = release.codes[:, [release.names.index(name) for name in names]].astype(np.int64)
    everything = label_counts(release, names, sensitive)
    own = [original.names.index(name) for name in names]
    secret, number = values.codes[targets.release], targets.number
    first = np.unique(targets.target, return_index=True)[1]
    fold = np.empty(number, dtype=np.int64)
    fold[np.lexsort((random.random(number), secret[first]))] = np.arange(number) % min(FOLDS, number)
    codes = original.codes[targets.original][:, own].astype(np.int64)
    meanings = tuple(original.meanings[position] for position in own)
    fold_of = fold[targets.target]
    lessons = Lessons(published, values.codes.astype(np.int64), release.counts)
    return _People(targets, codes, published[targets.release], secret, fold_of, lessons, everything, meanings)


def label_counts(release: PublishedTable, names: Sequence[str], sensitive: str) -> LabelCounts:
    """Return the counts of the published labels of some quasi-identifiers with each sensitive value."""
    values = release.sensitive[sensitive]
    positions = [release.names.index(name) for name in names]
    return LabelCounts.of(
        release.codes[:, positions].astype(np.int64),
        values.codes,
        release.counts,
        [len(release.labels[position]) for position in positions],
        values.attribute.column.size,
    )


def _strength(people: _People, rest: LabelCounts, held: int) -> float:
    """Return the exponent with the most correct guesses within the rest, the smallest on a tie."""
    right = np.zeros(len(STRENGTHS), dtype=np.int64)
    for fold in range(int(people.fold.max()) + 1):
        if fold != held:
            part = people.fold == fold
            model = NaiveBayes(rest.without(people.counts(part)), people.meanings)
            right += [people.right(model, part, strength) for strength in STRENGTHS]
    return STRENGTHS[int(right.argmax())]
