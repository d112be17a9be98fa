"""The recoding of a run, stored in recoding.json for new records, with cuts and compact arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, PlainValidator, TypeAdapter, ValidationError

from anonymizer.errors import InputError
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.recoding import CutTree, FullDomainRecoding, NodeRecoding, Recoding
from anonymizer.model.table import Hierarchy, QuasiIdentifier, Table


@dataclass(frozen=True, eq=False)
class Applied:
    """An earlier recoding on a table of new records.

    Attributes
    ----------
    uncovered: distinct rows that the earlier recoding cannot publish, shape (rows,), bool.
    recoding: returns the recoding of the table without some distinct rows, shape (rows,), bool.
    """

    uncovered: BoolArray
    recoding: Callable[[BoolArray], Recoding]


def applied_levels(kept: Mapping[str, int], table: Table) -> Applied:
    """Return a full-domain recoding on a table, which covers all rows; raises as ``levels_of`` does."""
    levels = levels_of(kept, table.quasi_identifiers)

    def recoding(suppressed: BoolArray) -> Recoding:
        return FullDomainRecoding(table, levels, suppressed, suppressed)

    return Applied(np.zeros(table.combinations, dtype=np.bool_), recoding)


def levels_of(kept: Mapping[str, int], attributes: Sequence[QuasiIdentifier]) -> list[int]:
    """Return the level of each quasi-identifier.

    Raises
    ------
    InputError: a hierarchy has no such level.
    """
    levels = []
    for attribute in attributes:
        level, highest = kept.get(attribute.name, -1), attribute.hierarchy.height
        if not 0 <= level <= highest:
            raise InputError(
                f"recoding.json: levels.{attribute.name}: {level}; the hierarchy has levels 0 to {highest}"
            )
        levels.append(level)
    return levels


AT_ONCE = 1 << 16
"""Numbers, or rows of them, that are written at a time: Python objects take several times their memory."""


def _array(value: Any, adapter: TypeAdapter[Any]) -> IntArray:
    if isinstance(value, np.ndarray):
        return value
    try:
        return np.array(adapter.validate_python(value), dtype=np.int64)
    except OverflowError as error:
        raise ValueError(str(error)) from None


_LIST: TypeAdapter[list[int]] = TypeAdapter(list[int])
_ROWS: TypeAdapter[list[list[int]]] = TypeAdapter(list[list[int]])

Numbers = Annotated[IntArray, PlainValidator(lambda value: _array(value, _LIST))]
"""Whole numbers of a model, shape (numbers,), int64; a list in JSON."""

Rows = Annotated[IntArray, PlainValidator(lambda value: _array(value, _ROWS))]
"""Rows of whole numbers of a model, shape (rows, columns), int64; a list of lists in JSON."""


def encoded(value: Any) -> Iterator[bytes]:
    """Return compact JSON in UTF-8, part by part; arrays are lists."""
    if isinstance(value, np.ndarray):
        yield b"["
        for first in range(0, len(value), AT_ONCE):
            yield b"," * bool(first)
            yield _dumped(value[first : first + AT_ONCE].tolist())[1:-1]
        yield b"]"
    elif isinstance(value, Mapping):
        yield b"{"
        for place, (name, own) in enumerate(value.items()):
            yield b"," * bool(place) + _dumped(name) + b":"
            yield from encoded(own)
        yield b"}"
    else:
        yield _dumped(value)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


Named = tuple[int, str]
"""A node of a hierarchy by level and label, which do not depend on the values it is built from."""


class KeptCuts(BaseModel, defer_build=True):
    """A tree of cuts; nodes are given by their place in ``nodes``.

    Attributes
    ----------
    attributes: the quasi-identifiers, in the order of the file.
    nodes: that occur, of each quasi-identifier.
    levels: at which the first regions are classes.
    first: nodes of each of the first regions.
    axis: quasi-identifier of each cut, -1 for a region that was not cut.
    left: the left side of each cut; the right one is the next region.
    listed_right: 1 if the listed parts go to the right and all others to the left.
    starts, parts: the parts of region i are ``parts[starts[i]:starts[i + 1]]``.
    published: nodes of each region that was not cut, in the order of the regions.
    """

    attributes: list[str]
    nodes: list[list[Named]]
    levels: list[int]
    first: Rows
    axis: Numbers
    left: Numbers
    listed_right: Numbers
    starts: Numbers
    parts: Numbers
    published: Rows

    def leaves(self, name: str) -> list[str]:
        """Return the values of an attribute that are nodes of the cuts themselves."""
        own = self.nodes[self.attributes.index(name)] if name in self.attributes else []
        return [label for level, label in own if level == 0]

    def finest(self, attributes: Sequence[QuasiIdentifier]) -> list[int]:
        """Return for each quasi-identifier the lowest level of a node in the cuts.

        Values under the same node at this level go to the same region.

        Raises
        ------
        InputError: the cuts have other quasi-identifiers.
        """
        self.check(attributes)
        return [
            min([first, *(level for level, _ in named), each.hierarchy.height])
            for each, first, named in zip(attributes, self.levels, self.nodes, strict=True)
        ]

    def check(self, attributes: Sequence[QuasiIdentifier]) -> None:
        """Check the quasi-identifiers of the cuts.

        Raises
        ------
        InputError: the cuts have other ones, or in another order.
        """
        if self.attributes != [each.name for each in attributes]:
            raise InputError(f"recoding.json: has cuts of {', '.join(self.attributes)}, in this order")


def keep_cuts(tree: CutTree, attributes: Sequence[QuasiIdentifier]) -> KeptCuts:
    """Return cuts with their nodes named."""
    ends = tree.published[tree.axis < 0]
    owner = np.repeat(np.arange(len(tree.axis)), np.diff(tree.starts))
    parts, nodes = np.zeros_like(tree.parts), []
    first, published = (np.zeros(own.shape, dtype=np.int64) for own in (tree.first, ends))
    for position, attribute in enumerate(attributes):
        mine = tree.axis[owner] == position
        used = np.unique(np.concatenate([tree.first[:, position], ends[:, position], tree.parts[mine]]))
        first[:, position] = np.searchsorted(used, tree.first[:, position])
        published[:, position] = np.searchsorted(used, ends[:, position])
        parts[mine] = np.searchsorted(used, tree.parts[mine])
        own = attribute.hierarchy
        nodes.append([(int(own.level[node]), own.labels[node]) for node in used.tolist()])
    return KeptCuts(
        attributes=[each.name for each in attributes],
        nodes=nodes,
        levels=list(tree.levels),
        first=first,
        axis=tree.axis,
        left=tree.left,
        listed_right=tree.listed_right.astype(np.int64),
        starts=tree.starts,
        parts=parts,
        published=published,
    )


def applied_cuts(kept: KeptCuts, table: Table) -> Applied:
    """Return the recoding of a table by the regions of earlier records.

    A distinct row goes down the cuts. If no earlier record at a cut had its value, it goes to the side that
    is published more generally. At the end, it must lie under all nodes that its region publishes; otherwise,
    or if it is outside all first regions, it is uncovered.

    Raises
    ------
    InputError: the cuts have other quasi-identifiers, or contradict each other.
    """
    kept.check(table.quasi_identifiers)
    try:
        walk = _Walk(kept, table)
        region = walk.regions()
        nodes, covered = walk.published(region)
    except IndexError:
        raise InputError("recoding.json: its cuts do not fit each other") from None

    def recoding(suppressed: BoolArray) -> Recoding:
        return NodeRecoding(table, nodes, suppressed, suppressed)

    return Applied(~covered, recoding)


class _Walk:
    """Assigns the distinct rows of a table to regions."""

    def __init__(self, kept: KeptCuts, table: Table) -> None:
        self._kept = kept
        self._table = table
        own = table.quasi_identifiers
        self._nodes = [_found(names, each.hierarchy) for names, each in zip(kept.nodes, own, strict=True)]
        self._leaf = [each.leaf[table.quasi_identifier_codes(i)] for i, each in enumerate(own)]
        self._axis, self._left = kept.axis, kept.left

    def regions(self) -> IntArray:
        """Return the uncut region of each distinct row, -1 without one, shape (rows,)."""
        region = self._first()
        listed = self._listed()
        while True:
            moving = np.flatnonzero((region >= 0) & (self._axis[region] >= 0))
            if not len(moving):
                return region
            here = region[moving]
            right = np.zeros(len(moving), dtype=bool)
            for position, (level, keys) in enumerate(listed):
                mine = np.flatnonzero(self._axis[here] == position)
                cuts = here[mine]
                tree = self._table.quasi_identifiers[position].hierarchy
                part = tree.ancestors[level[cuts], self._leaf[position][moving[mine]]]
                known = _among(cuts * len(tree.labels) + part, keys)
                right[mine] = known == self._kept.listed_right[cuts].astype(np.bool_)
            region[moving] = self._left[here] + right

    def _first(self) -> IntArray:
        """Return the first region of each distinct row, -1 without one."""
        key: dict[tuple[int, ...], int] = {}
        for number, nodes in enumerate(self._kept.first):
            found = tuple(int(own[node]) for own, node in zip(self._nodes, nodes, strict=True))
            key[found] = number
        own = [
            each.hierarchy.ancestors[min(level, each.hierarchy.height), leaf]
            for each, level, leaf in zip(
                self._table.quasi_identifiers, self._kept.levels, self._leaf, strict=True
            )
        ]
        distinct, inverse = np.unique(np.stack(own, axis=1), axis=0, return_inverse=True)
        numbers = np.array([key.get(tuple(row), -1) for row in distinct.tolist()], dtype=np.int64)
        return numbers[inverse.ravel()]

    def _listed(self) -> list[tuple[IntArray, IntArray]]:
        """Return for each quasi-identifier the level of each cut's parts, and sorted keys of cut and part."""
        owner = np.repeat(np.arange(len(self._axis)), np.diff(self._kept.starts))
        parts = self._kept.parts
        found = []
        for position, attribute in enumerate(self._table.quasi_identifiers):
            mine = self._axis[owner] == position
            cuts, own = owner[mine], parts[mine]
            named = np.array([each[0] for each in self._kept.nodes[position]], dtype=np.int64)
            level = np.zeros(len(self._axis), dtype=np.int64)
            level[cuts] = np.minimum(named[own], attribute.hierarchy.height)
            nodes = self._nodes[position][own]
            keys = cuts[nodes >= 0] * len(attribute.hierarchy.labels) + nodes[nodes >= 0]
            found.append((level, np.sort(keys)))
        return found

    def published(self, region: IntArray) -> tuple[CodeArray, BoolArray]:
        """Return the published nodes of each distinct row, and whether it lies under all of them."""
        place = np.cumsum(self._axis < 0) - 1
        kept = self._kept.published.reshape(-1, len(self._nodes))
        covered = region >= 0
        nodes = np.zeros((len(region), len(self._nodes)), dtype=np.int32)
        rows = np.flatnonzero(covered)
        for position, (own, leaf) in enumerate(zip(self._nodes, self._leaf, strict=True)):
            tree = self._table.quasi_identifiers[position].hierarchy
            found = own[kept[place[region[rows]], position]]
            # A hierarchy has no node without values under it.
            there = np.maximum(found, 0)
            under = (tree.first_leaf[there] <= leaf[rows]) & (leaf[rows] < tree.last_leaf[there])
            covered[rows] &= under & (found >= 0)
            nodes[rows, position] = there
        return nodes, covered


