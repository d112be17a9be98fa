"""``audit``: a release verified from the file and its report alone, as a recipient would do it.

A report is read again for its claims, which the audit verifies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from anonymizer.attacks.adversary_view import linked, possible_links, same_values
from anonymizer.attacks.generalized_values import meaning_of
from anonymizer.audit.anatomy import classes_for, read_pair
from anonymizer.audit.claims import ABSENT, Claims, as_reported, parse_report
from anonymizer.audit.classes import count_classes
from anonymizer.config.attribute import Role
from anonymizer.config.document import distinct_keys
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.data.relation import Projection, Relation, changed
from anonymizer.data.source import is_url, sha256_of
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import ConfigError, HierarchyError, InputError, OutputError
from anonymizer.hierarchy.ready import ready_folder
from anonymizer.loss.base import all_losses
from anonymizer.model.adversary import AdversaryView, Links, PublishedTable, ValueCoverage
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes, released
from anonymizer.model.counting import count
from anonymizer.model.recoding import (
    COUNT,
    GROUP,
    FullDomainRecoding,
    LocalSuppressionRecoding,
    NodeRecoding,
    Recoding,
    distinct_nodes,
)
from anonymizer.model.table import SUPPRESSED, QuasiIdentifier, SensitiveAttribute, Table, ValueType
from anonymizer.privacy.base import Constraint
from anonymizer.release.anatomy import AnatomyFiles, find_anatomy_files
from anonymizer.release.folder import PUBLIC_REPORT, RECODING
from anonymizer.release.formats import release_separator
from anonymizer.run.adversary import read_release
from anonymizer.run.audit_checks import CHECKS, AuditCase, missing_cells
from anonymizer.run.plan import Plan, plan_of
from anonymizer.run.prepare import open_as, open_release, prepare_table
from anonymizer.run.shape import attribute_in_groups
from anonymizer.search.anatomy import renumbered
from anonymizer.search.base import SearchProblem
from anonymizer.search.mondrian.algorithm import LabelName, MondrianSettings, labelling_of
from anonymizer.search.mondrian.labelling import Labelling
from anonymizer.search.mondrian.regions import Regions, Segments

TextArray = NDArray[np.object_]

AGGREGATING = ("microaggregation",)
"""Algorithms whose published numbers stand for no value of the input, so that records cannot be matched."""


def check_input(case: AuditCase, report: Path) -> list[str]:
    """Compare a release with the input, where the report is the internal one and the input is at hand.

    Parameters
    ----------
    report: where the report lies.

    Returns
    -------
    What of the release was not compared.

    Raises
    ------
    InputError: the input cannot be read as the config says.
    """
    nothing = [AGAINST_THE_INPUT, *([GROUP_ORDER] if case.in_groups else [])]
    folder = None if case.appended else _folder_of_input(case, report)
    if folder is None:
        return [*nothing, COLUMN_ORDER]
    config = case.config.located(Origin(str(report), folder))
    with _opened_input(config) as source:
        _check_facts(case, source)
        _check_column_order(case, source)
        _check_untouched(case, source)
        job = prepare_table(plan_of(config), source)
        if job.problem.source is not None:
            return nothing
        table = job.problem.table
        if case.in_groups:
            _check_lowest(case, table)
        columns = [each.column for each in table.quasi_identifiers]
        for column in (*columns, *(each.column for each in table.sensitive)):
            case.claims.compare(("attributes", column.name, "type"), column.type.value)
        if case.claims.get(("search", "algorithm")) in AGGREGATING:
            return nothing
        matched = _matched(case, table)
        if case.in_groups:
            _check_group_order(case, table)
            return [AGAINST_THE_INPUT]
        return [] if _check_losses(case, job.problem, matched) else nothing


def check_recoding_file(case: AuditCase, report: Path) -> None:
    """Compare the hash of the file that further records are recoded by, where it lies beside the report.

    Parameters
    ----------
    report: where the report lies.
    """
    claims, key = case.claims, ("recoding_file",)
    path = report.parent / RECODING
    if not claims.internal or not path.is_file():
        return
    claims.expect((), key)
    if claims.get(key) is not ABSENT:
        claims.compare((*key, "path"), RECODING)
        claims.compare((*key, "sha256"), sha256_of(path))


def _folder_of_input(case: AuditCase, report: Path) -> Path | None:
    """Return the folder that the path of the input starts from, None where the input is not at hand."""
    claims, given = case.claims, case.config.input.path
    if given is None or "://" in given or not claims.internal:
        return None
    sha256 = claims.get(("input", "sha256"))
    for folder in (report.parent.parent, report.parent, Path()):
        path = folder / given
        if path.is_file() and sha256_of(path) == sha256:
            return folder
    return None


@contextmanager
def _opened_input(config: Config) -> Iterator[Relation]:
    with open_as(config, config.folder / str(config.input.path)) as relation:
        yield relation


def _check_facts(case: AuditCase, source: Relation) -> None:
    claims = case.claims
    claims.compare(("input", "sha256"), source.sha256)
    claims.compare(("input", "path"), case.config.input.path)
    claims.agree(("config", "input", "path"))
    claims.compare(("input", "rows"), source.rows)
    claims.compare(("input", "columns"), len(source.columns))
    claims.compare(("input", "separator"), source.separator)


def _check_column_order(case: AuditCase, source: Relation) -> None:
    """Refuse columns in another order than the input's, which could tell anything.

    Raises
    ------
    InputError: they are.
    """
    release = case.relations[0]
    own = [name for name in release.columns if name in source.columns]
    if own != [name for name in source.columns if name in release.columns]:
        raise InputError(f"{release.name}: the columns are in another order than those of the input")


def _check_untouched(case: AuditCase, source: Relation) -> None:
    """Compare the columns that are released as they are.

    Raises
    ------
    InputError: one holds other values, or other missing cells as nulls or as empty texts.
    """
    release, roles = case.relations[0], case.config.attributes
    removed = source.rows - release.rows
    for name in release.columns:
        if name not in roles or roles[name].role is Role.QUASI_IDENTIFIER:
            continue
        if source.changed_records(name, release) != (0, removed):
            raise InputError(f"{release.name}: column '{name}' does not hold the values of the input")
        if release.separator is None and any(
            own > given
            for own, given in zip(missing_cells(release, name), missing_cells(source, name), strict=True)
        ):
            raise InputError(
                f"{release.name}: column '{name}' has nulls where the input has empty texts, or the reverse"
            )


def _check_lowest(case: AuditCase, table: Table) -> None:
    """Compare the quasi-identifiers of records in groups, which are published at their lowest levels.

    Raises
    ------
    InputError: one holds other values.
    """
    release, nothing = case.relations[0], np.zeros(table.combinations, dtype=bool)
    lowest = [each.minimum for each in table.quasi_identifiers]
    for column in FullDomainRecoding(table, lowest, nothing, nothing).published():
        records = count(column.codes.astype(np.int64), table.counts, len(column.labels)).tolist()
        known = zip(column.labels, records, strict=True)
        if changed(known, release.dictionary(column.name)) != (0, table.records - release.rows):
            raise InputError(f"{release.name}: column '{column.name}' does not hold the values of the input")


@dataclass(frozen=True, eq=False)
class _Matched:
    """Which records of the input became which of the release.

    Attributes
    ----------
    table: of the input, its combinations in parts.
    owner: combination of each part, shape (parts,), ascending.
    published: combination of the release for each part, -1 for records that are not in it, shape (parts,).
    possible: all pairs of a combination of the input and one of the release that can stand for it.
    """

    table: Table
    owner: IntArray
    published: IntArray
    possible: tuple[IntArray, IntArray]


def _matched(case: AuditCase, table: Table) -> _Matched:
    """Find a record of the input for every record of the release, each another one.

    The values of the one stand for those of the other, and sensitive values are the same.

    Raises
    ------
    InputError: no record of the input fits.
    """
    own = case.scene.release
    meanings = [
        _meaning(case, each, own.labels[own.names.index(each.name)]) for each in table.quasi_identifiers
    ]
    published = [own.codes[:, own.names.index(each.name)] for each in table.quasi_identifiers]
    columns = [table.codes[:, place] for place in range(len(published))]
    for each in () if case.in_groups else table.sensitive:
        codes = table.sensitive_codes(each.name)
        meanings.append(same_values(SensitiveCodes(each, codes.astype(np.int64)), own.sensitive[each.name]))
        published.append(own.sensitive[each.name].codes.astype(np.int32))
        columns.append(codes)
    possible = possible_links(meanings, np.column_stack(columns), np.column_stack(published))
    links = linked(possible, table.counts, own.counts)
    lacking = own.records - links.records
    if lacking:
        raise InputError(
            f"{own.source}: {lacking:,} records stand for no record of the input that no other stands for"
        )
    return _parts(table, links, possible)


def _meaning(case: AuditCase, attribute: QuasiIdentifier, labels: Sequence[str | None]) -> ValueCoverage:
    """Return what published texts stand for, by the recoding of the report.

    A tree may repeat a label on several levels for other values, so the text alone does not tell.
    """
    read = meaning_of(attribute, labels, case.config.input.missing)
    level = case.claims.get(("recoding", "levels", attribute.name))
    own = _values_by_node(attribute)
    if type(level) is int and 0 <= level <= attribute.hierarchy.height:
        own = _values_at(attribute, level)
    parts = [
        own[label] if label in own and label != SUPPRESSED else read.values[start:end]
        for label, start, end in zip(labels, read.starts[:-1], read.starts[1:], strict=True)
    ]
    starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return replace(read, starts=starts, values=np.concatenate(parts).astype(np.int64))


def _values_at(attribute: QuasiIdentifier, level: int) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label of a level stands for."""
    nodes = attribute.nodes(level)
    labels = attribute.column.texts if level == 0 else attribute.hierarchy.labels
    names = labels if level == 0 else [labels[node] for node in nodes.tolist()]
    own: dict[str | None, list[int]] = {}
    for code, name in enumerate(names):
        own.setdefault(name, []).append(code)
    return {name: np.array(codes, dtype=np.int64) for name, codes in own.items()}


