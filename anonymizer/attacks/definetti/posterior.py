"""Posterior probability of each sensitive value, by Markov chains that run until they converge.

In the generative model features depend on the sensitive value, but not on each other given it. The
sensitive values of each class or bucket are known; a chain samples their assignment to the records.
Convergence is judged by potential scale reduction and effective sample size.

Source: Vehtari, Gelman, Simpson, Carpenter, Bürkner, "Rank-normalization, folding, and localization: An
improved R-hat for assessing convergence of MCMC" (Bayesian Analysis 16(2), 2021, doi:10.1214/20-BA1221),
sections 2 and 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import count, numbered

UNKNOWN = -1
"""Feature of a person of whom nothing is known but the group."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The kinds of people in each group, and the sensitive values that belong to them.

    A kind is the people of one group with the same features. An entry is a kind together with one of the
    values of its group; the entries of a kind are neighbours, in the order of the values.

    Attributes
    ----------
    codes: features of each kind, shape (kinds, attributes), int64; -1 where a feature is not known.
    group: of each kind, shape (kinds,), int64, ascending; each group has a kind.
    counts: people of each kind, shape (kinds,), int64, positive.
    starts: values of group i are ``values[starts[i]:starts[i + 1]]``, shape (groups + 1,), int64.
    values, value_counts: sensitive values and how often the group has each, shape (all values,), int64; they
        add up to the people of the group.
    size: number of sensitive values there are.
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
        """Number of people in all groups."""
        return int(self.counts.sum())

    @property
    def number(self) -> int:
        """Number of groups."""
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> IntArray:
        """People of each group, shape (groups,), int64."""
        return count(self.group, self.counts, self.number)

    @cached_property
    def first(self) -> IntArray:
        """First entry of each kind, and behind the last one their number, shape (kinds + 1,), int64."""
        return np.concatenate([[0], np.cumsum(np.diff(self.starts)[self.group])]).astype(np.int64)

    @cached_property
    def kind(self) -> IntArray:
        """Kind of each entry, shape (entries,), int64."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.first))

    @cached_property
    def _place(self) -> IntArray:
        """Position in ``values`` of each entry's value, shape (entries,), int64."""
        within = np.arange(self.first[-1]) - self.first[self.kind]
        place: IntArray = self.starts[self.group[self.kind]] + within
        return place

    @cached_property
    def entry_values(self) -> IntArray:
        """Sensitive value of each entry, shape (entries,), int64."""
        return self.values[self._place]

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each entry's value in its group, shape (entries,): its chance under random worlds."""
        chances: FloatArray = self.value_counts[self._place] / self.sizes[self.group[self.kind]]
        return chances

    @cached_property
    def open(self) -> BoolArray:
        """Which groups leave something to learn, shape (groups,): several kinds and several values."""
        kinds = np.bincount(self.group, minlength=self.number)
        several: BoolArray = (kinds > 1) & (np.diff(self.starts) > 1)
        return several

    def entries_of(self, kinds: IntArray, values: IntArray) -> IntArray:
        """Return the entry of each pair of a kind and a value, shape (pairs,), int64; -1 for none."""
        keys = self.kind * self.size + self.entry_values
        wanted = kinds * self.size + values
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        found: IntArray = np.where(keys[place] == wanted, place, -1)
        return found


