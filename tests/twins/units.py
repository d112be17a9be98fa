"""The privacy models where persons are counted, straight from the definitions.

A class maps each person to the set of that person's sensitive values in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tests.twins.microdata import SensitiveSpec, Value
from tests.twins.privacy import CLASS_TWINS, distinct, natural_log

Persons = Mapping[Any, frozenset[Value]]
"""The values of each person; for a model without an attribute any set."""


def holds(
    model: str,
    parameters: Mapping[str, Any],
    own: Persons,
    reference: Persons,
    attribute: SensitiveSpec | None,
) -> bool:
    """Tell whether a class satisfies a model."""
    of = {
        key: Fraction(str(value)) if isinstance(value, float) else value for key, value in parameters.items()
    }
    if model == "k-anonymity":
        return len(own) >= of["k"]
    assert attribute is not None
    pairs, others = values_of(own), values_of(reference)
    if model == "alpha-k-anonymity":
        return len(own) >= of["k"] and max(shares(own).values()) <= of["alpha"]
    if model == "p-sensitive-k-anonymity":
        return len(own) >= of["k"] and distinct(pairs, attribute) >= of["p"]
    if model in ("basic-beta-likeness", "enhanced-beta-likeness"):
        return within_gain(of["beta"], shares(own), shares(reference), enhanced=model.startswith("enhanced"))
    if model == "delta-disclosure":
        return disclosed(of, shares(own), shares(reference))
    return CLASS_TWINS[model](parameters).holds(pairs, others, attribute)


def values_of(persons: Persons) -> list[Value]:
    """Return every value once for each person who has it."""
    return [value for values in persons.values() for value in values]


def shares(persons: Persons) -> dict[Value, Fraction]:
    """Return the share of persons who have each value; with several a person they add up to more than one."""
    return {value: Fraction(count, len(persons)) for value, count in Counter(values_of(persons)).items()}


def within_gain(
    beta: Fraction, q: dict[Value, Fraction], p: dict[Value, Fraction], *, enhanced: bool
) -> bool:
    for value, share in q.items():
        gain = (share - p[value]) / p[value]
        if gain > 0 and (gain > beta or (enhanced and gain > Fraction(-natural_log(p[value])))):
            return False
    return True


def disclosed(of: Mapping[str, Any], q: dict[Value, Fraction], p: dict[Value, Fraction]) -> bool:
    if of.get("absent", "violates") == "violates" and set(p) - set(q):
        return False
    return all(Fraction(natural_log(q[value] / p[value]).copy_abs()) < of["delta"] for value in q)
