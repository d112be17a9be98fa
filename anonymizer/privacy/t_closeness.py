"""t-closeness, and the earth mover's distance between a class and the reference distribution.

There are three ground distances of the values: equal, ordered and hierarchical.

Source of all three: Li, Li, Venkatasubramanian (ICDE 2007, doi:10.1109/ICDE.2007.367856), section 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, group_keys
from anonymizer.model.classes import ClassView, Reference, SensitiveCounts
from anonymizer.model.table import Hierarchy, SensitiveAttribute
from anonymizer.plugins import Exact, Settings, Threat
from anonymizer.privacy.base import (
    CLOSE,
    CountConditions,
    Deviation,
    Merging,
    PrivacyModel,
    ScoredClassModel,
    Threshold,
    resolve_near_ties,
    whole_records,
)

Entries = list[tuple[int, int]]

STEPS = 8
"""Most steps of Newton's method; few classes need more than four."""

DOUBT = 1e-11
"""More than the error of a sum of shares."""


class GroundDistance(ABC):
    """Distances between sensitive values, between 0 and 1."""

    @abstractmethod
    def scores(self, counts: SensitiveCounts, sizes: IntArray, reference: Reference) -> FloatArray:
        """Return EMD(q, p) of each class, shape (classes,), float64 in [0, 1]."""

    @abstractmethod
    def exactly(self, entries: Entries, attribute: SensitiveAttribute, reference: Reference) -> Fraction:
        """Return EMD(q, p) of one class, given as (value code, count) pairs."""

    def most_kept(
        self, counts: SensitiveCounts, sizes: IntArray, reference: Reference, t: float, excess: FloatArray
    ) -> FloatArray:
        """Return an upper bound on the records of each class that any split keeps, shape (classes,).

        What is kept of a class together is at most t from the reference too, by convexity: EMD <= (1 - f) t
        + f if a share f is lost.

        Parameters
        ----------
        t: below 1.
        excess: EMD(q, p) - t of each class, shape (classes,), positive.
        """
        return sizes * (1 - excess / (1 - t))

    @abstractmethod
    def deviation(self, attribute: SensitiveAttribute, reference: Reference, t: Fraction) -> Deviation:
        """Return EMD(q, p) <= t as a bound on the counts of nested groups of values."""


def _extras(entries: Entries, reference: Reference) -> list[Fraction]:
    """Return q - p of every value code exactly."""
    size = sum(count for _, count in entries)
    extras = [Fraction(-count, reference.total) for count in reference.counts.tolist()]
    for value, count in entries:
        extras[value] += Fraction(count, size)
    return extras


class EqualDistance(GroundDistance):
    """All different values are at distance 1: half the sum of |q - p|."""

    def scores(self, counts: SensitiveCounts, sizes: IntArray, reference: Reference) -> FloatArray:
        """Sum the positive differences q - p, which equal the negative ones."""
        extra = counts.counts / sizes[counts.owners] - reference.counts[counts.values] / reference.total
        return np.add.reduceat(np.maximum(extra, 0), counts.starts[:-1])

    def most_kept(
        self, counts: SensitiveCounts, sizes: IntArray, reference: Reference, t: float, excess: FloatArray
    ) -> FloatArray:
        """Return the most records of a class whose values are at most t from the reference.

        Of y kept records, at least (1 - t) y match those that the reference expects: of a value with c
        records in the class min(c, p y). That these suffice is a concave function of y, so that Newton's
        method comes down to its last root, and each step is an upper bound.
        """
        own, expected = counts.counts, (reference.counts / reference.total)[counts.values]
        # Near 0 all kept records match, where p gives the values of the class so large a share.
        some = np.add.reduceat(expected, counts.starts[:-1]) > 1 - t - DOUBT
        most = np.where(some, sizes, 0.0)
        lengths, left = np.diff(counts.starts), np.arange(len(sizes))
        for _ in range(STEPS):
            entries = np.repeat(some, lengths)
            own, expected, lengths, left = own[entries], expected[entries], lengths[some], left[some]
            if not len(left):
                break
            starts = np.cumsum(lengths) - lengths
            scarce = own < expected * np.repeat(most[left], lengths)
            matched = np.add.reduceat(own * scarce, starts)
            room = 1 - t - np.add.reduceat(expected * ~scarce, starts)
            some = room * most[left] - matched > CLOSE * most[left]
            most[left[some]] = matched[some] / (room[some] - DOUBT)
        return most * (1 + CLOSE)

    def exactly(self, entries: Entries, attribute: SensitiveAttribute, reference: Reference) -> Fraction:
        """Return half the sum of |q - p|."""
        return sum((abs(extra) for extra in _extras(entries, reference)), Fraction(0)) / 2

    def deviation(self, attribute: SensitiveAttribute, reference: Reference, t: Fraction) -> Deviation:
        """Return one group for each value."""
        values = np.arange(len(reference.counts))
        return Deviation(values, np.full(len(values), -1), reference.counts, reference.total, 2 * t, 2)