def _values_by_node(attribute: QuasiIdentifier) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label stands for where recoding is not full-domain."""
    canonical, labels = distinct_nodes(attribute)
    tree, leaves = attribute.hierarchy, attribute.leaf
    order = np.argsort(leaves, kind="stable")
    nodes = np.unique(canonical)
    starts, ends = (np.searchsorted(leaves[order], each[nodes]) for each in (tree.first_leaf, tree.last_leaf))
    return {
        labels[node]: np.sort(order[start:end])
        for node, start, end in zip(nodes.tolist(), starts, ends, strict=True)
    }


def _check_group_order(case: AuditCase, table: Table) -> None:
    """Compare the numbers of groups with the order of what is published of them, all that they may tell."""
    grouped = case.scene.grouped
    assert grouped is not None, "of records in groups"
    nodes = []
    for position, name in enumerate(grouped.names):
        attribute = next(each for each in table.quasi_identifiers if each.name == name)
        meaning = _meaning(case, attribute, grouped.labels[position])
        own = attribute.nodes(attribute.minimum)[meaning.values[meaning.starts[:-1]]]
        nodes.append(own[grouped.codes[:, position]])
    ranks = np.unique(np.column_stack(nodes), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    group = np.repeat(grouped.group, grouped.counts)
    values = np.repeat(grouped.sensitive.values, grouped.sensitive.counts)
    published = (np.repeat(ranks, grouped.counts), values)
    if (renumbered(group, len(grouped.groups), published) != group).any():
        what = "groups are not numbered by what is published of them, so that the numbers can tell more"
        case.claims.refute(("recoding", "groups"), what)


def _parts(table: Table, links: Links, possible: tuple[IntArray, IntArray]) -> _Matched:
    """Return the combinations of a table in parts that became one combination of the release each."""
    left = table.counts - count(links.original, links.counts, table.combinations)
    gone = np.flatnonzero(left)
    owner = np.concatenate([links.original, gone])
    published = np.concatenate([links.release, np.full(len(gone), -1)])
    order = np.argsort(owner, kind="stable")
    counts = np.concatenate([links.counts, left[gone]])[order]
    return _Matched(table.split(owner[order], counts), owner[order], published[order], possible)


def _check_losses(case: AuditCase, problem: SearchProblem, matched: _Matched) -> bool:
    """Compare levels, and every loss that follows from the match, with those of the report.

    Returns
    -------
    whether the published texts were compared with what the recoding makes of the input.
    """
    claims, own, table = case.claims, case.scene.release, problem.table
    removed = matched.published < 0
    texts = _texts(own, table, matched)
    kept_suppressed = np.zeros(len(removed), dtype=bool)
    if case.config.suppression.keep_rows:
        starred = np.logical_and.reduce([each == SUPPRESSED for each in texts]) & ~removed
        number = _kept_suppressed(case, matched)
        if number is None or number == int(matched.table.counts[starred].sum()):
            kept_suppressed = starred
        elif number:
            # Some are of a class at all roots, and the release does not tell which.
            return False
    fate = (removed | kept_suppressed, removed)
    along_hierarchies = _recoding(case, matched, texts, fate)
    settings = _mondrian_settings(case, along_hierarchies)
    regions = None if settings is None else _regions(case, problem, settings, matched, texts, fate)
    recoding = regions or along_hierarchies
    if recoding is None:
        if case.config.algorithm.name == "local":
            case.claims.refute(
                ("search", "algorithm"), "local publishes nodes of the hierarchies; other texts found"
            )
        return False
    for column, shown in zip(recoding.published(), texts, strict=True):
        promised = np.array(column.labels, dtype=object)[column.codes]
        if (promised != shown)[~removed].any():
            what = "the published texts are not of the level that the report says"
            claims.refute(("recoding", "levels", column.name), what)
            return True
    for name in claims.section(("recoding", "levels")):
        claims.agree(("recoding", "levels", name))
    losses = all_losses(released(recoding, case.plan.k))
    if not _certain(matched, recoding):
        del losses["nonuniform_entropy"]
    for name, loss in losses.items():
        claims.compare(("loss", name), loss)
    return settings is None or regions is not None


def _kept_suppressed(case: AuditCase, matched: _Matched) -> int | None:
    """Return how many rows of ``*`` alone are suppressed by the report; None where all of them must be."""
    levels = case.claims.section(("recoding", "levels"))
    attributes = matched.table.quasi_identifiers
    suppressed = case.claims.number(("release", "suppressed_records"))
    if suppressed is None or any(
        levels.get(each.name, each.hierarchy.height) != each.hierarchy.height for each in attributes
    ):
        return None
    return int(suppressed) - int(matched.table.counts[matched.published < 0].sum())


def _mondrian_settings(case: AuditCase, along_hierarchies: Recoding | None) -> MondrianSettings | None:
    """Return how Mondrian labelled the release, None where another algorithm made it.

    Where ``auto`` chose Mondrian it has either nodes or intervals.
    """
    given = case.config.algorithm
    if given.name == "mondrian":
        settings: MondrianSettings = given.settings
        return settings
    if given.name != "auto" or case.claims.get(("search", "algorithm")) != "mondrian":
        return None
    labels = LabelName.INTERVAL if along_hierarchies is None else LabelName.HIERARCHY
    return MondrianSettings(labels=labels)


def _texts(own: PublishedTable, table: Table, matched: _Matched) -> list[TextArray]:
    """Return what is published of each part by quasi-identifier; of records that are not in it, anything."""
    found = []
    for each in table.quasi_identifiers:
        position = own.names.index(each.name)
        labels = np.array([label or "" for label in own.labels[position]], dtype=object)
        found.append(labels[own.codes[np.maximum(matched.published, 0), position]])
    return found


def _regions(
    case: AuditCase,
    problem: SearchProblem,
    settings: MondrianSettings,
    matched: _Matched,
    texts: Sequence[TextArray],
    fate: tuple[BoolArray, BoolArray],
) -> Recoding | None:
    """Return what Mondrian makes of the values in each class, where that is what is published.

    Returns
    -------
    None where records that can be of several classes leave it open.

    Raises
    ------
    InputError: a label is wider than the values that can be in its class.
    """
    labelling = labelling_of(problem, settings)
    _, class_of = np.unique(case.scene.release.codes, axis=0, return_inverse=True)
    region_of = np.append(class_of.reshape(-1), class_of.max() + 1)[matched.published]
    recoding = _by_regions(labelling, matched.table, region_of, fate)
    for column, shown in zip(recoding.published(), texts, strict=True):
        if (np.array(column.labels, dtype=object)[column.codes] != shown)[~fate[1]].any():
            _refuse_wide_labels(case, labelling, matched, problem.table)
            return None
    return recoding


def _refuse_wide_labels(
    case: AuditCase, labelling: Labelling[Any, Any], matched: _Matched, table: Table
) -> None:
    """Refuse labels that cover more than those of all records that can be in their class.

    Raises
    ------
    InputError: naming a column and a label.
    """
    own, (source, target) = case.scene.release, matched.possible
    classes, class_of = np.unique(own.codes, axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack([source, class_of.reshape(-1)[target]]), axis=0)
    parts = table.split(pairs[:, 0], np.ones(len(pairs), dtype=np.int64))
    widest = _by_regions(labelling, parts, pairs[:, 1])
    for column in widest.published():
        position = own.names.index(column.name)
        labels = np.array([label or "" for label in own.labels[position]], dtype=object)
        shown = labels[classes[pairs[:, 1], position]]
        wide = (np.array(column.labels, dtype=object)[column.codes] != shown) & (shown != SUPPRESSED)
        if wide.any():
            raise InputError(
                f"{own.source}: column '{column.name}' holds '{shown[wide][0]}', which is wider than the "
                "values of the input in its class"
            )


def _by_regions(
    labelling: Labelling[Any, Any],
    table: Table,
    region_of: IntArray,
    fate: tuple[BoolArray, BoolArray] | None = None,
) -> Recoding:
    """Return what Mondrian publishes of regions.

    Parameters
    ----------
    table: of the input, its combinations in parts.
    region_of: region of each part, shape (parts,), every region with at least one.
    fate: which parts are suppressed, and which of these are removed, whole regions each.
    """
    order, number = np.argsort(region_of, kind="stable"), int(region_of.max(initial=-1)) + 1
    regions = Regions(order, table.counts[order], Segments(region_of[order], number))
    suppressed, removed = np.zeros((2, number), dtype=bool)
    if fate is not None:
        suppressed[region_of[fate[0]]] = removed[region_of[fate[1]]] = True
    return labelling.recoding(table, regions, suppressed, removed)


def _recoding(
    case: AuditCase, matched: _Matched, texts: Sequence[TextArray], fate: tuple[BoolArray, BoolArray]
) -> Recoding | None:
    """Return the recoding that publishes the parts so; None where it publishes other than nodes.

    Parameters
    ----------
    fate: which parts are suppressed, and which of these are removed.
    """
    levels = case.claims.get(("recoding", "levels"))
    attributes = matched.table.quasi_identifiers
    if isinstance(levels, Mapping):
        own = [levels.get(each.name) for each in attributes]
        heights = [each.hierarchy.height for each in attributes]
        if any(
            type(level) is not int or not 0 <= level <= height
            for level, height in zip(own, heights, strict=True)
        ):
            case.claims.refute(("recoding", "levels"), "has a level that the hierarchy has not")
            return None
        full = FullDomainRecoding(matched.table, [int(level) for level in own if level is not None], *fate)
        return _blanked(case, full, texts, fate[1])
    found = [_nodes(each, shown, fate[0]) for each, shown in zip(attributes, texts, strict=True)]
    nodes = [each for each in found if each is not None]
    if len(nodes) < len(attributes):
        return None
    return NodeRecoding(matched.table, np.column_stack(nodes), *fate)


def _blanked(
    case: AuditCase, full: FullDomainRecoding, texts: Sequence[TextArray], removed: BoolArray
) -> Recoding:
    if case.config.suppression.method.value != "cells":
        return full
    nothing = np.zeros(len(removed), dtype=bool)
    base = FullDomainRecoding(full.table, full.levels, nothing, nothing)
    blanks = np.column_stack([each == SUPPRESSED for each in texts])
    blanks[removed] = True
    return LocalSuppressionRecoding(full.table, base, blanks, removed=removed)


def _nodes(attribute: QuasiIdentifier, shown: TextArray, suppressed: BoolArray) -> CodeArray | None:
    """Return the node of each published text; None where one is not a node of the hierarchy."""
    canonical, labels = distinct_nodes(attribute)
    known = {labels[node]: node for node in np.unique(canonical).tolist()}
    found = [0 if gone else known.get(text) for text, gone in zip(shown, suppressed, strict=True)]
    return None if None in found else np.array(found, dtype=np.int32)


def _certain(matched: _Matched, recoding: Recoding) -> bool:
    """Tell whether the match is the only one as far as it says which values are gone."""
    if not (matched.published < 0).any():
        return True
    if recoding.levels is None:
        return False
    # Where all records that look alike are released, or none, no other match releases other values.
    kept = np.zeros_like(recoding.suppressed)
    everything = FullDomainRecoding(recoding.table, recoding.levels, kept, kept)
    return recoding.merged.table.combinations == everything.merged.table.combinations


ACCEPTED = "accepted: report.public.json or report.json of a run that ended with a release"


class ReportedTable(BaseModel):
    """The second file of a release in two tables."""

    sha256: str


class ReportedRelease(BaseModel):
    """The file that was released; a count that the public report leaves out is None."""

    sha256: str
    rows: int | None
    classes: int | None
    sensitive_table: ReportedTable | None = None


class ReportedAttribute(BaseModel):
    """A column."""

    type: ValueType | None


class ReportedConstraint(BaseModel):
    """A constraint and what was measured of it; infinite is the text ``Infinity``."""

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool
    worst_classes: int | None


class ReportClaims(BaseModel):
    """The claims of a report."""

    version: int = Field(alias="schema", strict=True, ge=1, le=1)
    config: dict[str, Any]
    attributes: dict[str, ReportedAttribute]
    release: ReportedRelease
    constraints: list[ReportedConstraint]


def read_reported(path: Path) -> ReportClaims:
    """Read a report, public or internal.

    Raises
    ------
    InputError: there is none, it is not JSON, or it is no report of a release.
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise InputError(
            f"{path}: no such report, and a release without its report is unverified; run writes it beside "
            "the release: ask the publisher for it, put it there, or name it with --report"
        ) from None
    return parse_report(ReportClaims, path, content, ACCEPTED)


