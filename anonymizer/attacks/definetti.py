"""The deFinetti attack: inferring sensitive values from correlations that the release itself reveals.

Features are attribute values: one by one, numbers in bins, or compared with generalized values. An Anatomy
release is attacked with its exact quasi-identifiers. True values serve only to score the guesses.

Posterior probabilities come from Markov chains that run until they converge. In the generative model
features depend on the sensitive value, but not on each other given it. The sensitive values of each class
or bucket are known; a chain samples their assignment to the records. Convergence is judged by potential
scale reduction and effective sample size.

Source: Vehtari, Gelman, Simpson, Carpenter, Bürkner, "Rank-normalization, folding, and localization: An
improved R-hat for assessing convergence of MCMC" (Bayesian Analysis 16(2), 2021, doi:10.1214/20-BA1221),
sections 2 and 3.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import (
    CONFIDENCE,
    Attack,
    AttackResult,
    KnowledgeSettings,
    Share,
    UnitSettings,
    best_blind,
    clopper_pearson,
    exact_sum,
    subject_of,
    targets_of,
)
from anonymizer.attacks.linkage.distances import gaps_of, standard_scale
from anonymizer.attacks.pace import step
from anonymizer.errors import InputError
from anonymizer.model.adversary import (
    AdversaryView,
    AnatomyRelease,
    Original,
    Truth,
    ValueCoverage,
)
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, numbered
from anonymizer.model.dates import ISO
from anonymizer.model.features import NO_LIMITS, Limit
from anonymizer.model.features import Feature as Option
from anonymizer.model.owners import OwnedRecords
from anonymizer.model.table import Column, ValueType
from anonymizer.plugins import Exact, Threat, WholeNumber

UNKNOWN = -1
"""Feature of a record whose group alone is known."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The kinds of records in each group, and the sensitive values of the group.

    A kind is the set of records of one group with equal features. An entry is a pair of a kind and a value of
    its group; the entries of a kind are consecutive, in the order of the values.

    Attributes
    ----------
    codes: features of each kind, shape (kinds, attributes), int64; -1 where a feature is not known.
    group: of each kind, shape (kinds,), int64, ascending; each group has a kind.
    counts: records of each kind, shape (kinds,), int64, positive.
    starts: values of group i are ``values[starts[i]:starts[i + 1]]``, shape (groups + 1,), int64.
    values, value_counts: sensitive values and the number of each in the group, shape (all values,), int64;
        the numbers of a group sum to its records.
    size: number of sensitive values.
    """

    codes: IntArray
    group: IntArray
    counts: IntArray
    starts: IntArray
    values: IntArray
    value_counts: IntArray
    size: int

    @property
    def people(self) -> int:
        """Number of records in all groups."""
        return int(self.counts.sum())

    @property
    def number(self) -> int:
        """Number of groups."""
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each group, shape (groups,), int64."""
        return count(self.group, self.counts, self.number)

    @cached_property
    def first(self) -> IntArray:
        """First entry of each kind, then the number of entries, shape (kinds + 1,), int64."""
        return np.concatenate([[0], np.cumsum(np.diff(self.starts)[self.group])]).astype(np.int64)

    @cached_property
    def kind(self) -> IntArray:
        """Kind of each entry, shape (entries,), int64."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.first))

    @cached_property
    def _place(self) -> IntArray:
        """Position in ``values`` of each entry's value, shape (entries,), int64."""
        within = np.arange(self.first[-1]) - self.first[self.kind]
        return self.starts[self.group[self.kind]] + within

    @cached_property
    def entry_values(self) -> IntArray:
        """Sensitive value of each entry, shape (entries,), int64."""
        return self.values[self._place]

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each entry's value in its group, shape (entries,): its probability under random worlds."""
        return self.value_counts[self._place] / self.sizes[self.group[self.kind]]

    @cached_property
    def open(self) -> BoolArray:
        """Which groups have several kinds and several values, shape (groups,), bool."""
        kinds = np.bincount(self.group, minlength=self.number)
        return (kinds > 1) & (np.diff(self.starts) > 1)

    def entries_of(self, kinds: IntArray, values: IntArray) -> IntArray:
        """Return the entry of each pair of a kind and a value, shape (pairs,), int64; -1 for none."""
        keys = self.kind * self.size + self.entry_values
        wanted = kinds * self.size + values
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.where(keys[place] == wanted, place, -1)


def groups_of(
    codes: IntArray, group: IntArray, counts: IntArray, values: tuple[IntArray, IntArray, IntArray], size: int
) -> tuple[Groups, IntArray]:
    """Return records in groups; sensitive values without a known record get a kind of unknown features.

    Parameters
    ----------
    codes: features, shape (items, attributes), int64, at least -1.
    group: of each item, shape (items,), int64.
    counts: records of each item, shape (items,), int64.
    values: group, value and count of each sensitive value of a group, shape (entries,), int64 each; distinct
        pairs.
    size: number of sensitive values.

    Returns
    -------
    The groups, and the kind of each item, shape (items,), int64.
    """
    owner, value, number = values
    order = np.lexsort((value, owner))
    owner, value, number = owner[order], value[order], number[order]
    groups = int(owner.max(initial=-1)) + 1
    short = count(owner, number, groups) - count(group, counts, groups)
    hidden = np.flatnonzero(short)
    blank = np.full((len(hidden), codes.shape[1]), UNKNOWN, dtype=np.int64)
    every = np.concatenate([group, hidden]), np.concatenate([codes, blank])
    people = np.concatenate([counts, short[hidden]])
    kinds, first = numbered([every[0], *(every[1].T + 1)], len(people))
    made = Groups(
        every[1][first],
        every[0][first],
        count(kinds, people, len(first)),
        np.searchsorted(owner, np.arange(groups + 1)),
        value,
        number,
        size,
    )
    return made, kinds[: len(counts)]


_TINY = np.finfo(np.float64).tiny


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


def dirichlet(counts: IntArray, prior: float, randoms: Randoms) -> FloatArray:
    """Draw the posterior probabilities of labels, shape as ``counts``; columns sum to 1, none is 0.

    Parameters
    ----------
    counts: records with each label and sensitive value, shape (chains, labels, sensitive values), int64.
    prior: of the symmetric Dirichlet distribution, positive; 1 is uniform.
    """
    drawn: FloatArray = np.add(counts, prior, order="C")
    for own, random in zip(drawn, randoms, strict=True):
        random.standard_gamma(own, out=own)
    np.maximum(drawn, _TINY, out=drawn)
    drawn /= np.add.reduce(drawn, axis=1, keepdims=True)
    return np.maximum(drawn, _TINY, out=drawn)


Parameters = tuple[FloatArray, ...]
"""Probabilities of the labels of each feature, shape (chains, labels, sensitive values) each."""