class OrderedDistance(GroundDistance):
    """Values are equally spaced in their order: sum of |cumulative (q - p)| / (m - 1).

    m counts the values of the reference; with m = 1 the distance is 0.
    """

    def scores(self, counts: SensitiveCounts, sizes: IntArray, reference: Reference) -> FloatArray:
        """Sum |Q - P| over the stretches between the values of a class, on which Q is constant.

        P ascends, so each stretch splits where P passes Q; prefix sums of P give both parts.
        """
        present = reference.present.copy()
        present[counts.values] = True
        values = int(present.sum())
        if values <= 1:
            return np.zeros(len(sizes))
        cumulative = np.cumsum(reference.counts[present]) / reference.total
        prefix = np.concatenate([[0.0], np.cumsum(cumulative)])
        rank = (np.cumsum(present) - 1)[counts.values]
        total = np.cumsum(counts.counts)
        before = total[counts.starts[1:] - 1] - sizes
        level = (total - before[counts.owners]) / sizes[counts.owners]
        last = counts.starts[1:] - 1
        end = np.append(rank[1:], 0)
        end[last] = values - 1
        split = np.clip(np.searchsorted(cumulative, level), rank, end)
        stretch = level * (2 * split - rank - end) + prefix[rank] + prefix[end] - 2 * prefix[split]
        sums = np.add.reduceat(stretch, counts.starts[:-1]) + prefix[rank[counts.starts[:-1]]]
        scores: FloatArray = np.maximum(sums / (values - 1), 0)
        return scores

    def exactly(self, entries: Entries, attribute: SensitiveAttribute, reference: Reference) -> Fraction:
        """Return the sum of |cumulative (q - p)| / (m - 1)."""
        own = {value for value, _ in entries}
        extras = [
            extra
            for value, extra in enumerate(_extras(entries, reference))
            if reference.counts[value] > 0 or value in own
        ]
        if len(extras) <= 1:
            return Fraction(0)
        return sum((abs(part) for part in accumulate(extras)), Fraction(0)) / (len(extras) - 1)

    def deviation(self, attribute: SensitiveAttribute, reference: Reference, t: Fraction) -> Deviation:
        """Return one group for each value of the reference and all values before it, except the last."""
        present = reference.present
        stretches = max(int(present.sum()) - 1, 0)
        rank = np.cumsum(present) - 1
        group_of = np.where(present & (rank < stretches), rank, -1)
        parent = np.arange(1, stretches + 1)
        parent[-1:] = -1
        expected = np.cumsum(reference.counts[present])[:stretches]
        return Deviation(group_of, parent, expected, reference.total, t * stretches, stretches, steady=False)


