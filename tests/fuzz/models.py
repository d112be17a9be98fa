"""The privacy models by their definitions, over lists of values; exact wherever a definition is rational."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import exp, inf, log
from typing import Any

from tests.fuzz.columns import NUMERIC, Attribute, Paths

CLOSE = 1e-9
"""A verdict by logarithms that is closer to its threshold than this is not judged."""

Values = Sequence[str]
Record = tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """What a constraint measures on a release.

    Attributes
    ----------
    value: as in the report, infinite as ``inf``.
    holds: None where it is too close to a threshold to be told by floating-point numbers.
    worst: classes that show the worst measure, None where it is not counted here.
    """

    value: Any
    holds: bool | None
    worst: int | None = None


def exact(number: Any) -> Fraction:
    """Return a number of the config as the decimal that it is written as."""
    return Fraction(str(number))


@dataclass(frozen=True)
class Counts:
    """Distinct units of some records.

    Attributes
    ----------
    size: how many.
    of: how many have each sensitive value; one with two values counts for both.
    """

    size: int
    of: Counter[str]

    @classmethod
    def count(cls, values: Values, units: Sequence[int] | None = None) -> Counts:
        """Count records, or the units that they belong to."""
        own = range(len(values)) if units is None else units
        return cls(len(set(own)), Counter(value for value, _ in set(zip(values, own, strict=True))))

    @property
    def shares(self) -> dict[str, Fraction]:
        """Return the share of the units with each value."""
        return {value: Fraction(count, self.size) for value, count in self.of.items()}

    @property
    def parts(self) -> dict[str, Fraction]:
        """Return the share of each value among all values that units have."""
        return {value: Fraction(count, self.of.total()) for value, count in self.of.items()}

    def distinct(self, parameters: Mapping[str, Any]) -> int:
        """Return the number of values; a missing one counts where it is said to be a value."""
        return len(self.of if parameters.get("missing_sensitive") == "value" else set(self.of) - {""})


def _ordered(values: Iterable[str], kind: str) -> list[str]:
    key: Callable[[str], Any] = Fraction if kind in NUMERIC else str
    own = set(values)
    return [*sorted(own - {""}, key=key), *([""] if "" in own else [])]


def _hierarchical(q: Mapping[str, Fraction], p: Mapping[str, Fraction], paths: Paths) -> Fraction:
    """Return the earth mover's distance along a tree whose leaves are equally deep."""
    height = len(next(iter(paths.values()))) - 1
    padded = {**paths, "": (*[""] * height, next(iter(paths.values()))[-1])}
    present = [value for value in padded if value or value in p]
    total = Fraction(0)
    for level in range(1, height + 1):
        children: dict[str, dict[str, Fraction]] = {}
        for value in present:
            own = children.setdefault("/".join(padded[value][level:]), {})
            child = "/".join(padded[value][level - 1 :])
            own[child] = own.get(child, Fraction(0)) + q.get(value, 0) - p.get(value, 0)
        for extras in children.values():
            positive = sum((each for each in extras.values() if each > 0), Fraction(0))
            negative = -sum((each for each in extras.values() if each < 0), Fraction(0))
            total += Fraction(level, height) * min(positive, negative)
    return total


def distance(name: str, own: Counts, reference: Counts, attribute: Attribute) -> Fraction:
    """Return the distance of t-closeness between the values of a class and those of the reference."""
    q, p = own.parts, reference.parts
    if name == "hierarchical":
        return _hierarchical(q, p, attribute.paths or {})
    order = _ordered(p, attribute.kind)
    differences = [q.get(value, Fraction(0)) - p[value] for value in order]
    if name == "equal":
        return sum(map(abs, differences), Fraction(0)) / 2
    sums = [abs(sum(differences[: i + 1], Fraction(0))) for i in range(len(order))]
    return sum(sums, Fraction(0)) / (len(order) - 1) if len(order) > 1 else Fraction(0)


def _entropy_l(own: Counts) -> float:
    return exp(-sum(float(share) * log(share) for share in own.parts.values()))


def _recursive(own: Counts, parameters: Mapping[str, Any]) -> tuple[Any, bool]:
    counts = sorted(own.of.values(), reverse=True)
    l = int(parameters["l"])  # noqa: E741
    tail = sum(counts[l - 1 :])
    if own.distinct(parameters) < l or not tail:
        return inf, False
    return Fraction(counts[0], tail), counts[0] < exact(parameters["c"]) * tail


