"""People in groups, as lists, and what the sampler believes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.definetti import (
    Feature,
    Groups,
    NaiveBayes,
    Posterior,
    SamplerSettings,
    groups_of,
    posterior,
)
from anonymizer.model.arrays import FloatArray, IntArray

People = Sequence[Sequence[Sequence[str]]]
"""Features of the people of each group."""

Secrets = Sequence[Sequence[str]]
"""Values of each group."""

THOROUGH = SamplerSettings(8, 512, 1.0000001, 10**9)
"""All sweeps, whether the chains agree before or not."""


@dataclass(frozen=True)
class Dealt:
    """People with the codes that they were given.

    Attributes
    ----------
    kinds: kind of each person of each group.
    secrets: the values, in the order of their codes.
    sizes: distinct values of each feature.
    """

    groups: Groups
    kinds: list[list[int]]
    secrets: list[str]
    sizes: list[int]

    def entry(self, group: int, person: int, secret: str) -> int:
        """Return the entry of a person with a value."""
        pair = np.array([self.kinds[group][person]]), np.array([self.secrets.index(secret)])
        return int(self.groups.entries_of(*pair)[0])

    def sampled(
        self,
        effort: SamplerSettings = THOROUGH,
        seed: int = 0,
        features: Sequence[Feature] | None = None,
        prior: float = 1.0,
    ) -> Posterior:
        """Return what the sampler believes."""
        own = features or [Feature(size) for size in self.sizes]
        model = NaiveBayes(self.groups, own, prior)
        return posterior(self.groups, model, effort, np.random.default_rng(seed).spawn(effort.chains))


def dealt(people: People, secrets: Secrets) -> Dealt:
    """Return people in groups; a feature "?" is not known."""
    everyone = [person for own in people for person in own]
    names = sorted({secret for own in secrets for secret in own})
    columns: list[IntArray] = []
    sizes = []
    for cells in zip(*everyone, strict=True):
        known = sorted(set(cells) - {"?"})
        sizes.append(len(known))
        columns.append(np.array([known.index(cell) if cell != "?" else -1 for cell in cells]))
    group = np.repeat(np.arange(len(people)), [len(own) for own in people])
    pairs = Counter((at, names.index(secret)) for at, own in enumerate(secrets) for secret in own)
    values = tuple(
        np.array(column) for column in zip(*[(*pair, n) for pair, n in pairs.items()], strict=True)
    )
    ones = np.ones(len(everyone), dtype=np.int64)
    groups, kinds = groups_of(
        np.column_stack(columns), group, ones, (values[0], values[1], values[2]), len(names)
    )
    of_person = iter(kinds.tolist())
    return Dealt(groups, [[next(of_person) for _ in own] for own in people], names, sizes)


def spread(found: Posterior) -> FloatArray:
    """Return the standard error of each chance, from the differences between chains."""
    chains = len(found.by_chain)
    error: FloatArray = found.by_chain.std(axis=0, ddof=1) / np.sqrt(chains)
    return error
