"""Inference by a model: what the release teaches about people whose records were taken out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.attribute_disclosure import KnowledgeSettings
from anonymizer.attacks.base import AlignedSettings, Attack, AttackResult, clopper_pearson, draw_sample
from anonymizer.attacks.naive_bayes import LabelCounts, NaiveBayes
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, Links, Original, Threat, ValueCoverage
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.plugins import WholeNumber

FOLDS = 5
"""Parts of the targets; each is held out in turn."""

STRENGTHS = (0.0, 0.25, 0.5, 1.0)
"""Exponents of the evidence that the model chooses from; the first is to guess without any."""

VALUES = 1000
"""Most values of a sensitive attribute that a model guesses one of."""


class InferenceSettings(KnowledgeSettings, AlignedSettings):
    """What the adversary knows of the people he asks his model about."""

    targets: Annotated[WholeNumber, Field(ge=2, description="maximum number of held-out records")] = 20_000


@dataclass(frozen=True, eq=False)
class _People:
    """The targets, one by one, and what is published of all records.

    Attributes
    ----------
    codes: original values of each target, shape (targets, attributes), int64.
    published: labels of its record, shape (targets, attributes), int64.
    values: its true sensitive value, shape (targets,), int64.
    fold: in which it is held out, shape (targets,), int64.
    everything: counts of the whole release.
    meanings: of the labels.
    """

    codes: IntArray
    published: IntArray
    values: IntArray
    fold: IntArray
    everything: LabelCounts
    meanings: tuple[ValueCoverage, ...]

    def counts(self, part: BoolArray) -> LabelCounts:
        """Return the counts of some targets' records, shape (targets,), bool."""
        sizes = [len(own) for own in self.everything.labels]
        number = np.ones(int(part.sum()), dtype=np.int64)
        size = len(self.everything.values)
        return LabelCounts.of(self.published[part], self.values[part], number, sizes, size)

    def right(self, model: NaiveBayes, part: BoolArray, strength: float) -> int:
        """Return how many of some targets a model guesses the value of."""
        return int((model.guesses(self.codes[part], strength) == self.values[part]).sum())


class Inference(Attack):
    """Accuracy of a model of the release on people who were held out of it.

    The targets are dealt to five folds. The records of one are taken out of the release, naive Bayes learns
    the published labels and sensitive values of the rest, and guesses the values of the people in the fold
    from their original quasi-identifiers. How much weight the evidence gets, none included, is decided
    within the rest in the same way. The baseline is the same model without any evidence of the release but
    the overall distribution: it guesses the most frequent value. What is learned of a held-out person is what
    the release teaches about everybody; ``in_sample`` in the details is the accuracy with nobody taken out.

    Source: Giomi, Boenisch, Wehmeyer, Tasnádi, "A unified framework for quantifying privacy risk in synthetic
    data" (PoPETs 2023, doi:10.56553/popets-2023-0055), for judging by people who are not in the data.
    """

    name = "inference"
    threat = Threat.INFERENCE
    Settings = InferenceSettings
    settings: InferenceSettings

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """Original records, what became of them, and something to guess are needed."""
        if not self._guessed(scene):
            return f"a sensitive attribute with at most {VALUES} values"
        lacking = self.settings.missing_requirement(scene)
        if lacking is None and scene.original and self.settings.links(scene.original).records < 2:
            return "two released records with links to original ones"
        return lacking

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Guess each sensitive attribute."""
        lacking = self.missing_requirement(scene)
        if lacking is not None or scene.original is None:
            raise InputError(f"{scene.release.source}: the attack inference needs {lacking}")
        names = scene.original.known(self.settings.knowledge)
        links = self.settings.links(scene.original)
        return [
            self._attack(
                _people(scene, scene.original, names, each, self._drawn(links, random), random), names, each
            )
            for each in self._guessed(scene)
        ]

    def _guessed(self, scene: AdversaryView) -> list[str]:
        sensitive = scene.release.sensitive
        return [name for name, own in sensitive.items() if own.attribute.column.size <= VALUES]

    def _drawn(self, links: Links, random: np.random.Generator) -> Links:
        own = draw_sample(links.counts, self.settings.targets, random)
        return Links(links.original, links.release, own)

    def _attack(self, people: _People, names: Sequence[str], sensitive: str) -> AttackResult:
        right, baseline, strengths = 0, 0, []
        for fold in range(int(people.fold.max()) + 1):
            held = people.fold == fold
            rest = people.everything.without(people.counts(held))
            strength = _strength(people, rest, fold)
            model = NaiveBayes(rest, people.meanings)
            right += people.right(model, held, strength)
            baseline += people.right(model, held, STRENGTHS[0])
            strengths.append(strength)
        number = len(people.values)
        whole = NaiveBayes(people.everything, people.meanings)
        everybody = np.ones(number, dtype=bool)
        details = {
            "model": "naive Bayes",
            "strengths": strengths,
            "in_sample": people.right(whole, everybody, max(strengths)) / number,
        }
        low, high = clopper_pearson(right, number)
        known: dict[str, Any] = {"attributes": list(names), "sensitive": sensitive}
        success = Fraction(right, number)
        return AttackResult(self.name, known, success, Fraction(baseline, number), low, high, number, details)


def _people(
    scene: AdversaryView,
    original: Original,
    names: Sequence[str],
    sensitive: str,
    links: Links,
    random: np.random.Generator,
) -> _People:
    """Return the targets, dealt to folds with as many of each sensitive value as can be."""
    release, values = scene.release, scene.release.sensitive[sensitive]
    positions = [release.names.index(name) for name in names]
    published = release.codes[:, positions].astype(np.int64)
    everything = LabelCounts.of(
        published,
        values.codes,
        release.counts,
        [len(release.labels[position]) for position in positions],
        values.attribute.column.size,
    )
    own = [original.names.index(name) for name in names]
    which = np.repeat(np.arange(len(links.counts)), links.counts)
    record, secret = links.release[which], values.codes[links.release[which]]
    fold = np.empty(len(which), dtype=np.int64)
    fold[np.lexsort((random.random(len(which)), secret))] = np.arange(len(which)) % min(FOLDS, len(which))
    codes = original.codes[links.original[which]][:, own].astype(np.int64)
    meanings = tuple(original.meanings[position] for position in own)
    return _People(codes, published[record], secret, fold, everything, meanings)


def _strength(people: _People, rest: LabelCounts, held: int) -> float:
    """Return the weight of evidence that guesses best within the rest, the smallest of equal ones."""
    right = np.zeros(len(STRENGTHS), dtype=np.int64)
    for fold in range(int(people.fold.max()) + 1):
        if fold != held:
            part = people.fold == fold
            model = NaiveBayes(rest.without(people.counts(part)), people.meanings)
            right += [people.right(model, part, strength) for strength in STRENGTHS]
    return STRENGTHS[int(right.argmax())]
