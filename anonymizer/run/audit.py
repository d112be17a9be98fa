"""``audit``: the claims of a report verified from the released file alone, as a recipient would do it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from anonymizer.attacks.adversary_view import linked, possible_links, same_values
from anonymizer.attacks.generalized_values import meaning_of
from anonymizer.audit.claims import ABSENT, Claims, as_reported, parse_report
from anonymizer.audit.classes import NO_UNIT_COLUMNS, UnitColumns, classes_for, count_classes, read_pair
from anonymizer.config.document import distinct_keys
from anonymizer.config.files import ReportedText
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.data.labelled import ReadNumbers, labelled
from anonymizer.data.open import OPTIONS
from anonymizer.data.relation import Projection, Relation, changed
from anonymizer.data.source import CsvDialect, is_url, sha256_of
from anonymizer.data.table import read_columns
from anonymizer.errors import ConfigError, HierarchyError, InputError, OutputError
from anonymizer.hierarchy.ready import ready_folder
from anonymizer.loss.base import all_losses
from anonymizer.model.adversary import AdversaryView, Links, PublishedTable, ValueCoverage
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, count
from anonymizer.model.classes import Classes, SensitiveCodes, released
from anonymizer.model.number_columns import NumberColumns, NumberLabels, exact
from anonymizer.model.recoding import (
    COUNT,
    GROUP,
    FullDomainRecoding,
    LocalSuppressionRecoding,
    NodeRecoding,
    Recoding,
    distinct_nodes,
    renumbered,
)
from anonymizer.model.table import (
    SUPPRESSED,
    Numerals,
    QuasiIdentifier,
    Role,
    SensitiveAttribute,
    Table,
    ValueType,
)
from anonymizer.model.units import PERSON
from anonymizer.privacy.base import Constraint
from anonymizer.release.anatomy import find_anatomy_files
from anonymizer.release.folder import PUBLIC_REPORT, RECODING, release_separator
from anonymizer.run.adversary import read_release
from anonymizer.run.audit_checks import CHECKS, AuditCase, missing_cells
from anonymizer.run.bands import put_in_bands
from anonymizer.run.engine import reading_release
from anonymizer.run.plan import Plan, plan_of
from anonymizer.run.prepare import prepare_table
from anonymizer.run.shape import attribute_in_groups, numbers_entry, numbers_of
from anonymizer.run.source import open_as, open_release
from anonymizer.search.base import SearchProblem
from anonymizer.search.mondrian.algorithm import LabelName, MondrianSettings, labelling_of
from anonymizer.search.mondrian.labelling import Labelling
from anonymizer.search.mondrian.regions import Regions, Segments

TextArray = NDArray[np.object_]

AGGREGATING = ("microaggregation",)
"""Algorithms that publish numbers which are not in the input, so records cannot be matched."""


def check_input(case: AuditCase, report: Path) -> list[str]:
    """Compare a release with the input, if the report is internal and the input is available.

    Parameters
    ----------
    report: path of the report.

    Returns
    -------
    Names of the comparisons that were not made.

    Raises
    ------
    InputError: the input cannot be read with the config.
    """
    nothing = [AGAINST_THE_INPUT, *([GROUP_ORDER] if case.in_groups else [])]
    folder = None if case.appended else _folder_of_input(case, report)
    if folder is None:
        return [*nothing, COLUMN_ORDER]
    config = case.config.located(Origin(str(report), folder))
    with open_as(config, config.folder / str(config.input.path)) as source:
        _check_facts(case, source)
        _check_column_order(case, source)
        plan = plan_of(config)
        put_in_bands(plan, source)
        _check_untouched(case, source)
        job = prepare_table(plan, source)
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
    """Compare the hash of recoding.json, if it is next to the report.

    Parameters
    ----------
    report: path of the report.
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
    """Return the folder that the path of the input is relative to; None if the input is not available."""
    claims, given = case.claims, case.config.input.path
    if given is None or "://" in given or not claims.internal:
        return None
    sha256 = claims.get(("input", "sha256"))
    for folder in (report.parent.parent, report.parent, Path()):
        path = folder / given
        if path.is_file() and sha256_of(path) == sha256:
            return folder
    return None


