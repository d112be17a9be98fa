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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.attacks.pace import step
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.counting import count, numbered

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
        place: IntArray = self.starts[self.group[self.kind]] + within
        return place

    @cached_property
    def entry_values(self) -> IntArray:
        """Sensitive value of each entry, shape (entries,), int64."""
        return self.values[self._place]

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each entry's value in its group, shape (entries,): its probability under random worlds."""
        chances: FloatArray = self.value_counts[self._place] / self.sizes[self.group[self.kind]]
        return chances

    @cached_property
    def open(self) -> BoolArray:
        """Which groups have several kinds and several values, shape (groups,), bool."""
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


class Feature(ABC):
    """One attribute of the generative model.

    A record has a label, drawn with probabilities that depend on its sensitive value, and a value of that
    label.

    Attributes
    ----------
    values: number of values.
    labels: number of labels.
    """

    values: int
    labels: int

    @abstractmethod
    def labeled(self, counts: IntArray, chances: FloatArray, random: np.random.Generator) -> IntArray:
        """Draw labels; return the number of records with each, shape as ``chances``, int64.

        Parameters
        ----------
        counts: records with each value and sensitive value, shape (values, sensitive values), int64.
        chances: of each label given each sensitive value, shape (labels, sensitive values).
        """

    @abstractmethod
    def shown(self, chances: FloatArray) -> FloatArray:
        """Return the probabilities of values given those of labels, shape (values, sensitive values)."""


