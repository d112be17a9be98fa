"""Record linkage by every attacker at hand: the strongest one counts.

Each distance links by the nearest record and by assignment, on both scales of numbers where they differ. All
attackers link the same targets and hold the same records, so the portfolio reaches at least what each does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace

import numpy as np

from anonymizer.attacks.base import AttackResult
from anonymizer.attacks.linkage.assignment import AssignmentLinking, assigned
from anonymizer.attacks.linkage.directions import directed
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Coverage,
    Distancing,
    Euclidean,
    LargestRank,
    Linked,
    Linking,
    Mahalanobis,
    RankDistance,
    SwapPartners,
)
from anonymizer.attacks.linkage.families import WeightedMean
from anonymizer.attacks.linkage.learned import LearnedLinking
from anonymizer.attacks.linkage.linkers import NearestLinking, ProbabilisticLinking
from anonymizer.attacks.linkage.local_search import Fast
from anonymizer.errors import listed

EFFORT = 4
"""Budgets that an attacker that learns may spend: all attackers have its targets."""


class PortfolioLinking(Linking):
    """Links by each of several attackers.

    Those that learn are told the true links, as ``LearnedLinking`` is.

    Parameters
    ----------
    likelihood: the distance by the likelihood of the adversary's errors.
    probabilistic: the attacker by agreement.
    at_most: of a constraint: no further attackers are tried once one links more than this share.
    """

    name = "portfolio"
    # As of the attackers that learn or assign.
    draws = 2

    def __init__(
        self, likelihood: Distancing, probabilistic: ProbabilisticLinking, at_most: float | None = None
    ) -> None:
        self._likelihood, self._probabilistic, self._at_most = likelihood, probabilistic, at_most

    def most(self, space: ComparisonSpace, budget: int) -> int:
        """Return how many targets each of the attackers can link."""
        learner = self._learner(Euclidean).most(space, EFFORT * budget)
        return min([learner, *(each.most(space, budget) for each in self._unlearned(space).values())])

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Return the links of the attacker with the most correct ones."""
        found = self.each(space, random).values()
        return max(found, key=lambda linked: float(linked.right @ space.truth.counts))

    def each(self, space: ComparisonSpace, random: np.random.Generator) -> dict[str, Linked]:
        """Return the links of each attacker by name; each draws what it would draw alone."""
        found: dict[str, Linked] = {}
        for name, linked in self._all(space, random):
            found[name] = linked
            most = float(linked.outcomes[-1] @ space.truth.counts)
            if self._at_most is not None and most > self._at_most * space.truth.records:
                break
        return found

    def _all(self, space: ComparisonSpace, random: np.random.Generator) -> Iterator[tuple[str, Linked]]:
        both = scales(space)
        for scale, scaled in both.items():
            for name, linking in self._unlearned(scaled).items():
                yield name + scale, linking.link(scaled, deepcopy(random))
        learning = {"learned" + scale: (scaled, Euclidean) for scale, scaled in both.items()}
        for name, (scaled, distance) in {**learning, "learned likelihood": (space, self._likelihood)}.items():
            nearest, weighted = self._learner(distance).learned(scaled, deepcopy(random))
            yield name, nearest
            if weighted is not None:
                yield f"{name}, assignment", assigned(weighted, deepcopy(random))

    def _unlearned(self, space: ComparisonSpace) -> dict[str, Linking]:
        """Return the attackers that see no truth, by name, the simplest first."""
        distances: dict[str, Distancing] = {
            each.name: each for each in (Coverage, Euclidean, Mahalanobis, RankDistance, LargestRank)
        }
        distances["likelihood"] = self._likelihood
        if SwapPartners.fits(space):
            distances[SwapPartners.name] = SwapPartners
        nearest = {name: NearestLinking(distance) for name, distance in distances.items()}
        together = {f"{name}, assignment": AssignmentLinking(own) for name, own in distances.items()}
        return {**nearest, self._probabilistic.name: self._probabilistic, **together}

    def _learner(self, distance: Distancing) -> LearnedLinking:
        # The share of a limit that nothing exceeds: only the success in sample counts.
        at_most = 1.0 if self._at_most is None else self._at_most
        return LearnedLinking(WeightedMean, Fast(), distance, at_most)


def scales(space: ComparisonSpace) -> dict[str, ComparisonSpace]:
    """Return the space and, where they differ, those on other scales of numbers, by a suffix for names.

    Numbers in other units are read in each direction that they probably have.
    """
    best, *others = directed(replace(space, each=True, mirrored=frozenset()))
    if not best.in_other_units:
        return {"": space}
    original = replace(space, each=False, mirrored=frozenset())
    both = (
        {"": space, " (original scale)": original}
        if space.each
        else {"": space, " (scale of each file)": best}
    )
    return both | {f" ({_direction(each)})": each for each in others}


def _direction(space: ComparisonSpace) -> str:
    backwards = [space.names[position] for position in sorted(space.mirrored)]
    return f"{listed(backwards)} backwards" if backwards else "nothing backwards"


def strongest(found: Mapping[str, AttackResult]) -> AttackResult:
    """Return the result of a portfolio: the largest success and ends of the intervals of its attackers."""
    if len(found) == 1:
        return next(iter(found.values()))
    name = max(found, key=lambda each: found[each].success)
    best = found[name]
    attackers = {
        each: {"success": float(own.success), "low": own.low, "high": own.high} for each, own in found.items()
    }
    low, high = max(own.low for own in found.values()), max(own.high for own in found.values())
    return replace(
        best,
        knowledge={**best.knowledge, "attacker": name},
        low=low,
        high=high,
        details={**best.details, "estimated": low < high, "attackers": attackers},
    )
