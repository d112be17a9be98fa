"""The generative model: a sensitive value is given, features depend on it but not on each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.attacks.exchangeable.features import Feature, dirichlet
from anonymizer.attacks.exchangeable.groups import Groups
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.counting import numbered

Parameters = tuple[FloatArray, ...]
"""Chances of the labels of each feature, shape (labels, sensitive values) each."""


class NaiveBayes:
    """Features of people in groups, given their sensitive values.

    The chances of the labels of a feature, given a sensitive value, have a symmetric Dirichlet distribution.
    How
    frequent the sensitive values are is no parameter: their numbers are published.

    A cell is a combination of features together with a sensitive value that it may have; what is known for
    sure, in groups with one kind of people or one value, is counted once and for all.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861),
    section 5.

    Attributes
    ----------
    cell: of each entry, shape (entries,), int64; 0 for entries of groups that leave nothing to learn.
    cells: number of cells.
    """

    def __init__(self, groups: Groups, features: Sequence[Feature], prior: float) -> None:
        self._features, self._prior = features, prior
        self._secrets = groups.size
        unsure = groups.open[groups.group[groups.kind]]
        codes, values = groups.codes[groups.kind], groups.entry_values
        # An unknown feature is a row of its own behind the others, which no score is read from.
        codes = np.where(codes < 0, [feature.values for feature in features], codes)
        self.cell = np.zeros(len(values), dtype=np.int64)
        own, first = numbered([*codes[unsure].T, values[unsure]], int(unsure.sum()))
        self.cell[unsure] = own
        self.cells = len(first)
        self._place = [
            codes[unsure][first, position] * self._secrets + values[unsure][first]
            for position in range(len(features))
        ]
        sure = np.rint(groups.shares * groups.counts[groups.kind])[~unsure]
        self._known = [
            self._table(codes[~unsure, position] * self._secrets + values[~unsure], sure, feature)
            for position, feature in enumerate(features)
        ]

    def _table(self, place: IntArray, people: FloatArray | IntArray, feature: Feature) -> IntArray:
        """Return the people with each value and sensitive value, shape (values, sensitive values), int64."""
        rows = feature.values + 1
        table = np.bincount(place, weights=people, minlength=rows * self._secrets)
        return table.astype(np.int64).reshape(rows, self._secrets)[:-1]

    def start(self) -> Parameters:
        """Return chances that prefer nothing."""
        return tuple(
            np.full((feature.labels, self._secrets), 1 / feature.labels) for feature in self._features
        )

    def drawn(self, people: IntArray, before: Parameters, random: np.random.Generator) -> Parameters:
        """Draw the chances of labels given who has which sensitive value.

        Parameters
        ----------
        people: in each cell, shape (cells,), int64.
        before: the chances drawn last, which labels that nobody knows depend on.
        """
        parameters = []
        for feature, place, known, chances in zip(
            self._features, self._place, self._known, before, strict=True
        ):
            counts = known + self._table(place, people, feature)
            labels = feature.labelled(counts, chances, random)
            parameters.append(dirichlet(labels, self._prior, random))
        return tuple(parameters)

    def scores(self, parameters: Parameters) -> FloatArray:
        """Return the logarithm of the chance of the features of each cell given its value, shape (cells,)."""
        scores = np.zeros(self.cells)
        for feature, place, chances in zip(self._features, self._place, parameters, strict=True):
            known = np.log(feature.shown(chances)).ravel()
            scores += np.concatenate([known, np.zeros(self._secrets)])[place]
        return scores