class ExactFeature(Feature):
    """The value is the label."""

    def __init__(self, values: int) -> None:
        self.values = self.labels = values

    def labeled(self, counts: IntArray, chances: FloatArray, random: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Return the counts of values unchanged."""
        return counts

    def shown(self, chances: FloatArray) -> FloatArray:
        """Return the probabilities unchanged."""
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

    def labeled(self, counts: IntArray, chances: FloatArray, random: np.random.Generator) -> IntArray:
        """Divide the records with each value among the labels, by probability and similarity."""
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
    """Draw the posterior probabilities of labels, shape as ``counts``; columns sum to 1, none is 0.

    Parameters
    ----------
    counts: records with each label and sensitive value, shape (labels, sensitive values), int64.
    prior: of the symmetric Dirichlet distribution, positive; 1 is uniform.
    """
    drawn = np.maximum(random.standard_gamma(counts + prior), _TINY)
    chances: FloatArray = np.maximum(drawn / drawn.sum(axis=0), _TINY)
    return chances


Parameters = tuple[FloatArray, ...]
"""Probabilities of the labels of each feature, shape (labels, sensitive values) each."""


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
            self._table(codes[~unsure, position] * self._secrets + values[~unsure], feature, sure)
            for position, feature in enumerate(features)
        ]

    def _table(self, place: IntArray, feature: Feature, records: FloatArray | None = None) -> IntArray:
        """Return the records with each value and sensitive value, shape (values, sensitive values), int64.

        Parameters
        ----------
        place: cells of such a table, flat, int64.
        records: in each of these cells, one by default.
        """
        rows = feature.values + 1
        table = np.bincount(place, weights=records, minlength=rows * self._secrets)
        return table.astype(np.int64, copy=False).reshape(rows, self._secrets)[:-1]

    def start(self) -> Parameters:
        """Return uniform probabilities."""
        return tuple(
            np.full((feature.labels, self._secrets), 1 / feature.labels) for feature in self._features
        )

    def rows(self, entries: IntArray) -> list[IntArray]:
        """Return the row of each feature in a flat table of features and sensitive values, by record.

        Parameters
        ----------
        entries: any entry of each record's kind, shape (records,), int64.
        """
        codes = self._groups.codes[self._groups.kind[entries]]
        codes = np.where(codes < 0, [feature.values for feature in self._features], codes)
        return [column * self._secrets for column in codes.T]

    def drawn(
        self,
        rows: Sequence[IntArray],
        entries: IntArray,
        before: Parameters,
        random: np.random.Generator,
    ) -> Parameters:
        """Draw the probabilities of labels given the sensitive value of each record.

        Parameters
        ----------
        rows: of the records whose value is not certain, as ``rows()`` returns them.
        entries: entry of each of these records, shape (records,), int64.
        before: the previous draw, from which latent labels are drawn.
        """
        values = self._groups.entry_values[entries]
        parameters = []
        for feature, row, known, chances in zip(self._features, rows, self._known, before, strict=True):
            counts = known + self._table(row + values, feature)
            labels = feature.labeled(counts, chances, random)
            parameters.append(dirichlet(labels, self._prior, random))
        return tuple(parameters)

    def scores(self, parameters: Parameters) -> FloatArray:
        """Return the log-probability of the features of each cell given its value, shape (cells,)."""
        scores = np.zeros(1)
        for feature, prefix, chances in zip(self._features, self._prefixes, parameters, strict=True):
            known = np.log(feature.shown(chances)).ravel()
            scores = prefix.extended(scores, np.concatenate([known, np.zeros(self._secrets)]))
        return scores if self._prefixes else np.zeros(self.cells)


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

    @cached_property
    def _room(self) -> tuple[FloatArray, FloatArray]:
        """Space for the scores, and for those of the last feature."""
        return np.empty(len(self.place)), np.empty(len(self.place))

    def extended(self, scores: FloatArray, known: FloatArray) -> FloatArray:
        """Return the scores of the prefixes; the next call overwrites them.

        Parameters
        ----------
        scores: of the prefixes before.
        known: of the last feature, flat.
        """
        sums, last = self._room
        # Positions are within bounds; the mode only spares numpy a copy.
        np.take(scores, self.before, out=sums, mode="clip")
        np.take(known, self.place, out=last, mode="clip")
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
        entries: IntArray = self.base + self.rank[order]
        return entries


@dataclass(frozen=True, eq=False)
class _Swaps:
    """Pairs of records that may swap their values.

    Attributes
    ----------
    one, other: the two records of each pair, shape (pairs,), int64.
    to_one, to_other: their entries after the swap, shape (pairs,), int64.
    chance: posterior probability of the swap, shape (pairs,).
    """

    one: IntArray
    other: IntArray
    to_one: IntArray
    to_other: IntArray
    chance: FloatArray


class Chain:
    """A Gibbs sampler that alternates between the parameters and the assignment of values to records.

    Given the parameters the groups are independent, so all are updated at once. In each group the i-th record
    is paired with the (r - i)-th, modulo the size, for a random r; every two records are paired for one r.
    Two records swap their values with the posterior probability of the swapped assignment (heat bath), which
    leaves the posterior distribution invariant.

    Parameters
    ----------
    random: of this chain alone.
    """

    def __init__(
        self, groups: Groups, assignment: LatentAssignment, model: NaiveBayes, random: np.random.Generator
    ) -> None:
        self._assignment, self._model, self._random = assignment, model, random
        self._entries = int(groups.first[-1])
        self._entry = assignment.draw_random(random)
        self._rows = model.rows(assignment.base)
        self._parameters = model.start()
        self._position = np.arange(len(assignment.base))
        self._within = self._position - assignment.start
        self._rounds = ROUNDS if int(assignment.number.max(initial=0)) > 2 else 1

    def sweep(self) -> tuple[FloatArray, float]:
        """Update everything once.

        Returns
        -------
        Expected records of each entry in the last update, shape (entries,), 0 in groups that are not open;
        and the log-probability of all features.
        """
        self._parameters = self._model.drawn(self._rows, self._entry, self._parameters, self._random)
        scores = self._model.scores(self._parameters)
        for _ in range(self._rounds - 1):
            self._swap(self._proposed(scores))
        last = self._proposed(scores)
        expected = self._expected(last)
        self._swap(last)
        return expected, float(scores[self._model.cell[self._entry]].sum())

    def _proposed(self, scores: FloatArray) -> _Swaps:
        """Return a random pairing with the probability of each swap.

        Parameters
        ----------
        scores: of the cells.
        """
        one, other = self._pairs()
        base, entry, cell = self._assignment.base, self._entry, self._model.cell
        to_one = base[one] + entry[other] - base[other]
        to_other = base[other] + entry[one] - base[one]
        gain = scores[cell[to_one]] + scores[cell[to_other]]
        gain = gain - scores[cell[entry[one]]] - scores[cell[entry[other]]]
        return _Swaps(one, other, to_one, to_other, (1 + np.tanh(gain / 2)) / 2)

    def _expected(self, swaps: _Swaps) -> FloatArray:
        """Return the expected records of each entry after the swaps, shape (entries,)."""
        stay = np.ones(len(self._entry))
        stay[swaps.one] -= swaps.chance
        stay[swaps.other] -= swaps.chance
        expected = np.bincount(
            np.concatenate([self._entry, swaps.to_one, swaps.to_other]),
            weights=np.concatenate([stay, swaps.chance, swaps.chance]),
            minlength=self._entries,
        )
        return expected.astype(np.float64, copy=False)

    def _swap(self, swaps: _Swaps) -> None:
        """Swap the values of pairs at random."""
        swapped = self._random.random(len(swaps.one)) < swaps.chance
        self._entry[swaps.one[swapped]] = swaps.to_one[swapped]
        self._entry[swaps.other[swapped]] = swaps.to_other[swapped]

    def _pairs(self) -> tuple[IntArray, IntArray]:
        """Return the two records of each pair, shape (pairs,), int64 each; some records are in none."""
        number = self._assignment.number
        sums = (self._random.random(len(number)) * number).astype(np.int64)
        # In groups of two, only the sum 1 pairs the records.
        sums[number == 2] = 1
        partner = sums[self._assignment.group] - self._within
        partner += np.where(partner < 0, number[self._assignment.group], 0)
        one = np.flatnonzero(partner > self._within)
        return one, self._assignment.start[one] + partner[one]


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
    """

    chains: int
    sweeps: int
    tolerance: float
    draws: int


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

    def run(
        self, position: int, chain: Chain, people: FloatArray, effort: SamplerSettings, done: int
    ) -> None:
        """Run a chain.

        Parameters
        ----------
        people: records of each entry's kind, shape (entries,).
        done: sweeps of the stretches before.
        """
        chains, sweeps = self.traces.shape
        for sweep in range(sweeps):
            step(effort, done * chains + position * sweeps + sweep, effort.sweeps * chains, at_most=True)
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
    chains = [Chain(groups, assignment, model, random) for random in randoms]
    people = groups.counts[groups.kind].astype(np.float64)
    done, length = 0, min(FIRST, effort.sweeps // 2)
    while True:
        stretch = _Stretch(len(chains), length, int(groups.first[-1]))
        for position, chain in enumerate(chains):
            stretch.run(position, chain, people, effort, done)
        convergence = stretch.convergence(effort, done)
        done += length
        if convergence.converged or 2 * done > effort.sweeps:
            break
        length = done
    sure = ~groups.open[groups.group[groups.kind]]
    by_chain = np.where(sure, groups.shares, stretch.means)
    return Posterior(by_chain.mean(axis=0), by_chain, convergence)
