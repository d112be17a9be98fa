"""The posterior probabilities of values, from Markov chains that run until they converge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.attacks.definetti.chains import RECORDS, Chains, LatentAssignment, SideBySide
from anonymizer.attacks.definetti.convergence import effective_draws, scale_reduction, split_scale_reduction
from anonymizer.attacks.definetti.groups import Groups
from anonymizer.attacks.definetti.kernel import Compiled, pays
from anonymizer.attacks.definetti.model import NaiveBayes
from anonymizer.attacks.definetti.scores import PRECISION, Expected
from anonymizer.attacks.pace import step
from anonymizer.model.arrays import FloatArray

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

    def run(self, first: int, block: Chains, effort: SamplerSettings, done: int) -> None:
        """Run some of the chains.

        Parameters
        ----------
        first: position of the first of them.
        done: sweeps of the stretches before.
        """
        chains, sweeps = self.traces.shape
        own = slice(first, first + block.number)
        for half, (begin, end) in enumerate([(0, sweeps - self._half), (sweeps - self._half, sweeps)]):

            def before(sweep: int, begin: int = begin) -> None:
                past = done * chains + first * sweeps + (begin + sweep) * block.number
                step(effort, past, effort.sweeps * chains, at_most=True)

            found = block.run(end - begin, before)
            self._sums[own, half], self._squares[own, half] = found.sums, found.squares
            self.traces[own, begin:end] = found.traces

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
    the last stretch counts: at least half of the sweeps are discarded as burn-in, unless the first stretch
    converges.

    Parameters
    ----------
    randoms: one for each chain.
    """
    assignment = LatentAssignment.of(groups)
    if not len(assignment.base):
        return Posterior(groups.shares, np.tile(groups.shares, (effort.chains, 1)), None)
    kind: type[Chains]
    if pays(groups, assignment, len(randoms), effort.sweeps):
        together = len(randoms)
        kind = Compiled
    else:
        together = max(1, RECORDS // len(assignment.base))
        kind = SideBySide
    blocks: list[Chains] = [
        kind(groups, assignment, model, randoms[first : first + together])
        for first in range(0, len(randoms), together)
    ]
    done, length = 0, min(FIRST, effort.sweeps // 2)
    while True:
        stretch = _Stretch(len(randoms), length, int(groups.first[-1]))
        for position, block in enumerate(blocks):
            stretch.run(position * together, block, effort, done)
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