class NaiveBayes:
    """Features of records in groups, given their sensitive values.

    The probabilities of the labels of a feature given a sensitive value have a symmetric Dirichlet prior. The
    frequencies of the sensitive values are not parameters, as they are published.

    A cell is a vector of features with a possible sensitive value. Records of groups with one kind or one
    value are certain and counted once. Arrays that every sweep fills are allocated once.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861),
    section 5.

    Attributes
    ----------
    cell: of each entry, shape (entries,), int64; 0 for entries of groups that are not open.
    cells: number of cells.
    """

    def __init__(self, groups: Groups, features: Sequence[Feature], prior: float) -> None:
        self._features, self._prior = features, prior
        self._secrets = groups.size
        self._groups = groups
        unsure = groups.open[groups.group[groups.kind]]
        codes, values = groups.codes[groups.kind], groups.entry_values
        # An unknown feature has an additional last row with score 0.
        codes = np.where(codes < 0, [feature.values for feature in features], codes)
        self.cell = np.zeros(len(values), dtype=np.int64)
        own, first = numbered([*codes[unsure].T, values[unsure]], int(unsure.sum()))
        self.cell[unsure] = own
        self.cells = len(first)
        codes_of_cell, value_of_cell = codes[unsure][first], values[unsure][first]
        place = [column * self._secrets + value_of_cell for column in codes_of_cell.T]
        self._prefixes = list(_prefixes(codes_of_cell, value_of_cell, place))
        sure = np.rint(groups.shares * groups.counts[groups.kind])[~unsure]
        self._known = [
            self._table(codes[~unsure, position] * self._secrets + values[~unsure], feature, sure)[0]
            for position, feature in enumerate(features)
        ]

    def _table(
        self, place: IntArray, feature: Feature, records: FloatArray | None = None, chains: int = 1
    ) -> IntArray:
        """Return the records with each value and sensitive value.

        Parameters
        ----------
        place: cells of such tables, which follow each other chain by chain, flat, int64.
        records: in each of these cells, one by default.

        Returns
        -------
        Shape (chains, values, sensitive values), int64.
        """
        rows = feature.values + 1
        table = np.bincount(place, weights=records, minlength=chains * rows * self._secrets)
        return table.astype(np.int64, copy=False).reshape(chains, rows, self._secrets)[:, :-1]

    def start(self, chains: int) -> Parameters:
        """Return uniform probabilities."""
        return tuple(
            np.full((chains, feature.labels, self._secrets), 1 / feature.labels) for feature in self._features
        )

    def rows(self, entries: IntArray, chains: int) -> list[IntArray]:
        """Return the row of each feature in the flat tables of its values and sensitive values, by record.

        Parameters
        ----------
        entries: any entry of each record's kind, shape (records,), int64.

        Returns
        -------
        Of each feature: shape (chains * records,), int64; the tables follow each other chain by chain.
        """
        codes = self._groups.codes[self._groups.kind[entries]]
        sizes = [feature.values for feature in self._features]
        codes = np.where(codes < 0, sizes, codes)
        chain = np.arange(chains)[:, None]
        return [
            ((column + chain * (size + 1)) * self._secrets).ravel()
            for column, size in zip(codes.T, sizes, strict=True)
        ]

    def drawn(
        self, rows: Sequence[IntArray], values: IntArray, before: Parameters, randoms: Randoms
    ) -> Parameters:
        """Draw the probabilities of labels given the sensitive value of each record.

        Parameters
        ----------
        rows: of the records whose value is not certain, as ``rows()`` returns them.
        values: sensitive value of each of these records, shape (chains * records,), int64.
        before: the previous draw, from which latent labels are drawn.
        """
        parameters = []
        for feature, row, known, chances in zip(self._features, rows, self._known, before, strict=True):
            counts = known + self._table(row + values, feature, chains=len(randoms))
            labels = feature.labeled(counts, chances, randoms)
            parameters.append(dirichlet(labels, self._prior, randoms))
        return tuple(parameters)

    def scores(self, parameters: Parameters, chains: int) -> FloatArray:
        """Return the log-probability of the features of each cell given its value, shape (chains, cells)."""
        scores, unknown = np.zeros((chains, 1)), np.zeros((chains, self._secrets))
        for feature, prefix, chances in zip(self._features, self._prefixes, parameters, strict=True):
            known = np.log(feature.shown(chances)).reshape(chains, -1)
            scores = prefix.extended(scores, np.concatenate([known, unknown], axis=1))
        return scores if self._prefixes else np.zeros((chains, self.cells))


@dataclass(frozen=True, eq=False)
class _Prefix:
    """The distinct first features of all cells, each with its sensitive value: few where features are few.

    Attributes
    ----------
    before: the same without the last feature, as position in the prefix before, shape (distinct,), int64.
    place: of the last feature and the sensitive value in a flat table of both, shape (distinct,), int64.
    """

    before: IntArray
    place: IntArray

    _rooms: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def _room(self, chains: int) -> tuple[FloatArray, FloatArray]:
        """Return space for the scores, and for those of the last feature, shape (chains, distinct) each."""
        if chains not in self._rooms:
            shape = chains, len(self.place)
            self._rooms[chains] = np.empty(shape), np.empty(shape)
        return self._rooms[chains]

    def extended(self, scores: FloatArray, known: FloatArray) -> FloatArray:
        """Return the scores of the prefixes, shape (chains, distinct); the next call overwrites them.

        Parameters
        ----------
        scores: of the prefixes before, shape (chains, distinct there).
        known: of the last feature, shape (chains, its table).
        """
        sums, last = self._room(len(scores))
        # Positions are within bounds; the mode only spares numpy a copy.
        np.take(scores, self.before, axis=1, out=sums, mode="clip")
        np.take(known, self.place, axis=1, out=last, mode="clip")
        sums += last
        return sums


def _prefixes(codes: IntArray, values: IntArray, places: Sequence[IntArray]) -> Iterator[_Prefix]:
    """Yield a prefix for each feature; the last one is the cells themselves, in their order.

    Parameters
    ----------
    codes: features of the cells in lexicographic order, shape (cells, features), int64.
    values: sensitive value of each cell, shape (cells,), int64.
    places: of each feature and the sensitive value in a flat table, shape (cells,), int64 each.
    """
    before = np.zeros(len(values), dtype=np.int64)
    for position, place in enumerate(places):
        own, first = numbered([*codes[:, : position + 1].T, values], len(values))
        yield _Prefix(before[first], place[first])
        before = own


ROUNDS = 2
"""Pairings per sweep in groups of three or more records."""

RECORDS = 1 << 13
"""Most records of chains that are swept side by side; larger arrays do not fit in the processor's cache."""


@dataclass(frozen=True, eq=False)
class LatentAssignment:
    """The records of the open groups one by one, group by group; their values are to be assigned.

    Attributes
    ----------
    base: first entry of each record's kind, shape (records,), int64.
    group: of each record, numbered without gaps, shape (records,), int64.
    start: first record of each record's group, shape (records,), int64.
    number: records in each group, shape (groups,), int64.
    rank: the values of each group with multiplicity, as positions among its distinct ones, shape (records,),
        int64.
    """

    base: IntArray
    group: IntArray
    start: IntArray
    number: IntArray
    rank: IntArray

    @classmethod
    def of(cls, groups: Groups) -> LatentAssignment:
        """Return the records of the open groups."""
        chosen = np.flatnonzero(groups.open)
        kinds = np.repeat(
            np.arange(len(groups.counts)), np.where(groups.open[groups.group], groups.counts, 0)
        )
        number = groups.sizes[chosen]
        owner = np.repeat(np.arange(len(chosen)), number)
        start = (np.cumsum(number) - number)[owner]
        owners = np.repeat(np.arange(groups.number), np.diff(groups.starts))
        times = np.where(groups.open[owners], groups.value_counts, 0)
        rank = np.repeat(np.arange(len(groups.values)) - groups.starts[owners], times)
        return cls(groups.first[kinds], owner, start, number, rank)

    def draw_random(self, random: np.random.Generator) -> IntArray:
        """Assign the values of each group at random; return the entry of each record, shape (records,)."""
        order = np.lexsort((random.random(len(self.rank)), self.group))
        return self.base + self.rank[order]


@dataclass(frozen=True, eq=False)
class _Swaps:
    """Pairs of records that may swap their values.

    Attributes
    ----------
    one, other: the two records of each pair, shape (pairs,), int64, ascending in ``one``.
    to_one, to_other: their entries after the swap, shape (pairs,), int64.
    chance: posterior probability of the swap, shape (pairs,).
    """

    one: IntArray
    other: IntArray
    to_one: IntArray
    to_other: IntArray
    chance: FloatArray


