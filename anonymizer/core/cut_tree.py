"""How a multidimensional recoding came about: cuts that tell where a record belongs."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.core.arrays import BoolArray, CodeArray, IntArray


@dataclass(frozen=True, eq=False)
class CutTree:
    """Regions that were cut in two along the hierarchies, again and again; those at the end are published.

    Regions are numbered: those that the search began with first, both sides of a cut one after the other.

    Attributes
    ----------
    levels: of each quasi-identifier, at which the first regions are classes of equal nodes.
    first: these nodes of each of the first regions, shape (first regions, quasi-identifiers), int32.
    axis: quasi-identifier along which each region was cut, shape (regions,), int64; -1 where it was not.
    left: the left side of each cut, the right one being the next region, shape (regions,), int64.
    listed_right: whether the parts that are listed of a cut go to the right, and all others to the left;
        otherwise it is the other way round, shape (regions,), bool.
    starts: the listed parts of region i are ``parts[starts[i]:starts[i + 1]]``, shape (regions + 1,), int64.
    parts: nodes of the hierarchy of the cut's quasi-identifier, all of one cut at one level, int64.
    published: node of each quasi-identifier, for regions that were not cut, shape (regions,
        quasi-identifiers), int32.
    """

    levels: tuple[int, ...]
    first: CodeArray
    axis: IntArray
    left: IntArray
    listed_right: BoolArray
    starts: IntArray
    parts: IntArray
    published: CodeArray