def groups_of(
    codes: IntArray, group: IntArray, counts: IntArray, values: tuple[IntArray, IntArray, IntArray], size: int
) -> tuple[Groups, IntArray]:
    """Return people in groups; those whom a group has more values than known people for are of an unknown
    kind.

    Parameters
    ----------
    codes: features, shape (items, attributes), int64, at least -1.
    group: of each item, shape (items,), int64.
    counts: people of each item, shape (items,), int64.
    values: group, value and count of each sensitive value of a group, shape (entries,), int64 each; distinct
        pairs.
    size: number of sensitive values there are.

    Returns
    -------
    The groups, and the kind that each item became, shape (items,), int64.
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


ROUNDS = 2
"""Times that people are paired in a sweep, in groups of three and more."""


@dataclass(frozen=True, eq=False)
class LatentAssignment:
    """The people of the groups that leave something to learn, one by one, neighbours in their group.

    Attributes
    ----------
    base: first entry of each person's kind, shape (people,), int64.
    group: of each person, numbered without gaps, shape (people,), int64.
    start: first person of each person's group, shape (people,), int64.
    number: people in each group, shape (groups,), int64.
    rank: the values of each group, each as often as it has it, as position among its distinct ones, shape
        (people,), int64.
    """

    base: IntArray
    group: IntArray
    start: IntArray
    number: IntArray
    rank: IntArray

    @classmethod
    def of(cls, groups: Groups) -> LatentAssignment:
        """Return the people of the open groups."""
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

    def dealt(self, random: np.random.Generator) -> IntArray:
        """Deal the values of each group out at random; return the entry of each person, shape (people,)."""
        order = np.lexsort((random.random(len(self.rank)), self.group))
        entries: IntArray = self.base + self.rank[order]
        return entries


class Chain:
    """Draws parameters given who has which value, then who has which value given parameters; and again.

    Given the parameters the groups are independent, so all are updated at once, and no count that they
    depend on is ever out of date. In each group people are paired: the i-th with the (r - i)-th around a
    circle, r drawn at random, which pairs every two people for one r. Two people swap their values with the
    chance that these are the other way round (heat bath). So each update leaves the posterior distribution
    of all as it is.

    Parameters
    ----------
    random: of this chain alone.
    """

    def __init__(
        self, groups: Groups, seats: LatentAssignment, model: NaiveBayes, random: np.random.Generator
    ) -> None:
        self._seats, self._model, self._random = seats, model, random
        self._entries = int(groups.first[-1])
        self._entry = seats.dealt(random)
        self._parameters = model.start()
        self._position = np.arange(len(seats.base))
        self._within = self._position - seats.start
        self._rounds = ROUNDS if int(seats.number.max(initial=0)) > 2 else 1

    def sweep(self) -> tuple[FloatArray, float]:
        """Update everything once.

        Returns
        -------
        Expected people of each entry in the last update, shape (entries,), 0 in groups that leave nothing to
        learn; and the logarithm of the chance of all features.
        """
        people = np.bincount(self._model.cell[self._entry], minlength=self._model.cells)
        self._parameters = self._model.drawn(people, self._parameters, self._random)
        scores = self._model.scores(self._parameters)
        by_entry = scores[self._model.cell]
        for _ in range(self._rounds - 1):
            self._swap(by_entry)
        return self._swap(by_entry), float(by_entry[self._entry].sum())

    def _swap(self, scores: FloatArray) -> FloatArray:
        """Pair people and swap by chance; return the expected people of each entry, shape (entries,)."""
        one, other = self._pairs()
        base, entry = self._seats.base, self._entry
        to_one = base[one] + entry[other] - base[other]
        to_other = base[other] + entry[one] - base[one]
        gain = scores[to_one] + scores[to_other] - scores[entry[one]] - scores[entry[other]]
        chance = (1 + np.tanh(gain / 2)) / 2
        stay = np.ones(len(entry))
        stay[one] -= chance
        stay[other] -= chance
        expected = np.bincount(
            np.concatenate([entry, to_one, to_other]),
            weights=np.concatenate([stay, chance, chance]),
            minlength=self._entries,
        )
        swapped = self._random.random(len(one)) < chance
        entry[one[swapped]] = to_one[swapped]
        entry[other[swapped]] = to_other[swapped]
        return expected.astype(np.float64, copy=False)

    def _pairs(self) -> tuple[IntArray, IntArray]:
        """Return the two people of each pair, shape (pairs,), int64 each; some people are in none."""
        number = self._seats.number
        sums = (self._random.random(len(number)) * number).astype(np.int64)
        # In groups of two the one sum pairs them, and the other would leave both alone.
        sums[number == 2] = 1
        partner = sums[self._seats.group] - self._within
        partner += np.where(partner < 0, number[self._seats.group], 0)
        one = np.flatnonzero(partner > self._within)
        return one, self._seats.start[one] + partner[one]


def scale_reduction(means: FloatArray, variances: FloatArray, draws: int) -> FloatArray:
    """Return R-hat of some quantities from parts of chains, 1 where nothing varies, shape (quantities,).

    Parameters
    ----------
    means, variances: of each quantity over the draws of each part, by draws - 1, shape (parts, quantities).
    draws: in each part, at least 2.
    """
    within = variances.mean(axis=0)
    between = means.var(axis=0, ddof=1)
    total = (draws - 1) / draws * within + between
    # What differs between chains and never within one is as far from settled as can be.
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
    """Return how many independent draws tell as much about the mean, by Geyer's initial monotone sequence.

    Parameters
    ----------
    traces: shape (chains, draws); at least 4 draws.
    """
    chains, draws = traces.shape
    centred = traces - traces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * draws, axis=1)
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
    # Chains that are negatively correlated may tell more, but not without limit.
    length = max(2 * float(pairs.sum()) - 1, 1 / np.log10(chains * draws))
    return float(chains * draws / length)


FIRST = 64
"""Sweeps of the first stretch; each further one is as long as all before it together."""

TYPICAL = 0.95
"""Share of the chances whose R-hat must be below the tolerance."""


@dataclass(frozen=True)
class SamplerSettings:
    """How much is done.

    Attributes
    ----------
    chains: at least 2, each from a start of its own.
    sweeps: most sweeps of a chain, at least 8.
    tolerance: R-hat that counts as settled, above 1.
    draws: effective draws that are enough.
    """

    chains: int
    sweeps: int
    tolerance: float
    draws: int


@dataclass(frozen=True, eq=False)
class Convergence:
    """How far the chains agreed.

    Attributes
    ----------
    settled: whether they did as far as was asked.
    sweeps: of each chain in all.
    kept: of each chain, those at the end that count.
    likelihood: R-hat of the logarithm of the chance of all features.
    typical: the R-hat that 95 % of the chances of people's values stay below.
    draws: effective draws of that logarithm.
    difference: mean over the entries of the standard deviation of the chances between chains.
    """

    settled: bool
    sweeps: int
    kept: int
    likelihood: float
    typical: float
    draws: float
    difference: float


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed after the release was seen.

    Attributes
    ----------
    chances: of each entry's value for a person of its kind, shape (entries,); within a kind they add up to 1.
    by_chain: the same from each chain by itself, shape (chains, entries).
    settling: how far the chains agreed; None where there was nothing to draw.
    """

    chances: FloatArray
    by_chain: FloatArray
    settling: Convergence | None