class Chains:
    """Gibbs samplers that alternate between the parameters and the assignment of values to records.

    Given the parameters the groups are independent, so all are updated at once. In each group the i-th record
    is paired with the (r - i)-th, modulo the size, for a random r; every two records are paired for one r.
    Two records swap their values with the posterior probability of the swapped assignment (heat bath), which
    leaves the posterior distribution invariant.

    The chains know nothing of each other: their records and entries follow each other chain by chain in one
    array only because small arrays cost a call each, however few their elements.

    Parameters
    ----------
    randoms: of each chain alone; what a chain draws does not depend on those beside it.

    Attributes
    ----------
    number: of chains.
    """

    def __init__(
        self, groups: Groups, assignment: LatentAssignment, model: NaiveBayes, randoms: Randoms
    ) -> None:
        self._assignment, self._model, self._randoms = assignment, model, randoms
        self.number, self._records = len(randoms), len(assignment.base)
        entries = int(groups.first[-1])
        self._base = self._side_by_side(assignment.base, entries)
        self._start = self._side_by_side(assignment.start, self._records)
        self._cell = self._side_by_side(model.cell, model.cells)
        self._value = self._side_by_side(groups.entry_values, 0)
        drawn = np.stack([assignment.draw_random(random) for random in randoms])
        self._entry = (drawn + np.arange(self.number)[:, None] * entries).ravel()
        self._rows = model.rows(assignment.base, self.number)
        self._parameters = model.start(self.number)
        self._within = np.arange(self._records) - assignment.start
        self._sizes, self._size = assignment.number, assignment.number[assignment.group]
        # In groups of two, only the sum 1 pairs the records.
        self._twos = np.flatnonzero(assignment.number == 2)
        self._rounds = ROUNDS if int(assignment.number.max(initial=0)) > 2 else 1

    def _side_by_side(self, positions: IntArray, apart: int) -> IntArray:
        """Return the positions in every chain, each so far from those before; a single chain shares them."""
        if self.number == 1:
            return positions
        return (positions + np.arange(self.number)[:, None] * apart).ravel()

    def sweep(self) -> tuple[FloatArray, FloatArray]:
        """Update everything once.

        Returns
        -------
        Expected records of each entry in the last update, shape (chains, entries), 0 in groups that are not
        open; and the log-probability of all features, shape (chains,).
        """
        values = self._value[self._entry]
        self._parameters = self._model.drawn(self._rows, values, self._parameters, self._randoms)
        scores = self._model.scores(self._parameters, self.number).ravel()
        for _ in range(self._rounds - 1):
            self._swap(self._proposed(scores))
        last = self._proposed(scores)
        expected = self._expected(last)
        self._swap(last)
        return expected, scores[self._cell[self._entry]].reshape(self.number, -1).sum(axis=1)

    def _proposed(self, scores: FloatArray) -> _Swaps:
        """Return a random pairing with the probability of each swap.

        Parameters
        ----------
        scores: of the cells of all chains, flat.
        """
        one, other = self._pairs()
        cell, of_one, of_other = self._cell, self._entry[one], self._entry[other]
        apart = self._base[one] - self._base[other]
        to_one = of_other + apart
        to_other = of_one - apart
        gain = scores[cell[to_one]]
        gain += scores[cell[to_other]]
        gain -= scores[cell[of_one]]
        gain -= scores[cell[of_other]]
        gain /= 2
        chance = np.tanh(gain, out=gain)
        chance += 1
        chance /= 2
        return _Swaps(one, other, to_one, to_other, chance)

    def _expected(self, swaps: _Swaps) -> FloatArray:
        """Return the expected records of each entry after the swaps, shape (chains, entries)."""
        stay = np.ones(len(self._entry))
        stay[swaps.one] -= swaps.chance
        stay[swaps.other] -= swaps.chance
        expected = np.bincount(
            np.concatenate([self._entry, swaps.to_one, swaps.to_other]),
            weights=np.concatenate([stay, swaps.chance, swaps.chance]),
            minlength=len(self._value),
        )
        return expected.astype(np.float64, copy=False).reshape(self.number, -1)

    def _swap(self, swaps: _Swaps) -> None:
        """Swap the values of pairs at random."""
        ends = swaps.one.searchsorted(np.arange(self.number + 1) * self._records)
        pairs = np.diff(ends).tolist()
        drawn = [random.random(number) for random, number in zip(self._randoms, pairs, strict=True)]
        swapped = (np.concatenate(drawn) < swaps.chance).nonzero()[0]
        self._entry[swaps.one[swapped]] = swaps.to_one[swapped]
        self._entry[swaps.other[swapped]] = swaps.to_other[swapped]

    def _pairs(self) -> tuple[IntArray, IntArray]:
        """Return the two records of each pair, shape (pairs,), int64 each; some records are in none."""
        drawn = np.stack([random.random(len(self._sizes)) for random in self._randoms])
        drawn *= self._sizes
        sums = drawn.astype(np.int64)
        sums[:, self._twos] = 1
        partner = sums.take(self._assignment.group, axis=1)
        partner -= self._within
        partner += self._size * (partner < 0)
        one = (partner > self._within).ravel().nonzero()[0]
        return one, self._start[one] + partner.ravel()[one]


def scale_reduction(means: FloatArray, variances: FloatArray, draws: int) -> FloatArray:
    """Return R-hat of each quantity from parts of chains, 1 if nothing varies, shape (quantities,).

    Parameters
    ----------
    means, variances: of each quantity over the draws of each part, by draws - 1, shape (parts, quantities).
    draws: in each part, at least 2.
    """
    within = variances.mean(axis=0)
    between = means.var(axis=0, ddof=1)
    total = (draws - 1) / draws * within + between
    # A quantity that varies between chains but not within one has not converged at all.
    still = np.where(between > 0, np.inf, 1.0)
    reduction: FloatArray = np.sqrt(np.divide(total, within, out=still, where=within > 0))
    return reduction


def split_scale_reduction(traces: FloatArray) -> float:
    """Return R-hat of one quantity with each chain cut in half.

    Parameters
    ----------
    traces: shape (chains, draws); at least 4 draws.
    """
    half = traces.shape[1] // 2
    parts = np.concatenate([traces[:, :half], traces[:, -half:]])
    means, variances = parts.mean(axis=1), parts.var(axis=1, ddof=1)
    return float(scale_reduction(means[:, None], variances[:, None], half)[0])


def effective_draws(traces: FloatArray) -> float:
    """Return the effective sample size of the mean, by Geyer's initial monotone sequence.

    Parameters
    ----------
    traces: shape (chains, draws); at least 4 draws.
    """
    chains, draws = traces.shape
    centered = traces - traces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centered, n=2 * draws, axis=1)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), n=2 * draws, axis=1)[:, :draws].mean(axis=0) / draws
    within = covariance[0] * draws / (draws - 1)
    between = float(traces.mean(axis=1).var(ddof=1)) if chains > 1 else 0.0
    total = within * (draws - 1) / draws + between
    if total <= 0:
        return float(chains * draws)
    correlation = 1 - (within - covariance * draws / (draws - 1)) / total
    correlation[0] = 1
    pairs = correlation[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else len(pairs)])
    # Negative correlation increases the effective sample size; the minimum length limits it.
    length = max(2 * float(pairs.sum()) - 1, 1 / np.log10(chains * draws))
    return float(chains * draws / length)


FIRST = 64
"""Sweeps of the first stretch; each later one is as long as all before it."""

TYPICAL = 0.95
"""Share of the probabilities whose R-hat must be below the tolerance."""


@dataclass(frozen=True)
class SamplerSettings:
    """The effort of sampling.

    Attributes
    ----------
    chains: number of chains, at least 2, each with a random start.
    sweeps: maximum number of sweeps of a chain, at least 8.
    tolerance: largest R-hat that counts as converged, above 1.
    draws: sufficient effective sample size.
    precise: whether the share that the chains expect to guess must be known within ``PRECISION`` too; for an
        attack that nothing but this expectation judges.
    """

    chains: int
    sweeps: int
    tolerance: float
    draws: int
    precise: bool = False