LARGEST_NUMBER = 1e30
"""No figure of a report is as large."""

MOST_CHARACTERS = 40
"""Of a number in a report."""


def read_content(path: Path) -> dict[str, Any]:
    """Return all that a report says, in plain JSON types; of one that ``read_reported`` accepts."""
    try:
        content: dict[str, Any] = json.loads(
            path.read_bytes(),
            object_pairs_hook=distinct_keys,
            parse_constant=_plain_number,
            parse_int=lambda text: _plain_number(text, int),
            parse_float=lambda text: _plain_number(text, float),
        )
    except ValueError as error:
        raise InputError(f"{path}: {error}; give the report as anonymizer wrote it") from None
    return content


def _plain_number(text: str, kind: type[int] | type[float] | None = None) -> float:
    """Refuse numbers that no run writes: infinite ones, and those beyond all counts of records squared."""
    number = None if kind is None or len(text) > MOST_CHARACTERS else kind(text)
    if number is None or not abs(number) < LARGEST_NUMBER:
        shown = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
        raise ValueError(f"the number {shown} is out of range")
    return number


JUDGED = ("input", "attributes", "constraints", "reference", "suppression", "output")
"""Sections of a config that say what a release promises; most others say how it was found."""

OF_PLUG_INS = ("algorithm", "attacks")
"""Sections that can name what only the publisher has installed; they are left out then."""

