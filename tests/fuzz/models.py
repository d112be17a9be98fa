"""The privacy models by their definitions, over lists of values; exact wherever a definition is rational."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log
from typing import Any

from tests.fuzz.cases import Attribute, Paths

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


def shares(values: Values) -> dict[str, Fraction]:
    """Return the share of each value."""
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def distinct(values: Values, parameters: Mapping[str, Any]) -> int:
    """Return the number of distinct values; a missing one counts where it is said to be a value."""
    own = set(values)
    return len(own if parameters.get("missing_sensitive") == "value" else own - {""})


def _ordered(values: Values, kind: str) -> list[str]:
    key: Callable[[str], Any] = Fraction if kind == "integer" else str
    return [*sorted({value for value in values if value}, key=key), *([""] if "" in values else [])]


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


def distance(name: str, values: Values, reference: Values, attribute: Attribute) -> Fraction:
    """Return the distance of t-closeness between the values of a class and those of the reference."""
    q, p = shares(values), shares(reference)
    if name == "hierarchical":
        return _hierarchical(q, p, attribute.paths or {})
    order = _ordered(reference, attribute.kind)
    differences = [q.get(value, Fraction(0)) - p[value] for value in order]
    if name == "equal":
        return sum(map(abs, differences), Fraction(0)) / 2
    sums = [abs(sum(differences[: i + 1], Fraction(0))) for i in range(len(order))]
    return sum(sums, Fraction(0)) / (len(order) - 1) if len(order) > 1 else Fraction(0)


def _entropy_l(values: Values) -> float:
    return exp(-sum(float(share) * log(share) for share in shares(values).values()))


def _recursive(values: Values, parameters: Mapping[str, Any]) -> tuple[Any, bool]:
    counts = sorted(Counter(values).values(), reverse=True)
    l = int(parameters["l"])  # noqa: E741
    tail = sum(counts[l - 1 :])
    if distinct(values, parameters) < l or not tail:
        return inf, False
    return Fraction(counts[0], tail), counts[0] < exact(parameters["c"]) * tail


def _beta(values: Values, reference: Values, beta: Fraction, *, enhanced: bool) -> tuple[Any, bool | None]:
    p = shares(reference)
    worst: Any = Fraction(0)
    holds: bool | None = True
    for value, share in shares(values).items():
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


def _delta(values: Values, reference: Values, parameters: Mapping[str, Any]) -> tuple[Any, bool | None]:
    q, worst = shares(values), 0.0
    for value, share in shares(reference).items():
        if value in q:
            worst = max(worst, abs(log(q[value] / share)))
        elif parameters["absent"] == "violates":
            worst = inf
    delta = float(parameters["delta"])
    return worst, None if abs(worst - delta) < CLOSE else worst < delta


def of_class(
    parameters: Mapping[str, Any], values: Values, reference: Values, attribute: Attribute | None
) -> tuple[Any, bool | None]:
    """Return the measure of one class and whether the model holds there.

    Parameters
    ----------
    values: of the sensitive attribute in the class; anything for k-anonymity.
    """
    name, size = parameters["model"], len(values)
    most = max(shares(values).values())
    if name == "k-anonymity":
        return size, size >= parameters["k"]
    if name == "alpha-k-anonymity":
        return (size, most), size >= parameters["k"] and most <= exact(parameters["alpha"])
    if name == "p-sensitive-k-anonymity":
        own = distinct(values, parameters)
        return (size, own), size >= parameters["k"] and own >= parameters["p"]
    if name == "l-diversity":
        return distinct(values, parameters), distinct(values, parameters) >= parameters["l"]
    if name == "entropy-l-diversity":
        own, asked = _entropy_l(values), float(parameters["l"])
        return own, None if abs(own - asked) < CLOSE else own > asked
    if name == "recursive-cl-diversity":
        return _recursive(values, parameters)
    if name == "t-closeness":
        assert attribute is not None
        default = "equal" if attribute.kind == "text" else "ordered"
        ground = parameters.get("distance") or attribute.entry.get("distance", default)
        own = distance(ground, values, reference, attribute)
        return own, own <= exact(parameters["t"])
    if name in ("basic-beta-likeness", "enhanced-beta-likeness"):
        return _beta(values, reference, exact(parameters["beta"]), enhanced=name[0] == "e")
    assert name == "delta-disclosure", name
    return _delta(values, reference, parameters)


SMALLER_IS_WORSE = ("k-anonymity", "l-diversity", "entropy-l-diversity")
OF_THE_TABLE = ("vulnerability",)


def all_of(verdicts: Sequence[bool | None]) -> bool | None:
    """Return whether all hold; None where that rests on one that cannot be told."""
    if False in verdicts:
        return False
    return None if None in verdicts else True


def over_classes(
    parameters: Mapping[str, Any],
    classes: Sequence[Sequence[Record]],
    reference: Sequence[Record],
    sensitive: Sequence[Attribute],
    name: str | None,
) -> Measured:
    """Measure a constraint on a release.

    Parameters
    ----------
    classes: the sensitive values of each record of each class, in the order of ``sensitive``.
    reference: those of each record of the reference.
    name: of the sensitive attribute; None for a model without one.
    """
    if parameters["model"] == "vulnerability":
        return _vulnerability(parameters, classes, sensitive, name)
    at = next((i for i, each in enumerate(sensitive) if each.name == name), 0)
    attribute = sensitive[at] if name is not None else None
    combined = parameters.get("quasi_identifiers") == "combined"
    parts = [part for own in classes for part in (split(own, at) if combined else [own])]
    found = [
        of_class(parameters, [row[at] for row in part], [row[at] for row in reference], attribute)
        for part in parts
    ]
    measures, holds = [each[0] for each in found], all_of([each[1] for each in found])
    if isinstance(measures[0], tuple):
        second = max if parameters["model"] == "alpha-k-anonymity" else min
        return Measured([min(own[0] for own in measures), second(own[1] for own in measures)], holds)
    worst = min(measures) if parameters["model"] in SMALLER_IS_WORSE else max(measures)
    counted = isinstance(worst, int) and not combined
    return Measured(worst, holds, measures.count(worst) if counted else None)


def split(records: Sequence[Record], at: int) -> list[list[Record]]:
    """Split a class by all sensitive values but one."""
    parts: dict[Record, list[Record]] = {}
    for row in records:
        parts.setdefault(row[:at] + row[at + 1 :], []).append(row)
    return list(parts.values())


def _vulnerability(
    parameters: Mapping[str, Any],
    classes: Sequence[Sequence[Record]],
    sensitive: Sequence[Attribute],
    name: str | None,
) -> Measured:
    records = sum(map(len, classes))
    right = len(classes)
    if parameters["target"] == "attribute-inference":
        at = [each.name for each in sensitive].index(str(name))
        right = sum(max(Counter(row[at] for row in own).values()) for own in classes)
    value = Fraction(right, records)
    return Measured(value, value <= exact(parameters["max"]))


def entries(
    constraints: Sequence[Mapping[str, Any]], sensitive: Sequence[Attribute]
) -> list[tuple[Mapping[str, Any], str | None]]:
    """Return each constraint with each sensitive attribute that it applies to."""
    found: list[tuple[Mapping[str, Any], str | None]] = []
    for own in constraints:
        re_identification = own.get("target") == "re-identification"
        if own["model"] == "k-anonymity" or re_identification:
            found.append((own, None))
        else:
            asked = own.get("attribute")
            found += [(own, each.name) for each in sensitive if asked in (None, each.name)]
    return found
