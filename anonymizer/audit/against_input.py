"""A release compared with the input that it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.attacks.coverage import meaning_of, same_values
from anonymizer.attacks.links import largest_links, possible_links
from anonymizer.audit.case import AuditCase, missing_cells
from anonymizer.audit.checks import measure_with_input
from anonymizer.audit.claims import ABSENT
from anonymizer.config.model import Origin
from anonymizer.data.relation import Relation, changed
from anonymizer.data.source import sha256_of
from anonymizer.errors import InputError
from anonymizer.job.source import open_as
from anonymizer.job.table import prepare_table
from anonymizer.job.verify import numbers_entry, numbers_of
from anonymizer.loss.base import all_losses, weighted_losses
from anonymizer.model.adversary import Links, PublishedTable, ValueCoverage
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, count
from anonymizer.model.classes import SensitiveCodes, released
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.recoding import (
    FullDomainRecoding,
    LocalSuppressionRecoding,
    NodeRecoding,
    Recoding,
    distinct_nodes,
    renumbered,
)
from anonymizer.model.table import QuasiIdentifier, Role, Table
from anonymizer.plan.bands import put_in_bands
from anonymizer.plan.plan import plan_of
from anonymizer.plan.prepared import Prepared
from anonymizer.release.folder import RECODING
from anonymizer.release.recoding import parse_kept
from anonymizer.search.base import SearchProblem, algorithm_of
from anonymizer.search.mondrian.algorithm import LabelName, Mondrian, MondrianSettings, labelling_of
from anonymizer.search.mondrian.labelling import Labelling
from anonymizer.search.mondrian.regions import Regions, Segments

TextArray = NDArray[np.object_]


def check_input(case: AuditCase) -> list[str]:
    """Compare a release with the input, if the report is internal and the input is available.

    Returns
    -------
    Names of the comparisons that were not made.

    Raises
    ------
    InputError: the input cannot be read with the config.
    """
    nothing = [AGAINST_THE_INPUT, *([GROUP_ORDER] if case.in_groups else [])]
    folder = None if case.appended else _folder_of_input(case)
    if folder is None:
        return [*nothing, COLUMN_ORDER]
    config = case.config.located(Origin(str(case.report.path), folder))
    with open_as(config, config.folder / str(config.input.path)) as source:
        _check_facts(case, source)
        release = case.relations[0]
        own = [name for name in release.columns if name in source.columns]
        if own != [name for name in source.columns if name in release.columns]:
            # It could disclose something.
            raise InputError(f"{release.name}: the columns are in another order than in the input")
        plan = plan_of(config)
        put_in_bands(plan.columns, source)
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
        for name, labels in plan.columns.labels_of_codes(source, table).items():
            case.claims.compare(("attributes", name, "codes"), labels)
        if _aggregates(case.claims.get(("search", "algorithm"))):
            return nothing
        matched = _matched(case, table)
        if case.in_groups:
            _check_group_order(case, table)
            return [AGAINST_THE_INPUT]
        return [] if _check_losses(case, job, matched) else nothing


def check_recoding_file(case: AuditCase) -> None:
    """Compare the hash of recoding.json, if it is next to the report."""
    claims, key = case.claims, ("recoding_file",)
    path = case.report.path.parent / RECODING
    if not claims.internal or not path.is_file():
        return
    claims.expect((), key)
    if claims.get(key) is not ABSENT:
        claims.compare((*key, "path"), RECODING)
        claims.compare((*key, "sha256"), sha256_of(path))


def _folder_of_input(case: AuditCase) -> Path | None:
    """Return the folder that the path of the input is relative to; None if the input is not available."""
    claims, given, report = case.claims, case.config.input.path, case.report.path
    if given is None or "://" in given or not claims.internal:
        return None
    sha256 = claims.get(("input", "sha256"))
    # A relative path to a report in the current folder does not show the folder above.
    for folder in (report.absolute().parent.parent, report.parent, Path()):
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
    certain: whether no other match fits, so that it is known whose the released records are.
    """

    table: Table
    owner: IntArray
    published: IntArray
    possible: tuple[IntArray, IntArray]
    certain: bool


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
    possible = _as_recoded(case, table, possible)
    links = largest_links(possible, table.counts, own.counts)
    lacking = own.records - links.records
    if lacking:
        raise InputError(f"{own.source}: {lacking:,} records cannot be matched with records of the input")
    return _parts(table, links, possible)


