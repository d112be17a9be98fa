"""How a release was made, as far as its recipient may know it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SensitiveConstraint:
    """A constraint on the sensitive values of each class.

    Attributes
    ----------
    sensitive: name of the attribute.
    distinct: least number of distinct values where the constraint asks for that and no more, None for others.
    missing_counts: whether a missing value is one of them.
    """

    sensitive: str
    distinct: int | None = None
    missing_counts: bool = False


@dataclass(frozen=True)
class MechanismKnowledge:
    """A search that published the node of lowest loss, and would have published any valid one of lower loss.

    There is a recipe only where that is so: full-domain recoding, proven optimal, suppression limit 0, an
    objective that is lower for every node whose classes are parts of the published ones, and constraints on
    single classes alone.

    Attributes
    ----------
    levels: published generalization level of each quasi-identifier, in the order of the original's.
    lowest: the level that each may have at least.
    counted: whether the objective counts the quasi-identifier at all.
    size: fewest records that a class may have by any of the constraints.
    promises: the constraints on sensitive values.
    """

    levels: tuple[int, ...]
    lowest: tuple[int, ...]
    counted: tuple[bool, ...]
    size: int
    promises: tuple[SensitiveConstraint, ...]