def _check_facts(case: AuditCase, source: Relation) -> None:
    claims = case.claims
    claims.compare(("input", "sha256"), source.sha256)
    claims.compare(("input", "path"), case.config.input.path)
    claims.agree(("config", "input", "path"))
    claims.compare(("input", "rows"), source.rows)
    claims.compare(("input", "columns"), len(source.columns))
    claims.compare(("input", "separator"), source.separator)


def _check_column_order(case: AuditCase, source: Relation) -> None:
    """Check that the columns are in the order of the input; another order could disclose something.

    Raises
    ------
    InputError: they are not.
    """
    release = case.relations[0]
    own = [name for name in release.columns if name in source.columns]
    if own != [name for name in source.columns if name in release.columns]:
        raise InputError(f"{release.name}: the columns are in another order than in the input")


def _check_untouched(case: AuditCase, source: Relation) -> None:
    """Compare the columns that are released unchanged.

    Raises
    ------
    InputError: a column has other values, or nulls instead of empty texts, or the reverse.
    """
    release, roles = case.relations[0], case.config.attributes
    removed = source.rows - release.rows
    for name in release.columns:
        if name not in roles or roles[name].role is Role.QUASI_IDENTIFIER or not roles[name].released:
            continue
        if source.changed_records(name, release) != (0, removed):
            raise InputError(f"{release.name}: column '{name}' does not contain the values of the input")
        if release.separator is None and any(
            own > given
            for own, given in zip(missing_cells(release, name), missing_cells(source, name), strict=True)
        ):
            raise InputError(
                f"{release.name}: column '{name}' has nulls instead of empty texts, or the reverse"
            )


def _check_lowest(case: AuditCase, table: Table) -> None:
    """Compare the quasi-identifiers of an Anatomy release, which are published at their lowest levels.

    Raises
    ------
    InputError: a column has other values.
    """
    release, nothing = case.relations[0], np.zeros(table.combinations, dtype=bool)
    lowest = [each.minimum for each in table.quasi_identifiers]
    for column in FullDomainRecoding(table, lowest, nothing, nothing).published():
        records = count(column.codes.astype(np.int64), table.counts, len(column.labels)).tolist()
        known = zip(column.labels, records, strict=True)
        if changed(known, release.dictionary(column.name)) != (0, table.records - release.rows):
            what = f"column '{column.name}' does not contain the values of the input"
            raise InputError(f"{release.name}: {what}")


@dataclass(frozen=True, eq=False)
class _Matched:
    """A match of the records of the input with those of the release.

    Attributes
    ----------
    table: of the input, its distinct rows split into parts.
    owner: distinct row of each part, shape (parts,), ascending.
    published: distinct row of the release for each part, -1 for removed records, shape (parts,).
    possible: all pairs of a distinct row of the input and one of the release that generalizes it.
    """

    table: Table
    owner: IntArray
    published: IntArray
    possible: tuple[IntArray, IntArray]


def _matched(case: AuditCase, table: Table) -> _Matched:
    """Match every record of the release with a different record of the input.

    A released record generalizes the quasi-identifiers of its match and has the same sensitive values.

    Raises
    ------
    InputError: a record has no match.
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
        raise InputError(f"{own.source}: {lacking:,} records cannot be matched with records of the input")
    return _parts(table, links, possible)


def _meaning(case: AuditCase, attribute: QuasiIdentifier, labels: Sequence[str | None]) -> ValueCoverage:
    """Return the values that published texts cover, by the recoding in the report.

    A hierarchy may repeat a label at several levels for other values, so texts alone are ambiguous.
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
    """Return the codes of the values that each label of a level covers."""
    nodes = attribute.nodes(level)
    labels = attribute.column.texts if level == 0 else attribute.hierarchy.labels
    names = labels if level == 0 else [labels[node] for node in nodes.tolist()]
    own: dict[str | None, list[int]] = {}
    for code, name in enumerate(names):
        own.setdefault(name, []).append(code)
    return {name: np.array(codes, dtype=np.int64) for name, codes in own.items()}