@dataclass(frozen=True, eq=False)
class Convergence:
    """The agreement of the chains.

    Attributes
    ----------
    converged: whether they agree within the settings.
    sweeps: total sweeps of each chain.
    kept: sweeps at the end of each chain that are used.
    likelihood: R-hat of the log-probability of all features.
    typical: 95% quantile of the R-hats of the probabilities of values.
    draws: effective sample size of that log-probability.
    difference: mean over the entries of the standard deviation of the probabilities between chains.
    """

    converged: bool
    sweeps: int
    kept: int
    likelihood: float
    typical: float
    draws: float
    difference: float


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior probabilities given the release.

    Attributes
    ----------
    chances: probability of each entry's value for a record of its kind, shape (entries,); sum 1 in each kind.
    by_chain: the same from each chain alone, shape (chains, entries).
    convergence: of the chains; None if there was nothing to draw.
    """

    chances: FloatArray
    by_chain: FloatArray
    convergence: Convergence | None


class _Stretch:
    """The draws of all chains in a number of sweeps.

    Attributes
    ----------
    traces: log-probability of all features, shape (chains, sweeps).
    """

    def __init__(self, chains: int, sweeps: int, entries: int) -> None:
        self.traces = np.zeros((chains, sweeps))
        self._half = sweeps // 2
        self._sums = np.zeros((chains, 2, entries))
        self._squares = np.zeros((chains, 2, entries))

    def run(self, first: int, block: Chains, people: FloatArray, effort: SamplerSettings, done: int) -> None:
        """Run some of the chains.

        Parameters
        ----------
        first: position of the first of them.
        people: records of each entry's kind, shape (entries,).
        done: sweeps of the stretches before.
        """
        chains, sweeps = self.traces.shape
        own = slice(first, first + block.number)
        for sweep in range(sweeps):
            before = done * chains + first * sweeps + sweep * block.number
            step(effort, before, effort.sweeps * chains, at_most=True)
            expected, self.traces[own, sweep] = block.sweep()
            expected /= people
            half = int(sweep >= sweeps - self._half)
            self._sums[own, half] += expected
            expected *= expected
            self._squares[own, half] += expected

    @property
    def means(self) -> FloatArray:
        """Mean of each entry in each chain, shape (chains, entries)."""
        mean: FloatArray = self._sums.sum(axis=1) / self.traces.shape[1]
        return mean

    def convergence(self, effort: SamplerSettings, before: int) -> Convergence:
        """Return the convergence; ``before`` is the number of earlier sweeps."""
        chains, sweeps = self.traces.shape
        sizes = np.array([sweeps - self._half, self._half])[:, None]
        means = self._sums / sizes
        variances = np.maximum(self._squares - sizes * means**2, 0) / (sizes - 1)
        flat = (2 * chains, -1)
        reductions = scale_reduction(means.reshape(flat), variances.reshape(flat), self._half)
        typical = float(np.quantile(reductions, TYPICAL, method="higher"))
        likelihood = split_scale_reduction(self.traces)
        draws = effective_draws(self.traces)
        return Convergence(
            max(typical, likelihood) <= effort.tolerance and draws >= effort.draws,
            before + sweeps,
            sweeps,
            likelihood,
            typical,
            draws,
            float(self.means.std(axis=0, ddof=1).mean()),
        )


PRECISION = 0.01
"""Width of the expected share of correct guesses below which it is settled, without known true values."""

BATCHES = 8
"""Maximum number of sets of chains that guess for each other."""


@dataclass(frozen=True)
class Expected:
    """The share of records that are guessed correctly, if the probabilities are correct.

    The largest of several noisy probabilities is too large on average, so the guesses of some chains count by
    the probabilities of another: independent noise cancels. This errs downwards where chains guess different
    values; the largest mean over all chains errs upwards. The truth is between their expectations, and not
    below the baseline, which is certain in every assignment.

    Attributes
    ----------
    success: mean over the chains of what each finds of the others' guesses, at least the baseline.
    low, high: interval of 95% by the jackknife over chains, with the largest mean inside.
    by_chain: what each set of chains finds of the others' guesses.
    """

    success: float
    low: float
    high: float
    by_chain: list[float]

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    @classmethod
    def of(cls, groups: Groups, by_chain: FloatArray) -> Expected:
        """Return the expectation from the chances of each chain, shape (chains, entries); one is exact."""
        baseline = expected_accuracy(groups, groups.shares)
        if len(by_chain) == 1:
            exact = expected_accuracy(groups, by_chain[0])
            return cls(exact, exact, exact, [exact])
        sets = np.array_split(by_chain, min(len(by_chain), BATCHES))
        sums, sizes = np.stack([own.sum(axis=0) for own in sets]), np.array([len(own) for own in sets])
        found = _guessed_by_others(groups, sums, sizes)
        success = float(np.mean(found))
        largest = expected_accuracy(groups, by_chain.mean(axis=0))
        low, high = baseline, max(success, largest)
        if len(sets) > 2:
            without = [
                np.mean(_guessed_by_others(groups, np.delete(sums, i, axis=0), np.delete(sizes, i)))
                for i in range(len(sets))
            ]
            error = np.sqrt((len(sets) - 1) * np.var(without))
            from scipy.special import stdtrit  # noqa: PLC0415  quick start-up

            reach = float(stdtrit(len(sets) - 1, (1 + CONFIDENCE) / 2) * error)
            low, high = max(success - reach, baseline), max(success + reach, largest)
        return cls(max(success, baseline), low, min(max(high, baseline), 1.0), found)


def _guessed_by_others(groups: Groups, sums: FloatArray, sizes: IntArray) -> list[float]:
    """Return the probability by each set of chains of the values that all others find most likely.

    Parameters
    ----------
    sums: of the probabilities of each set, shape (sets, entries).
    sizes: chains of each set, shape (sets,), int64.
    """
    starts, total, found = groups.first[:-1], sums.sum(axis=0), []
    for own, size in zip(sums, sizes.tolist(), strict=True):
        others = total - own
        best = np.isclose(others, np.maximum.reduceat(others, starts)[groups.kind], rtol=1e-12, atol=0)
        chance = np.add.reduceat(best * own / size, starts) / np.add.reduceat(best, starts)
        found.append(float(chance @ groups.counts) / groups.people)
    return found


def posterior(
    groups: Groups, model: NaiveBayes, effort: SamplerSettings, randoms: Sequence[np.random.Generator]
) -> Posterior:
    """Return the posterior probabilities of all entries.

    The chains run in stretches, each as long as all before it, until they converge or the sweeps end. Only
    the
    last stretch counts: at least half of the sweeps are discarded as burn-in, unless the first stretch
        converges.

    Parameters
    ----------
    randoms: one for each chain.
    """
    assignment = LatentAssignment.of(groups)
    if not len(assignment.base):
        return Posterior(groups.shares, np.tile(groups.shares, (effort.chains, 1)), None)
    together = max(1, RECORDS // len(assignment.base))
    blocks = [
        Chains(groups, assignment, model, randoms[first : first + together])
        for first in range(0, len(randoms), together)
    ]
    people = groups.counts[groups.kind].astype(np.float64)
    done, length = 0, min(FIRST, effort.sweeps // 2)
    while True:
        stretch = _Stretch(len(randoms), length, int(groups.first[-1]))
        for position, block in enumerate(blocks):
            stretch.run(position * together, block, people, effort, done)
        convergence = stretch.convergence(effort, done)
        if effort.precise and Expected.of(groups, stretch.means).width > PRECISION:
            convergence = replace(convergence, converged=False)
        done += length
        if convergence.converged or 2 * done > effort.sweeps:
            break
        length = done
    sure = ~groups.open[groups.group[groups.kind]]
    by_chain = np.where(sure, groups.shares, stretch.means)
    return Posterior(by_chain.mean(axis=0), by_chain, convergence)


ROUNDING = 1e-9
"""Largest difference between exact probabilities that are equal, and summed in floating point."""

WORLDS = 1 << 14
"""Maximum number of assignments that are gone through instead of sampled."""

WORLD_CELLS = 1 << 22
"""Maximum number of counts of features and sensitive values in all of these together."""


def every_world(groups: Groups, features: Sequence[Feature], prior: float) -> Posterior | None:
    """Return the exact posterior, parameters integrated out; None if there are too many worlds.

    A world says how many records of each kind have each value. Its weight is the number of assignments of
    values to records that agree with it, times the Dirichlet-multinomial probability of the features.

    Parameters
    ----------
    features: without latent labels, else None is returned.
    """
    unsure = np.flatnonzero(groups.open)
    if not len(unsure):
        return Posterior(groups.shares, groups.shares[None, :], None)
    if any(isinstance(feature, Similar) for feature in features):
        return None
    options = []
    worlds, rows = 1, sum(feature.values for feature in features)
    for group in unsure.tolist():
        kinds = groups.counts[groups.group == group]
        values = groups.value_counts[groups.starts[group] : groups.starts[group + 1]]
        tables = _dealt(tuple(kinds.tolist()), tuple(values.tolist()), WORLDS // worlds)
        worlds *= max(len(tables), 1)
        if not tables or worlds * rows * groups.size > WORLD_CELLS:
            return None
        options.append(np.array(tables, dtype=np.int64).reshape(len(tables), -1))
    choice = np.array(np.unravel_index(np.arange(worlds), [len(own) for own in options])).reshape(-1, worlds)
    sure = np.rint(groups.shares * groups.counts[groups.kind]).astype(np.int64)
    dealt = np.tile(np.where(groups.open[groups.group[groups.kind]], 0, sure), (worlds, 1))
    for group, own, chosen in zip(unsure.tolist(), options, choice, strict=True):
        dealt[:, groups.group[groups.kind] == group] = own[chosen]
    weights = _log_probability(groups, features, prior, dealt)
    weights = np.exp(weights - weights.max())
    chances = weights @ dealt / weights.sum() / groups.counts[groups.kind]
    # Equal probabilities are sums of different terms, whose rounding must not break the tie.
    most = np.maximum.reduceat(chances, groups.first[:-1])[groups.kind]
    chances = np.where(chances >= most - ROUNDING, most, chances)
    return Posterior(chances, chances[None, :], None)


def _dealt(kinds: tuple[int, ...], values: tuple[int, ...], most: int) -> list[tuple[int, ...]]:
    """Return all tables with these row and column sums, flat; empty if there are more than ``most``."""
    if len(kinds) == 1:
        return [values] if most > 0 else []
    found: list[tuple[int, ...]] = []
    ranges = [range(min(kinds[0], own) + 1) for own in values]
    if math.prod(map(len, ranges)) > 64 * WORLDS:
        return []
    for first in product(*ranges):
        if sum(first) == kinds[0]:
            left = tuple(own - taken for own, taken in zip(values, first, strict=True))
            rest = _dealt(kinds[1:], left, most - len(found))
            if not rest:
                return []
            found += [first + own for own in rest]
    return found


def _log_probability(
    groups: Groups, features: Sequence[Feature], prior: float, dealt: IntArray
) -> FloatArray:
    """Return the log-probability of each world up to a constant, shape (worlds,).

    Parameters
    ----------
    dealt: records of each entry in each world, shape (worlds, entries), int64.
    """
    from scipy.special import gammaln  # noqa: PLC0415  quick start-up

    found: FloatArray = -gammaln(dealt + 1).sum(axis=1)
    codes = groups.codes[groups.kind]
    for position, feature in enumerate(features):
        known = np.flatnonzero(codes[:, position] >= 0)
        cell = codes[known, position] * groups.size + groups.entry_values[known]
        used, place = np.unique(cell, return_inverse=True)
        counts = np.zeros((len(used), len(dealt)), dtype=np.int64)
        np.add.at(counts, place, dealt.T[known])
        having = np.zeros((groups.size, len(dealt)), dtype=np.int64)
        np.add.at(having, used % groups.size, counts)
        found += (gammaln(counts + prior) - gammaln(prior)).sum(axis=0)
        found -= gammaln(having + feature.values * prior).sum(axis=0)
    return found


REACH = 0.25
"""Gap at which similarity is 1/e: in standard deviations of numbers or shares of a hierarchy's height."""

