"""The posterior chance of each sensitive value, from several chains that run until they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.exchangeable.chain import Chain, LatentAssignment
from anonymizer.attacks.exchangeable.groups import Groups
from anonymizer.attacks.exchangeable.model import NaiveBayes
from anonymizer.attacks.exchangeable.settling import effective_draws, scale_reduction, split_scale_reduction
from anonymizer.model.arrays import FloatArray

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