def _as_recoded(
    case: AuditCase, table: Table, possible: tuple[IntArray, IntArray]
) -> tuple[IntArray, IntArray]:
    """Return those pairs of rows that agree with recoding.json, if the run kept it; all of them without.

    Published nodes of cuts may overlap, so that values alone do not tell where the cuts put a record.
    """
    path = case.report.path.parent / RECODING
    if not case.claims.internal or not path.is_file():
        return possible
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != case.claims.get(("recoding_file", "sha256")):
        return possible
    (sources, targets), own = possible, case.scene.release
    stored = parse_kept(str(path), content)
    if not stored.exact:
        return possible
    applied = stored.applied_to(table)
    same = ~applied.uncovered[sources]
    starred = np.ones(len(same), dtype=np.bool_)
    for column in applied.recoding(np.zeros(table.combinations, dtype=np.bool_)).published():
        place = own.names.index(column.name)
        shown = np.array(own.labels[place], dtype=object)[own.codes[targets, place]]
        same &= shown == np.array(column.labels, dtype=object)[column.codes[sources]]
        starred &= shown == SUPPRESSED
    kept = same | starred if case.config.suppression.keep_rows else same
    return sources[kept], targets[kept]


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
    parts = table.split(owner[order], counts)
    return _Matched(parts, owner[order], published[order], possible, links.forced)


def _check_losses(case: AuditCase, prepared: Prepared, matched: _Matched) -> bool:
    """Compare levels, losses and constraints that follow from the match with those of the report.

    Returns
    -------
    Whether the published texts were compared with a recoding of the input.
    """
    claims, own, problem = case.claims, case.scene.release, prepared.problem
    table = problem.table
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
        asked = case.config.algorithm
        if asked.plug_in.own_nodes:
            what = f"{asked.name} publishes generalized values of the hierarchies; found other texts"
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
    for key, loss in _losses(recoding, case.plan.goal.k, certain=_certain(matched, recoding)).items():
        claims.compare(key, loss)
    measure_with_input(case, prepared, recoding, certain=matched.certain)
    if not matched.certain:
        case.unmeasured[:] = [replace(each, missing=SEVERAL_MATCHES) for each in case.unmeasured]
    return settings is None or regions is not None


def _losses(recoding: Recoding, k: int | None, *, certain: bool) -> dict[tuple[str, str], float | None]:
    """Return the losses of a recoding by their keys in the report.

    Parameters
    ----------
    certain: whether all matches with the input agree on the suppressed values.
    """
    own = released(recoding, k)
    found = {("loss", name): loss for name, loss in all_losses(own).items()}
    if not certain:
        del found["loss", "nonuniform_entropy"]
    # Records with equal values match alike, whatever their weights, and may be published differently.
    elif recoding.table.sampling is not None and recoding.levels is not None:
        section = "weighted_loss" if recoding.table.sampling.unit is None else "unit_loss"
        found |= {(section, name): loss for name, loss in weighted_losses(own).items()}
    return found


def _kept_suppressed(case: AuditCase, matched: _Matched) -> int | None:
    """Return how many rows of ``*`` alone are suppressed in the report; None if all of them must be."""
    levels = case.claims.section(("recoding", "levels"))
    attributes = matched.table.quasi_identifiers
    suppressed = case.claims.number(("release", "suppressed_records"))
    if suppressed is None or not all(_has_stars(each, levels.get(each.name)) for each in attributes):
        return None
    return int(suppressed) - int(matched.table.counts[matched.published < 0].sum())


def _has_stars(attribute: QuasiIdentifier, level: Any) -> bool:
    """Return whether a level has the label ``*``, as a hierarchy may below its root; None is the root's."""
    height = attribute.hierarchy.height
    level = height if level is None else level
    if not isinstance(level, int) or not 0 <= level < height:
        return bool(level == height)
    return SUPPRESSED in {attribute.hierarchy.labels[node] for node in np.unique(attribute.nodes(level))}


def _aggregates(algorithm: Any) -> bool:
    """Return whether an algorithm publishes numbers which are not in the input: no record can be matched."""
    found = algorithm_of(algorithm)
    return found is not None and found.aggregates


def _mondrian_settings(case: AuditCase, along_hierarchies: Recoding | None) -> MondrianSettings | None:
    """Return the settings of Mondrian; None for another algorithm.

    Mondrian chosen by ``auto`` publishes either nodes or intervals.
    """
    given = case.config.algorithm
    if given.plug_in is Mondrian:
        settings: MondrianSettings = given.settings
        return settings
    if not given.plug_in.chooses or case.claims.get(("search", "algorithm")) != Mondrian.name:
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
    table, kept = recoding.table.unweighted, np.zeros_like(recoding.suppressed)
    as_published, everything = (
        FullDomainRecoding(table, recoding.levels, suppressed, removed).merged.table.combinations
        for suppressed, removed in ((recoding.suppressed, recoding.removed), (kept, kept))
    )
    return as_published == everything


SEVERAL_MATCHES = "not measured, as records of the input fit several rows of the release"
"""Why a constraint on units is not measured with the input."""

AGAINST_THE_INPUT = "values of the release against the input"
"""Not checked without the input."""

COLUMN_ORDER = "order of the columns"
"""Not checked without the input."""

GROUP_ORDER = "order of the numbers of groups"
"""Not checked for an Anatomy release without the input."""
