"""Minimality: sensitive values follow from the fact that nothing finer was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from anonymizer.attacks.base import (
    ORIGINAL,
    Attack,
    AttackResult,
    UnitSettings,
    known_columns,
    targets_of,
    unit_is_known,
)
from anonymizer.attacks.tail import exposing_certain
from anonymizer.model.adversary import AdversaryView, MechanismKnowledge, Original, SensitiveConstraint
from anonymizer.model.arrays import BoolArray, IntArray, count, group_keys
from anonymizer.model.classes import Classes
from anonymizer.plugins import needs


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of the released classes if one attribute is a level finer.

    Attributes
    ----------
    of_link: part of each link, shape (links,), int64.
    owner: released class of each part, shape (parts,), int64.
    sizes: records of each part, shape (parts,), int64.
    split: whether the class has other parts, shape (parts,), bool.
    """

    of_link: IntArray
    owner: IntArray
    sizes: IntArray
    split: BoolArray


class Minimality(Attack):
    """Share of records in parts of a class that must violate a constraint, as nothing finer was published.

    The adversary knows all quasi-identifiers, the config and the release. A transformation one level finer in
    one attribute has a lower loss, so it was not valid. If all its classes are large enough, one of them must
    violate a constraint on sensitive values. The published counts show which parts of a released class can do
    so: for l distinct values, a part of c records iff the l - 1 most frequent values of the class have c
    records. A part is certain if it violates the constraint in every assignment of values in which some part
    does: no other part can; or all parts that can are in one class, and no other of them can without leaving
    this one fewer than l values. With constraints other than distinct ones, only the first reason counts.

    k-anonymity alone reveals nothing: it depends on quasi-identifiers only, which the adversary knows.

    Where it is known whose the records are, it is the share of persons, or other units, with a record in such
    a part. The constraints are on records: what a finer transformation breaks of others is not derived.

    Source: Wong, Fu, Wang, Pei, "Minimality attack in privacy preserving data publishing" (VLDB 2007).
    """

    name = "minimality"
    needs_recipe = True
    threat = None
    Settings = UnitSettings
    settings: UnitSettings
    examples = ({"sensitive": ["illness"]},)
    requires = (
        ORIGINAL,
        needs(
            "a release by lattice that is proven best and suppresses nothing, with constraints that look at "
            "one class at a time and count records",
            lambda _, adversary: adversary.recipe is not None,
        ),
        needs(
            "a release of all original records, without suppressed ones",
            lambda _, adversary: adversary.original.links.records == adversary.original.records,
        ),
        needs(
            "original records with every quasi-identifier of the release",
            lambda _, adversary: adversary.original.names == adversary.release.names,
        ),
        unit_is_known,
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:  # noqa: ARG003 - always 0
        """Return the share of targets about which the choice of the release tells too much."""
        who = f"An adversary who knows the config and every person's {known_columns(knowledge)}"
        learns = f"learns more about {success} of the {targets_of(knowledge)} than the constraints allow"
        return f"{who} {learns}, from the fact that nothing finer was released."

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Return the result over all transformations one level finer."""
        original, recipe = self.required_original(adversary), adversary.recipe
        assert recipe is not None, "it is a requirement"
        links = original.links
        disclosed = np.zeros(len(links.counts), dtype=bool)
        nodes: list[dict[str, Any]] = []
        for position, name in enumerate(original.names):
            if recipe.levels[position] > recipe.lowest[position] and recipe.counted[position]:
                parts = _parts(adversary, original, position, recipe.levels[position] - 1)
                certain = _certain(adversary.release.classes(original.names), recipe, parts)
                disclosed |= certain[parts.of_link]
                nodes.append(
                    {
                        "attribute": name,
                        "too_small": int((parts.sizes < recipe.size).sum()),
                        "certain": int(certain.sum()),
                    }
                )
        known: dict[str, Any] = {
            "attributes": list(original.names),
            "sensitive": [own.sensitive for own in recipe.promises],
        }
        details = {"finer_nodes": nodes}
        success = Fraction(int(links.counts[disclosed].sum()), original.records)
        number = adversary.release.records
        owned = adversary.owned_by(self.settings.unit)
        if owned is not None:
            known["unit"] = owned.unit
            told = disclosed[links.of_pairs(owned.original, owned.release)]
            success, number = owned.reached(told), owned.number
        return [exposing_certain(self.counted(adversary, known, success, Fraction(0), details, number))]


def _parts(adversary: AdversaryView, original: Original, position: int, level: int) -> _Parts:
    """Return the parts of the released classes if one attribute is published at a level."""
    links, meaning = original.links, original.meanings[position]
    assert meaning.hierarchy is not None
    assert meaning.leaf is not None
    nodes = meaning.hierarchy.ancestors[level][meaning.leaf[original.codes[links.original, position]]]
    classes = adversary.release.classes(original.names)
    size = len(meaning.hierarchy.labels)
    own = classes.class_of[links.release]
    of_link, keys = group_keys(own * size + nodes, classes.number * size)
    owner = keys // size
    split = np.bincount(owner, minlength=classes.number)[owner] > 1
    return _Parts(of_link, owner, count(of_link, links.counts, len(keys)), split)


def _certain(classes: Classes, recipe: MechanismKnowledge, parts: _Parts) -> BoolArray:
    """Return which parts must violate a constraint, shape (parts,), bool."""
    nothing = np.zeros(len(parts.sizes), dtype=bool)
    if (parts.sizes < recipe.size).any():
        return nothing  # small classes explain why they were not published; the adversary learns nothing
    able = nothing.copy()
    for constraint in recipe.promises:
        able |= _able(classes, constraint, parts)
    suspects = np.flatnonzero(able)
    if len(suspects) <= 1:
        return able
    if len(recipe.promises) > 1 or len(np.unique(parts.owner[suspects])) > 1:
        return nothing
    return _certain_suspects(classes, recipe.promises[0], parts, suspects)


def _able(classes: Classes, constraint: SensitiveConstraint, parts: _Parts) -> BoolArray:
    """Return which parts can violate a constraint that their class satisfies, shape (parts,), bool."""
    if constraint.distinct is None:
        return parts.split
    absent, frequent = _room(classes, constraint, constraint.distinct - 1)
    return parts.split & (parts.sizes <= (absent + frequent)[parts.owner])


def _room(classes: Classes, constraint: SensitiveConstraint, most: int) -> tuple[IntArray, IntArray]:
    """Return the records of each class without a value that counts, and those with its most frequent values.

    Parameters
    ----------
    most: number of most frequent values.
    """
    counts, _ = classes.sensitive_counts(constraint.sensitive)
    missing = counts.attribute.column.missing
    apart = counts.values == (-1 if missing is None or constraint.missing_counts else missing)
    number = len(counts.starts) - 1
    order = np.lexsort((-counts.counts, apart, counts.owners))  # sorted within each class
    rank = np.arange(len(order)) - counts.starts[counts.owners]
    chosen = order[(rank < most) & ~apart[order]]
    return (
        count(counts.owners[apart], counts.counts[apart], number),
        count(counts.owners[chosen], counts.counts[chosen], number),
    )


def _certain_suspects(
    classes: Classes, constraint: SensitiveConstraint, parts: _Parts, suspects: IntArray
) -> BoolArray:
    """Return which of several suspects in one class violate the constraint if any of them does."""
    certain = np.zeros(len(parts.sizes), dtype=bool)
    if constraint.distinct is None:
        return certain
    position = int(parts.owner[suspects[0]])
    absent, frequent = (each[position] for each in _room(classes, constraint, constraint.distinct - 1))
    distinct = _distinct(classes, constraint, position)
    spare = absent + frequent - min(constraint.distinct - 1, distinct)
    for suspect in suspects:
        others = parts.sizes[suspects[suspects != suspect]]
        used_up = np.maximum(others - spare, 0)  # values whose records are all in the other suspect
        certain[suspect] = bool((distinct - used_up < constraint.distinct).all())
    return certain


def _distinct(classes: Classes, constraint: SensitiveConstraint, position: int) -> int:
    """Return the number of distinct values of a class that count."""
    counts, _ = classes.sensitive_counts(constraint.sensitive)
    missing = None if constraint.missing_counts else counts.attribute.column.missing
    return sum(value != missing for value, _ in counts.of_class(position))