class _Stretch:
    """What the chains drew in some sweeps.

    Attributes
    ----------
    traces: logarithms of the chance of all features, shape (chains, sweeps).
    """

    def __init__(self, chains: int, sweeps: int, entries: int) -> None:
        self.traces = np.zeros((chains, sweeps))
        self._half = sweeps // 2
        self._sums = np.zeros((chains, 2, entries))
        self._squares = np.zeros((chains, 2, entries))

    def run(self, position: int, chain: Chain, people: FloatArray) -> None:
        """Let a chain run; ``people`` are those of each entry's kind, shape (entries,)."""
        sweeps = self.traces.shape[1]
        for sweep in range(sweeps):
            expected, self.traces[position, sweep] = chain.sweep()
            expected /= people
            half = int(sweep >= sweeps - self._half)
            self._sums[position, half] += expected
            expected *= expected
            self._squares[position, half] += expected

    @property
    def means(self) -> FloatArray:
        """Mean of each entry in each chain, shape (chains, entries)."""
        mean: FloatArray = self._sums.sum(axis=1) / self.traces.shape[1]
        return mean

    def settling(self, effort: SamplerSettings, before: int) -> Convergence:
        """Return how far the chains agree, after some sweeps before these."""
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


def posterior(
    groups: Groups, model: NaiveBayes, effort: SamplerSettings, randoms: Sequence[np.random.Generator]
) -> Posterior:
    """Return the chances of everybody's values.

    The chains run in stretches, each as long as all before it, and only the last one counts: half of the
    sweeps at least are left out as too close to the start, unless the first stretch is enough. After each
    stretch it is asked whether the chains agree.

    Parameters
    ----------
    randoms: one for each chain.
    """
    seats = LatentAssignment.of(groups)
    if not len(seats.base):
        return Posterior(groups.shares, np.tile(groups.shares, (effort.chains, 1)), None)
    chains = [Chain(groups, seats, model, random) for random in randoms]
    people = groups.counts[groups.kind].astype(np.float64)
    done, length = 0, min(FIRST, effort.sweeps // 2)
    while True:
        stretch = _Stretch(len(chains), length, int(groups.first[-1]))
        for position, chain in enumerate(chains):
            stretch.run(position, chain, people)
        settling = stretch.settling(effort, done)
        done += length
        if settling.settled or 2 * done > effort.sweeps:
            break
        length = done
    sure = ~groups.open[groups.group[groups.kind]]
    by_chain = np.where(sure, groups.shares, stretch.means)
    return Posterior(by_chain.mean(axis=0), by_chain, settling)