LEFT_OUT = "optional keys that config leaves out"
"""What is never checked: whether the run was asked for more than its config in the report says."""

BY_NAME = (
    "run names hierarchy files without folders in the public report: ask the publisher for the report as run "
    "wrote it, and put the files beside it"
)
"""What to do about a path that only somebody else can have written."""

AGAINST_THE_INPUT = "values of the release against the input"
"""What is not checked where the input is not at hand."""

AROUND_VALUES = "bytes of the files around their values"
"""What is not checked where values are written otherwise: quotes, metadata of Parquet, gzip's header."""

COLUMN_ORDER = "order of the columns"
"""What is not checked where the input is not at hand."""

COLUMN_TYPES = "types of the columns"
"""What is not checked of files that have types, such as Parquet, but for recoded columns."""

MISSING_CELLS = "missing cells: null or empty text"
"""What is not checked where a column of the release has both."""

MOST_REWRITTEN = 1_000_000
"""Rows of a file that is written again for its bytes."""

GROUP_ORDER = "order of the numbers of groups"
"""What is not checked of records in groups where the input is not at hand."""


@dataclass
class ReleaseAudit:
    """What was found of a release.

    Attributes
    ----------
    constraints: measured on the file; for those that the file alone cannot tell, what the report claims.
    findings: what does not agree, or could not be told; the first kind makes ``verified`` False.
    not_checked: keys of the report that nothing was compared with, a section without any that was as one; and
        what else the files cannot tell.
    """

    verified: bool = True
    constraints: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    def refute(self, finding: str) -> None:
        """Note something that the release is not as reported."""
        self.verified = False
        self.findings.append(finding)


