"""Minimality: that nothing finer was published tells about the sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from anonymizer.attacks.base import Attack, AttackResult
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, MechanismKnowledge, Original, SensitiveConstraint
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes
from anonymizer.model.counting import count, group_keys


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts into which the released classes fall when one attribute is a level finer.

    Attributes
    ----------
    of_link: part of each link, shape (links,), int64.
    owner: released class of each part, shape (parts,), int64.
    sizes: records of each part, shape (parts,), int64.
    split: whether its class has other parts, shape (parts,), bool.
    """

    of_link: IntArray
    owner: IntArray
    sizes: IntArray
    split: BoolArray


class Minimality(Attack):
    """Share of records in parts of a class that must violate a constraint, as nothing finer was published.

    The adversary knows the quasi-identifiers of everybody, the config and the release. A node of the lattice
    one level finer in one attribute has a lower loss, so it was not valid. If all its classes are large
    enough, one of them must violate a constraint on sensitive values. From the published counts it is known
    which parts of a released class can do so: with l distinct values asked for, one of c records iff the
    l - 1 most frequent values of the class have c records. A part is certain when it violates the constraint
    in every way to deal the values of its class out to its parts by which some part does: it is the only one
    that can; or those that can are all of one class, and no other can violate it without leaving this one
    fewer than l values. Where other constraints stand beside or instead of distinct ones, only the first
    reason counts.

    k-anonymity alone tells nothing: it is decided by quasi-identifiers, which the adversary knows anyway.

    Source: Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing" (VLDB 2007).
    """

    name = "minimality"
    threat = None

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """Everybody's quasi-identifiers and a search that would have published anything better are needed."""
        if scene.original is None:
            return "original records"
        if scene.recipe is None:
            return (
                "a proven optimal full-domain release without suppression, under constraints on "
                "single classes"
            )
        if scene.original.links.records != scene.original.records:
            return "a release that contains all original records"
        if scene.original.names != scene.release.names:
            return "original records with every quasi-identifier of the release"
        return None

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Look at each node that is one level finer."""
        lacking = self.missing_requirement(scene)
        if lacking is not None or scene.original is None or scene.recipe is None:
            raise InputError(f"{scene.release.source}: the attack minimality needs {lacking}")
        original, recipe, links = scene.original, scene.recipe, scene.original.links
        told = np.zeros(len(links.counts), dtype=bool)
        nodes: list[dict[str, Any]] = []
        for position, name in enumerate(original.names):
            if recipe.levels[position] > recipe.lowest[position] and recipe.counted[position]:
                parts = _parts(scene, original, position, recipe.levels[position] - 1)
                certain = _certain(scene.release.classes(original.names), recipe, parts)
                told |= certain[parts.of_link]
                nodes.append(
                    {
                        "attribute": name,
                        "too_small": int((parts.sizes < recipe.size).sum()),
                        "certain": int(certain.sum()),
                    }
                )
        success = Fraction(int(links.counts[told].sum()), original.records)
        known = {"attributes": list(original.names), "sensitive": [own.sensitive for own in recipe.promises]}
        return [self.counted(scene, known, success, Fraction(0), {"finer_nodes": nodes})]


def _parts(scene: AdversaryView, original: Original, position: int, level: int) -> _Parts:
    """Return what the released classes fall into when one attribute is published at a level."""
    links, meaning = original.links, original.meanings[position]
    assert meaning.hierarchy is not None
    assert meaning.leaf is not None
    nodes = meaning.hierarchy.ancestors[level][meaning.leaf[original.codes[links.original, position]]]
    classes = scene.release.classes(original.names)
    size = len(meaning.hierarchy.labels)
    own = classes.class_of[links.release]
    of_link, keys = group_keys(own * size + nodes, classes.number * size)
    owner = keys // size
    split = np.bincount(owner, minlength=classes.number)[owner] > 1
    return _Parts(of_link, owner, count(of_link, links.counts, len(keys)), split)


def _certain(classes: Classes, recipe: MechanismKnowledge, parts: _Parts) -> BoolArray:
    """Tell which parts must violate a constraint, shape (parts,), bool."""
    nothing = np.zeros(len(parts.sizes), dtype=bool)
    if (parts.sizes < recipe.size).any():
        return nothing  # reason enough not to publish them, which the adversary sees by himself
    able = nothing.copy()
    for promise in recipe.promises:
        able |= _able(classes, promise, parts)
    suspects = np.flatnonzero(able)
    if len(suspects) <= 1:
        return able
    if len(recipe.promises) > 1 or len(np.unique(parts.owner[suspects])) > 1:
        return nothing
    return _bound_together(classes, recipe.promises[0], parts, suspects)


def _able(classes: Classes, promise: SensitiveConstraint, parts: _Parts) -> BoolArray:
    """Tell which parts of a class can violate a constraint that the class satisfies, shape (parts,), bool."""
    if promise.distinct is None:
        return parts.split
    absent, frequent = _room(classes, promise, promise.distinct - 1)
    able: BoolArray = parts.split & (parts.sizes <= (absent + frequent)[parts.owner])
    return able


def _room(classes: Classes, promise: SensitiveConstraint, most: int) -> tuple[IntArray, IntArray]:
    """Return the records of each class without a value that counts, and those of its most frequent values.

    Parameters
    ----------
    most: how many of these values.
    """
    counts, _ = classes.sensitive_counts(promise.sensitive)
    missing = counts.attribute.column.missing
    apart = counts.values == (-1 if missing is None or promise.missing_counts else missing)
    number = len(counts.starts) - 1
    order = np.lexsort((-counts.counts, apart, counts.owners))  # each class's entries stay where they were
    rank = np.arange(len(order)) - counts.starts[counts.owners]
    chosen = order[(rank < most) & ~apart[order]]
    return (
        count(counts.owners[apart], counts.counts[apart], number),
        count(counts.owners[chosen], counts.counts[chosen], number),
    )


def _bound_together(
    classes: Classes, promise: SensitiveConstraint, parts: _Parts, suspects: IntArray
) -> BoolArray:
    """Tell which of several suspects in one class violate the constraint whichever of them does."""
    certain = np.zeros(len(parts.sizes), dtype=bool)
    if promise.distinct is None:
        return certain
    position = int(parts.owner[suspects[0]])
    absent, frequent = (each[position] for each in _room(classes, promise, promise.distinct - 1))
    distinct = _distinct(classes, promise, position)
    spare = absent + frequent - min(promise.distinct - 1, distinct)
    for suspect in suspects:
        others = parts.sizes[suspects[suspects != suspect]]
        used_up = np.maximum(others - spare, 0)  # values that another one must take all records of
        certain[suspect] = bool((distinct - used_up < promise.distinct).all())
    return certain


def _distinct(classes: Classes, promise: SensitiveConstraint, position: int) -> int:
    """Return how many values of a class count."""
    counts, _ = classes.sensitive_counts(promise.sensitive)
    missing = None if promise.missing_counts else counts.attribute.column.missing
    return sum(value != missing for value, _ in counts.of_class(position))
