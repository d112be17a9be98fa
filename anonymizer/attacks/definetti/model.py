"""The generative model: features of records in groups, given their sensitive values.

Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861),
section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from anonymizer.attacks.definetti.groups import Groups
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray, numbered

_TINY = np.finfo(np.float64).tiny


ALONE = np.zeros(1, dtype=np.int64)
"""The first label of a single attribute."""

Randoms = Sequence[np.random.Generator]
"""The generator of each chain."""


class Feature:
    """One attribute of the generative model.

    A record has a label, drawn with probabilities that depend on its sensitive value, and a value of that
    label: the label itself, unless a subclass says otherwise.

    Attributes
    ----------
    values: number of values.
    labels: number of labels.
    """

    def __init__(self, values: int) -> None:
        self.values = self.labels = values

    def labeled(self, counts: IntArray, chances: FloatArray, randoms: Randoms) -> IntArray:  # noqa: ARG002
        """Draw labels; return the number of records with each, shape as ``chances``, int64.

        Parameters
        ----------
        counts: records with each value and sensitive value, shape (chains, values, sensitive values), int64.
        chances: of each label given each sensitive value, shape (chains, labels, sensitive values).
        """
        return counts

    def shown(self, chances: FloatArray) -> FloatArray:
        """Return the probabilities of values, shape (chains, values, sensitive values).

        Parameters
        ----------
        chances: of labels, shape (chains, labels, sensitive values).
        """
        return chances


class Similar(Feature):
    """A value counts toward several labels by similarity; the label of a record is latent and drawn.

    Parameters
    ----------
    likeness: probability of each value given each label, shape (labels, values); rows sum to 1, and every
        value is possible with some label.
    """

    def __init__(self, likeness: FloatArray) -> None:
        self.likeness = likeness
        self.labels, self.values = likeness.shape

    def labeled(self, counts: IntArray, chances: FloatArray, randoms: Randoms) -> IntArray:
        """Divide the records with each value among the labels, by probability and similarity."""
        return np.stack([self._divided(*own) for own in zip(counts, chances, randoms, strict=True)])

    def _divided(self, counts: IntArray, chances: FloatArray, random: np.random.Generator) -> IntArray:
        """Divide the records of one chain, shape (labels, sensitive values), int64."""
        value, secret = np.nonzero(counts)
        weights = chances[:, secret] * self.likeness[:, value]
        divided = random.multinomial(counts[value, secret], (weights / weights.sum(axis=0)).T)
        people = np.zeros((counts.shape[1], self.labels), dtype=np.int64)
        np.add.at(people, secret, divided)
        return people.T

    def shown(self, chances: FloatArray) -> FloatArray:
        """Return the mixture of the labels."""
        return self.likeness.T @ chances


def dirichlet(counts: IntArray, prior: float, randoms: Randoms, starts: IntArray = ALONE) -> FloatArray:
    """Draw the posterior probabilities of labels, shape as ``counts``; columns sum to 1, none is 0.

    Parameters
    ----------
    counts: records with each label and sensitive value, shape (chains, labels, sensitive values), int64.
    prior: of the symmetric Dirichlet distribution, positive; 1 is uniform.
    starts: first label of each attribute, ascending from 0; the probabilities of each sum to 1.
    """
    drawn: FloatArray = np.add(counts, prior, order="C")
    for own, random in zip(drawn, randoms, strict=True):
        random.standard_gamma(own, out=own)
    np.maximum(drawn, _TINY, out=drawn)
    sums = np.add.reduceat(drawn, starts, axis=1)
    drawn /= np.repeat(sums, np.diff(starts, append=counts.shape[1]), axis=1)
    return np.maximum(drawn, _TINY, out=drawn)


Parameters = tuple[FloatArray, ...]
"""Probabilities of the labels of each feature, shape (chains, labels, sensitive values) each."""


class _Block(NamedTuple):
    """Consecutive attributes whose labels are drawn at once: they show their values, or there is one.

    Attributes
    ----------
    begin, end: of their values in the table of all features.
    starts: first label of each attribute, shape (attributes,), int64.
    """

    feature: Feature
    begin: int
    end: int
    starts: IntArray

    @property
    def own(self) -> tuple[slice, slice]:
        """Their part of a table of shape (chains, rows, sensitive values)."""
        return slice(None), slice(self.begin, self.end)


def _blocks(features: Sequence[Feature]) -> Iterator[_Block]:
    begin = 0
    for latent, own in groupby(features, lambda feature: isinstance(feature, Similar)):
        some = list(own)
        for part in [[each] for each in some] if latent else [some]:
            starts = np.cumsum([0, *(each.values for each in part)])
            end = begin + int(starts[-1])
            yield _Block(part[0] if latent else Feature(end - begin), begin, end, starts[:-1])
            begin = end


class NaiveBayes:
    """Features of records in groups, given their sensitive values.

    The probabilities of the labels of a feature given a sensitive value have a symmetric Dirichlet prior. The
    frequencies of the sensitive values are not parameters, as they are published.

    Records of groups with one kind or one value are certain and counted once.

    Attributes
    ----------
    secrets: number of sensitive values.
    rows: of the table of all features: the values of one feature after the other, and a last row that stands
        for features that are not known. Its columns are the sensitive values.
    row: of each kind and feature in this table, shape (kinds, features), int64.
    """

    def __init__(self, groups: Groups, features: Sequence[Feature], prior: float) -> None:
        self._prior, self.secrets = prior, groups.size
        sizes = [feature.values for feature in features]
        self._blocks = list(_blocks(features))
        self.rows = sum(sizes) + 1
        self.row = np.where(groups.codes < 0, self.rows - 1, groups.codes + np.cumsum([0, *sizes])[:-1])
        sure = np.flatnonzero(~groups.open[groups.group[groups.kind]])
        kinds = groups.kind[sure]
        records = np.rint(groups.shares[sure] * groups.counts[kinds])
        cells = self.row[kinds] * self.secrets + groups.entry_values[sure][:, None]
        table = np.bincount(
            cells.ravel(),
            weights=np.repeat(records, len(features)),
            minlength=self.rows * self.secrets,
        )
        self._known = table.astype(np.int64).reshape(1, self.rows, self.secrets)

    def start(self, chains: int) -> Parameters:
        """Return uniform probabilities."""
        return tuple(
            np.full((chains, block.feature.labels, self.secrets), 1 / block.feature.labels)
            for block in self._blocks
        )

    def drawn(self, counts: IntArray | CodeArray, before: Parameters, randoms: Randoms) -> Parameters:
        """Draw the probabilities of labels given the sensitive value of each record.

        Parameters
        ----------
        counts: records with each feature and sensitive value, of those whose value is not certain, shape
            (chains, rows, sensitive values), integers.
        before: the previous draw, from which latent labels are drawn.
        """
        every = self._known + counts
        parameters = []
        for block, chances in zip(self._blocks, before, strict=True):
            labels = block.feature.labeled(every[block.own], chances, randoms)
            parameters.append(dirichlet(labels, self._prior, randoms, block.starts))
        return tuple(parameters)

    def show(self, parameters: Parameters, chances: FloatArray) -> FloatArray:
        """Write how likely each value of a feature is, beside the sensitive value that makes it likeliest.

        Only ratios of these matter for the assignment, and products of them do not become too small.

        Parameters
        ----------
        chances: shape (chains, rows, sensitive values); the last row is left as it is.

        Returns
        -------
        The log-probability of each value, shape as ``chances``, 0 in the last row.
        """
        logs = np.zeros_like(chances)
        for block, own in zip(self._blocks, parameters, strict=True):
            shown = block.feature.shown(own)
            np.log(shown, out=logs[block.own])
            np.divide(shown, shown.max(axis=2, keepdims=True), out=chances[block.own])
        return logs


CELLS = 4096
"""Products of some features and all sensitive values of which there may be so many in a small table."""


@dataclass(frozen=True, eq=False)
class Joints:
    """Features taken together: how likely they are in a record is the product of few numbers.

    A bin is a set of features; a row is a vector of their values that occurs.

    Attributes
    ----------
    parts: rows of these values in the table of all features, shape (rows, most features of a bin), int64; the
        last row of that table where the bin has fewer.
    ends: the row after the last of each bin, shape (bins,), int64.
    widths: number of features of each bin, shape (bins,), int64.
    row: of each kind in each bin, shape (kinds, bins), int64.
    """

    parts: IntArray
    ends: IntArray
    widths: IntArray
    row: IntArray

    @classmethod
    def of(cls, model: NaiveBayes, kinds: IntArray, records: int) -> Joints:
        """Return the bins of some kinds, which have so many records: each takes the features that fit.

        Few are quicker to multiply for each record, but a bin with many rows is slow to multiply itself.
        """
        own, most = model.row[kinds], max(records // 2, CELLS)
        bins: list[list[int]] = []
        found: list[tuple[IntArray, IntArray]] = []
        for feature in range(own.shape[1]):
            for place, others in enumerate(bins):
                joined = numbered([found[place][0], own[:, feature]], len(own))
                if len(joined[1]) * model.secrets <= most:
                    others.append(feature)
                    found[place] = joined
                    break
            else:
                bins.append([feature])
                found.append(numbered([own[:, feature]], len(own)))
        widths = np.array([len(own) for own in bins], dtype=np.int64)
        ends = np.cumsum([len(first) for _, first in found], dtype=np.int64)
        parts = np.full((int(ends[-1]), int(widths.max())), model.rows - 1)
        row = np.empty((len(own), len(bins)), dtype=np.int64)
        for place, (features, (number, first), end) in enumerate(
            zip(bins, found, ends.tolist(), strict=True)
        ):
            parts[end - len(first) : end, : len(features)] = own[first][:, features]
            row[:, place] = number + end - len(first)
        return cls(parts, ends, widths, row)