PUBLISHED_PAIRS = 1 << 16
"""Maximum number of compared pairs of value and published text; with more, values are coded exactly."""


@dataclass(frozen=True, eq=False)
class FeatureCoding:
    """The coding of an attribute's values as a feature.

    Attributes
    ----------
    feature: how the model uses the codes.
    code: feature value of each value of the column, shape (values,), int64.
    bins: smallest and largest number of each bin, in order; empty if values are coded one by one.
    """

    feature: Feature
    code: IntArray
    bins: list[tuple[float, float]] = field(default_factory=list)


def discretize(column: Column, counts: IntArray, bins: int) -> FeatureCoding:
    """Return an exact coding of values, numbers in bins of about equal numbers of records.

    Parameters
    ----------
    counts: records with each value of the column, shape (values,), int64.
    bins: maximum number of bins; numbers with at most so many values are not binned.
    """
    numbers = column.numbers
    present = len(column.present)
    if numbers is None or present <= bins:
        return _exact(column.size)
    # A value is in the bin of its middle record.
    known = counts[:present]
    middle = np.cumsum(known) - known / 2
    place = np.minimum((middle * bins / max(int(known.sum()), 1)).astype(np.int64), bins - 1)
    used, code = np.unique(place, return_inverse=True)
    first = np.searchsorted(code, np.arange(len(used)))
    last = np.append(first[1:], present) - 1
    edges = [(float(numbers[low]), float(numbers[high])) for low, high in zip(first, last, strict=True)]
    missing = np.full(column.size - present, len(used))
    return FeatureCoding(
        Feature(len(used) + (column.size > present)),
        np.concatenate([code, missing]).astype(np.int64),
        edges,
    )


def compared(meaning: ValueCoverage, counts: IntArray, bins: int) -> FeatureCoding:
    """Return a coding that compares values with the published texts: a value counts toward similar texts.

    The similarity of a value and a text is exp(-gap / ``REACH``), 1 if the text covers the value.

    Parameters
    ----------
    meaning: coverage of the published texts.
    counts, bins: as for ``discretize``.
    """
    exact = discretize(meaning.column, counts, bins)
    texts, values = len(meaning.sizes), meaning.column.size
    if texts * exact.feature.values > PUBLISHED_PAIRS:
        return exact
    gaps = np.abs(gaps_of(meaning, standard_scale).rows(np.arange(values)))
    likeness = np.exp(-gaps.T / REACH) * np.maximum(counts, 1)
    joined: FloatArray = np.zeros((texts, exact.feature.values))
    np.add.at(joined.T, exact.code, likeness.T)
    return FeatureCoding(Similar(joined / joined.sum(axis=1, keepdims=True)), exact.code, exact.bins)