def _found(names: Sequence[Named], tree: Hierarchy) -> IntArray:
    """Return the node of each name, -1 if the hierarchy lacks it."""
    nodes = {
        (int(level), label): node
        for node, (level, label) in enumerate(zip(tree.level, tree.labels, strict=True))
    }
    return np.array([nodes.get((level, label), -1) for level, label in names], dtype=np.int64)


def _among(keys: IntArray, known: IntArray) -> BoolArray:
    """Return the keys that are among sorted ones, shape (keys,), bool."""
    if not len(known):
        return np.zeros(len(keys), dtype=np.bool_)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found: BoolArray = known[place] == keys
    return found


class StoredRecoding(BaseModel, defer_build=True):
    """A recoding without its records.

    Attributes
    ----------
    version: of the file format.
    levels: the generalization level of each quasi-identifier; None for regions.
    cuts: of regions; None for levels.
    depends_on: properties of the data that each quasi-identifier's hierarchy depends on, such as the length
        of the longest value if shorter ones are padded.
    """

    version: Literal[1] = Field(default=1, alias="schema")
    levels: dict[str, int] | None = None
    cuts: KeptCuts | None = None
    depends_on: dict[str, dict[str, Any]]

    @cached_property
    def encoded(self) -> bytes:
        """The bytes of recoding.json; equal recodings have equal bytes.

        A million regions take seconds, so the bytes are cached.
        """
        content = self.model_dump(by_alias=True, exclude_none=True, exclude={"cuts", "depends_on"})
        if self.cuts is not None:
            content["cuts"] = dict(self.cuts)
        return b"".join(encoded({**content, "depends_on": self.depends_on})) + b"\n"

    def spellings(self, name: str) -> list[str] | None:
        """Return spellings of values that cuts distinguish; None if every value is generalized."""
        if self.cuts is not None:
            return self.cuts.leaves(name)
        return [] if self.levels is not None and self.levels.get(name) == 0 else None

    def finest(self, attributes: Sequence[QuasiIdentifier]) -> list[int]:
        """Return levels at which values of equal generalization are recoded equally.

        Raises
        ------
        InputError: the recoding does not fit the hierarchies.
        """
        if self.cuts is not None:
            return self.cuts.finest(attributes)
        return levels_of(self.levels or {}, attributes)

    def applied_to(self, table: Table) -> Applied:
        """Return the recoding on another table.

        Raises
        ------
        InputError: the recoding does not fit its hierarchies.
        """
        if self.cuts is not None:
            return applied_cuts(self.cuts, table)
        return applied_levels(self.levels or {}, table)


def parse_kept(name: str, content: bytes) -> StoredRecoding:
    """Return the recoding in recoding.json.

    Parameters
    ----------
    name: of the file in messages.

    Raises
    ------
    InputError: the content is not a recoding.
    """
    try:
        kept = StoredRecoding.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise InputError(
            f"{name}: is not the recoding of an earlier run ('{where}' is wrong or missing)"
        ) from None
    if (kept.levels is None) == (kept.cuts is None):
        what = "is not the recoding of an earlier run; accepted: a file with either levels or cuts"
        raise InputError(f"{name}: {what}")
    return kept
