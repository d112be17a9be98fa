"""Record linkage by every attacker at hand: the strongest one counts.

Each distance links by the nearest record, by assignment and by chances, on both scales of numbers where they
differ. All attackers link the same targets and hold the same records. Which of them is the strongest, an
adversary knows from other records; the upper end of the interval is what the best of them reaches on these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from anonymizer.attacks.base import TAILS, AttackResult, MostExposed
from anonymizer.attacks.linkage.assignment import AssignmentLinking, assigned
from anonymizer.attacks.linkage.classifier import ClassifierLinking, compared_together
from anonymizer.attacks.linkage.directions import directed
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Coverage,
    Distance,
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
from anonymizer.attacks.linkage.linkers import NearestLinking, ProbabilisticLinking, nearest
from anonymizer.attacks.linkage.local_search import Fast
from anonymizer.attacks.linkage.sinkhorn import assigned_and_expected, expected_links
from anonymizer.attacks.tail import Ranking, composed, simplest
from anonymizer.errors import listed
from anonymizer.model.arrays import IntArray

CHOSEN = "chosen"
"""Name of the links of the chosen attackers, and of their detail."""

CHOICES = 5
"""Folds of the originals; for each an attacker is chosen by the others."""

ALL = 1e-9
"""Shares that differ by no more are equal."""

EFFORT = 4
"""Budgets that an attacker that learns may spend: all attackers have its targets."""


class PortfolioLinking(Linking):
    """Links by each of several attackers, and by the one that links most of the other records.

    Those that learn in sample are told the true links, as ``LearnedLinking`` is; they tell what the worst
    case is. All others have learned nothing, or from other records than those that they link. Among these an
    attacker is chosen for each fold of the originals by the links of the other folds.

    Parameters
    ----------
    likelihood: the distance by the likelihood of the adversary's errors.
    probabilistic: the attacker by agreement.
    at_most: of a constraint: no further attackers are tried once one links more than this share, and none is
        chosen, as the largest share counts.
    quick: whether only nearest records are linked, each by itself.
    """

    name = "portfolio"
    # As of the attackers that learn or assign.
    draws = 2

    def __init__(
        self,
        likelihood: Distancing,
        probabilistic: ProbabilisticLinking,
        at_most: float | None = None,
        *,
        quick: bool = False,
    ) -> None:
        self._likelihood, self._probabilistic, self._at_most = likelihood, probabilistic, at_most
        self._quick = quick
        self._classifier = ClassifierLinking(likelihood)

    def most(self, space: ComparisonSpace, budget: int) -> int:
        """Return how many targets each of the attackers can link."""
        if self._quick:
            # Few compare more, and for each it takes long to count how much.
            return NearestLinking(Euclidean).most(space, budget) // len(self._unlearned(space))
        learner, classifier = (
            each.most(space, EFFORT * budget) for each in (self._learner(Euclidean), self._classifier)
        )
        others = [each.most(space, budget) for each in self._unlearned(space).values()]
        others += [AssignmentLinking(each).most(space, budget) for each in self._distances(space).values()]
        return min(learner, classifier, *others)

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Return the links of the attacker with the most correct ones."""
        found = self.each(space, random).values()
        return max(found, key=lambda linked: float(linked.right @ space.truth.counts))

    def each(self, space: ComparisonSpace, random: np.random.Generator) -> dict[str, Linked]:
        """Return the links of each attacker, which draws what it would alone, and of the chosen ones."""
        found: dict[str, Linked] = {}
        honest: dict[str, Linked] = {}
        for name, linked, in_sample in self._all(space, random, found):
            found[name] = linked
            honest |= {} if in_sample else {name: linked}
            most = float(linked.outcomes[-1] @ space.truth.counts)
            if self._at_most is not None and most > self._at_most * space.truth.records:
                return found
        return found if self._at_most is not None else {**found, CHOSEN: chosen(space, honest, random)}

    def _all(
        self, space: ComparisonSpace, random: np.random.Generator, found: Mapping[str, Linked]
    ) -> Iterator[tuple[str, Linked, bool]]:
        """Yield the name and the links of each attacker, and whether it learned from those that it links.

        Parameters
        ----------
        found: those so far; where one of them links all that can be linked, nobody learns for others.
        """
        both = scales(space)
        for scale, scaled in both.items():
            for name, linking in self._unlearned(scaled).items():
                yield name + scale, linking.link(scaled, deepcopy(random)), False
            for name, of_space in () if self._quick else self._distances(scaled).items():
                both_ways = assigned_and_expected(of_space(scaled), deepcopy(random))
                for way, linked in zip(("assignment", "sinkhorn"), both_ways, strict=True):
                    yield f"{name}, {way}{scale}", linked, False
        if self._quick:
            return
        learning = {"learned" + scale: (scaled, Euclidean) for scale, scaled in both.items()}
        for name, (scaled, distance) in {**learning, "learned likelihood": (space, self._likelihood)}.items():
            nearest_links, weighted = self._learner(distance).learned(scaled, deepcopy(random))
            yield name, nearest_links, weighted is not None
            if weighted is not None:
                yield f"{name}, assignment", assigned(weighted, deepcopy(random)), True
        reached = max(float(own.right @ space.truth.counts) for own in found.values())
        if reached >= space.ceiling * space.truth.records * (1 - ALL):
            return
        for name, (scaled, distance) in {**learning, "learned likelihood": (space, self._likelihood)}.items():
            others = self._held_out(distance, scaled, random)
            if others is not None:
                yield f"{name} on others", replace(nearest(others), details={}), False
                if compared_together(scaled):
                    yield f"{name} on others, sinkhorn", expected_links(others, deepcopy(random)), False
        classified = self._classifier.classified(space, deepcopy(random))
        yield "classifier", self._classifier.alone(classified), False
        if classified.together:
            yield "classifier, sinkhorn", expected_links(classified, deepcopy(random)), False
            yield "classifier, assignment", assigned(classified, deepcopy(random)), False

    def _held_out(
        self, distance: Distancing, space: ComparisonSpace, random: np.random.Generator
    ) -> Distance | None:
        """Return a learned distance for those that it was not learned from; None if it would not count."""
        if self._at_most is not None:
            return None
        return self._learner(distance).held_out(space, deepcopy(random))

    def _distances(self, space: ComparisonSpace) -> dict[str, Distancing]:
        """Return the distances of the attackers that see no truth, by name, the simplest first."""
        distances: dict[str, Distancing] = {
            each.name: each for each in (Coverage, Euclidean, Mahalanobis, RankDistance, LargestRank)
        }
        distances["likelihood"] = self._likelihood
        if SwapPartners.fits(space):
            distances[SwapPartners.name] = SwapPartners
        return distances

    def _unlearned(self, space: ComparisonSpace) -> dict[str, Linking]:
        """Return the attackers that see no truth and link each original by itself, by name."""
        alone: dict[str, Linking] = {
            name: NearestLinking(distance) for name, distance in self._distances(space).items()
        }
        return alone if self._quick else {**alone, self._probabilistic.name: self._probabilistic}

    def _learner(self, distance: Distancing) -> LearnedLinking:
        # The share of a limit that nothing exceeds: only the success in sample counts.
        at_most = 1.0 if self._at_most is None else self._at_most
        return LearnedLinking(WeightedMean, Fast(), distance, at_most)


