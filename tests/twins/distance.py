"""Earth mover's distances, by moving the mass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from tests.twins.microdata import SensitiveSpec, Value, in_order

Distribution = Mapping[Value, Fraction]
Mass = dict[str, Fraction]


def equal(q: Distribution, p: Distribution, attribute: SensitiveSpec) -> Fraction:
    """Return half the sum of |q - p|."""
    values = set(q) | set(p)
    return sum((abs(q.get(v, Fraction(0)) - p.get(v, Fraction(0))) for v in values), Fraction(0)) / 2


def ordered(q: Distribution, p: Distribution, attribute: SensitiveSpec) -> Fraction:
    """Carry the excess from each value of the reference to the next one, m - 1 steps being distance 1."""
    values = in_order(set(p))
    if len(values) <= 1:
        return Fraction(0)
    carried = moved = Fraction(0)
    for value in values:
        carried += q.get(value, Fraction(0)) - p[value]
        moved += abs(carried)
    return moved / (len(values) - 1)


def hierarchical(q: Distribution, p: Distribution, attribute: SensitiveSpec) -> Fraction:
    """Match what is too much with what is too little, at the lowest common ancestor first.

    On a tree whose leaves have one depth, moving mass within the smallest subtree that can take it is
    optimal, and moving it over a node costs the node's height / the tree's height.
    """
    assert attribute.paths is not None
    surplus: Mass = {}
    deficit: Mass = {}
    for value in set(q) | set(p):
        extra = q.get(value, Fraction(0)) - p.get(value, Fraction(0))
        label = attribute.paths[value][0]
        surplus[label], deficit[label] = max(extra, Fraction(0)), max(-extra, Fraction(0))
    top = len(next(iter(attribute.paths.values()))) - 1
    cost = Fraction(0)
    for height in range(1, top + 1):
        parent = {path[height - 1]: path[height] for path in attribute.paths.values()}
        surplus, deficit = _collect(surplus, parent), _collect(deficit, parent)
        for node in surplus:
            matched = min(surplus[node], deficit[node])
            cost += matched * Fraction(height, top)
            surplus[node] -= matched
            deficit[node] -= matched
    return cost


def _collect(mass: Mass, parent: Mapping[str, str]) -> Mass:
    total: Mass = {}
    for node, amount in mass.items():
        total[parent[node]] = total.get(parent[node], Fraction(0)) + amount
    return total


DISTANCES: dict[str, Callable[[Distribution, Distribution, SensitiveSpec], Fraction]] = {
    "equal": equal,
    "ordered": ordered,
    "hierarchical": hierarchical,
}
