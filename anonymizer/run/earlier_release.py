"""The earlier run that a batch is appended to: its report, stored recoding and release, checked to agree.

The config must request the same as the earlier run. Values of the batch are placed in the hierarchies like
equal values in the earlier run. If distinct rows do not fit in memory, they are distinguished only as far as
the earlier recoding does.

The file recoding.json stores a recoding, with cuts and compact arrays, to be applied to new records.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import BaseModel, Field, PlainValidator, TypeAdapter, ValidationError

from anonymizer.audit.claims import parse_report
from anonymizer.config.files import ReportedText
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin, Reference
from anonymizer.data.relation import Relation
from anonymizer.data.table import ReadColumn, recoded_as
from anonymizer.data.values import Key, key_of
from anonymizer.errors import ConfigError, ConfigProblem, DataError, InputError, listed, plural, suggestion
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.recoding import CutTree, FullDomainRecoding, NodeRecoding, Outcome, Recoding
from anonymizer.model.report import Report
from anonymizer.model.table import Hierarchy, NumberLabels, QuasiIdentifier, Role, Table, ValueType
from anonymizer.privacy.base import AttackModel, ClassModel
from anonymizer.release.folder import PUBLIC_REPORT, RECODING, SHARE
from anonymizer.report.public import public_report
from anonymizer.run.plan import NO_SOURCES, Plan, plan_of
from anonymizer.run.prepare import Prepared, check_search, problem_of, read_attributes, row_limit_message
from anonymizer.system import check_file


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


def store_recoding(
    prepared: Prepared,
    outcome: Outcome,
    sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES,
) -> StoredRecoding | None:
    """Return a recoding without its records; None if it cannot be applied to others.

    Parameters
    ----------
    sources: hierarchies that were used in place of the plan's.
    """
    recoding, levels, cuts = outcome.recoding, None, None
    if outcome.cuts is not None:
        cuts = keep_cuts(outcome.cuts, prepared.problem.table.quasi_identifiers)
    # A subclass publishes more than the levels, such as buckets.
    elif type(recoding) is FullDomainRecoding:
        names = [each.name for each in recoding.table.quasi_identifiers]
        levels = dict(zip(names, recoding.levels, strict=True))
    else:
        return None
    depends_on = {}
    for read in prepared.encoded.columns:
        name, planned = read.column.name, prepared.plan.columns[read.column.name]
        if planned.role is Role.QUASI_IDENTIFIER and planned.hierarchy is not None:
            source = sources.get(name) or planned.hierarchy.source
            depends_on[name] = source.depends_on(read.column)
    return StoredRecoding(levels=levels, cuts=cuts, depends_on=depends_on)


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


ACCEPTED = "accepted: report.json of a run that ended with a release"

MISSING_FILE = "apply needs this file of the earlier run, next to {place}; put it back, or check apply.report"

COMPARED = ("config", "attributes", "release", "constraints", "recoding")
"""Sections that must agree in the public and the internal report of the earlier run."""


class _File(BaseModel, defer_build=True):
    path: str
    sha256: str


class _Release(_File, ReportedText):
    rows: int
    verified: Literal[True]


class _Search(BaseModel, defer_build=True):
    algorithm: str


class _Attribute(BaseModel, defer_build=True):
    role: str
    type: ValueType | None
    hierarchy_sha256: str | None


class PreviousReport(BaseModel, defer_build=True):
    """What the report of an earlier run must contain."""

    version: Literal[1] = Field(alias="schema")
    status: Literal["satisfied"]
    config: dict[str, Any]
    attributes: dict[str, _Attribute]
    release: _Release
    search: _Search
    recoding: dict[str, Any]
    recoding_file: _File | None = None


@dataclass(frozen=True, eq=False)
class Previous:
    """An earlier run whose recoding is to be applied.

    Attributes
    ----------
    path: of its report.
    reported: its content.
    config: of that run, from its report.
    release: path of the released file.
    recoding: to apply.
    files: every file of the earlier run that is read.
    """

    path: Path
    reported: PreviousReport
    config: Config
    release: Path
    recoding: StoredRecoding
    files: tuple[Path, ...]

    @property
    def types(self) -> dict[str, ValueType | None]:
        """The types of the columns by name; None if the type has no effect."""
        return {name: each.type for name, each in self.reported.attributes.items()}


def read_previous(path: Path) -> Previous:
    """Read an earlier run from its report.

    Raises
    ------
    InputError: the report is missing, its recoding cannot be applied to other records, or the files of the
        earlier run do not belong together.
    """
    content = _read(path, ACCEPTED)
    found = parse_report(PreviousReport, path, content, ACCEPTED)
    if found.recoding_file is None:
        if (path.parent / RECODING).exists():
            raise InputError(
                f"{path}: does not mention {RECODING}, which is in its folder; use the unchanged report of "
                "that run"
            )
        raise InputError(
            f"{path}: the recoding by algorithm {found.search.algorithm} cannot be applied to new records; "
            "accepted: a run of lattice, or of mondrian in strict mode with labels hierarchy, without "
            "suppressed cells"
        )
    if not found.release.path.startswith(f"{SHARE}/"):
        raise InputError(
            f"{path}: the earlier release is '{found.release.path}'; accepted: a file in {SHARE}/"
        )
    folder = path.parent
    kept = folder / found.recoding_file.path
    recoding = _whole(kept, found.recoding_file.sha256, path.name)
    config = _config(path, found.config)
    _compare_reports(path, content, config)
    parsed = parse_kept(str(kept), recoding)
    if parsed.levels != found.recoding.get("levels"):
        raise InputError(f"{kept}: its levels differ from those in {path.name}")
    release = folder / found.release.path
    files = (path, kept, release, folder / SHARE / PUBLIC_REPORT)
    return Previous(path, found, config, release, parsed, files)


def _read(path: Path, accepted: str) -> bytes:
    try:
        return check_file(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; {accepted}") from None


def _whole(kept: Path, sha256: str, report: str) -> bytes:
    """Return the content of recoding.json, checked against the SHA-256 in the report."""
    content = _read(kept, MISSING_FILE.format(place=report))
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(
            f"{kept}: is not the recoding that belongs to {report} (SHA-256 differs); "
            "restore the file of that run"
        )
    return content


def _config(path: Path, content: dict[str, Any]) -> Config:
    try:
        return load_config(content).located(Origin(str(path), path.parent))
    except ConfigError as error:
        first = error.problems[0]
        raise InputError(f"{path}: its config has a problem: {first}") from None


def _compare_reports(path: Path, content: bytes, config: Config) -> None:
    """Check that the public report of a release agrees with the internal one.

    Raises
    ------
    InputError: the public report is missing, or one of the two was changed.
    """
    public = path.parent / SHARE / PUBLIC_REPORT
    try:
        claimed = json.loads(_read(public, MISSING_FILE.format(place="the release")))
    except ValueError:
        raise InputError(f"{public}: is not JSON") from None
    try:
        expected = public_report(Report(json.loads(content)), plan_of(config).k_of_reports).to_dict()
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: is not the report of a release; {ACCEPTED}") from None
    for key in COMPARED:
        if not isinstance(claimed, dict) or claimed.get(key) != expected[key]:
            raise InputError(
                f"{public}: '{key}' differs from {path.name}; one of the two files was changed; "
                "restore both from the earlier run"
            )


@dataclass(frozen=True, eq=False)
class NewRecords:
    """The records to append.

    Attributes
    ----------
    prepared: the records as a problem, with the column types of the earlier run.
    sources: hierarchies by name, which place values like those of the earlier run.
    """

    prepared: Prepared
    sources: Mapping[str, HierarchySource[Any]]


def read_new_records(
    plan: Plan, previous: Previous, earlier: Relation, relation: Relation, *, searches: bool
) -> NewRecords:
    """Read new records with the types and hierarchies of the earlier run.

    Parameters
    ----------
    earlier: the earlier release.
    searches: whether another recoding may be searched.

    Raises
    ------
    InputError: a value is not of the column's type or not in its hierarchy, the hierarchy would differ for
        these records, or a search that may follow needs all distinct rows in memory.
    """
    typed = plan.typed(previous.types, "the earlier run")
    columns = read_attributes(typed, relation)
    check_columns_of(earlier, relation, typed)
    for name in typed.with_role(Role.QUASI_IDENTIFIER):
        spellings = previous.recoding.spellings(name)
        if spellings is not None:
            columns[name] = _respelled(columns[name], earlier, spellings)
    sources = _sources(typed, previous, columns)
    prepared = problem_of(typed, relation, columns, sources)
    if searches:
        check_search(prepared)
    return NewRecords(prepared, sources)


def check_columns_of(earlier: Relation, relation: Relation, plan: Plan) -> None:
    """Check that the earlier release and the new records have the same released columns.

    Raises
    ------
    DataError: they differ.
    """
    expected = set(plan.released(relation.columns))
    if set(earlier.columns) != expected:
        raise DataError(
            f"{earlier.name}: has columns {', '.join(earlier.columns)}; {relation.name} would be released "
            f"with {', '.join(sorted(expected))}"
        )


def _respelled(read: ReadColumn, earlier: Relation, spellings: Sequence[str]) -> ReadColumn:
    """Return a column whose values are spelled like equal values in the earlier run.

    Parameters
    ----------
    earlier: the earlier release.
    spellings: of values in the earlier recoding.
    """
    column = read.column
    key = key_of(column.type, column.numerals, column.dates)
    known: dict[Key | None, str] = {}
    published = [text for text, _ in earlier.dictionary(column.name) if text is not None]
    for text in (*spellings, *published):
        found = key(text)
        if found is not None:
            known.setdefault(found, text)
    texts = (known.get(key(text), text) for text in column.present)
    return replace(read, column=replace(column, texts=(*texts, *column.texts[len(column.present) :])))


def _sources(
    plan: Plan, previous: Previous, columns: Mapping[str, ReadColumn]
) -> dict[str, HierarchySource[Any]]:
    sources = {}
    for name, before in previous.recoding.depends_on.items():
        hierarchy = plan.columns[name].hierarchy
        assert hierarchy is not None, "the configs have the same hierarchies"
        sources[name] = hierarchy.source.as_for(columns[name].column, before)
    return sources


def coarsened(prepared: Prepared, recoding: StoredRecoding) -> Prepared:
    """Return the records with a coarser table if the distinct rows do not fit in memory.

    Each value is replaced by the lowest one under its node at the finest level of the recoding. Both are
    published equally, so all measures are the same.

    Raises
    ------
    InputError: the recoding does not fit the hierarchies, or even the coarser table does not fit in memory.
    """
    problem = prepared.problem
    if problem.source is None:
        return prepared
    attributes = problem.table.quasi_identifiers
    levels = recoding.finest(attributes)
    table = problem.source.at(levels, problem.most)
    if table is None:
        named = ", ".join(f"{each.name} {level}" for each, level in zip(attributes, levels, strict=True))
        raise InputError(
            f"{row_limit_message(prepared.counted)}, even at the levels of the earlier recoding ({named}); "
            "raise engine.memory_limit or engine.options.combinations, or append the records in several parts"
        )
    encoded = recoded_as(prepared.encoded, table)
    # The levels that may be published are those of the attributes, not of the coarser table.
    whole = replace(table, quasi_identifiers=attributes)
    return replace(
        prepared, problem=replace(problem, table=whole, source=None, placing=False), encoded=encoded
    )


REMEDY = "use the value of the earlier run, or run without apply"


def check_compatible(config: Config, previous: Previous) -> None:
    """Check that the config promises the same as the earlier run.

    Raises
    ------
    ConfigError: settings differ, or a constraint needs the earlier original records.
    """
    problems = [*_attributes(config, previous), *_constraints(config, previous), *_promises(previous.config)]
    if problems:
        raise ConfigError(config.source, problems)


def _attributes(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    for name in previous.config.attributes:
        if name not in config.attributes:
            what = "missing; the earlier run has this column; add it, or run without apply"
            yield ConfigProblem(f"attributes.{name}", what)
    plan = plan_of(config)
    for name, settings in config.attributes.items():
        where = f"attributes.{name}"
        if name not in previous.config.attributes:
            yield ConfigProblem(
                where, f"the earlier run has no such column; {suggestion(name, previous.types)}"
            )
            continue
        own, other = settings.to_dict(), previous.config.attributes[name].to_dict()
        # Two spellings of dates that are not generalized would reveal which records are new.
        spelled = ("format", "pivot") if settings.role is Role.SENSITIVE else ()
        for key in ("role", "type", *spelled, "levels", "distance"):
            if own.get(key) != other.get(key) and not (
                key == "type" and own.get(key) == previous.types.get(name)
            ):
                yield ConfigProblem(f"{where}.{key}", _differs(own.get(key), other.get(key)))
        earlier = previous.config.attributes[name]
        if earlier.number_labels is not NumberLabels.RANGE or earlier.bands or settings.bands:
            what = f"the earlier run has labels: {earlier.labels}, so apply cannot add records to its release"
            if earlier.labels is None:
                what = f"'{settings.labels}'; the earlier run released the values as they are"
            yield ConfigProblem(f"{where}.labels", f"{what}; run on all records without apply")
        reported = previous.reported.attributes.get(name)
        if plan.digest(name) != (None if reported is None else reported.hierarchy_sha256):
            what = "differs from the hierarchy of the earlier run (SHA-256)"
            yield ConfigProblem(
                f"{where}.hierarchy", f"{what}; use the hierarchy of the earlier run, or run without apply"
            )


def _constraints(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    own = [each.to_dict() for each in config.constraints]
    other = [each.to_dict() for each in previous.config.constraints]
    if len(own) != len(other):
        number = plural(len(own), "constraint")
        what = f"{number}, but the earlier run has {len(other)}"
        yield ConfigProblem("constraints", f"{what}; use those of the earlier run, or run without apply")
    for position, (one, before) in enumerate(zip(own, other, strict=False)):
        if one != before:
            yield ConfigProblem(f"constraints[{position}]", _differs(one, before))
    decimal = "input.decimal" if config.output.decimal is None else "output.decimal"
    now, then = (
        {
            "reference": each.reference.value,
            "input.missing": list(each.input.missing),
            "output.missing": each.output.missing,
            decimal: each.numerals.decimal,
        }
        for each in (config, previous.config)
    )
    yield from (ConfigProblem(key, _differs(now[key], then[key])) for key in now if now[key] != then[key])
    for position, settings in enumerate(config.constraints):
        model = settings.build()
        if isinstance(model, AttackModel):
            what = f"{model.name} needs all original records, and the earlier ones are not available"
            yield ConfigProblem(f"constraints[{position}]", f"{what}; run on all records without apply")
        if config.reference is Reference.INPUT and isinstance(model, ClassModel) and model.uses_reference:
            what = f"{model.name} compares with all original records, and the earlier ones are not available"
            remedy = "run on all records without apply, with reference: release if you append later"
            yield ConfigProblem(f"constraints[{position}]", f"{what}; {remedy}")


def _promises(earlier: Config) -> Iterator[ConfigProblem]:
    """Yield what the earlier run promises beyond its constraints, which no config with ``apply`` can."""
    promises = {
        "scenarios": earlier.scenarios,
        "input.person.release_as": earlier.input.pseudonym,
        "suppression.whole": earlier.suppression.whole,
        "suppression.unit": earlier.suppression.unit,
    }
    found = [key for key, given in promises.items() if given is not None]
    if earlier.counts_units:
        found.append("constraints that count persons or other units")
    if found:
        what = f"the earlier run has {listed(found)}, which cannot be checked on appended records"
        yield ConfigProblem("apply", f"{what}; run on all records without apply")


def _differs(own: Any, other: Any) -> str:
    return f"{_as_written(own)}, but the earlier run has {_as_written(other)}; {REMEDY}"


def _as_written(value: Any) -> str:
    """Return a value of the config for a message: a list or mapping as YAML on one line."""
    if isinstance(value, str):
        return repr(value)
    if value is None:
        return "nothing"
    written = yaml.safe_dump(
        [value], default_flow_style=True, sort_keys=False, width=2**31, allow_unicode=True
    )
    return written.strip()[1:-1]