class HierarchicalDistance(GroundDistance):
    """The height of the lowest common ancestor of two values / height of the hierarchy.

    The cost is the sum over inner nodes of height / H times the smaller of the positive and the negative
    extra of its children.
    """

    def scores(self, counts: SensitiveCounts, sizes: IntArray, reference: Reference) -> FloatArray:
        """Sum over the levels from the leaves up; a node without values of the class has no cost."""
        tree, leaf = _tree(counts.attribute)
        scores = np.zeros(len(sizes))
        owners, nodes = counts.owners, tree.ancestors[0][leaf[counts.values]].astype(np.int64)
        shares = counts.counts / sizes[owners]
        for height in range(tree.height):
            expected = _node_shares(tree, leaf, reference, height)
            excess = np.maximum(shares - expected[nodes], 0)
            groups, distinct = group_keys(
                owners * len(tree.labels) + tree.parent[nodes], len(sizes) * len(tree.labels)
            )
            owners, nodes = distinct // len(tree.labels), distinct % len(tree.labels)
            positive = np.bincount(groups, weights=excess, minlength=len(distinct))
            shares = np.bincount(groups, shares, len(distinct)).astype(np.float64)
            extra = shares - _node_shares(tree, leaf, reference, height + 1)[nodes]
            moved = np.minimum(positive, np.maximum(positive - extra, 0))
            scores += (height + 1) / tree.height * np.bincount(owners, weights=moved, minlength=len(sizes))
        return scores

    def exactly(self, entries: Entries, attribute: SensitiveAttribute, reference: Reference) -> Fraction:
        """Return the cost over all inner nodes."""
        tree, leaf = _tree(attribute)
        extras: dict[int, Fraction] = {}
        for value, extra in enumerate(_extras(entries, reference)):
            node = int(tree.ancestors[0][leaf[value]])
            extras[node] = extras.get(node, Fraction(0)) + extra
        total = Fraction(0)
        for height in range(1, tree.height + 1):
            inner: dict[int, list[Fraction]] = {}
            for node, extra in extras.items():
                inner.setdefault(int(tree.parent[node]), []).append(extra)
            for children in inner.values():
                positive = sum((extra for extra in children if extra > 0), Fraction(0))
                negative = sum((-extra for extra in children if extra < 0), Fraction(0))
                total += Fraction(height, tree.height) * min(positive, negative)
            extras = {node: sum(children, Fraction(0)) for node, children in inner.items()}
        return total

    def deviation(self, attribute: SensitiveAttribute, reference: Reference, t: Fraction) -> Deviation:
        """Return one group for each node but the root.

        The cost at a node is half the deviations of its children less half its own. In the sum over all
        nodes, each deviation has the factor (height of its parent - its own height) / 2 H.
        """
        tree, leaf = _tree(attribute)
        nodes = len(tree.labels)
        # Preorder, read backwards, puts children before parents.
        parent = np.where(tree.parent > 0, nodes - 1 - tree.parent, -1)[:0:-1].astype(np.int64)
        by_node = np.zeros(nodes, dtype=np.int64)
        for level in range(tree.height):
            np.add.at(by_node, tree.ancestors[level][leaf], reference.counts)
        group_of = nodes - 1 - tree.ancestors[0][leaf].astype(np.int64)
        if not tree.height:
            group_of = np.full(len(leaf), -1)
        return Deviation(
            group_of, parent, by_node[:0:-1], reference.total, 2 * tree.height * t, 2 * tree.height
        )


def _tree(attribute: SensitiveAttribute) -> tuple[Hierarchy, IntArray]:
    assert attribute.hierarchy is not None
    assert attribute.leaf is not None, f"sensitive attribute {attribute.name} has no hierarchy"
    return attribute.hierarchy, attribute.leaf.astype(np.int64)


def _node_shares(tree: Hierarchy, leaf: IntArray, reference: Reference, level: int) -> FloatArray:
    """Return p of each node at a level, shape (nodes,); 0 for nodes of other levels."""
    shares = reference.counts / reference.total
    return np.bincount(tree.ancestors[level][leaf], shares, len(tree.labels)).astype(np.float64)


GROUND_DISTANCES: dict[str, GroundDistance] = {
    "equal": EqualDistance(),
    "ordered": OrderedDistance(),
    "hierarchical": HierarchicalDistance(),
}
"""The ground distances by their name in a config."""

DistanceName = Literal["equal", "ordered", "hierarchical"]


