"""What a linker compares: combinations of original values with classes of published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.attacks.truth import links_of_pairs
from anonymizer.model.adversary import Links, Original, PublishedTable, ValueCoverage
from anonymizer.model.arrays import CodeArray, FloatArray, IntArray
from anonymizer.model.counting import count, numbered


@dataclass(frozen=True, eq=False)
class ComparisonSpace:
    """The distinct combinations of both files in the attributes that records are compared by.

    Attributes
    ----------
    names: of the attributes.
    meanings: what their published texts stand for.
    originals: codes of the original combinations, shape (originals, attributes), int32; distinct.
    records: original records that the intruder holds of each, shape (originals,), int64.
    classes: texts of the released combinations, shape (classes, attributes), int32; distinct.
    sizes: released records of each, shape (classes,), int64.
    truth: which originals became which classes, by the records that are to be linked.
    """

    names: tuple[str, ...]
    meanings: tuple[ValueCoverage, ...]
    originals: CodeArray
    records: IntArray
    classes: CodeArray
    sizes: IntArray
    truth: Links

    @cached_property
    def breadth(self) -> FloatArray:
        """Number of combinations of values that each class stands for, shape (classes,), float64."""
        values = [
            np.maximum(meaning.sizes, 1).astype(np.float64)[texts]
            for meaning, texts in zip(self.meanings, self.classes.T, strict=True)
        ]
        breadth: FloatArray = np.multiply.reduce(values)
        return breadth

    @property
    def cells(self) -> int:
        """Values to be compared for one original combination."""
        return len(self.sizes) * len(self.meanings)


def comparison_space(
    release: PublishedTable, original: Original, names: Sequence[str], held: IntArray, targets: Links
) -> ComparisonSpace:
    """Return what is compared when the attributes of these names are known.

    Parameters
    ----------
    held: records that the intruder holds of each original combination, shape (combinations,), int64.
    targets: links of the records that are to be linked, among those held.
    """
    own = [original.names.index(name) for name in names]
    published = [release.names.index(name) for name in names]
    some = np.flatnonzero(held)
    row_of, rows = _distinct(original.codes[some][:, own])
    class_of, classes = _distinct(release.codes[:, published])
    place = np.full(len(held), -1, dtype=np.int64)
    place[some] = row_of
    return ComparisonSpace(
        tuple(names),
        tuple(original.meanings[position] for position in own),
        rows,
        count(row_of, held[some], len(rows)),
        classes,
        count(class_of, release.counts, len(classes)),
        links_of_pairs(place[targets.original], class_of[targets.release], targets.counts),
    )


def _distinct(codes: CodeArray) -> tuple[IntArray, CodeArray]:
    """Return the number of each row's combination, and the distinct combinations."""
    keys, first = numbered(codes.T, len(codes))
    return keys, codes[first]