def audit_release(path: Path, report: Path | None = None) -> ReleaseAudit:
    """Verify a release.

    Parameters
    ----------
    report: public or internal report; default: ``report.public.json`` beside the release. Hierarchies that it
        names are looked for beside it, and the input of an internal one beside it, in the folder above, and
        in the current folder.

    Raises
    ------
    InputError: the report is missing or is none, or the release is missing.
    """
    pair = find_anatomy_files(path)
    if pair is None and not is_url(str(path)) and not path.exists():
        raise InputError(f"{path}: no such file; give the released file")
    given = report if report is not None else path.with_name(PUBLIC_REPORT)
    reported, claims = read_reported(given), Claims(read_content(given))
    found = ReleaseAudit()
    files = [path] if pair is None else [pair.records, pair.values]
    if _same_files(files, given, reported, claims, found):
        with _noting(found), ExitStack() as stack:
            config = _judged(reported, given, claims)
            case = _opened(stack, pair, path, reported, config, found, claims)
            if case is not None:
                for check in CHECKS:
                    with _noting(found):
                        check(case)
                if not all(map(_is_as_written, case.relations, files)):
                    found.not_checked.append(AROUND_VALUES)
                found.not_checked += _of_types(case)
                with _noting(found):
                    check_recoding_file(case, given)
                    found.not_checked += check_input(case, given)
    for disagreement in claims.disagreements:
        found.refute(disagreement)
    found.not_checked = [*claims.not_checked(), LEFT_OUT, *found.not_checked]
    return found