def _values_by_node(attribute: QuasiIdentifier) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label covers in a local recoding."""
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
    """Compare the numbers of buckets with the order of their published rows, all that they may disclose."""
    grouped = case.scene.grouped
    assert grouped is not None, "an Anatomy release has buckets"
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
        what = "buckets are not numbered in the order of their published rows, so numbers can disclose more"
        case.claims.refute(("recoding", "groups"), what)


def _parts(table: Table, links: Links, possible: tuple[IntArray, IntArray]) -> _Matched:
    """Return the distinct rows of a table in parts, each linked to one distinct row of the release."""
    left = table.counts - count(links.original, links.counts, table.combinations)
    removed_rows = np.flatnonzero(left)
    owner = np.concatenate([links.original, removed_rows])
    published = np.concatenate([links.release, np.full(len(removed_rows), -1)])
    order = np.argsort(owner, kind="stable")
    counts = np.concatenate([links.counts, left[removed_rows]])[order]
    return _Matched(table.split(owner[order], counts), owner[order], published[order], possible)


def _check_losses(case: AuditCase, problem: SearchProblem, matched: _Matched) -> bool:
    """Compare levels, and every loss that follows from the match, with those of the report.

    Returns
    -------
    Whether the published texts were compared with a recoding of the input.
    """
    claims, own, table = case.claims, case.scene.release, problem.table
    removed = matched.published < 0
    texts = _texts(own, table, matched)
    kept_suppressed = np.zeros(len(removed), dtype=bool)
    if case.config.suppression.keep_rows:
        all_stars = np.logical_and.reduce([each == SUPPRESSED for each in texts]) & ~removed
        number = _kept_suppressed(case, matched)
        if number is None or number == int(matched.table.counts[all_stars].sum()):
            kept_suppressed = all_stars
        elif number:
            # Some of these rows belong to a class at all roots, indistinguishable from suppressed ones.
            return False
    fate = (removed | kept_suppressed, removed)
    along_hierarchies = _recoding(case, matched, texts, fate)
    settings = _mondrian_settings(case, along_hierarchies)
    regions = None if settings is None else _regions(case, problem, settings, matched, texts, fate)
    recoding = regions or along_hierarchies
    if recoding is None:
        if case.config.algorithm.name == "local":
            what = "local publishes generalized values of the hierarchies; found other texts"
            case.claims.refute(("search", "algorithm"), what)
        return False
    for column, shown in zip(recoding.published(), texts, strict=True):
        promised = np.array(column.labels, dtype=object)[column.codes]
        if (promised != shown)[~removed].any():
            what = "the published texts are not of the reported level"
            claims.refute(("recoding", "levels", column.name), what)
            return True
    for name in claims.section(("recoding", "levels")):
        claims.agree(("recoding", "levels", name))
    for name, read in numbers_of(recoding).items():
        claims.compare(("release", "numbers", name), numbers_entry(read))
    losses = all_losses(released(recoding, case.plan.k))
    if not _certain(matched, recoding):
        del losses["nonuniform_entropy"]
    for name, loss in losses.items():
        claims.compare(("loss", name), loss)
    return settings is None or regions is not None


def _kept_suppressed(case: AuditCase, matched: _Matched) -> int | None:
    """Return how many rows of ``*`` alone are suppressed in the report; None if all of them must be."""
    levels = case.claims.section(("recoding", "levels"))
    attributes = matched.table.quasi_identifiers
    suppressed = case.claims.number(("release", "suppressed_records"))
    if suppressed is None or any(
        levels.get(each.name, each.hierarchy.height) != each.hierarchy.height for each in attributes
    ):
        return None
    return int(suppressed) - int(matched.table.counts[matched.published < 0].sum())


def _mondrian_settings(case: AuditCase, along_hierarchies: Recoding | None) -> MondrianSettings | None:
    """Return the settings of Mondrian; None for another algorithm.

    Mondrian chosen by ``auto`` publishes either nodes or intervals.
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
    """Return the published texts of the parts by quasi-identifier; those of removed records are arbitrary."""
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
    """Return the recoding that Mondrian derives from the values in each class, if it is the published one.

    Returns
    -------
    None if the match is ambiguous, because records fit several classes.

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


def _refuse_wide_labels(case: AuditCase, labelling: Labelling[Any], matched: _Matched, table: Table) -> None:
    """Check that labels cover no more than the values of all records that can be in their class.

    Raises
    ------
    InputError: a label covers more.
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
                f"{own.source}: column '{column.name}' contains '{shown[wide][0]}', which is wider than the "
                "values of the input in its class"
            )