def chosen(space: ComparisonSpace, attackers: Mapping[str, Linked], random: np.random.Generator) -> Linked:
    """Return the links of the attackers that are chosen for each fold of the originals by the other folds.

    It is the simplest one that links, within a standard error, as many of these as the best. Where all link
    alike, nothing is chosen, and what was counted stays counted. For the most exposed, an attacker is chosen
    in the same way by whom it links among those of whom it is surest.

    Parameters
    ----------
    attackers: by name, the simplest first.
    """
    names, truth = list(attackers), space.truth
    rights = np.stack([own.right for own in attackers.values()])
    alike = bool(np.allclose(rights, rights[0], rtol=0, atol=ALL))
    fold = np.empty(len(space.records), dtype=np.int64)
    fold[(deepcopy(random) if alike else random).permutation(len(fold))] = np.arange(len(fold)) % CHOICES
    of_link = fold[truth.original]
    tails = _surest(space, list(attackers.values()), of_link)
    if alike:
        return replace(attackers[names[0]], tails=tails)
    best = np.array([simplest(rights, truth.counts * (of_link != own)) for own in range(CHOICES)])
    right = rights[best[of_link], np.arange(len(of_link))]
    number = np.bincount(best[of_link], weights=truth.counts, minlength=len(names))
    told = {names[each]: int(number[each]) for each in np.argsort(-number, kind="stable") if number[each]}
    together = any(attackers[name].together for name in told)
    return Linked(right, {CHOSEN: told}, estimated=True, together=together, tails=tails)


