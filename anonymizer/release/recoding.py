"""The recoding of a run, stored in recoding.json for new records, with cuts, classes and compact arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, PlainValidator, TypeAdapter, ValidationError

from anonymizer.errors import InputError
from anonymizer.model.arrays import BoolArray, CodeArray, FloatArray, IntArray
from anonymizer.model.recoding import (
    Cells,
    CutTree,
    FullDomainRecoding,
    NodeRecoding,
    Recoding,
    distinct_nodes,
)
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


class KeptNodes(BaseModel, defer_build=True):
    """A recoding by nodes, which are given by their place in ``nodes``.

    Attributes
    ----------
    attributes: the quasi-identifiers, in the order of the file.
    nodes: that occur, of each quasi-identifier.
    """

    attributes: list[str]
    nodes: list[list[Named]]

    def leaves(self, name: str) -> list[str]:
        """Return the values of an attribute that are nodes themselves."""
        own = self.nodes[self.attributes.index(name)] if name in self.attributes else []
        return [label for level, label in own if level == 0]

    def lowest(self, attributes: Sequence[QuasiIdentifier]) -> list[int]:
        """Return for each quasi-identifier the lowest level of a node.

        Raises
        ------
        InputError: the recoding has other quasi-identifiers.
        """
        self.check(attributes)
        return [
            min([each.hierarchy.height, *(level for level, _ in named)])
            for each, named in zip(attributes, self.nodes, strict=True)
        ]

    def found(self, attributes: Sequence[QuasiIdentifier]) -> list[IntArray]:
        """Return the node of each name in the hierarchies, -1 without one."""
        return [_found(names, each.hierarchy) for names, each in zip(self.nodes, attributes, strict=True)]

    def check(self, attributes: Sequence[QuasiIdentifier]) -> None:
        """Check the quasi-identifiers of the recoding.

        Raises
        ------
        InputError: it has other ones, or in another order.
        """
        if self.attributes != [each.name for each in attributes]:
            raise InputError(f"recoding.json: has nodes of {', '.join(self.attributes)}, in this order")


class KeptCuts(KeptNodes, defer_build=True):
    """A tree of cuts.

    Attributes
    ----------
    levels: at which the first regions are classes.
    first: nodes of each of the first regions.
    axis: quasi-identifier of each cut, -1 for a region that was not cut.
    left: the left side of each cut; the right one is the next region.
    listed_right: 1 if the listed parts go to the right and all others to the left.
    starts, parts: the parts of region i are ``parts[starts[i]:starts[i + 1]]``.
    published: nodes of each region that was not cut, in the order of the regions.
    """

    levels: list[int]
    first: Rows
    axis: Numbers
    left: Numbers
    listed_right: Numbers
    starts: Numbers
    parts: Numbers
    published: Rows

    def finest(self, attributes: Sequence[QuasiIdentifier]) -> list[int]:
        """Return for each quasi-identifier the lowest level of a node in the cuts.

        Values under the same node at this level go to the same region.

        Raises
        ------
        InputError: the cuts have other quasi-identifiers.
        """
        return [min(pair) for pair in zip(self.levels, self.lowest(attributes), strict=True)]


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
        return EarlierNodes(table, nodes, suppressed, suppressed)

    return Applied(~covered, recoding)


@dataclass(frozen=True, eq=False)
class EarlierNodes(NodeRecoding):
    """New records at nodes of an earlier release, published as they are there.

    A tree has only nodes above values of its records. Where few new values are under a node, several nodes
    cover the same ones, and a run on these records alone would publish the lowest.

    Attributes
    ----------
    texts: of each quasi-identifier, the published text by node where the earlier release has another than
        the tree.
    """

    texts: Sequence[Mapping[int, str]] = ()

    def shared_cells(self, position: int) -> Cells:
        """Return a quasi-identifier by its nodes; those of equal texts are one."""
        attribute = self.table.quasi_identifiers[position]
        own: Mapping[int, str] = self.texts[position] if self.texts else {}
        labels = list(distinct_nodes(attribute)[1])
        for node, text in own.items():
            labels[node] = text
        used = np.unique(self.nodes[:, position])
        _, first, same = np.unique(
            np.array([labels[node] for node in used.tolist()], dtype=np.str_),
            return_index=True,
            return_inverse=True,
        )
        shown = np.arange(len(labels), dtype=np.int32)
        shown[used] = used[first[same.ravel()]]
        return Cells(attribute.node_values, labels, shown[self.nodes[:, position]])


class KeptClasses(KeptNodes, defer_build=True):
    """The classes of a local recoding.

    Attributes
    ----------
    texts: published texts of ``nodes``.
    published: nodes of each class, in the order in which classes are tried for a new record.
    """

    texts: list[list[str]]
    published: Rows

    def rows(self, attributes: Sequence[QuasiIdentifier]) -> CodeArray:
        """Return the nodes of the classes, without those that new values cannot join.

        Raises
        ------
        InputError: the classes have other quasi-identifiers, or other nodes than they list.
        """
        self.check(attributes)
        listed = self.published.reshape(-1, len(attributes))
        try:
            own = [nodes[listed[:, place]] for place, nodes in enumerate(self.found(attributes))]
        except IndexError:
            raise InputError("recoding.json: its classes have nodes that it does not list") from None
        rows: CodeArray = np.stack(own, axis=1).astype(np.int32)
        return rows[(rows >= 0).all(axis=1)]


def keep_classes(recoding: NodeRecoding, costs: Sequence[FloatArray]) -> KeptClasses:
    """Return the classes of a local recoding, those of the lowest cost first.

    Parameters
    ----------
    costs: of the nodes of each quasi-identifier, shape (nodes,).
    """
    attributes = recoding.table.quasi_identifiers
    own = recoding.nodes if recoding.region_of is None else recoding.nodes[recoding.region_of]
    own = own[~(recoding.suppressed | recoding.removed)]
    names = [distinct_nodes(each) for each in attributes]
    shown = np.stack([canonical[own[:, place]] for place, (canonical, _) in enumerate(names)], axis=1)
    shown = np.unique(shown, axis=0)
    cost = np.zeros(len(shown))
    for place, of_nodes in enumerate(costs):
        cost += of_nodes[shown[:, place]]
    shown = shown[np.argsort(cost, kind="stable")]
    nodes, texts, published = [], [], np.zeros(shown.shape, dtype=np.int64)
    for place, (each, (_, labels)) in enumerate(zip(attributes, names, strict=True)):
        used, published[:, place] = np.unique(shown[:, place], return_inverse=True)
        tree = each.hierarchy
        nodes.append([(int(tree.level[node]), tree.labels[node]) for node in used.tolist()])
        texts.append([labels[node] for node in used.tolist()])
    named = [each.name for each in attributes]
    return KeptClasses(attributes=named, nodes=nodes, texts=texts, published=published)


def applied_classes(kept: KeptClasses, table: Table) -> Applied:
    """Return the recoding of a table by the classes of an earlier release.

    A distinct row joins the first class whose nodes are all above its values. That depends on these values
    and on what is published already, so that nothing else is learned from where a record went.

    Raises
    ------
    InputError: the classes have other quasi-identifiers, or contradict each other.
    """
    attributes = table.quasi_identifiers
    rows = kept.rows(attributes)
    joined = first_covering(rows, table)
    uncovered = joined < 0
    # What an uncovered row would be published as is never read.
    roots = np.zeros((1, len(attributes)), dtype=np.int32)
    nodes = np.concatenate([rows, roots])[joined]
    texts = [
        {node: text for node, text in zip(found.tolist(), own, strict=True) if node >= 0}
        for found, own in zip(kept.found(attributes), kept.texts, strict=True)
    ]

    def recoding(suppressed: BoolArray) -> Recoding:
        return EarlierNodes(table, nodes, suppressed, suppressed, texts=texts)

    return Applied(uncovered, recoding)


PAIRS = 1 << 24
"""Pairs of a distinct row and a class that are looked at together, at most."""


def first_covering(classes: CodeArray, table: Table) -> IntArray:
    """Return the first class that covers each distinct row of a table, -1 without one, shape (rows,).

    Classes are a tree with an attribute at each depth. All rows go down at once: a row may follow several
    branches, one for each node above its value that a class has.

    Parameters
    ----------
    classes: nodes of distinct classes, shape (classes, quasi-identifiers).
    """
    best = np.full(table.combinations, len(classes), dtype=np.int64)
    if len(classes):
        # The attribute that tells most classes apart comes first, so that few branches are followed.
        different = [-len(np.unique(column)) for column in classes.T]
        steps = _branches(classes, table.quasi_identifiers, np.argsort(different, kind="stable").tolist())
        for start in range(0, table.combinations, max(1, PAIRS // len(classes))):
            rows = np.arange(start, min(start + max(1, PAIRS // len(classes)), table.combinations))
            below = np.zeros(len(rows), dtype=np.int64)
            for step in steps:
                rows, below = step.followed(rows, below, table)
            np.minimum.at(best, rows, steps[-1].classes[below])
    return np.where(best < len(classes), best, -1)


@dataclass(frozen=True, eq=False)
class _Branch:
    """A depth of the tree of classes.

    Attributes
    ----------
    place: of the attribute.
    keys: of the beginning of a class and its node here, ascending; their places are the next beginnings.
    classes: that each beginning here belongs to; of the last depth it is the only one.
    """

    place: int
    keys: IntArray
    classes: IntArray

    def followed(self, rows: IntArray, below: IntArray, table: Table) -> tuple[IntArray, IntArray]:
        """Return the pairs of rows and beginnings that classes go on with from given pairs."""
        attribute = table.quasi_identifiers[self.place]
        tree = attribute.hierarchy
        leaf = attribute.leaf[table.quasi_identifier_codes(self.place)[rows]]
        found = []
        for level in range(tree.height + 1):
            key = below * len(tree.labels) + tree.ancestors[level, leaf]
            place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            pairs = np.flatnonzero(self.keys[place] == key)
            found.append((rows[pairs], place[pairs]))
        return np.concatenate([own for own, _ in found]), np.concatenate([own for _, own in found])


def _branches(
    classes: CodeArray, attributes: Sequence[QuasiIdentifier], order: Sequence[int]
) -> list[_Branch]:
    """Return the depths of the tree of classes, by attributes in an order."""
    begun, found = np.zeros(len(classes), dtype=np.int64), []
    for place in order:
        key = begun * len(attributes[place].hierarchy.labels) + classes[:, place]
        keys, first, begun = np.unique(key, return_index=True, return_inverse=True)
        found.append(_Branch(place, keys, first))
    return found


class _Walk:
    """Assigns the distinct rows of a table to regions."""

    def __init__(self, kept: KeptCuts, table: Table) -> None:
        self._kept = kept
        self._table = table
        own = table.quasi_identifiers
        self._nodes = kept.found(own)
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
    levels: the generalization level of each quasi-identifier; of each recoding only one of these three.
    cuts: of regions.
    classes: of local recoding.
    depends_on: properties of the data that each quasi-identifier's hierarchy depends on, such as the length
        of the longest value if shorter ones are padded.
    """

    version: Literal[1] = Field(default=1, alias="schema")
    levels: dict[str, int] | None = None
    cuts: KeptCuts | None = None
    classes: KeptClasses | None = None
    depends_on: dict[str, dict[str, Any]]

    @cached_property
    def encoded(self) -> bytes:
        """The bytes of recoding.json; equal recodings have equal bytes.

        A million regions take seconds, so the bytes are cached.
        """
        content = self.model_dump(by_alias=True, exclude_none=True, exclude={"cuts", "classes", "depends_on"})
        if self.nodes is not None:
            content["classes" if self.cuts is None else "cuts"] = dict(self.nodes)
        return b"".join(encoded({**content, "depends_on": self.depends_on})) + b"\n"

    @property
    def nodes(self) -> KeptNodes | None:
        """The cuts or classes."""
        return self.classes if self.cuts is None else self.cuts

    @property
    def exact(self) -> bool:
        """Whether the recoding published each record of its own run as it would publish a new one.

        Local recoding publishes equal records in several classes, and others not in the first.
        """
        return self.classes is None

    def spellings(self, name: str) -> list[str] | None:
        """Return spellings of values that nodes distinguish; None if every value is generalized."""
        if self.nodes is not None:
            return self.nodes.leaves(name)
        return [] if self.levels is not None and self.levels.get(name) == 0 else None

    def finest(self, attributes: Sequence[QuasiIdentifier]) -> list[int]:
        """Return levels at which values of equal generalization are recoded equally.

        Raises
        ------
        InputError: the recoding does not fit the hierarchies.
        """
        if self.cuts is not None:
            return self.cuts.finest(attributes)
        if self.classes is not None:
            return self.classes.lowest(attributes)
        return levels_of(self.levels or {}, attributes)

    def applied_to(self, table: Table) -> Applied:
        """Return the recoding on another table.

        Raises
        ------
        InputError: the recoding does not fit its hierarchies.
        """
        if self.cuts is not None:
            return applied_cuts(self.cuts, table)
        if self.classes is not None:
            return applied_classes(self.classes, table)
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
    if sum(own is not None for own in (kept.levels, kept.cuts, kept.classes)) != 1:
        what = "is not the recoding of an earlier run; accepted: a file with either levels, cuts or classes"
        raise InputError(f"{name}: {what}")
    return kept
