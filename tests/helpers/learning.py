"""What weights of a family mean, by the definitions of the twin."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

from anonymizer.attacks.linkage.families import Bilinear, Family, Owa, TwoAdditiveChoquet, WeightedMean
from anonymizer.model.arrays import FloatArray
from tests.twins import learning as twin


def measure_of(family: Family, weights: FloatArray) -> dict[frozenset[int], Fraction]:
    """Return the fuzzy measure of Choquet weights; those of maxima count as soon as one is inside."""
    exact = [Fraction(float(weight)) for weight in weights]
    sets = [frozenset(members) for members in family.members]
    maxima = family.attributes * (family.attributes - 1) // 2 if isinstance(family, TwoAdditiveChoquet) else 0
    minima = len(sets) - maxima
    everyone = range(family.attributes)
    measure = {}
    subsets = chain.from_iterable(combinations(everyone, size) for size in range(family.attributes + 1))
    for inside in map(frozenset, subsets):
        least = sum(weight for own, weight in zip(sets[:minima], exact, strict=False) if own <= inside)
        largest = sum(
            weight for own, weight in zip(sets[minima:], exact[minima:], strict=True) if own & inside
        )
        measure[inside] = Fraction(least + largest)
    return measure


def distance_of(family: Family, weights: FloatArray) -> twin.Distance:
    """Return the distance."""
    exact = [Fraction(float(weight)) for weight in weights]
    if isinstance(family, WeightedMean):
        return twin.weighted_mean(exact)
    if isinstance(family, Owa):
        return twin.owa(exact)
    if isinstance(family, Bilinear):
        return twin.bilinear(twin.fractions(family.matrix(weights)))
    return twin.choquet(measure_of(family, weights))
