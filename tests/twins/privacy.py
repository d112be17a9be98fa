"""The privacy models straight from their definitions, one class of plain values at a time.

Every verdict is exact: fractions, integers, and logarithms of 80 digits where they cannot be avoided.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache
from math import exp, inf, log
from typing import Any

from tests.twins.distance import DISTANCES
from tests.twins.microdata import SensitiveSpec, Value

Group = Sequence[Value]
"""The sensitive values of the records of one class."""


def shares(group: Group) -> Mapping[Value, Fraction]:
    """Return the distribution of the values of a group."""
    return _shares(tuple(group))


@lru_cache(maxsize=1000)
def _shares(group: tuple[Value, ...]) -> dict[Value, Fraction]:
    return {value: Fraction(count, len(group)) for value, count in Counter(group).items()}


def distinct(group: Group, attribute: SensitiveSpec) -> int:
    """Return how many distinct values a group has; a missing one only where it is made a value."""
    return len({value for value in group if value is not None or attribute.missing_is_value})


@cache
def natural_log(number: Fraction) -> Decimal:
    """Return ln of a positive fraction to 80 digits."""
    with localcontext() as context:
        context.prec = 80
        return (Decimal(number.numerator) / Decimal(number.denominator)).ln()


class ClassTwin(ABC):
    """A model of single classes; ``reference`` lists the values of the reference table."""

    worst: Any = max

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.of = {
            key: Fraction(str(value)) if isinstance(value, (float, Decimal)) else value
            for key, value in parameters.items()
        }

    @abstractmethod
    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        """Tell whether one class satisfies the model."""

    @abstractmethod
    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Any:
        """Return the measure of one class, a list for several conditions."""

    def measured(self, groups: Sequence[Group], reference: Group, attribute: SensitiveSpec) -> Any:
        """Return the worst measure over all classes."""
        measures = [self.measure(group, reference, attribute) for group in groups]
        if isinstance(self.worst, tuple):
            parts = zip(*measures, strict=True)
            return [worst(part) for worst, part in zip(self.worst, parts, strict=True)]
        return self.worst(measures)


class KAnonymity(ClassTwin):
    worst = min

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return len(group) >= self.of["k"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> int:
        return len(group)


class AlphaKAnonymity(ClassTwin):
    worst = (min, max)

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return len(group) >= self.of["k"] and max(shares(group).values()) <= self.of["alpha"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> list[Any]:
        return [len(group), max(shares(group).values())]


class PSensitiveKAnonymity(ClassTwin):
    worst = (min, min)

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return len(group) >= self.of["k"] and distinct(group, attribute) >= self.of["p"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> list[Any]:
        return [len(group), distinct(group, attribute)]


class LDiversity(ClassTwin):
    worst = min

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return distinct(group, attribute) >= self.of["l"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> int:
        return distinct(group, attribute)


class EntropyLDiversity(ClassTwin):
    worst = min

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        """H(q) >= ln l iff n^n >= l^n times the product of c^c over the counts c: integers throughout."""
        n, bound = len(group), Fraction(self.of["l"])
        product = 1
        for count in Counter(group).values():
            product *= count**count
        return n**n * bound.denominator**n >= bound.numerator**n * product

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> float:
        return exp(-sum(float(q) * log(q) for q in shares(group).values()))


class RecursiveCLDiversity(ClassTwin):
    def _tail(self, group: Group) -> int:
        ranked = sorted(Counter(group).values(), reverse=True)
        return sum(ranked[self.of["l"] - 1 :])

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        top = max(Counter(group).values())
        return distinct(group, attribute) >= self.of["l"] and top < self.of["c"] * self._tail(group)

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Any:
        tail = self._tail(group)
        if not tail or distinct(group, attribute) < self.of["l"]:
            return inf
        return Fraction(max(Counter(group).values()), tail)


class TCloseness(ClassTwin):
    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return self.measure(group, reference, attribute) <= self.of["t"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Fraction:
        default = "ordered" if attribute.numeric else "equal"
        distance = DISTANCES[self.of.get("distance") or attribute.distance or default]
        return distance(shares(group), shares(reference), attribute)


class BasicBetaLikeness(ClassTwin):
    def gains(self, group: Group, reference: Group) -> dict[Value, Fraction]:
        """Return (q - p) / p of every value with q > p."""
        p = shares(reference)
        return {value: (q - p[value]) / p[value] for value, q in shares(group).items() if q > p[value]}

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return all(gain <= self.of["beta"] for gain in self.gains(group, reference).values())

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Any:
        return max(self.gains(group, reference).values(), default=Fraction(0))


class EnhancedBetaLikeness(BasicBetaLikeness):
    def _beyond(self, group: Group, reference: Group) -> bool:
        p = shares(reference)
        gains = self.gains(group, reference)
        return any(gain > Fraction(-natural_log(p[value])) for value, gain in gains.items())

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return super().holds(group, reference, attribute) and not self._beyond(group, reference)

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Any:
        return inf if self._beyond(group, reference) else super().measure(group, reference, attribute)


class DeltaDisclosure(ClassTwin):
    def _logs(self, group: Group, reference: Group) -> list[Decimal] | None:
        """Return |ln(q/p)| of every value, None where an absent one violates."""
        p, q = shares(reference), shares(group)
        if self.of.get("absent", "violates") == "violates" and set(p) - set(q):
            return None
        return [natural_log(q[value] / p[value]).copy_abs() for value in q]

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        logs = self._logs(group, reference)
        return logs is not None and all(Fraction(value) < self.of["delta"] for value in logs)

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> float:
        logs = self._logs(group, reference)
        return inf if logs is None else float(max(logs))


class VulnerabilityTwin:
    """A model of the whole release."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.max = Fraction(str(parameters["max"]))
        self.infers = parameters.get("target", "re-identification") == "attribute-inference"

    def measured(self, groups: Sequence[Group]) -> Fraction:
        """Return the chance of one optimal guess, averaged over the records of the release."""
        chances = []
        for group in groups:
            best = max(Counter(group).values()) if self.infers else 1
            chances += [Fraction(best, len(group))] * len(group)
        return sum(chances, Fraction(0)) / len(chances)

    def holds(self, groups: Sequence[Group]) -> bool:
        """Tell whether that is at most ``max``."""
        return self.measured(groups) <= self.max


CLASS_TWINS: dict[str, type[ClassTwin]] = {
    "k-anonymity": KAnonymity,
    "alpha-k-anonymity": AlphaKAnonymity,
    "p-sensitive-k-anonymity": PSensitiveKAnonymity,
    "l-diversity": LDiversity,
    "entropy-l-diversity": EntropyLDiversity,
    "recursive-cl-diversity": RecursiveCLDiversity,
    "t-closeness": TCloseness,
    "basic-beta-likeness": BasicBetaLikeness,
    "enhanced-beta-likeness": EnhancedBetaLikeness,
    "delta-disclosure": DeltaDisclosure,
}
TABLE_TWINS = {"vulnerability": VulnerabilityTwin}