class TClosenessSettings(Settings):
    """Parameters of t-closeness."""

    t: Annotated[Exact, Field(ge=0, le=1, description="maximum distance from the reference distribution")]
    distance: Annotated[
        DistanceName | None,
        Field(description="ground distance; default: the attribute's, else ordered for numbers and dates"),
    ] = None


class TCloseness(ScoredClassModel):
    """The distribution of the sensitive attribute in every class is close to the reference.

    EMD(q, p) <= t, the earth mover's distance over the values' ground distance. A missing sensitive value
    counts in q and p; it is the last of the ordered values and, unless placed, a child of the root.

    Source: Li, Li, Venkatasubramanian (ICDE 2007, doi:10.1109/ICDE.2007.367856), definition 2, section 4.
    """

    name = "t-closeness"
    sensitive = True
    uses_reference = True
    Settings = TClosenessSettings
    settings: TClosenessSettings
    examples = (
        {"t": 0.5},
        {"t": 0.3, "distance": "equal"},
        {"t": 0.25, "distance": "ordered"},
        {"t": 0.2, "distance": "hierarchical"},
        {"t": 0.1},
        {"t": 0.05, "distance": "equal"},
        {"t": 0, "distance": "hierarchical"},
    )
    mitigates = frozenset({Threat.SKEWNESS, Threat.SIMILARITY})
    thresholds = (Threshold("t", 1),)
    merging = Merging.SATISFYING

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return one probe for each ground distance that the attribute has."""
        names: list[DistanceName] = ["equal"]
        if attribute is not None and (attribute.column.type.ordered or attribute.distance == "ordered"):
            names.append("ordered")
        if attribute is not None and attribute.hierarchy is not None:
            names.append("hierarchical")
        return [cls(TClosenessSettings(t=Decimal(1), distance=name)) for name in names]

    def along_hierarchy(self, attribute: SensitiveAttribute) -> bool:
        """Return whether the ground distance is the hierarchical one."""
        return self.distance(attribute) is GROUND_DISTANCES["hierarchical"]

    def distance(self, attribute: SensitiveAttribute) -> GroundDistance:
        """Return the ground distance: the constraint's own, else the attribute's, else by its type."""
        default = "ordered" if attribute.column.type.ordered else "equal"
        return GROUND_DISTANCES[self.settings.distance or attribute.distance or default]

    def scores(self, view: ClassView, reference: Reference | None) -> FloatArray:
        """Return EMD(q, p) of each class."""
        assert reference is not None
        counts = view.counted
        return self.distance(counts.attribute).scores(counts, view.totals, reference)

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        """Return which classes are at most t from the reference."""
        assert reference is not None
        counts, t = view.counted, Fraction(self.settings.t)
        distance = self.distance(counts.attribute)
        margins = self.scored(view, reference) - float(t)
        return resolve_near_ties(
            margins <= 0,
            margins,
            1.0,
            lambda i: tuple(counts.of_class(i)),
            lambda i: distance.exactly(counts.of_class(i), counts.attribute, reference) <= t,
        )

    def retention(
        self, attribute: SensitiveAttribute | None, missing: int | None, reference: Reference | None
    ) -> CountConditions | None:
        """Bound the distance; values that the reference lacks cannot remain."""
        assert attribute is not None
        assert reference is not None
        deviation = self.distance(attribute).deviation(attribute, reference, Fraction(self.settings.t))
        caps = tuple(Fraction(int(present)) for present in reference.present.tolist())
        return CountConditions(caps=None if all(caps) else caps, deviations=(deviation,))

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        """Bound the loss by what can be kept together, which is at most t from the reference as well."""
        assert reference is not None
        t, losses = float(self.settings.t), np.zeros(len(view.sizes), dtype=np.int64)
        if t == 1 or holds.all():
            return losses
        failing = ~holds
        part = view if failing.all() else ClassView(view.sizes[failing], view.counted.keep(failing))
        counts, excess = part.counted, self.scored(view, reference)[failing] - t
        kept = self.distance(counts.attribute).most_kept(counts, part.sizes, reference, t, excess)
        losses[failing] = whole_records(part.sizes - kept, part, holds[failing])
        return losses