def _by_regions(
    labelling: Labelling[Any],
    table: Table,
    region_of: IntArray,
    fate: tuple[BoolArray, BoolArray] | None = None,
) -> Recoding:
    """Return the recoding that Mondrian derives from regions.

    Parameters
    ----------
    table: of the input, its distinct rows split into parts.
    region_of: region of each part, shape (parts,), every region with at least one.
    fate: the suppressed parts, and the removed ones among them, whole regions each.
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
    """Return the recoding with the published texts; None if a text is not a node of its hierarchy.

    Parameters
    ----------
    fate: the suppressed parts, and the removed ones among them.
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
            case.claims.refute(("recoding", "levels"), "has a level that is not in its hierarchy")
            return None
        full = FullDomainRecoding(matched.table, [int(level) for level in own if level is not None], *fate)
        return _with_suppressed_cells(case, full, texts, fate[1])
    found = [_nodes(each, shown, fate[0]) for each, shown in zip(attributes, texts, strict=True)]
    nodes = [each for each in found if each is not None]
    if len(nodes) < len(attributes):
        return None
    return NodeRecoding(matched.table, np.column_stack(nodes), *fate)


def _with_suppressed_cells(
    case: AuditCase, full: FullDomainRecoding, texts: Sequence[TextArray], removed: BoolArray
) -> Recoding:
    """Return a full-domain recoding with the local suppression of the published texts, if there is one."""
    if case.config.suppression.method.value != "cells":
        return full
    nothing = np.zeros(len(removed), dtype=bool)
    base = FullDomainRecoding(full.table, full.levels, nothing, nothing)
    blanks = np.column_stack([each == SUPPRESSED for each in texts])
    blanks[removed] = True
    return LocalSuppressionRecoding(full.table, base, blanks, removed=removed)


def _nodes(attribute: QuasiIdentifier, shown: TextArray, suppressed: BoolArray) -> CodeArray | None:
    """Return the node of each published text; None if a text is not a node of the hierarchy."""
    canonical, labels = distinct_nodes(attribute)
    known = {labels[node]: node for node in np.unique(canonical).tolist()}
    found = [0 if hidden else known.get(text) for text, hidden in zip(shown, suppressed, strict=True)]
    return None if None in found else np.array(found, dtype=np.int32)


def _certain(matched: _Matched, recoding: Recoding) -> bool:
    """Return whether all matches agree on the suppressed values."""
    if not (matched.published < 0).any():
        return True
    if recoding.levels is None:
        return False
    # If all or none of the records with equal published rows are released, every match releases the same.
    kept = np.zeros_like(recoding.suppressed)
    everything = FullDomainRecoding(recoding.table, recoding.levels, kept, kept)
    return recoding.merged.table.combinations == everything.merged.table.combinations


ACCEPTED = "accepted: report.public.json or report.json of a run that ended with a release"


class ReportedTable(BaseModel):
    """The sensitive table of an Anatomy release."""

    sha256: str


class ReportedNumbers(BaseModel):
    """The numbers in place of the labels of a quasi-identifier."""

    empty: Literal["*", "<missing>"]


