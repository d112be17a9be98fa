"""Naive Bayes, trained on published labels and applied to original values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.coverage import expand_uniformly
from anonymizer.model.adversary import ValueCoverage
from anonymizer.model.arrays import FloatArray, IntArray

WEIGHT = 2.0
"""Weight of an attribute's overall distribution, in records, against the records with a sensitive value."""

_CELLS = 1 << 22
"""Scores that are held at once."""


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Counts of each published label with each sensitive value.

    Attributes
    ----------
    values: records with each sensitive value, shape (sensitive values,), int64.
    labels: for each attribute, records with each label and sensitive value, shape (labels, sensitive values),
        int64.
    """

    values: IntArray
    labels: tuple[IntArray, ...]

    @classmethod
    def of(
        cls, codes: IntArray, values: IntArray, counts: IntArray, sizes: Sequence[int], size: int
    ) -> LabelCounts:
        """Count the labels of distinct rows.

        Parameters
        ----------
        codes: labels of each row, shape (rows, attributes).
        values, counts: sensitive value and number of records of each row, shape (rows,).
        sizes, size: number of labels of each attribute, and of sensitive values.
        """
        tables = []
        for column, labels in zip(codes.T, sizes, strict=True):
            cells = np.bincount(column * size + values, weights=counts, minlength=labels * size)
            tables.append(cells.astype(np.int64).reshape(labels, size))
        return cls(np.bincount(values, weights=counts, minlength=size).astype(np.int64), tuple(tables))

    def without(self, other: LabelCounts) -> LabelCounts:
        """Return the counts without the records of ``other``."""
        labels = tuple(own - less for own, less in zip(self.labels, other.labels, strict=True))
        return LabelCounts(self.values - other.values, labels)


class NaiveBayes:
    """The probability of each sensitive value given original values, if the attributes were independent.

    A label counts in equal parts for each value that it covers; a number that no original record has counts
    for the nearest one. Probabilities are m-estimates: the distribution of an attribute over all records has
    the weight of ``WEIGHT`` records.

    Source: Cestnik, "Estimating probabilities: a crucial task in machine learning" (ECAI 1990).

    Attributes
    ----------
    prior: ln P(sensitive value), shape (sensitive values,), float64.
    evidence: for each attribute ln P(value | sensitive value), shape (values, sensitive values), float64.
    """

    def __init__(self, counts: LabelCounts, meanings: Sequence[ValueCoverage]) -> None:
        size = len(counts.values)
        records = counts.values.sum()
        self.prior = np.log((counts.values + 1 / size) / (records + 1))
        self.evidence = [
            self._logarithms(own, meaning, counts.values)
            for own, meaning in zip(counts.labels, meanings, strict=True)
        ]

    @staticmethod
    def _logarithms(labels: IntArray, meaning: ValueCoverage, totals: IntArray) -> FloatArray:
        """Return ln P(value | sensitive value), shape (values, sensitive values)."""
        parts = expand_uniformly(meaning)
        joint = np.zeros((meaning.column.size, labels.shape[1]))
        np.add.at(joint, parts.values, labels[parts.texts] * parts.shares[:, None])
        overall = (joint.sum(axis=1) + 1 / len(joint)) / (joint.sum() + 1)
        chances: FloatArray = np.log((joint + WEIGHT * overall[:, None]) / (totals + WEIGHT))
        return chances

    def scores(self, people: IntArray, strength: float) -> FloatArray:
        """Return the log-probability of each sensitive value, up to a constant per row, shape (rows, values).

        Parameters
        ----------
        people: codes of original values, shape (rows, attributes).
        strength: exponent of the evidence; 0 gives the overall distribution, 1 is Bayes' theorem.
        """
        evidence = np.zeros((len(people), len(self.prior)))
        for position, own in enumerate(self.evidence):
            evidence += own[people[:, position]]
        scores: FloatArray = self.prior + strength * evidence
        return scores

    def guesses(self, people: IntArray, strength: float) -> IntArray:
        """Return the most likely sensitive value of each row, the first on a tie, shape (rows,), int64."""
        parts = [own.argmax(axis=1) for own in self._blocks(people, strength)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def confidence(self, people: IntArray, strength: float) -> FloatArray:
        """Return the probability of the most likely sensitive value of each row, shape (rows,)."""
        parts = [largest_chance(own) for own in self._blocks(people, strength)]
        return np.concatenate([np.zeros(0), *parts])

    def _blocks(self, people: IntArray, strength: float) -> Iterator[FloatArray]:
        step = max(_CELLS // len(self.prior), 1)
        for start in range(0, len(people), step):
            yield self.scores(people[start : start + step], strength)


def largest_chance(scores: FloatArray) -> FloatArray:
    """Return the largest probability of each row, given logarithms up to a constant, shape (rows,).

    >>> largest_chance(np.log([[2.0, 6.0], [3.0, 3.0]])).round(2).tolist()
    [0.75, 0.5]
    """
    found: FloatArray = 1 / np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1)
    return found