def _beta(own: Counts, reference: Counts, beta: Fraction, *, enhanced: bool) -> tuple[Any, bool | None]:
    p = reference.shares
    worst: Any = Fraction(0)
    holds: bool | None = True
    for value, share in own.shares.items():
        gain = (share - p[value]) / p[value]
        if gain <= 0:
            continue
        ceiling = -log(p[value])
        if enhanced and float(gain) > ceiling - CLOSE:
            worst, holds = inf, False if float(gain) > ceiling + CLOSE else None
        worst = max(worst, gain)
        if gain > beta:
            holds = False
    return worst, holds


def _delta(own: Counts, reference: Counts, parameters: Mapping[str, Any]) -> tuple[Any, bool | None]:
    q, worst = own.shares, 0.0
    for value, share in reference.shares.items():
        if value in q:
            worst = max(worst, abs(log(q[value] / share)))
        elif parameters["absent"] == "violates":
            worst = inf
    delta = float(parameters["delta"])
    return worst, None if abs(worst - delta) < CLOSE else worst < delta


def of_class(
    parameters: Mapping[str, Any], own: Counts, reference: Counts, attribute: Attribute | None
) -> tuple[Any, bool | None]:
    """Return the measure of one class and whether the model holds there.

    Parameters
    ----------
    own: of the sensitive attribute in the class; of anything for k-anonymity.
    """
    name, size, values = parameters["model"], own.size, own.distinct(parameters)
    if name == "k-anonymity":
        return size, size >= parameters["k"]
    if name == "prosecutor-risk":
        return Fraction(1, size), Fraction(1, size) <= exact(parameters["max"])
    if name == "alpha-k-anonymity":
        most = max(own.shares.values())
        return (size, most), size >= parameters["k"] and most <= exact(parameters["alpha"])
    if name == "p-sensitive-k-anonymity":
        return (size, values), size >= parameters["k"] and values >= parameters["p"]
    if name == "l-diversity":
        return values, values >= parameters["l"]
    if name == "entropy-l-diversity":
        effective, asked = _entropy_l(own), float(parameters["l"])
        return effective, None if abs(effective - asked) < CLOSE else effective > asked
    if name == "recursive-cl-diversity":
        return _recursive(own, parameters)
    if name == "t-closeness":
        assert attribute is not None
        default = "equal" if attribute.kind == "text" else "ordered"
        ground = parameters.get("distance") or attribute.entry.get("distance", default)
        far = distance(ground, own, reference, attribute)
        return far, far <= exact(parameters["t"])
    if name in ("basic-beta-likeness", "enhanced-beta-likeness"):
        return _beta(own, reference, exact(parameters["beta"]), enhanced=name[0] == "e")
    assert name == "delta-disclosure", name
    return _delta(own, reference, parameters)


# ---------------------------------------------------------------------------------------------------------
# Releases

SMALLER_IS_WORSE = ("k-anonymity", "l-diversity", "entropy-l-diversity", "k-map")
OF_POPULATION = ("k-map", "journalist-risk", "delta-presence")
UNJUDGED = ("linkage-risk", "inference-risk")
WITHOUT_VALUES = ("k-anonymity", "prosecutor-risk", "marketer-risk", "uniqueness", "household-risk")


class Unknown:
    """A measure that is not computed here."""


@dataclass(frozen=True)
class Asked:
    """A constraint with one of the attributes that it applies to.

    Attributes
    ----------
    attribute: the sensitive one; None for a model without one.
    unit: what is counted.
    known: sets of quasi-identifiers that an adversary may know; None for all of them.
    scenario: whose constraint it is.
    """

    parameters: Mapping[str, Any]
    attribute: str | None
    unit: str = "record"
    known: tuple[tuple[str, ...], ...] | None = None
    scenario: str | None = None

    @property
    def model(self) -> str:
        return str(self.parameters["model"])

    @property
    def of_table(self) -> bool:
        """Whether the model is of the whole release, which no suppressed class repairs."""
        at = self.parameters.get("at", "highest")
        whole = ("vulnerability", "marketer-risk", "uniqueness", "household-risk", *UNJUDGED)
        return self.model in whole or (
            self.model in ("prosecutor-risk", "journalist-risk") and at != "highest"
        )

    @property
    def counts_people(self) -> bool:
        """Whether the population is counted."""
        return self.model in OF_POPULATION or self.parameters.get("against") == "population"

    def __str__(self) -> str:
        return f"{self.scenario or ''}:{self.model}({self.attribute}, {self.unit})"