@dataclass(frozen=True, eq=False)
class View:
    """Records in groups with features.

    Attributes
    ----------
    names: of the quasi-identifiers that are features.
    codings: of the values of each.
    groups: the records.
    true: records of each entry's kind whose true value is the entry's, shape (entries,), int64; None if
        unknown.
    kind: of each released row, link or tuple that the features come from, shape (items,), int64.
    by_link: whether these are links.
    values: true value of each row of the release, shape (rows,), int64; None in buckets.
    """

    names: tuple[str, ...]
    codings: tuple[FeatureCoding, ...]
    groups: Groups
    true: IntArray | None
    kind: IntArray
    by_link: bool = False
    values: IntArray | None = None

    def of_units(self, adversary: AdversaryView, owned: OwnedRecords) -> GuessedUnits:
        """Return whose the records are."""
        assert self.values is not None, "nobody knows the owners of records in buckets"
        item = owned.release
        if self.by_link:
            assert adversary.original is not None, "it has the links"
            item = adversary.original.links.of_pairs(owned.original, owned.release)
        entries = self.groups.entries_of(self.kind[item], self.values[owned.release])
        return GuessedUnits(self.groups, owned, entries)


@dataclass(frozen=True, eq=False)
class GuessedUnits:
    """Persons, or other units, whose values are guessed: each kind of their records by one guess.

    Attributes
    ----------
    entries: of the kind and the true value of each record, shape (records,), int64.
    """

    groups: Groups
    owned: OwnedRecords
    entries: IntArray

    @property
    def number(self) -> int:
        """Number of units."""
        return self.owned.number

    @property
    def baseline(self) -> Share:
        """The success of guesses by the frequencies of each group, or of one value for everybody."""
        values = self.groups.entry_values[self.entries]
        return best_blind(self.success(self.groups.shares), self.owned.target, self.number, values)

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Pair of a member and a kind by record, kind of each pair, and one record for each of its values."""
        kind = self.groups.kind[self.entries]
        pairs, first = numbered([self.owned.members, kind], len(kind))
        return pairs, kind[first], numbered([pairs, self.entries], len(kind))[1]

    def success(self, chances: FloatArray) -> Share:
        """Return the share of units of whom a guess is true: the value of a record of the kind it is about.

        A tie of n is guessed with 1/n each, for each kind by itself; the share is exact where each unit has
        one kind of records.

        Parameters
        ----------
        chances: probability of each entry, shape (entries,).
        """
        pairs, kind, records = self._pairs
        best, ties = _likeliest(self.groups, chances)
        right = count(pairs[records], best[self.entries[records]].astype(np.int64), len(kind))
        if len(kind) == self.number:
            return exact_sum(right, ties[kind]) / self.number
        found, _ = self.owned.found(pairs, (right / ties[kind])[pairs], once=False)
        return float(found.mean())


class FeatureSource(ABC):
    """A source of the features of records.

    Parameters
    ----------
    bins: most bins of a number.
    """

    def __init__(self, bins: int) -> None:
        self.bins = bins

    @abstractmethod
    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the records of a release in its classes.

        Parameters
        ----------
        names: of the quasi-identifiers that the adversary knows.
        sensitive: name of the attribute to infer.
        """

    @abstractmethod
    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return an upper bound on the pairs of a kind of record and a value of its class."""


class Published(FeatureSource):
    """The published texts as features."""

    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the released records; those of a class are of one kind."""
        release = adversary.release
        classes = release.classes(names)
        positions = [release.names.index(name) for name in names]
        codings = tuple(_exact(len(release.labels[at])) for at in positions)
        codes = release.codes[:, positions].astype(np.int64)
        return _view(
            adversary, names, names, sensitive, codings, (codes, np.arange(len(codes)), classes.counts)
        )

    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return the number of distinct values, summed over classes."""
        counts, _ = adversary.release.classes(names).sensitive_counts(sensitive)
        return len(counts.values)


class OriginalFeatures(FeatureSource):
    """The original values as features, numbers in bins."""

    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:
        """Return the records with known originals, and the others of their classes with unknown features."""
        original = adversary.original
        assert original is not None, "missing_requirement() checks this"
        links = original.links
        # original.known() refuses names if the original has none of them.
        own = [name for name in names if name in original.names] or original.known(names)
        positions = [original.names.index(name) for name in own]
        codings = tuple(self.coding(original, at) for at in positions)
        codes = original.codes[links.original][:, positions].astype(np.int64)
        features = [each.code[column] for each, column in zip(codings, codes.T, strict=True)]
        people = np.column_stack(features), links.release, links.counts
        return _view(adversary, names, own, sensitive, codings, people, by_link=True)

    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:
        """Return the number of values in each original's class, summed over original rows."""
        assert adversary.original is not None, "missing_requirement() checks this"
        classes = adversary.release.classes(names)
        counts, _ = classes.sensitive_counts(sensitive)
        return int(np.diff(counts.starts)[classes.class_of[adversary.original.links.release]].sum())

    def coding(self, original: Original, position: int) -> FeatureCoding:
        """Return the coding of an attribute's values."""
        return discretize(original.meanings[position].column, _counts(original, position), self.bins)


class SimilarFeatures(OriginalFeatures):
    """The original values as features, compared with the published texts."""

    def coding(self, original: Original, position: int) -> FeatureCoding:
        """Return the coding of an attribute's values by similarity to its published texts."""
        return compared(original.meanings[position], _counts(original, position), self.bins)


def _exact(values: int) -> FeatureCoding:
    return FeatureCoding(Feature(values), np.arange(values))


def _counts(original: Original, position: int) -> IntArray:
    size = original.meanings[position].column.size
    return count(original.codes[:, position].astype(np.int64), original.counts, size)


def _view(
    adversary: AdversaryView,
    names: Sequence[str],
    features: Sequence[str],
    sensitive: str,
    codings: tuple[FeatureCoding, ...],
    people: tuple[IntArray, IntArray, IntArray],
    *,
    by_link: bool = False,
) -> View:
    """Return records in the classes of a release.

    Parameters
    ----------
    names: of the quasi-identifiers that make up the classes.
    features: names of the attributes whose values are features.
    people: features, released row and number of each item, shapes (items, features), (items,) and (items,).
    by_link: whether the items are links.
    """
    codes, item, counts = people
    classes = adversary.release.classes(names)
    held, _ = classes.sensitive_counts(sensitive)
    values = classes.sensitive_codes(sensitive)[item]
    groups, kind = groups_of(
        codes,
        classes.class_of[item],
        counts,
        (held.owners, held.values, held.counts),
        held.attribute.column.size,
    )
    true = count(groups.entries_of(kind, values), counts, int(groups.first[-1]))
    rows = classes.sensitive_codes(sensitive)
    return View(tuple(features), codings, groups, true, kind, by_link, rows)