class ReportedRelease(ReportedText):
    """The released file; counts that the public report hides are None."""

    sha256: str
    rows: int | None
    classes: int | None
    sensitive_table: ReportedTable | None = None
    numbers: dict[str, ReportedNumbers] = Field(default_factory=dict)


class ReportedAttribute(BaseModel):
    """A column."""

    type: ValueType | None


class ReportedConstraint(BaseModel):
    """A constraint with its measurement; infinity is the text ``Infinity``."""

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
    InputError: it is missing, not JSON, or not the report of a release.
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise InputError(
            f"{path}: report not found; a release cannot be verified without it. run writes it next to the "
            "release: ask the publisher for it, put it there, or give its path with --report"
        ) from None
    return parse_report(ReportClaims, path, content, ACCEPTED)


LARGEST_NUMBER = 1e30
"""Above every number in a report."""

MOST_CHARACTERS = 40
"""Maximum length of a number in a report."""


def read_content(path: Path) -> dict[str, Any]:
    """Return the content of a report that ``read_reported`` accepts, in plain JSON types."""
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
    """Refuse numbers that no run writes: infinite ones, and those above every squared number of records."""
    number = None if kind is None or len(text) > MOST_CHARACTERS else kind(text)
    if number is None or not abs(number) < LARGEST_NUMBER:
        shown = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
        raise ValueError(f"the number {shown} is out of range")
    return number


JUDGED = ("input", "attributes", "constraints", "scenarios", "reference", "suppression", "output")
"""Sections of a config that state the promises of a release."""

OF_PLUG_INS = ("algorithm", "objective", "attacks", "utility")
"""Sections that may name plug-ins which only the publisher has installed; they are skipped then."""

LEFT_OUT = "optional keys that config leaves out"
"""Never checked: whether the run had settings that the config in the report omits."""

BY_NAME = (
    "run names hierarchy files without folders in the public report: ask the publisher for the report as run "
    "wrote it, and put the files next to it"
)
"""Remedy for a path that ``run`` does not write."""

AGAINST_THE_INPUT = "values of the release against the input"
"""Not checked without the input."""

AROUND_VALUES = "bytes of the files around their values"
"""Not checked if values are written differently: quotes, metadata of Parquet, the header of gzip."""

COLUMN_ORDER = "order of the columns"
"""Not checked without the input."""

COLUMN_TYPES = "types of the columns"
"""Not checked for files with types, such as Parquet, except in recoded columns."""

MISSING_CELLS = "missing cells: null or empty text"
"""Not checked if a column of the release has both."""

MOST_REWRITTEN = 1_000_000
"""Maximum number of rows of a file that is rewritten to compare its bytes."""

GROUP_ORDER = "order of the numbers of groups"
"""Not checked for an Anatomy release without the input."""


@dataclass
class ReleaseAudit:
    """The result of an audit.

    Attributes
    ----------
    constraints: measured on the file; claims of the report for those that need more than the file.
    findings: disagreements, which make ``verified`` False, and unverifiable constraints.
    not_checked: keys of the report that were not compared, a section as one if none of its keys was; and
        further properties that the files do not show.
    """

    verified: bool = True
    constraints: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    def refute(self, finding: str) -> None:
        """Add a disagreement."""
        self.verified = False
        self.findings.append(finding)