def _surest(space: ComparisonSpace, attackers: Sequence[Linked], of_link: IntArray) -> dict[str, Linked]:
    """Return links among which the most exposed are, by the keys of ``TAILS``; none if nobody is asked.

    Parameters
    ----------
    attackers: the simplest first.
    of_link: fold of each link, shape (links,), int64.
    """
    if not space.ranked:
        return {}
    nothing, counts = np.zeros(len(of_link)), space.truth.counts
    rankings = [
        Ranking.of(nothing if own.doubt is None else -own.doubt, own.right, counts) for own in attackers
    ]
    every = {key: composed(rankings, of_link, share) for key, share in TAILS.items()}
    return {key: Linked(own.chances, doubt=-own.confidence) for key, own in every.items()}


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
    """Return the result of a portfolio: the success of the chosen attackers, up to the largest of all.

    The interval reaches from the lower end of the chosen ones to the largest upper end. Without chosen ones,
    the success and its lower end are the largest, too: the worst case.
    """
    attackers = {name: own for name, own in found.items() if name != CHOSEN}
    if len(attackers) == 1:
        return next(iter(attackers.values()))
    name = max(attackers, key=lambda each: attackers[each].success)
    best = attackers[name]
    told = {
        each: {"success": float(own.success), "low": own.low, "high": own.high}
        for each, own in attackers.items()
    }
    success, low = best.success, max(own.low for own in attackers.values())
    details: dict[str, Any] = {"attackers": told}
    if CHOSEN in found:
        own = found[CHOSEN]
        details["in_hindsight"] = {"attacker": name, "success": float(best.success)}
        if CHOSEN in own.details:
            details[CHOSEN] = own.details[CHOSEN]
            name = next(iter(own.details[CHOSEN]))
        best, success, low = attackers[name], own.success, own.low
    high = max(float(success), *(own.high for own in attackers.values()))
    details["estimated"] = low < high
    return replace(
        best,
        success=success,
        knowledge={**best.knowledge, "attacker": name},
        low=low,
        high=high,
        details={**best.details, **details},
        tail=_strongest_tail(found, attackers),
        ceiling=max(best.ceiling or 0.0, float(success)),
    )


def _strongest_tail(
    found: Mapping[str, AttackResult], attackers: Mapping[str, AttackResult]
) -> dict[str, MostExposed]:
    """Return the most exposed of a portfolio, by the same rule as its success."""
    tail = {}
    for share in next(iter(attackers.values())).tail:
        every = [own.tail[share] for own in attackers.values()]
        best = max(every, key=lambda own: own.success)
        if CHOSEN in found:
            best = found[CHOSEN].tail[share]
        else:
            best = replace(best, low=max(own.low for own in every))
        low, most = best.ends
        high = max(float(best.success), best.high, *(own.high for own in every))
        most = max(float(best.success), most, *(own.ends[1] for own in every))
        tail[share] = replace(best, high=high, ends=(low, most))
    return tail
