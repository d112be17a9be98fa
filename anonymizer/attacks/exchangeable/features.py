"""Features of people: what the parameters of the model are, and how they are drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from anonymizer.model.arrays import FloatArray, IntArray

_TINY = np.finfo(np.float64).tiny


class Feature(ABC):
    """One attribute of people, as far as it is told apart.

    People have a label, drawn with chances that depend on their sensitive value, and a value that shows it.

    Attributes
    ----------
    values: number of values that people can have.
    labels: number of labels.
    """

    values: int
    labels: int

    @abstractmethod
    def labelled(self, counts: IntArray, chances: FloatArray, random: np.random.Generator) -> IntArray:
        """Draw labels given their chances; return how many people have each, shape as ``chances``, int64.

        Parameters
        ----------
        counts: people with each value and sensitive value, shape (values, sensitive values), int64.
        chances: of each label given each sensitive value, shape (labels, sensitive values).
        """

    @abstractmethod
    def shown(self, chances: FloatArray) -> FloatArray:
        """Return the chances of values, shape (values, sensitive values), given those of labels."""


class ExactFeature(Feature):
    """The value is the label."""

    def __init__(self, values: int) -> None:
        self.values = self.labels = values

    def labelled(self, counts: IntArray, chances: FloatArray, random: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Return the people with each value."""
        return counts

    def shown(self, chances: FloatArray) -> FloatArray:
        """Return the chances as they are."""
        return chances


class Similar(Feature):
    """A value counts toward several labels, by likeness: which label a person has is not known, and drawn.

    Parameters
    ----------
    likeness: chance of each value given each label, shape (labels, values); rows add up to 1, and every
        value is possible with some label.
    """

    def __init__(self, likeness: FloatArray) -> None:
        self.likeness = likeness
        self.labels, self.values = likeness.shape

    def labelled(self, counts: IntArray, chances: FloatArray, random: np.random.Generator) -> IntArray:
        """Divide the people with each value among the labels, by chance and likeness."""
        value, secret = np.nonzero(counts)
        weights = chances[:, secret] * self.likeness[:, value]
        divided = random.multinomial(counts[value, secret], (weights / weights.sum(axis=0)).T)
        people = np.zeros((counts.shape[1], self.labels), dtype=np.int64)
        np.add.at(people, secret, divided)
        return people.T

    def shown(self, chances: FloatArray) -> FloatArray:
        """Return the mixture of the labels."""
        mixed: FloatArray = self.likeness.T @ chances
        return mixed


def dirichlet(counts: IntArray, prior: float, random: np.random.Generator) -> FloatArray:
    """Draw the chances of labels from their posterior, shape as ``counts``; columns add up to 1, none is 0.

    Parameters
    ----------
    counts: people with each label and sensitive value, shape (labels, sensitive values), int64.
    prior: of the symmetric Dirichlet distribution, positive; 1 is uniform.
    """
    drawn = np.maximum(random.standard_gamma(counts + prior), _TINY)
    chances: FloatArray = np.maximum(drawn / drawn.sum(axis=0), _TINY)
    return chances