@dataclass(frozen=True)
class Records:
    """What is known of each record besides its quasi-identifiers.

    Attributes
    ----------
    values: sensitive values of each record, in the order of ``attributes``; empty where missing.
    units: the unit of each record, by the name of the unit.
    weights: people that each record stands for.
    """

    values: Sequence[Record]
    attributes: Sequence[Attribute]
    units: Mapping[str, Sequence[int]]
    weights: Sequence[Fraction] | None = None

    @property
    def persons(self) -> Sequence[int]:
        """Return whose each record is."""
        return self.units.get("person", self.units["record"])

    def at(self, name: str | None) -> int:
        """Return the position of a sensitive attribute."""
        return next((i for i, each in enumerate(self.attributes) if each.name == name), 0)

    def count(self, own: Sequence[int], at: int, unit: str) -> Counts:
        """Count the units of some records."""
        values = [self.values[i][at] if self.attributes else "" for i in own]
        return Counts.count(values, [self.units[unit][i] for i in own])

    def estimate(self, own: Sequence[int]) -> Fraction:
        """Return how many people some records stand for by their weights, each person once."""
        assert self.weights is not None
        weights = {self.persons[i]: self.weights[i] for i in own}
        return max(sum(weights.values(), Fraction(0)), Fraction(len(weights)))