def _of_types(case: AuditCase) -> list[str]:
    """Return what is not checked of files whose columns have types and nulls."""
    typed = [each for each in case.relations if each.separator is None]
    both = any(all(missing_cells(each, name)) for each in typed for name in each.columns)
    return [*([COLUMN_TYPES] if typed else []), *([MISSING_CELLS] if both else [])]


def _is_as_written(relation: Relation, path: Path) -> bool:
    """Tell whether a file has the very bytes that its values are written as here, by this version."""
    if is_url(str(path)) or path.is_dir() or not relation.ordered or relation.rows > MOST_REWRITTEN:
        return False
    everything = Projection(tuple(relation.columns), {}, np.ones(relation.rows, dtype=bool))
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        try:
            relation.records_query(everything).copy(copy, release_separator(path))
        except (OSError, OutputError):
            return False
        return sha256_of(copy) == sha256_of(path)


@contextmanager
def _noting(found: ReleaseAudit) -> Iterator[None]:
    """Take what cannot be read or does not fit as something that refutes the report."""
    try:
        yield
    except InputError as error:
        found.refute(str(error))


def _same_files(
    files: Sequence[Path], given: Path, reported: ReportClaims, claims: Claims, found: ReleaseAudit
) -> bool:
    """Compare the hashes; tell whether a report is of a release in as many files."""
    second = reported.release.sensitive_table
    promised = [reported.release.sha256, *([] if second is None else [second.sha256])]
    if len(files) != len(promised):
        found.refute(f"{given.name} is of a release in {len(promised)} files, not of {files[0].name}")
        return False
    for position, (file, sha256) in enumerate(zip(files, promised, strict=True)):
        claims.agree(("release", *(("sensitive_table",) if position else ()), "sha256"))
        if _hash(file) != sha256:
            found.refute(f"{file.name} is not the file that {given.name} was written for (SHA-256 differs)")
    return True