class AnatomyFeatures(FeatureSource):
    """The published values of an Anatomy release as features, numbers in bins."""

    def view(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> View:  # noqa: ARG002 - there is one
        """Return the records of each bucket; those with equal features are of one kind."""
        grouped = _grouped(adversary)
        positions = [grouped.names.index(name) for name in names]
        codings = tuple(self._coding(grouped, at) for at in positions)
        codes = [own.code[grouped.codes[:, at]] for own, at in zip(codings, positions, strict=True)]
        held = grouped.sensitive
        groups, kind = groups_of(
            np.column_stack(codes).astype(np.int64),
            grouped.group,
            grouped.counts,
            (held.owners, held.values, held.counts),
            held.attribute.column.size,
        )
        truth = grouped.truth
        if truth is None or not len(truth.counts):
            return View(tuple(names), codings, groups, None, kind)
        entries = groups.entries_of(kind[truth.rows], truth.values)
        if (entries < 0).any():
            name = grouped.groups[grouped.group[truth.rows[entries < 0][0]]]
            raise InputError(
                f"{grouped.source}: bucket {name} does not have the sensitive values of its "
                "original records; give the originals of this release"
            )
        true = count(entries, truth.counts, int(groups.first[-1]))
        return View(tuple(names), codings, groups, true, kind)

    def pairs(self, adversary: AdversaryView, names: Sequence[str], sensitive: str) -> int:  # noqa: ARG002 - at most
        """Return the number of values in each row's bucket, summed over rows."""
        grouped = _grouped(adversary)
        return int(np.diff(grouped.sensitive.starts)[grouped.group].sum())

    def _coding(self, grouped: AnatomyRelease, position: int) -> FeatureCoding:
        labels = grouped.labels[position]
        counts = count(grouped.codes[:, position].astype(np.int64), grouped.counts, len(labels))
        order, column = _as_numbers(grouped.names[position], labels, counts)
        if column is None:
            return _exact(len(labels))
        found = discretize(column, counts[order], self.bins)
        code = np.empty(len(labels), dtype=np.int64)
        code[order] = found.code
        return FeatureCoding(found.feature, code, found.bins)


def _grouped(adversary: AdversaryView) -> AnatomyRelease:
    assert adversary.grouped is not None, "only for Anatomy releases"
    return adversary.grouped


def _as_numbers(name: str, labels: Sequence[str | None], counts: IntArray) -> tuple[IntArray, Column | None]:
    """Return the order of published texts by number, and the column of numbers, None if they are texts.

    One of the texts may be no number, such as that of a missing value; it comes last.
    """
    numbers = np.array([_number(label) for label in labels], dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    unknown = int(np.isnan(numbers).sum())
    if unknown > 1 or unknown == len(labels):
        return order, None
    missing = len(labels) - 1 if unknown else None
    texts = tuple(labels[place] or "" for place in order.tolist())
    return order, Column(name, ValueType.NUMBER, texts, counts[order], numbers[order], missing)


def _number(label: str | None) -> float:
    """Return a number, a date as its ordinal, NaN for anything else."""
    try:
        found = float(label or "")
    except ValueError:
        found = ISO.number(label or "") or np.nan
    return found if np.isfinite(found) else np.nan


SURE = 0.8
"""Probability from which a guess counts as sure."""


@dataclass(frozen=True)
class Score:
    """The score of probabilities of sensitive values against the truth.

    Attributes
    ----------
    accuracy: ACC, share of records whose most likely value is the true one; a tie of n counts 1/n.
    absolute: ABS, mean over records of the sum over values of |probability - 1 for the true value, 0 for
        others|.
    squared: SSQ, the same with squared differences.
    sure: share of records with a value of probability ``SURE`` or more.
    sure_right: share of those records for which that value is the true one, None without any.
    """

    accuracy: Fraction
    absolute: float
    squared: float
    sure: float
    sure_right: float | None

    @classmethod
    def of(cls, groups: Groups, chances: FloatArray, true: IntArray) -> Score:
        """Return the score.

        Parameters
        ----------
        chances: probability of each entry, shape (entries,).
        true: records of each entry's kind with its value, shape (entries,), int64; at least one in sum.
        """
        total = int(true.sum())
        kind, starts = groups.kind, groups.first[:-1]
        squares = np.add.reduceat(chances**2, starts)[kind]
        sure = chances >= SURE
        known = int(np.add.reduceat(true, starts)[np.add.reduceat(sure, starts) > 0].sum())
        return cls(
            _right(groups, chances, true) / total,
            float((2 * (1 - chances)) @ true) / total,
            float((1 - 2 * chances + squares) @ true) / total,
            known / total,
            int(true[sure].sum()) / known if known else None,
        )


def expected_accuracy(groups: Groups, chances: FloatArray) -> float:
    """Return the expected accuracy if the probabilities are correct."""
    best = np.maximum.reduceat(chances, groups.first[:-1])
    return float(best @ groups.counts) / groups.people


def _likeliest(groups: Groups, chances: FloatArray) -> tuple[BoolArray, IntArray]:
    """Return which entries are most likely in their kind, shape (entries,), and their number in each kind."""
    starts = groups.first[:-1]
    best = chances == np.maximum.reduceat(chances, starts)[groups.kind]
    return best, np.add.reduceat(best.astype(np.int64), starts)


def _right(groups: Groups, chances: FloatArray, true: IntArray) -> Fraction:
    """Return the expected number of records whose most likely value is the true one."""
    best, ties = _likeliest(groups, chances)
    people = np.bincount(ties[groups.kind][best], weights=true[best]).astype(np.int64).tolist()
    return sum((Fraction(number, tied) for tied, number in enumerate(people) if number), Fraction(0))


VALUES = 1000
"""Maximum number of values of an inferred attribute."""

PAIRS = 1 << 22
"""Maximum number of pairs of a kind of record and a value of its group."""


SWEEPS, LEAST = 2000, 128
"""Default maximum number of sweeps of a chain, and the number that no table is too large for."""

WORK = 1 << 30
"""Pairs that all sweeps of all chains visit by default: half a minute of one processor."""


def affordable_sweeps(pairs: int) -> int:
    """Return the default maximum number of sweeps.

    Parameters
    ----------
    pairs: of records and values that one sweep of all chains visits.

    >>> affordable_sweeps(4 * 90_000), affordable_sweeps(4 * 400_000), affordable_sweeps(4 * (1 << 22))
    (2000, 671, 128)
    """
    return min(SWEEPS, max(WORK // max(pairs, 1), LEAST))


UNCONFIRMED = "as the model expects"
"""The aim in the result of an attack without known true values."""


class Features(StrEnum):
    """The features of records in their groups."""

    PUBLISHED = "published"
    EXACT = "exact"
    SIMILAR = "similar"


class DefinettiSettings(KnowledgeSettings, UnitSettings):
    """The adversary's knowledge, the prior and the effort of sampling."""

    features: Annotated[
        Features | None,
        Field(
            description="published: the released values; exact: the original values; similar: the original "
            "values, compared through the published ones; default: exact with original records, "
            "else published"
        ),
    ] = None
    bins: Annotated[WholeNumber, Field(ge=2, description="maximum number of bins for numeric attributes")] = (
        10
    )
    prior: Annotated[
        Exact, Field(gt=0, description="concentration of the Dirichlet prior of features; 1 is uniform")
    ] = Decimal(1)
    chains: Annotated[WholeNumber, Field(ge=2, le=100, description="independent starts")] = 4
    sweeps: Annotated[
        WholeNumber | None,
        Field(
            ge=16,
            description="maximum number of sweeps per chain; default: 2000, fewer where the release has many "
            "pairs of records and values of their class",
        ),
    ] = None
    tolerance: Annotated[
        Exact,
        Field(gt=1, description="largest R-hat (potential scale reduction factor) accepted as converged"),
    ] = Decimal("1.05")
    draws: Annotated[
        WholeNumber, Field(ge=1, description="effective sample size at which sampling stops")
    ] = 200


class Definetti(Attack):
    """Share of records whose sensitive value is guessed from correlations between groups.

    The release shows the features and the sensitive values of each group (class or bucket), but not which
    record has which value. Under random worlds all assignments are equally likely. But if smokers are more
    often in groups with lung cancer, then in a group of one smoker and one other the smoker is more likely to
    have it. For exchangeable people (de Finetti) the release implies this: features are drawn independently
    with unknown probabilities given each sensitive value, and the posterior of all assignments is sampled.

    The guess is the most probable value; a tie of n counts 1/n. The baseline is the same guess under random
    worlds: the most frequent value of each group. With generalized features all records of a class are equal,
    so success is the baseline.

    Where it is known whose the records are, targets are persons, or other units, of whom the value of a
    record is guessed; records of one person in one class with equal features share a guess. Where some have
    several records, the baseline is at least the share of those who have the most common value.

    The interval covers the share of so many targets (Clopper and Pearson) and the success of each chain.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861).
    """

    name = "definetti"
    threat = Threat.INFERENCE
    blind = "the success from the class alone"
    Settings = DefinettiSettings
    settings: DefinettiSettings
    examples = ({"sensitive": "illness"},)

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how often the value that the release suggests most is right."""
        expected = "is expected to guess" if knowledge.get("target") == UNCONFIRMED else "guesses"
        guesses = f"{expected} {knowledge['sensitive']} correctly in {success} of cases"
        who = f"{subject_of(knowledge)} and learns from all classes of the release"
        if "unit" in knowledge:
            guesses = f"guesses {knowledge['sensitive']} correctly"
            whom = f"for {success} of the {targets_of(knowledge)} (in at least one record)"
            blind = "guessing from each record's class alone, or the same value for everybody,"
            return f"{who} {guesses} {whom}; {blind} is right for at most {guess}."
        return f"{who} {guesses}; from the person's class alone in {guess}."

    @property
    def limits(self) -> Mapping[Option, Limit]:
        """Original values are compared by default."""
        if self.settings.features is not None:
            return NO_LIMITS
        return {
            Option.OUT_OF_CORE: Limit(
                "attacks[{place}]: {attack} of original values (accepted: features: published)"
            )
        }

    def missing_requirement(self, adversary: AdversaryView) -> str | None:
        """Return the missing sensitive attribute or originals, or the exceeded limit, if any."""
        if not self._learned(adversary):
            return f"a sensitive attribute with at most {VALUES} values"
        features = self.settings.features
        if features is Features.SIMILAR and adversary.grouped is not None:
            return "generalized values, which an Anatomy release does not have"
        if (
            features in (Features.EXACT, Features.SIMILAR)
            and adversary.grouped is None
            and not _linked(adversary)
        ):
            return f"original records that can be matched to released ones, because of features: {features}"
        known = adversary.release.known(self.settings.knowledge)
        pairs = max(
            self._knowing(adversary).pairs(adversary, known, name) for name in self._learned(adversary)
        )
        if pairs > PAIRS:
            return f"at most {PAIRS:,} pairs of records and values of their class (there are {pairs:,})"
        return adversary.lacks_unit(self.settings.unit)

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Return one result for each sensitive attribute."""
        self.require(adversary)
        return [self._attack(adversary, name, random) for name in self._learned(adversary)]

    def _learned(self, adversary: AdversaryView) -> list[str]:
        sensitive = adversary.disclosing.sensitive
        return [name for name, own in sensitive.items() if own.attribute.column.size <= VALUES]

    def _attack(self, adversary: AdversaryView, name: str, random: np.random.Generator) -> AttackResult:
        view = self.view(adversary, name)
        owned = adversary.owned_by(self.settings.unit)
        whose = None if owned is None else view.of_units(adversary, owned)
        return self._finding(view, self.chances(view, random), self.features(adversary), name, whose)

    def view(self, adversary: AdversaryView, name: str) -> View:
        """Return the records in their groups, with what the adversary knows of each."""
        known = adversary.release.known(self.settings.knowledge)
        return self._knowing(adversary).view(adversary, known, name)

    def chances(self, view: View, random: np.random.Generator) -> Posterior:
        """Return the posterior probabilities: exact for a small table, else sampled."""
        settings = self.settings
        sweeps = settings.sweeps or affordable_sweeps(int(view.groups.first[-1]) * settings.chains)
        effort = SamplerSettings(
            settings.chains, sweeps, float(settings.tolerance), settings.draws, precise=view.true is None
        )
        features, prior = [own.feature for own in view.codings], float(settings.prior)
        exact = every_world(view.groups, features, prior)
        if exact is not None:
            return exact
        model = NaiveBayes(view.groups, features, prior)
        return posterior(view.groups, model, effort, random.spawn(settings.chains))

    def features(self, adversary: AdversaryView) -> Features:
        """Return the features of records that the attack compares."""
        if adversary.grouped is not None:
            return Features.PUBLISHED
        default = Features.EXACT if _linked(adversary) else Features.PUBLISHED
        return self.settings.features or default

    def _knowing(self, adversary: AdversaryView) -> FeatureSource:
        if adversary.grouped is not None:
            return AnatomyFeatures(self.settings.bins)
        kinds: dict[Features, type[FeatureSource]] = {
            Features.PUBLISHED: Published,
            Features.EXACT: OriginalFeatures,
            Features.SIMILAR: SimilarFeatures,
        }
        return kinds[self.features(adversary)](self.settings.bins)

    def _finding(
        self, view: View, found: Posterior, features: Features, name: str, whose: GuessedUnits | None
    ) -> AttackResult:
        judged = (
            _believed(view.groups, found) if view.true is None else _judged(view, view.true, found, whose)
        )
        details: dict[str, Any] = {
            "features": features.value,
            **judged.details,
            "chains": _chains(found.convergence, judged.by_chain),
            "bins": {own: each.bins for own, each in zip(view.names, view.codings, strict=True) if each.bins},
        }
        # The aim marks a success that is only expected, not counted.
        aim = {"target": UNCONFIRMED} if view.true is None else {}
        whom = {} if whose is None else {"unit": whose.owned.unit}
        knowledge = {"attributes": list(view.names), **aim, "sensitive": name, **whom}
        ends = [judged.low, judged.high, *(judged.by_chain if view.true is not None else ())]
        success, baseline = judged.success, judged.baseline
        return AttackResult(
            self.name, knowledge, success, baseline, min(ends), max(ends), judged.targets, details
        )


@dataclass(frozen=True)
class _Judged:
    """The fields of a result that are judged.

    Attributes
    ----------
    by_chain: success of each chain alone.
    """

    success: Share
    baseline: Share
    low: float
    high: float
    targets: int
    by_chain: list[float]
    details: dict[str, Any]


def _judged(view: View, true: IntArray, found: Posterior, whose: GuessedUnits | None) -> _Judged:
    """Judge by the true values, of records or of units."""
    groups, targets = view.groups, int(true.sum()) if whose is None else whose.number

    def success(chances: FloatArray) -> Share:
        return Score.of(groups, chances, true).accuracy if whose is None else whose.success(chances)

    score, blind = (Score.of(groups, chances, true) for chances in (found.chances, groups.shares))
    accuracy = success(found.chances)
    baseline = success(groups.shares) if whose is None else whose.baseline
    low, high = clopper_pearson(float(accuracy) * targets, targets)
    if found.convergence is None:
        low = high = float(accuracy)
    each = [float(success(own)) for own in found.by_chain]
    # The model expects how many records are guessed, not of how many persons one is.
    expected = {"expected": Expected.of(groups, found.by_chain).success} if whose is None else {}
    details: dict[str, Any] = {
        "judged_by": "the true values",
        **expected,
        "abs": 1000 * score.absolute,
        "ssq": 1000 * score.squared,
        "random_worlds": {"abs": 1000 * blind.absolute, "ssq": 1000 * blind.squared},
        "sure": {"records": score.sure, "right": score.sure_right},
    }
    return _Judged(accuracy, baseline, low, high, targets, each, details)


def _believed(groups: Groups, found: Posterior) -> _Judged:
    """Judge by the model's own probabilities, as the true values are unknown."""
    expected = Expected.of(groups, found.by_chain)
    details = {"judged_by": "the model's own chances, which nothing confirms", "expected": expected.success}
    baseline = expected_accuracy(groups, groups.shares)
    low, high = expected.low, expected.high
    if found.convergence is None:
        low = high = expected.success
    return _Judged(expected.success, baseline, low, high, groups.people, expected.by_chain, details)


def _linked(adversary: AdversaryView) -> bool:
    return adversary.original is not None and adversary.original.truth is not Truth.UNKNOWN


def _chains(found: Convergence | None, accuracy: Sequence[float]) -> dict[str, Any] | None:
    """Return the convergence of the chains for the report, None if nothing was drawn."""
    if found is None:
        return None
    return {
        "number": len(accuracy),
        "settled": found.converged,
        "sweeps": found.sweeps,
        "kept": found.kept,
        "r_hat": {"likelihood": found.likelihood, "chances": found.typical},
        "effective_draws": found.draws,
        "difference": found.difference,
        "success": list(accuracy),
    }