@dataclass(frozen=True)
class View:
    """What a model is measured on.

    Attributes
    ----------
    people: of the population with the values of each class.
    absent: whether somebody in the population has values of no class of the input.
    """

    records: Records
    classes: Sequence[Sequence[int]]
    reference: Sequence[int]
    people: Sequence[Fraction] | None = None
    absent: bool = False


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Return whether all hold; None where that rests on one that cannot be told."""
    own = list(verdicts)
    if False in own:
        return False
    return None if None in own else True


def over_classes(asked: Asked, view: View) -> Measured:
    """Measure a constraint on a release."""
    if asked.of_table:
        return _of_table(asked, view)
    if asked.model in OF_POPULATION:
        return _of_population(asked, view)
    records, at = view.records, view.records.at(asked.attribute)
    attribute = records.attributes[at] if asked.attribute is not None else None
    combined = asked.parameters.get("quasi_identifiers") == "combined"
    parts = [part for own in view.classes for part in (split(records, own, at) if combined else [own])]
    reference = records.count(view.reference, at, asked.unit)
    found = [
        of_class(asked.parameters, records.count(part, at, asked.unit), reference, attribute)
        for part in parts
    ]
    measures, holds = [each[0] for each in found], all_of(each[1] for each in found)
    if isinstance(measures[0], tuple):
        second = max if asked.model == "alpha-k-anonymity" else min
        return Measured([min(own[0] for own in measures), second(own[1] for own in measures)], holds)
    worst = min(measures) if asked.model in SMALLER_IS_WORSE else max(measures)
    counted = isinstance(worst, int) and not combined
    return Measured(worst, holds, measures.count(worst) if counted else None)


def split(records: Records, own: Sequence[int], at: int) -> list[list[int]]:
    """Split a class by all sensitive values but one."""
    parts: dict[Record, list[int]] = {}
    for i in own:
        row = records.values[i]
        parts.setdefault(row[:at] + row[at + 1 :], []).append(i)
    return list(parts.values())


def _of_population(asked: Asked, view: View) -> Measured:
    assert view.people is not None
    parameters, people = asked.parameters, view.people
    if asked.model == "k-map":
        return Measured(min(people), min(people) >= parameters["k"], list(people).count(min(people)))
    if asked.model == "journalist-risk":
        return Measured(1 / min(people), 1 / min(people) <= exact(parameters["max"]))
    persons = view.records.persons
    shares = [len({persons[i] for i in own}) / each for own, each in zip(view.classes, people, strict=True)]
    low, high = exact(parameters.get("min", 0)), exact(parameters["max"])
    least = Fraction(0) if view.absent else min(shares)
    return Measured([least, max(shares)], low <= least and max(shares) <= high)


# ---------------------------------------------------------------------------------------------------------
# Models of the whole release


def _of_table(asked: Asked, view: View) -> Measured:
    value = _risk(asked, view)
    if value is None:
        return Measured(Unknown, None)
    return Measured(value, value <= exact(asked.parameters["max"]))


def _risk(asked: Asked, view: View) -> Fraction | None:
    """Return what a model of the whole release measures; None where it is not computed here."""
    if asked.model in UNJUDGED:
        return None
    if asked.model == "vulnerability":
        return _vulnerability(asked, view)
    if asked.model == "household-risk":
        return _household_risk(asked, view)
    sizes = _sizes(view, asked.unit)
    if asked.model == "uniqueness":
        own = view.records.units[asked.unit]
        everyone = {own[i] for part in view.classes for i in part}
        return Fraction(len({own[i] for i, size in sizes.items() if size == 1}), len(everyone))
    people = asked.model == "journalist-risk" or asked.parameters.get("against") == "population"
    risks = [1 / Fraction(each) for each in (_people(view) if people else sizes).values()]
    at = asked.parameters.get("at", "mean")
    if at == "mean":
        return sum(risks, Fraction(0)) / len(risks)
    return Fraction(sum(each > exact(at["share-above"]) for each in risks), len(risks))


def _sizes(view: View, unit: str) -> dict[int, int]:
    """Return of each record how many units its class has; the smallest, if it is in several."""
    own = view.records.units[unit]
    found: dict[int, int] = {}
    for part in view.classes:
        size = len({own[i] for i in part})
        found |= {i: min(size, found.get(i, size)) for i in part}
    return found


def _people(view: View) -> dict[int, Fraction]:
    assert view.people is not None
    return {i: each for part, each in zip(view.classes, view.people, strict=True) for i in part}


def _chances(view: View, unit: str) -> dict[int, Fraction]:
    """Return of each unit how often one guess finds it: any unit of a class, or that of any record."""
    own = view.records.units[unit]
    found: dict[int, Fraction] = {}
    for part in view.classes:
        records = Counter(own[i] for i in part)
        for each, number in records.items():
            one = max(Fraction(1, len(records)), Fraction(number, len(part)))
            found[each] = max(found.get(each, Fraction(0)), one)
    return found


def _vulnerability(asked: Asked, view: View) -> Fraction | None:
    if asked.parameters["target"] == "re-identification":
        best = _chances(view, asked.unit)
        return sum(best.values(), Fraction(0)) / len(best)
    if asked.unit != "record":
        return None
    at = view.records.at(asked.attribute)
    values = view.records.values
    right = sum(max(Counter(values[i][at] for i in part).values()) for part in view.classes)
    return Fraction(right, sum(map(len, view.classes)))


def _household_risk(asked: Asked, view: View) -> Fraction | None:
    """Return the highest or mean risk of households: that some member is found, each by itself."""
    against = asked.parameters.get("against", "records")
    if against == "population" and view.records.weights is not None:
        return None
    records = view.records
    unit = "person" if "person" in records.units else "record"
    own: dict[int, Fraction] = {}
    home: dict[int, int] = {}
    sizes = _people(view) if against == "population" else _sizes(view, unit)
    for i, size in sizes.items():
        member = records.units[unit][i]
        own[member] = max(own.get(member, Fraction(0)), 1 / Fraction(size))
        home[member] = records.units["household"][i]
    safe: dict[int, Fraction] = {}
    for member, risk in own.items():
        safe[home[member]] = safe.get(home[member], Fraction(1)) * (1 - risk)
    if asked.parameters.get("at", "highest") == "highest":
        return 1 - min(safe.values())
    return sum((1 - safe[home[member]] for member in own), Fraction(0)) / len(own)


# ---------------------------------------------------------------------------------------------------------
# What a config asks for


def entries(
    config: Mapping[str, Any], sensitive: Sequence[Attribute], units: Mapping[str, Any]
) -> list[Asked]:
    """Return each constraint with each sensitive attribute that it applies to, then those of scenarios."""
    default = "person" if "person" in units else "record"
    found = [each for own in config["constraints"] for each in _entries(own, sensitive, default)]
    for name, scenario in config.get("scenarios", {}).items():
        known = scenario["known"]
        sets = list(combinations(known["of"], known["any"])) if isinstance(known, dict) else [tuple(known)]
        for own in scenario["models"]:
            made = _entries(own, sensitive, scenario.get("unit", default))
            found += [replace(each, known=tuple(sets), scenario=name) for each in made]
    return found


def _entries(own: Mapping[str, Any], sensitive: Sequence[Attribute], default: str) -> list[Asked]:
    unit = own.get("unit", default)
    without = (*WITHOUT_VALUES, *OF_POPULATION, *UNJUDGED)
    if own["model"] in without or own.get("target") == "re-identification":
        return [Asked(own, None, unit)]
    asked = own.get("attribute")
    return [Asked(own, each.name, unit) for each in sensitive if asked in (None, each.name)]