def _judged(reported: ReportClaims, given: Path, claims: Claims) -> Config:
    """Return the config of a report, without sections that name plug-ins which are not here.

    Raises
    ------
    ConfigError: it says something else that cannot be.
    """
    wanted = [*JUDGED, *OF_PLUG_INS]
    while True:
        sections = {key: value for key, value in reported.config.items() if key in wanted}
        try:
            config = load_config(sections).located(Origin(str(given), given.parent))
        except ConfigError as error:
            wrong = {problem.where.partition(".")[0].partition("[")[0] for problem in error.problems}
            refused = wrong & set(OF_PLUG_INS) & sections.keys()
            if not refused:
                raise
            wanted = [key for key in wanted if key not in refused]
        else:
            _check_paths(config, given, claims)
            written = as_reported(config.to_dict())
            for section in sections:
                claims.expect_all(("config", section), written[section])
            return config


def _check_paths(config: Config, given: Path, claims: Claims) -> None:
    """Refuse hierarchy files that are no files, or lie elsewhere than a public report can say.

    Raises
    ------
    InputError: naming the first; nothing of it was read.
    """
    public = not claims.internal or given.name == PUBLIC_REPORT
    for path in plan_of(config).hierarchy_files:
        if _lies_in(path, ready_folder()):
            continue
        if path.exists() and not path.is_file():
            raise InputError(
                f"{given}: names '{path}' as a hierarchy, which is not a regular file; {BY_NAME}"
            )
        if public and not _lies_in(path, given.parent):
            raise InputError(
                f"{given}: names '{path}' as a hierarchy, which is not in the folder of the report; {BY_NAME}"
            )