def audit_release(path: Path, report: Path | None = None) -> ReleaseAudit:
    """Verify a release.

    Parameters
    ----------
    report: public or internal report; default: ``report.public.json`` next to the release. Paths of
        hierarchies are relative to its folder; the path of the input of an internal report to that folder,
        its parent, or the current folder.

    Raises
    ------
    InputError: the report is missing or not a report, or the release is missing.
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
            dialect = reported.release.dialect
            relations = [
                stack.enter_context(open_release(file, reading_release(OPTIONS, config, file), dialect))
                for file in files
            ]
            claims.compare(("release", "separator"), relations[0].separator)
            claims.agree(("release", "encoding"))
            counted = _counted if pair is None else _counted_pair
            case = counted(relations, reported, config, found, claims)
            if case is not None:
                for check in CHECKS:
                    with _noting(found):
                        check(case)
                if not all(map(partial(_is_as_written, dialect=dialect), relations, files)):
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
    """Return the unchecked properties of files with types and nulls."""
    typed = [each for each in case.relations if each.separator is None]
    both = any(all(missing_cells(each, name)) for each in typed for name in each.columns)
    return [*([COLUMN_TYPES] if typed else []), *([MISSING_CELLS] if both else [])]


def _is_as_written(relation: Relation, path: Path, dialect: CsvDialect | None) -> bool:
    """Return whether a file has exactly the bytes that this version writes for its values."""
    if is_url(str(path)) or path.is_dir() or not relation.ordered or relation.rows > MOST_REWRITTEN:
        return False
    everything = Projection(tuple(relation.columns), {}, np.ones(relation.rows, dtype=bool))
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        try:
            relation.records_query(everything).write(copy, dialect or CsvDialect(release_separator(path)))
        except (OSError, OutputError):
            return False
        return sha256_of(copy) == sha256_of(path)


@contextmanager
def _noting(found: ReleaseAudit) -> Iterator[None]:
    """Treat an error of reading the release as a disagreement."""
    try:
        yield
    except InputError as error:
        found.refute(str(error))


def _same_files(
    files: Sequence[Path], given: Path, reported: ReportClaims, claims: Claims, found: ReleaseAudit
) -> bool:
    """Compare the hashes; return whether the report describes the same number of files."""
    second = reported.release.sensitive_table
    promised = [reported.release.sha256, *([] if second is None else [second.sha256])]
    if len(files) != len(promised):
        files_of_report = "one file" if len(promised) == 1 else f"{len(promised)} files"
        found.refute(f"{given.name} describes a release of {files_of_report}, not {files[0].name}")
        return False
    for position, (file, sha256) in enumerate(zip(files, promised, strict=True)):
        claims.agree(("release", *(("sensitive_table",) if position else ()), "sha256"))
        if _hash(file) != sha256:
            found.refute(f"{file.name} is not the file that {given.name} describes (SHA-256 differs)")
    return True


def _judged(reported: ReportClaims, given: Path, claims: Claims) -> Config:
    """Return the config of a report, without sections that name plug-ins which are not installed.

    Raises
    ------
    ConfigError: it has another problem.
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
    """Check that the hierarchies are regular files, for a public report in its folder, before reading any.

    Raises
    ------
    InputError: a hierarchy is not.
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
    """Return whether a path is below a folder, after resolving links."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return False


def _hash(path: Path) -> str | None:
    """Return the SHA-256 of a released file or folder, on any file system."""
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
    """Count a release in one table; None if it has other columns than expected."""
    (stored,) = relations
    relation, plan = _labelled(stored, config, reported, claims), plan_of(config)
    if not _as_expected(relation, _released(config), found):
        return None
    names = plan.among(relation.columns, Role.SENSITIVE)
    attributes = _sensitive(plan, relation, names, reported, found)
    quasi_identifiers, pseudonym = config.with_role(Role.QUASI_IDENTIFIER), config.input.pseudonym
    classes = linked = count_classes(relation, quasi_identifiers, attributes)
    units = NO_UNIT_COLUMNS
    if pseudonym is not None:
        units = UnitColumns({PERSON: pseudonym}, frozenset({None, ""}), PERSON)
        linked = count_classes(relation, quasi_identifiers, attributes, units)
    own = [each.name for each in attributes]

    def judged(constraint: Constraint, as_texts: bool) -> Classes:  # noqa: ARG001 - all judge the classes
        if not as_texts:
            return linked
        read = _sensitive(plan, relation, names, reported, ReleaseAudit(), as_texts=True)
        return count_classes(relation, quasi_identifiers, read, units)

    def look() -> AdversaryView:
        return AdversaryView(read_release(_of_release(plan, attributes), relation, plan.weights))

    notes, measured = found.findings, found.constraints
    return AuditCase(claims, config, plan, [relation], classes, judged, own, look, measured, notes)


