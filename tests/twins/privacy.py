"""The privacy models straight from their definitions, one class of plain values at a time.

Every verdict is exact: fractions, integers, and logarithms of 80 digits where they cannot be avoided.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from math import exp, inf, log
from typing import Any, ClassVar, TypeVar

from anonymizer.privacy.base import PRIVACY_MODELS
from tests.twins.distance import DISTANCES
from tests.twins.microdata import SensitiveSpec, Value

Group = Sequence[Value]
"""The sensitive values of the records of one class."""

Persons = Mapping[Any, frozenset[Value]]
"""The values of each person of a class; for a model without an attribute any set."""


def values_of(persons: Persons) -> list[Value]:
    """Return every value once for each person who has it."""
    return [value for values in persons.values() for value in values]


def shares_of_persons(persons: Persons) -> dict[Value, Fraction]:
    """Return the share of persons who have each value; with several a person they add up to more than one."""
    return {value: Fraction(count, len(persons)) for value, count in Counter(values_of(persons)).items()}


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

    model: ClassVar[str]
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

    def holds_for_persons(self, own: Persons, reference: Persons, attribute: SensitiveSpec) -> bool:
        """Tell whether a class of persons does; by default as if each value were another record."""
        return self.holds(values_of(own), values_of(reference), attribute)

    def measured(self, groups: Sequence[Group], reference: Group, attribute: SensitiveSpec) -> Any:
        """Return the worst measure over all classes."""
        measures = [self.measure(group, reference, attribute) for group in groups]
        if isinstance(self.worst, tuple):
            parts = zip(*measures, strict=True)
            return [worst(part) for worst, part in zip(self.worst, parts, strict=True)]
        return self.worst(measures)


class KAnonymity(ClassTwin):
    model = "k-anonymity"
    worst = min

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return len(group) >= self.of["k"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> int:
        return len(group)

    def holds_for_persons(self, own: Persons, reference: Persons, attribute: SensitiveSpec) -> bool:
        return len(own) >= self.of["k"]


class AlphaKAnonymity(ClassTwin):
    model = "alpha-k-anonymity"
    worst = (min, max)

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return len(group) >= self.of["k"] and max(shares(group).values()) <= self.of["alpha"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> list[Any]:
        return [len(group), max(shares(group).values())]

    def holds_for_persons(self, own: Persons, reference: Persons, attribute: SensitiveSpec) -> bool:
        return len(own) >= self.of["k"] and max(shares_of_persons(own).values()) <= self.of["alpha"]


class PSensitiveKAnonymity(ClassTwin):
    model = "p-sensitive-k-anonymity"
    worst = (min, min)

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return len(group) >= self.of["k"] and distinct(group, attribute) >= self.of["p"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> list[Any]:
        return [len(group), distinct(group, attribute)]

    def holds_for_persons(self, own: Persons, reference: Persons, attribute: SensitiveSpec) -> bool:
        return len(own) >= self.of["k"] and distinct(values_of(own), attribute) >= self.of["p"]


class LDiversity(ClassTwin):
    model = "l-diversity"
    worst = min

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return distinct(group, attribute) >= self.of["l"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> int:
        return distinct(group, attribute)


class EntropyLDiversity(ClassTwin):
    model = "entropy-l-diversity"
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
    model = "recursive-cl-diversity"

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
    model = "t-closeness"

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return self.measure(group, reference, attribute) <= self.of["t"]

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Fraction:
        default = "ordered" if attribute.numeric else "equal"
        distance = DISTANCES[self.of.get("distance") or attribute.distance or default]
        return distance(shares(group), shares(reference), attribute)


class BasicBetaLikeness(ClassTwin):
    model = "basic-beta-likeness"

    def gains(self, q: Mapping[Value, Fraction], p: Mapping[Value, Fraction]) -> dict[Value, Fraction]:
        """Return (q - p) / p of every value with q > p."""
        return {value: (share - p[value]) / p[value] for value, share in q.items() if share > p[value]}

    def within(self, q: Mapping[Value, Fraction], p: Mapping[Value, Fraction]) -> bool:
        """Tell whether no gain is larger than allowed."""
        return all(gain <= self.of["beta"] for gain in self.gains(q, p).values())

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return self.within(shares(group), shares(reference))

    def holds_for_persons(self, own: Persons, reference: Persons, attribute: SensitiveSpec) -> bool:
        return self.within(shares_of_persons(own), shares_of_persons(reference))

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Any:
        return max(self.gains(shares(group), shares(reference)).values(), default=Fraction(0))


class EnhancedBetaLikeness(BasicBetaLikeness):
    model = "enhanced-beta-likeness"

    def _beyond(self, q: Mapping[Value, Fraction], p: Mapping[Value, Fraction]) -> bool:
        return any(gain > Fraction(-natural_log(p[value])) for value, gain in self.gains(q, p).items())

    def within(self, q: Mapping[Value, Fraction], p: Mapping[Value, Fraction]) -> bool:
        return super().within(q, p) and not self._beyond(q, p)

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> Any:
        beyond = self._beyond(shares(group), shares(reference))
        return inf if beyond else super().measure(group, reference, attribute)


class DeltaDisclosure(ClassTwin):
    model = "delta-disclosure"

    def _logs(self, q: Mapping[Value, Fraction], p: Mapping[Value, Fraction]) -> list[Decimal] | None:
        """Return |ln(q/p)| of every value, None where an absent one violates."""
        if self.of.get("absent", "violates") == "violates" and set(p) - set(q):
            return None
        return [natural_log(q[value] / p[value]).copy_abs() for value in q]

    def _within(self, q: Mapping[Value, Fraction], p: Mapping[Value, Fraction]) -> bool:
        logs = self._logs(q, p)
        return logs is not None and all(Fraction(value) < self.of["delta"] for value in logs)

    def holds(self, group: Group, reference: Group, attribute: SensitiveSpec) -> bool:
        return self._within(shares(group), shares(reference))

    def holds_for_persons(self, own: Persons, reference: Persons, attribute: SensitiveSpec) -> bool:
        return self._within(shares_of_persons(own), shares_of_persons(reference))

    def measure(self, group: Group, reference: Group, attribute: SensitiveSpec) -> float:
        logs = self._logs(shares(group), shares(reference))
        return inf if logs is None else float(max(logs))


class TableTwin(ABC):
    """A model of the whole release, from the values of each of its classes."""

    model: ClassVar[str]

    @abstractmethod
    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Take the parameters as they stand in a config."""

    @abstractmethod
    def measured(self, groups: Sequence[Group]) -> Fraction:
        """Return the measure of the release."""

    @abstractmethod
    def holds(self, groups: Sequence[Group]) -> bool:
        """Tell whether the release satisfies the model."""


class VulnerabilityTwin(TableTwin):
    model = "vulnerability"

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


def _joined() -> Iterator[str]:
    """Yield the models whose twin is in a file of their own, ``tests/twins/MODEL.py``, and import these."""
    for name in PRIVACY_MODELS:
        module = f"tests.twins.{name.replace('-', '_')}"
        if find_spec(module) is not None:
            import_module(module)
            yield name


T = TypeVar("T", ClassTwin, TableTwin)


def _by_model(kind: type[T]) -> dict[str, type[T]]:
    """Return the twins of a kind by their models."""
    found: dict[str, type[T]] = {}
    for each in kind.__subclasses__():
        found |= {each.model: each} | _by_model(each)
    return found


JOINED = frozenset(_joined())
CLASS_TWINS = _by_model(ClassTwin)  # type: ignore[type-abstract]
TABLE_TWINS = _by_model(TableTwin)  # type: ignore[type-abstract]
