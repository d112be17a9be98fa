"""How the texts of columns become codes, and records keys that are packed of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from anonymizer.model.arrays import CodeArray
from anonymizer.model.counting import Packing

if TYPE_CHECKING:
    from anonymizer.engines.base import Relation


@dataclass(frozen=True, eq=False)
class Coding:
    """How the texts of a column become codes.

    Attributes
    ----------
    name: of the column.
    codes: code of each position in the relation's dictionary of the column, shape (distinct texts,), int32;
        several positions may have one code.
    size: number of codes; each is in [0, size).
    """

    name: str
    codes: CodeArray
    size: int


def packed_column_by_column(relation: Relation, codings: Sequence[Coding]) -> Packing:
    """Pack the codes of each record, in the input's order; no two columns are in memory at once."""
    packing = Packing(relation.rows)
    for coding in codings:
        packing.add(coding.codes[relation.codes(coding.name)], coding.size)
    return packing


def fitting(codings: Sequence[Coding], space: int) -> int:
    """Return how many of some columns, from the first on, have no more combinations of codes than a space."""
    number = 0
    while number < len(codings) and prod(max(each.size, 1) for each in codings[: number + 1]) < space:
        number += 1
    return number