def _labelled(relation: Relation, config: Config, reported: ReportClaims, claims: Claims) -> Relation:
    """Return a release with labels in place of the numbers that the config of the report asks for.

    Raises
    ------
    InputError: it has other columns than the report says, or a text in their place.
    """
    numbers = {}
    for name, settings in config.attributes.items():
        if settings.number_labels is not NumberLabels.RANGE:
            own, entry = NumberColumns(name, settings.number_labels), reported.release.numbers.get(name)
            claims.compare(("release", "numbers", name, "columns"), list(own.columns))
            if settings.number_labels is NumberLabels.MIDPOINT:
                claims.compare(("release", "numbers", name, "high"), None)
            numbers[name] = ReadNumbers(own, SUPPRESSED if entry is None else entry.empty)
    claims.expect(("release",), ("numbers",) if numbers else ())
    labels = labelled(relation, numbers, config.input.numerals.decimal)
    for name, each in numbers.items():
        _check_numbers(relation, each.own, config.input.numerals)
        if each.empty not in {label for label, _ in labels.dictionary(name)}:
            claims.compare(("release", "numbers", name, "empty"), SUPPRESSED)
    return labels


def _check_numbers(relation: Relation, own: NumberColumns, numerals: Numerals) -> None:
    """Check that the columns of a quasi-identifier in numbers have numbers and empty fields only.

    Raises
    ------
    InputError: they do not.
    """
    for column in own.columns:
        stored = not relation.is_text(column)
        texts = [text for text, _ in relation.dictionary(column) if text]
        plain = (text if stored else text.replace(numerals.decimal, ".") for text in texts)
        strange = next((text for text in plain if exact(text) is None), None)
        if strange is not None or (relation.separator is None and not stored):
            what = "texts" if strange is None else f"'{strange}'"
            raise InputError(f"{relation.name}: column '{column}' should contain numbers, found {what}")


def _counted_pair(
    relations: Sequence[Relation],
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    claims: Claims,
) -> AuditCase | None:
    """Count an Anatomy release; None if a table has other columns than expected."""
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

    classes, notes, measured = grouped.values.classes(), found.findings, found.constraints
    return AuditCase(claims, config, plan, relations, classes, judged, [name], look, measured, notes)


def _of_release(plan: Plan, attributes: Sequence[SensitiveAttribute]) -> Plan:
    """Return a plan without the sensitive hierarchies that are missing or built from the input."""
    return plan.without_hierarchies({each.name for each in attributes if each.hierarchy is None} | plan.grown)


def _released(config: Config) -> set[str]:
    own = {name for name, each in config.attributes.items() if each.released}
    return own if config.input.pseudonym is None else own | {config.input.pseudonym}


def _as_expected(
    relation: Relation, expected: set[str], found: ReleaseAudit, last: tuple[str, ...] = ()
) -> bool:
    """Return whether a file has the expected columns, and note a disagreement otherwise.

    Parameters
    ----------
    last: the expected last columns, in their order.
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
    """Read the sensitive columns with the types in the report; a public report has only declared types.

    Parameters
    ----------
    as_texts: whether columns without a reported type are read as texts instead of by type detection.
    """
    types = {name: each.type for name, each in reported.attributes.items()}
    default = ValueType.TEXT if as_texts else None
    requests = [plan.request(name, types.get(name) or plan.columns[name].type or default) for name in names]
    read = read_columns(relation, requests, plan.missing)
    columns = {name: each.column for name, each in read.items()}
    try:
        return list(plan.sensitive_attributes(columns))
    except HierarchyError as error:
        found.findings.append(f"distances along a hierarchy that is not available are not measured: {error}")
        return [
            SensitiveAttribute(column, distance=plan.columns[name].distance)
            for name, column in columns.items()
        ]