def _lies_in(path: Path, folder: Path) -> bool:
    """Tell whether a path is below a folder, wherever links lead."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return False


def _opened(
    stack: ExitStack,
    pair: AnatomyFiles | None,
    path: Path,
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    claims: Claims,
) -> AuditCase | None:
    """Open and count a release; None where it has not the columns that it should have."""
    files = [path] if pair is None else [pair.records, pair.values]
    relations = [stack.enter_context(open_release(file)) for file in files]
    counted = _counted if pair is None else _counted_pair
    return counted(relations, reported, config, found, claims)


def _hash(path: Path) -> str | None:
    """Return the SHA-256 of a released file or folder, on whatever file system it is."""
    if not is_url(str(path)):
        return sha256_of(path)
    with open_release(path) as relation:
        return relation.sha256


def _counted(
    relations: Sequence[Relation],
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    claims: Claims,
) -> AuditCase | None:
    """Count a release in one table; None where it has not the columns that it should have."""
    (relation,) = relations
    if not _as_expected(relation, _released(config), found):
        return None
    plan = plan_of(config)
    names = plan.among(relation.columns, Role.SENSITIVE)
    attributes = _sensitive(plan, relation, names, reported, found)
    classes = count_classes(relation, config.with_role(Role.QUASI_IDENTIFIER), attributes)
    own = [each.name for each in attributes]

    def judged(constraint: Constraint, as_texts: bool) -> Classes:  # noqa: ARG001 - all judge the classes
        if not as_texts:
            return classes
        read = _sensitive(plan, relation, names, reported, ReleaseAudit(), as_texts=True)
        return count_classes(relation, config.with_role(Role.QUASI_IDENTIFIER), read)

    def look() -> AdversaryView:
        return AdversaryView(read_release(_of_release(plan, attributes), relation, plan.weights))

    notes, measured = found.findings, found.constraints
    return AuditCase(claims, config, plan, relations, classes, judged, own, look, measured, notes)


def _counted_pair(
    relations: Sequence[Relation],
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    claims: Claims,
) -> AuditCase | None:
    """Count a release in two tables; None where they have not the columns that they should have."""
    records, values = relations
    plan = plan_of(config)
    name = attribute_in_groups(plan)
    if not _as_expected(records, (_released(config) - {name}) | {GROUP}, found, (GROUP,)):
        return None
    if not _as_expected(values, {GROUP, name, COUNT}, found, (GROUP, name, COUNT)):
        return None
    attribute = _sensitive(plan, values, [name], reported, found)[0]
    own = [each for each in records.columns if each in config.with_role(Role.QUASI_IDENTIFIER)]
    grouped = read_pair(records, values, own, attribute)

    def judged(constraint: Constraint, as_texts: bool) -> Classes:
        if not as_texts:
            return classes_for(grouped, constraint)
        read = _sensitive(plan, values, [name], reported, ReleaseAudit(), as_texts=True)[0]
        return classes_for(read_pair(records, values, own, read), constraint)

    def look() -> AdversaryView:
        tuples = read_release(_of_release(plan, [attribute]), records, plan.weights)
        return AdversaryView(tuples, grouped=grouped)

    return AuditCase(
        claims,
        config,
        plan,
        relations,
        grouped.values.classes(),
        judged,
        [name],
        look,
        found.constraints,
        found.findings,
    )


def _of_release(plan: Plan, attributes: Sequence[SensitiveAttribute]) -> Plan:
    """Return a plan without the sensitive hierarchies that are not at hand, or that grew from the input."""
    return plan.without_hierarchies({each.name for each in attributes if each.hierarchy is None} | plan.grown)


def _released(config: Config) -> set[str]:
    return {name for name, each in config.attributes.items() if each.role is not Role.IDENTIFIER}


def _as_expected(
    relation: Relation, expected: set[str], found: ReleaseAudit, last: tuple[str, ...] = ()
) -> bool:
    """Tell whether a file has the columns that it should have, and note where it has not.

    Parameters
    ----------
    last: the columns that are the last ones, in their order.
    """
    ordered = tuple(relation.columns)[len(relation.columns) - len(last) :] == last
    if set(relation.columns) != expected or not ordered:
        found.refute(f"{Path(relation.name).name}: has columns {', '.join(relation.columns)}")
    return set(relation.columns) == expected


def _sensitive(
    plan: Plan,
    relation: Relation,
    names: Sequence[str],
    reported: ReportClaims,
    found: ReleaseAudit,
    *,
    as_texts: bool = False,
) -> list[SensitiveAttribute]:
    """Read the sensitive columns by the types in the report; a public report has only declared types.

    Parameters
    ----------
    as_texts: whether columns of no reported type are read as texts rather than as what the release has.
    """
    types = {name: each.type for name, each in reported.attributes.items()}
    default = ValueType.TEXT if as_texts else None
    requests = [ColumnRequest(name, types.get(name) or default, plan.numerals) for name in names]
    read = read_columns(relation, requests, plan.missing)
    columns = {name: each.column for name, each in read.items()}
    try:
        return list(plan.sensitive_attributes(columns))
    except HierarchyError as error:
        found.findings.append(f"without its hierarchy, distances along it are not measured: {error}")
        return [
            SensitiveAttribute(column, distance=plan.columns[name].distance)
            for name, column in columns.items()
        ]
